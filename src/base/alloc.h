/* Memory allocation and memory limits.  All allocation of the library goes through these functions,
 * so that tests can make the n-th one fail. */
#ifndef PF_BASE_ALLOC_H
#define PF_BASE_ALLOC_H

#include "base/checked.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Allocates zeroed memory for `n` items of `width` bytes; `n` may be 0.  Returns NULL when out of
 * memory or if the product overflows.  The caller releases it with pf_free(). */
void *pf_alloc(size_t n, size_t width);

/* Resizes `old` (may be NULL) to `n` items of `width` bytes.  Bytes after the old size are
 * undefined.  Returns NULL on failure; `old` is then unchanged. */
void *pf_realloc(void *old, size_t n, size_t width);

void pf_free(void *p);

/* Allocates at least `bytes` bytes on large pages (2 MiB) where the system has them.  The memory is
 * not zeroed.  Use it for memory that is filled from one end to the other: on a virtual machine the
 * first use of a small page costs as much as copying a hundred kilobytes.  A large page counts as
 * used as a whole, so do not allocate less than half a large page this way. */
void *pf_alloc_large(size_t bytes);

/* For tests: the number of allocations so far, and the number of the allocation that fails (0 if
 * none).  The counter is atomic, but which allocation fails is predictable only with a single
 * thread. */
extern uint64_t pf_alloc_count;
extern uint64_t pf_alloc_fail_at;

/* Makes room for one more item of `width` bytes in an array of `n` items and capacity *cap.
 * Returns the array, which may have moved, or NULL when out of memory; `items` is then
 * unchanged. */
void *pf_array_more(void *items, uint32_t n, uint32_t *cap, size_t width);

/* A budget counts the bytes that several data structures have allocated under one common limit of
 * perfile_limits.  All functions accept NULL instead of a budget: then there is no limit. */

typedef struct pf_budget {
    uint64_t used; /* bytes charged now */
    uint64_t limit;
    bool refused; /* a request exceeded the limit; distinguishes PERFILE_E_LIMIT from
                   * PERFILE_E_NOMEM */
} pf_budget;

/* Charges `n` bytes.  Returns false, with nothing charged, if that would exceed the limit. */
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

/* Resizes an array from `old_n` to `n` items (n >= old_n) with pf_realloc() and charges the
 * difference.  Returns NULL when out of memory or if the limit would be exceeded; `old` is then
 * unchanged. */
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

/* Allocates `n` items with pf_alloc() and charges them.  Returns NULL when out of memory or if the
 * limit would be exceeded. */
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

/* Frees an array of `n` items that were charged; `p` may be NULL. */
static inline void pf_budget_free(pf_budget *b, void *p, size_t n, size_t width)
{
    if (p)
        pf_budget_refund(b, (uint64_t)n * width);
    pf_free(p);
}

#endif
