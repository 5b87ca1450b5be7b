/* Lookups of processes and pages: V-407 asks whether each process of a sample has a name, and each
 * page of user code a mapping.
 *
 * Records do not come in the order of time, so that only the end of the stream can answer.  Until
 * then each process and each page is kept once, as a pf_check_lookup.  Two small direct-mapped
 * tables (recent_pages, recent_pids) keep the hot path cheap: they remember what was
 * added last.  They may forget, and then a lookup is added twice. */
#ifndef PF_CHECK_WORLD_H
#define PF_CHECK_WORLD_H

#include "check/check.h"

#define PF_CHECK_NO_ADDRESS UINT64_MAX /* the lookup is of the process, not of a page */

/* Adds a lookup unless the tables of recent ones have it, or c->lookups is full. */
void pf_check_add_lookup(pf_check *c, const pf_check_lookup *lookup);

/* Multiplicative hash (2^64 divided by the golden ratio): the upper bits are the good ones. */
static inline uint64_t pf_check_hash(uint64_t page, uint32_t pid)
{
    return (page ^ (uint64_t)pid << 40 ^ pid) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The slot of the table of recent pages (or processes) that a page (process) may be in; >> 56 and
 * >> 54 leave 8 and 10 bits, as many as the tables have. */
static inline uint64_t *pf_check_recent_slot(pf_check *c, uint64_t page, uint32_t pid)
{
    if (page == PF_CHECK_NO_ADDRESS)
        return &c->recent_pids[pf_check_hash(0, pid) >> 56];
    return &c->recent_pages[pf_check_hash(page, pid) >> 54];
}

/* What the slot holds for this page or process.  Never 0, the value of an empty slot: pages are
 * below 2^52, and pid is not 0. */
static inline uint64_t pf_check_recent_tag(uint64_t page, uint32_t pid)
{
    return page == PF_CHECK_NO_ADDRESS ? pid : (page + 1) ^ (uint64_t)pid << 53;
}

/* Adds the lookups of a sample: its process, and with `user` the page of its ip.  Nothing
 * is added while the process is that of the sample before and the page is recent: the usual case.
 */
static inline void pf_check_note_sample(pf_check *c, const perfile_record *r,
                                        const perfile_sample *s, bool user)
{
    enum { PAGE_BITS = 12 };
    const uint32_t pid = s->pid;
    if (!c->model || c->n_seen == c->lookups_cap || pid == 0 || pid == PERFILE_NO_PID)
        return;
    const uint64_t page = s->ip >> PAGE_BITS;
    const bool page_seen =
        !user || *pf_check_recent_slot(c, page, pid) == pf_check_recent_tag(page, pid);
    if (pid == c->last_pid && page_seen)
        return;
    c->last_pid = pid;
    pf_check_lookup lookup = {PF_CHECK_NO_ADDRESS,
                              s->present & PERFILE_SAMPLE_TIME ? s->time : PERFILE_NO_TIME,
                              r->offset,
                              r->sequence,
                              pid,
                              s->tid,
                              r->part};
    pf_check_add_lookup(c, &lookup);
    lookup.address = page;
    if (!page_seen)
        pf_check_add_lookup(c, &lookup);
}

#endif
