/* Sets of numbers, as ranges with both ends. */
#ifndef PF_FILTER_RANGES_H
#define PF_FILTER_RANGES_H

#include "perfile/base.h"

typedef struct pf_interval {
    uint64_t first, last;
} pf_interval;

/* All zeros is empty. */
typedef struct pf_ranges {
    pf_interval *at;
    uint32_t n, cap;
} pf_ranges;

perfile_status pf_ranges_add(pf_ranges *r, uint64_t first, uint64_t last, perfile_error *err);
/* Sorts and joins: to be called between adding and asking. */
void pf_ranges_settle(pf_ranges *r);
bool pf_ranges_search(const pf_ranges *r, uint64_t value);
void pf_ranges_free(pf_ranges *r);

static inline bool pf_ranges_have(const pf_ranges *r, uint64_t value)
{
    if (r->n == 1)
        return value - r->at[0].first <= r->at[0].last - r->at[0].first;
    return pf_ranges_search(r, value);
}

#endif
