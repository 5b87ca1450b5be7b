/* What the check of a block of samples keeps, which is made in a thread that reads the file.
 *
 * It is a pf_check of its own, so that samples are judged by the same code.  What depends on the
 * records before the block is kept instead of judged: times in order, and places that may be new.
 */
#ifndef PF_CHECK_AHEAD_H
#define PF_CHECK_AHEAD_H

#include "check/check.h"

/* Of a block.  What has more of them is left to the stage from there on. */
enum {
    PF_CHECK_BLOCK_TIMES = 1 << 13,
    PF_CHECK_BLOCK_ROUNDS = 1 << 8,
    PF_CHECK_BLOCK_CPUS = 1 << 9,
    PF_CHECK_BLOCK_SEEN = 1 << 10
};

/* Records with a time between two rounds. */
typedef struct pf_check_span {
    uint32_t first, n; /* of the times of the block */
    uint64_t offset;   /* of the first record */
    uint64_t least, most;
    uint64_t unsorted; /* earlier than one before it in the span */
} pf_check_span;

typedef struct pf_check_block {
    pf_check check; /* its `block` is this */
    uint64_t generation;
    /* Of the record that is judged. */
    bool unclean; /* it breaks a rule, or more has to be known: the stage judges it */
    bool timed, is_round;
    uint64_t time;
    uint32_t cpu; /* UINT32_MAX: not known */
    /* Of those before it. */
    uint32_t n_rounds;
    uint32_t n_cpus; /* that have a time: */
    struct {
        uint32_t cpu;
        uint64_t first;
    } cpus[PF_CHECK_BLOCK_CPUS];
    uint64_t cpu_time[PF_CHECK_CPUS];               /* the last; 0: none */
    pf_check_span spans[PF_CHECK_BLOCK_ROUNDS + 1]; /* behind each but the last is a round */
    uint64_t times[PF_CHECK_BLOCK_TIMES];
    pf_check_seen seen[PF_CHECK_BLOCK_SEEN];
} pf_check_block;

#endif
