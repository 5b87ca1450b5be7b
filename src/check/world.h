/* What samples need to be understood, noted once for each process and page. */
#ifndef PF_CHECK_WORLD_H
#define PF_CHECK_WORLD_H

#include "check/check.h"

#define PF_CHECK_NO_ADDRESS UINT64_MAX

/* Notes a page (or, with PF_CHECK_NO_ADDRESS, the process itself), to be looked up at the end. */
void pf_check_note(pf_check *c, const perfile_record *r, uint32_t pid, uint32_t tid, uint64_t time,
                   uint64_t page);

static inline uint64_t pf_check_mix(uint64_t page, uint32_t pid)
{
    return (page ^ (uint64_t)pid << 40 ^ pid) * UINT64_C(0x9e3779b97f4a7c15);
}

/* A small table of what was noted last says most of the time that nothing is new. */
static inline void pf_check_see(pf_check *c, const perfile_record *r, const perfile_sample *s,
                                bool user)
{
    enum { PAGE_BITS = 12 };
    uint32_t pid = s->pid;
    if (!c->model || c->n_seen == PF_CHECK_PLACES || pid == 0 || pid == PERFILE_NO_PID)
        return;
    uint64_t time = s->present & PERFILE_SAMPLE_TIME ? s->time : PERFILE_NO_TIME;
    if (pid != c->last_pid) {
        c->last_pid = pid;
        pf_check_note(c, r, pid, s->tid, time, PF_CHECK_NO_ADDRESS);
    }
    uint64_t page = s->ip >> PAGE_BITS;
    if (user && c->seen_keys[pf_check_mix(page, pid) >> 54] != (page ^ (uint64_t)pid << 52))
        pf_check_note(c, r, pid, s->tid, time, page);
}

#endif
