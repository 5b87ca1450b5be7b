/* Sets of numbers, stored as ranges. */
#ifndef PF_FILTER_RANGES_H
#define PF_FILTER_RANGES_H

#include "perfile/base.h"

/* Both ends are included. */
typedef struct pf_interval {
    uint64_t first, last;
} pf_interval;

/* All zeros is the empty set. */
typedef struct pf_ranges {
    pf_interval *at;
    uint32_t n, cap;
} pf_ranges;

/* Adds [first, last]. */
perfile_status pf_ranges_add(pf_ranges *r, uint64_t first, uint64_t last, perfile_error *err);
/* Sorts the ranges and joins those that overlap; call it after adding and before searching. */
void pf_ranges_sort(pf_ranges *r);
/* Binary search; pf_ranges_contain() is faster for a single range. */
bool pf_ranges_search(const pf_ranges *r, uint64_t value);
void pf_ranges_free(pf_ranges *r);

/* True if the set has the value. One range is tested with one comparison, modulo 2^64. */
static inline bool pf_ranges_contain(const pf_ranges *r, uint64_t value)
{
    if (r->n == 1)
        return value - r->at[0].first <= r->at[0].last - r->at[0].first;
    return pf_ranges_search(r, value);
}

#endif
