/* The state of the check of one block of samples, which runs in a thread that reads the file; see
 * ahead.c.
 *
 * It is a pf_check of its own, so that samples are checked by the same code as in the stage.  What
 * depends on the records before the block is kept for the stage instead: times in order, and
 * lookups that may be new. */
#ifndef PF_CHECK_AHEAD_H
#define PF_CHECK_AHEAD_H

#include "check/check.h"

/* Capacity per block.  When it is used up, the stage checks the rest of the block itself. */
enum {
    PF_CHECK_BLOCK_TIMES = 1 << 13,
    PF_CHECK_BLOCK_ROUNDS = 1 << 8,
    PF_CHECK_BLOCK_CPUS = 1 << 9,
    PF_CHECK_BLOCK_LOOKUPS = 1 << 10
};

/* Records with a time between two FINISHED_ROUND records. */
typedef struct pf_check_span {
    uint32_t first, n;    /* range in pf_check_block.times */
    uint64_t offset;      /* file offset of the first record */
    uint64_t least, most; /* earliest and latest time */
    uint64_t unsorted;    /* records that are older than one before them in the span */
} pf_check_span;

/* The notes of a pf_looker: made by a thread for a block, merged by the stage when it comes to the
 * block. */
typedef struct pf_check_block {
    pf_check check;      /* check.block points back to this struct */
    uint64_t generation; /* of the session when the block began */
    /* The record that is being checked. */
    bool left_to_stage; /* it breaks a rule, or needs what only the stage knows */
    bool timed, is_round;
    uint64_t time;
    uint32_t cpu; /* UINT32_MAX: not known */
    /* The records of the block before it. */
    uint32_t n_rounds;
    uint32_t n_cpus; /* processors that have a time in the block: */
    struct {
        uint32_t cpu;
        uint64_t first; /* its first time in the block */
    } cpus[PF_CHECK_BLOCK_CPUS];
    uint64_t cpu_time[PF_CHECK_CPUS];               /* last time per processor; 0: none */
    pf_check_span spans[PF_CHECK_BLOCK_ROUNDS + 1]; /* a round follows each but the last */
    uint64_t times[PF_CHECK_BLOCK_TIMES];
    pf_check_lookup lookups[PF_CHECK_BLOCK_LOOKUPS];
} pf_check_block;

#endif
