/* Sets of numbers: a sorted array of ranges that do not overlap. */
#include "filter/filter.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"

perfile_status pf_ranges_add(pf_ranges *r, uint64_t first, uint64_t last, perfile_error *err)
{
    if (r->n == r->cap) {
        uint32_t cap = r->cap ? 2 * r->cap : 8;
        pf_interval *more = pf_realloc(r->at, cap, sizeof *more);
        if (!more)
            return pf_fail_nomem(err, "filter");
        r->at = more;
        r->cap = cap;
    }
    r->at[r->n++] = (pf_interval){first, last};
    return PERFILE_OK;
}

static int by_first(const void *a, const void *b)
{
    const pf_interval *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Ranges that touch without overlapping stay apart; searching is as right with them. */
void pf_ranges_sort(pf_ranges *r)
{
    if (r->n < 2)
        return;
    qsort(r->at, r->n, sizeof *r->at, by_first);
    uint32_t n = 1;
    for (uint32_t i = 1; i < r->n; i++) {
        pf_interval *before = &r->at[n - 1];
        if (r->at[i].first > before->last)
            r->at[n++] = r->at[i];
        else if (r->at[i].last > before->last)
            before->last = r->at[i].last;
    }
    r->n = n;
}

/* Finds the first range that does not end before the value. */
bool pf_ranges_search(const pf_ranges *r, uint64_t value)
{
    uint32_t low = 0, high = r->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (value > r->at[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->n && value >= r->at[low].first;
}

void pf_ranges_free(pf_ranges *r)
{
    pf_free(r->at);
    *r = (pf_ranges){0};
}
