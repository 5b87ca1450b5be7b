/* Changes of many things over time, added in any order, for the query: what was the last change of
 * thing K up to time T?
 *
 * A log-structured merge: changes collect in an unsorted tail of the array; a full tail is sorted
 * and becomes a run, and two neighbouring runs of similar length are merged.  All runs lie one
 * after the other in the same array, with falling lengths, so that there are O(log n).  Adding
 * costs O(log n) amortised in any order, and changes that arrive in order are never moved.  A query
 * is a binary search in each run.
 *
 * A change that repeats the one before it (equal but for `sequence`) is stored once, with the later
 * sequence: a capture that repeats itself needs no more memory. */
#ifndef PF_MODEL_HISTORY_H
#define PF_MODEL_HISTORY_H

#include "base/alloc.h"

/* One change.  Sorted by (key, time, sequence). */
typedef struct pf_change {
    uint64_t key; /* the thing that changed */
    uint64_t time;
    uint64_t sequence; /* of equal times the higher one is later */
    uint64_t value;    /* what it changed to; with pid and flags, the caller's meaning */
    uint32_t pid;
    uint32_t flags;
} pf_change;

/* Enough for any size: each run is more than twice as long as the next one. */
enum { PF_HISTORY_RUNS = 64 };

/* All zeros is an empty history. */
typedef struct pf_history {
    pf_budget *budget;                 /* may be NULL */
    pf_change *all;                    /* first the runs, then the tail */
    size_t n, cap;                     /* changes in use, allocated */
    size_t run_begin[PF_HISTORY_RUNS]; /* where each run begins */
    unsigned n_runs;
    size_t sorted;      /* end of the last run, where the tail begins */
    pf_change *scratch; /* memory for merging */
    size_t scratch_cap;
} pf_history;

/* Adds a change.  False if there is no memory or the budget is exhausted; the history is unchanged
 * then. */
bool pf_history_add(pf_history *h, const pf_change *c);

/* The latest change of `key` with a time up to `time`, or NULL; *next, if `next` is not NULL, is
 * the first one after that time, or NULL.  Valid until the next add. */
const pf_change *pf_history_floor(const pf_history *h, uint64_t key, uint64_t time,
                                  const pf_change **next);

/* Merges everything into one run, so that all[0 .. n) is sorted by (key, time, sequence).  False if
 * there is no memory. */
bool pf_history_sort(pf_history *h);

/* In a history that is one run (see above): the position of the first change at or after (key,
 * time). */
size_t pf_history_lower_bound(const pf_history *h, uint64_t key, uint64_t time);

void pf_history_free(pf_history *h);

#endif
