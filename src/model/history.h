/* Changes of many things over time, added in any order, for the query: which was the last change of
 * thing K up to time T?
 *
 * It is a log-structured merge: changes collect in an unsorted tail of the array.  A full tail is
 * sorted and becomes a run, and two neighboring runs of similar length are merged.  All runs are in
 * the same array, with decreasing lengths, so that there are O(log n) of them.  Adding costs O(log
 * n) amortized in any order, and changes that arrive in order are never moved.  A query is a binary
 * search in each run.
 *
 * A change that repeats the previous one (equal except for `sequence`) is stored once, with the
 * later sequence, so a capture that repeats itself needs no more memory. */
#ifndef PF_MODEL_HISTORY_H
#define PF_MODEL_HISTORY_H

#include "base/alloc.h"

/* One change.  Sorted by (key, time, sequence). */
typedef struct pf_change {
    uint64_t key; /* the thing that changed */
    uint64_t time;
    uint64_t sequence; /* at equal times the higher one is later */
    uint64_t value;    /* the new value; the caller defines the meaning of value, pid and flags */
    uint32_t pid;
    uint32_t flags;
} pf_change;

/* Enough for any size: each run is more than twice as long as the next one. */
enum { PF_HISTORY_RUNS = 64 };

/* All zeros is an empty history. */
typedef struct pf_history {
    pf_budget *budget;                 /* may be NULL */
    pf_change *all;                    /* the runs, then the tail */
    size_t n, cap;                     /* changes in use, and allocated */
    size_t run_begin[PF_HISTORY_RUNS]; /* start of each run */
    unsigned n_runs;
    size_t sorted;      /* end of the last run, where the tail begins */
    pf_change *scratch; /* memory for merging */
    size_t scratch_cap;
} pf_history;

/* Adds a change.  Returns false when out of memory or the budget is exhausted; the history is then
 * unchanged. */
bool pf_history_add(pf_history *h, const pf_change *c);

/* Returns the latest change of `key` up to `time`, or NULL.  Sets *next, unless `next` is NULL, to
 * the first change after `time`, or NULL.  Both are valid until the next add. */
const pf_change *pf_history_floor(const pf_history *h, uint64_t key, uint64_t time,
                                  const pf_change **next);

/* Merges everything into one run: all[0 .. n) is then sorted by (key, time, sequence).  Returns
 * false when out of memory. */
bool pf_history_sort(pf_history *h);

/* Returns the position of the first change at or after (key, time).  Call it after
 * pf_history_sort(). */
size_t pf_history_lower_bound(const pf_history *h, uint64_t key, uint64_t time);

void pf_history_free(pf_history *h);

#endif
