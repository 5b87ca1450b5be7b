/* Sets of process ids.  Ids below PID_MAX_LIMIT are bits in blocks that are allocated when needed;
 * other numbers, which only damaged or odd captures have, go to a hash table.  Memory is bounded:
 * with too many odd numbers the set is `full` and from then on contains every number, which makes
 * filters keep too much rather than too little. */
#ifndef PF_STAGE_PIDS_H
#define PF_STAGE_PIDS_H

#include "model/index.h"

enum {
    PF_PIDS_USUAL = 1 << 22, /* PID_MAX_LIMIT of 64-bit kernels: smaller numbers are bits */
    PF_PIDS_BLOCK = 1 << 15, /* bits of a block: 4 KiB, so that sets of few ids cost little */
    PF_PIDS_ODD = 1 << 18    /* other numbers, at most */
};

/* All zeros is empty. */
typedef struct pf_pids {
    uint64_t **blocks; /* NULL: none yet; a NULL block is empty */
    pf_index odd;      /* numbers from PF_PIDS_USUAL on */
    uint64_t n;        /* numbers in the set */
    bool full;         /* the set contains every number */
} pf_pids;

/* Adds a number; *is_new is false if it was in the set before.  False when there is no memory. */
bool pf_pids_add(pf_pids *p, uint32_t pid, bool *is_new);
/* Iterates over the numbers that were added: bits in order, then the others.  *at is 0 before the
 * first call, and only for this function.  False behind the last number. */
bool pf_pids_next(const pf_pids *p, uint64_t *at, uint32_t *pid);
void pf_pids_free(pf_pids *p);

/* True if the number is in the set. */
static inline bool pf_pids_have(const pf_pids *p, uint32_t pid)
{
    if (pid >= PF_PIDS_USUAL)
        return p->full || pf_index_get(&p->odd, pid) != PF_INDEX_NONE;
    const uint64_t *block = p->blocks ? p->blocks[pid / PF_PIDS_BLOCK] : NULL;
    return p->full || (block && block[pid % PF_PIDS_BLOCK / 64] >> pid % 64 & 1);
}

#endif
