/* What samples need to be understood, noted once for each process and page. */
#ifndef PF_CHECK_WORLD_H
#define PF_CHECK_WORLD_H

#include "check/check.h"

#define PF_CHECK_NO_ADDRESS UINT64_MAX

/* Notes a page (or, with PF_CHECK_NO_ADDRESS, the process itself), to be looked up at the end,
 * unless its table says that it was noted. */
void pf_check_note(pf_check *c, const pf_check_seen *seen);

static inline uint64_t pf_check_mix(uint64_t page, uint32_t pid)
{
    return (page ^ (uint64_t)pid << 40 ^ pid) * UINT64_C(0x9e3779b97f4a7c15);
}

/* A small table of what was noted last says most of the time that nothing is new.  What it says
 * depends on nothing but the samples before: a table that begins with any of them says "noted" only
 * where one that began earlier does (ahead.c stands on that). */
static inline uint64_t *pf_check_seen_key(pf_check *c, uint64_t page, uint32_t pid)
{
    if (page == PF_CHECK_NO_ADDRESS)
        return &c->seen_pids[pf_check_mix(0, pid) >> 56];
    return &c->seen_pages[pf_check_mix(page, pid) >> 54];
}

/* Never 0, as the tables are at first: pages are below 2^52. */
static inline uint64_t pf_check_seen_as(uint64_t page, uint32_t pid)
{
    return page == PF_CHECK_NO_ADDRESS ? pid : (page + 1) ^ (uint64_t)pid << 53;
}

static inline void pf_check_see(pf_check *c, const perfile_record *r, const perfile_sample *s,
                                bool user)
{
    enum { PAGE_BITS = 12 };
    const uint32_t pid = s->pid;
    if (!c->model || c->n_seen == c->most_seen || pid == 0 || pid == PERFILE_NO_PID)
        return;
    const uint64_t page = s->ip >> PAGE_BITS;
    const bool page_seen = !user || *pf_check_seen_key(c, page, pid) == pf_check_seen_as(page, pid);
    if (pid == c->last_pid && page_seen)
        return;
    c->last_pid = pid;
    pf_check_seen seen = {PF_CHECK_NO_ADDRESS,
                          s->present & PERFILE_SAMPLE_TIME ? s->time : PERFILE_NO_TIME,
                          r->offset,
                          r->sequence,
                          pid,
                          s->tid,
                          r->part};
    pf_check_note(c, &seen);
    seen.address = page;
    if (!page_seen)
        pf_check_note(c, &seen);
}

#endif
