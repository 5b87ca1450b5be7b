/* Sets of process ids.  Ids below PID_MAX_LIMIT are bits in blocks that are allocated when needed;
 * other numbers, which occur only in damaged or odd captures, go to a hash table.  Memory is
 * bounded: with too many odd numbers the set becomes `full` and contains every number, so filters
 * select too much rather than too little. */
#ifndef PF_STAGE_PIDS_H
#define PF_STAGE_PIDS_H

#include "model/index.h"

enum {
    PF_PIDS_USUAL = 1 << 22, /* PID_MAX_LIMIT of 64-bit kernels: smaller numbers are bits */
    PF_PIDS_BLOCK = 1 << 15, /* bits of a block: 4 KiB, so that sets of few ids cost little */
    PF_PIDS_ODD = 1 << 18    /* maximum of other numbers */
};

/* A set that is all zeros is empty. */
typedef struct pf_pids {
    uint64_t **blocks; /* NULL if there is none yet; a NULL block is empty */
    pf_index odd;      /* numbers >= PF_PIDS_USUAL */
    uint64_t n;        /* numbers in the set */
    bool full;         /* the set contains every number */
} pf_pids;

/* Adds a number; *is_new is false if the set already had it.  Returns false when out of memory. */
bool pf_pids_add(pf_pids *p, uint32_t pid, bool *is_new);
/* Iterates over the added numbers: bits in order, then the others.  *at must be 0 before the first
 * call and is private to this function.  Returns false after the last number. */
bool pf_pids_next(const pf_pids *p, uint64_t *at, uint32_t *pid);
void pf_pids_free(pf_pids *p);

/* Returns true if the number is in the set. */
static inline bool pf_pids_have(const pf_pids *p, uint32_t pid)
{
    if (pid >= PF_PIDS_USUAL)
        return p->full || pf_index_get(&p->odd, pid) != PF_INDEX_NONE;
    const uint64_t *block = p->blocks ? p->blocks[pid / PF_PIDS_BLOCK] : NULL;
    return p->full || (block && block[pid % PF_PIDS_BLOCK / 64] >> pid % 64 & 1);
}

#endif
