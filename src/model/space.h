/* The mappings of one address space, for the query: which mapping was last mapped over address A up
 * to time T?
 *
 * Mappings overlap and arrive in any order of time, so neither a sorted array nor a tree of
 * disjoint intervals works.  New spans collect in a short unsorted *tail*.  A full tail becomes a
 * *run*, and runs of similar length are merged, so that there are O(log n) of them, of about
 * doubling length.  A run is immutable: it is a segment tree over the addresses at which its spans
 * begin and end.  Each span is listed at the O(log n) nodes that together cover it, and each node's
 * list is in order of time.  A query walks from the leaf of A to the root, with a binary search for
 * T in each list.
 *
 * Adding costs O(log^2 n) amortized and a query O(log^3 n), for any overlaps and any order.  A span
 * that is added again (same mapping, addresses and time) replaces the first one at the next merge,
 * so a capture that repeats itself needs no more memory. */
#ifndef PF_MODEL_SPACE_H
#define PF_MODEL_SPACE_H

#include "base/alloc.h"

/* A mapping of an address range from some time on. */
typedef struct pf_mapping_span {
    uint64_t begin;
    uint64_t end;      /* after the last byte; greater than begin */
    uint64_t time;     /* when it was mapped */
    uint64_t sequence; /* at equal times the higher one is later */
    uint32_t mapping;  /* the caller's number of the mapping */
} pf_mapping_span;

enum {
    PF_SPACE_TAIL = 32, /* spans that a query compares one by one */
    PF_SPACE_RUNS = 48  /* about 20 of doubling length, others of LARGEST_RUN (space.c) */
};

/* A segment tree.  Leaf k is [bounds[k], bounds[k + 1]).  Node i has the children 2i and 2i + 1,
 * the root is node 1, and leaf k is node n_leaves + k. */
typedef struct pf_space_run {
    pf_mapping_span *spans; /* in order of time, then sequence */
    uint32_t n;             /* spans */
    uint32_t n_leaves;      /* ranges of addresses between neighbouring bounds */
    uint32_t n_lists;       /* elements of `lists` */
    uint64_t *bounds;       /* n_leaves + 1 different addresses, ascending */
    uint32_t *list_start;   /* the list of node i is lists[list_start[i] .. list_start[i + 1]) */
    uint32_t *lists;        /* positions in `spans`; ascending, so in order of time */
} pf_space_run;

/* All zeros is an empty space. */
typedef struct pf_space {
    pf_budget *budget;     /* may be NULL */
    pf_mapping_span *tail; /* the latest spans, not in a run yet */
    uint32_t n_tail;
    uint8_t cap_tail; /* its capacity, at most PF_SPACE_TAIL */
    bool repeated;    /* some span was added again: merges remove repetitions */
    uint16_t n_runs;
    pf_space_run *runs; /* array of PF_SPACE_RUNS, of decreasing length; NULL: no runs yet */
} pf_space;

/* Adds a span.  `may_repeat`: the same span may have been added before.  Returns false when out of
 * memory or the budget is exhausted; the space is then unchanged. */
bool pf_space_add(pf_space *s, const pf_mapping_span *span, bool may_repeat);

/* Returns the latest span over `addr` up to `time`, NULL if there is none.  Valid until the next
 * add. */
const pf_mapping_span *pf_space_find(const pf_space *s, uint64_t addr, uint64_t time);

/* Narrows the range for which the answer of pf_space_find() for `addr` and `time` is valid.  Within
 * [*low, *high], which contains `addr`, no span begins or ends, and no span is added over it after
 * `time` and before *next.  The caller first sets the three to 0, UINT64_MAX and UINT64_MAX. */
void pf_space_reach(const pf_space *s, uint64_t addr, uint64_t time, uint64_t *low, uint64_t *high,
                    uint64_t *next);

void pf_space_free(pf_space *s);

#endif
