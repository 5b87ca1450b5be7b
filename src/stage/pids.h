/* Sets of process numbers: a bit for each that a kernel gives out, a table for others. */
#ifndef PF_STAGE_PIDS_H
#define PF_STAGE_PIDS_H

#include "model/index.h"

enum {
    PF_PIDS_USUAL = 1 << 22, /* PID_MAX_LIMIT of 64-bit kernels … */
    PF_PIDS_BLOCK = 1 << 15, /* … so many at a time: many sets of few cost little */
    PF_PIDS_ODD = 1 << 18    /* others at most: then the set holds every number */
};

/* All zeros is empty. */
typedef struct pf_pids {
    uint64_t **blocks;
    pf_index odd;
    uint64_t n;
    bool full;
} pf_pids;

/* *is_new says whether it was not there before.  False when there is no memory. */
bool pf_pids_add(pf_pids *p, uint32_t pid, bool *is_new);
/* The next number of the set, the usual ones in order; *at, 0 in front of the first, is kept
 * for the next call.  False behind the last. */
bool pf_pids_next(const pf_pids *p, uint64_t *at, uint32_t *pid);
void pf_pids_free(pf_pids *p);

static inline bool pf_pids_have(const pf_pids *p, uint32_t pid)
{
    if (pid >= PF_PIDS_USUAL)
        return p->full || pf_index_get(&p->odd, pid) != PF_INDEX_NONE;
    const uint64_t *block = p->blocks ? p->blocks[pid / PF_PIDS_BLOCK] : NULL;
    return p->full || (block && block[pid % PF_PIDS_BLOCK / 64] >> pid % 64 & 1);
}

#endif
