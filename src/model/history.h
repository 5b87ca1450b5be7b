/* Changes of many things over time: added in any order, asked "what was the last one up to then?".
 *
 * Sorted runs of falling length lie one behind the other in one array; two of about the same length
 * are merged.  So adding costs O(log n) whatever the order, there is nothing to balance, and what
 * comes in order is never moved.
 *
 * A change that says the same again, with nothing between the two, is kept once, as the later one:
 * a capture that repeats itself costs nothing. */
#ifndef PF_MODEL_HISTORY_H
#define PF_MODEL_HISTORY_H

#include "base/budget.h"

typedef struct pf_change {
    uint64_t key; /* which thing */
    uint64_t time;
    uint64_t sequence; /* of equal times the higher one is later */
    uint64_t value;
    uint32_t pid;
    uint32_t flags;
} pf_change;

enum { PF_HISTORY_RUNS = 64 };

/* All zeros is an empty history. */
typedef struct pf_history {
    pf_budget *budget; /* may be NULL */
    pf_change *all;
    size_t n, cap;
    size_t begin[PF_HISTORY_RUNS]; /* of each run */
    unsigned n_runs;
    size_t sorted; /* what is behind it is in no run yet */
    pf_change *scratch;
    size_t scratch_cap;
} pf_history;

/* False when there is no memory or no room in the budget; the history is unchanged. */
bool pf_history_add(pf_history *h, const pf_change *c);

/* The latest change of `key` with a time up to `time`, or NULL.  Valid until the next add. */
const pf_change *pf_history_floor(const pf_history *h, uint64_t key, uint64_t time);

/* Sorts everything into one run by (key, time, sequence), so that all[0 .. n) can be walked. */
bool pf_history_settle(pf_history *h);

/* Of a settled history: the first change at or behind (key, time). */
size_t pf_history_lower(const pf_history *h, uint64_t key, uint64_t time);

void pf_history_free(pf_history *h);

#endif
