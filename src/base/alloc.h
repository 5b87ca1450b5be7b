/* All allocation of the library goes through these functions, so that tests can make the n-th one
 * fail. */
#ifndef PF_BASE_ALLOC_H
#define PF_BASE_ALLOC_H

#include "base/checked.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory for `n` items of `width` bytes; `n` may be 0.  NULL if there is no memory or the
 * product overflows.  The caller releases it with pf_free(). */
void *pf_alloc(size_t n, size_t width);

/* Resizes `old` (may be NULL) to `n` items of `width` bytes.  Bytes behind the old size are
 * undefined.  On NULL, `old` is unchanged. */
void *pf_realloc(void *old, size_t n, size_t width);

void pf_free(void *p);

/* Memory for at least `bytes` that are used from one end to the other, on large pages (2 MiB) where
 * the system has them: on a virtual machine the first use of a small page costs as much as copying
 * a hundred kilobytes.  Not zeroed.  A large page counts as used as a whole, so that what is
 * smaller than half of one should not be allocated like that. */
void *pf_alloc_large(size_t bytes);

/* For tests: the number of allocations so far, and the number of the one that fails (0: none).  The
 * counter is atomic; which allocation fails is only predictable in one thread. */
extern uint64_t pf_alloc_count;
extern uint64_t pf_alloc_fail_at;

/* Makes room for one more item of `width` bytes in an array of `n` items and capacity *cap.
 * Returns the array, which may have moved, or NULL: then `items` is unchanged. */
void *pf_array_more(void *items, uint32_t n, uint32_t *cap, size_t width);

/* A budget: the bytes that several data structures have allocated, under one common limit of
 * perfile_limits.  All functions accept NULL instead of a budget: no limit. */

typedef struct pf_budget {
    uint64_t used; /* bytes charged at present */
    uint64_t limit;
    bool refused; /* some request exceeded the limit; tells PERFILE_E_LIMIT from PERFILE_E_NOMEM */
} pf_budget;

/* Charges `n` bytes; false, with nothing charged, if that would exceed the limit. */
static inline bool pf_budget_charge(pf_budget *b, uint64_t n)
{
    if (!b)
        return true;
    if (n > b->limit || b->used > b->limit - n) {
        b->refused = true;
        return false;
    }
    b->used += n;
    return true;
}

/* Takes back a charge of `n` bytes. */
static inline void pf_budget_refund(pf_budget *b, uint64_t n)
{
    if (b)
        b->used -= n;
}

/* pf_realloc() of an array from `old_n` to `n` items, n >= old_n; the difference is charged.  NULL
 * if there is no memory or the limit would be exceeded; `old` is then unchanged. */
static inline void *pf_budget_realloc(pf_budget *b, void *old, size_t old_n, size_t n, size_t width)
{
    size_t more;
    if (pf_mul_size(n - old_n, width, &more) || !pf_budget_charge(b, more))
        return NULL;
    void *p = pf_realloc(old, n, width);
    if (!p)
        pf_budget_refund(b, more);
    return p;
}

/* pf_alloc() of `n` items, which are charged.  NULL likewise. */
static inline void *pf_budget_alloc(pf_budget *b, size_t n, size_t width)
{
    size_t bytes;
    if (pf_mul_size(n, width, &bytes) || !pf_budget_charge(b, bytes))
        return NULL;
    void *p = pf_alloc(n, width);
    if (!p)
        pf_budget_refund(b, bytes);
    return p;
}

/* pf_free() of an array of `n` items that were charged; NULL is fine. */
static inline void pf_budget_free(pf_budget *b, void *p, size_t n, size_t width)
{
    if (p)
        pf_budget_refund(b, (uint64_t)n * width);
    pf_free(p);
}

#endif
