/* A budget: the bytes that several data structures have allocated, under one common limit of
 * perfile_limits.  All functions accept NULL instead of a budget: no limit. */
#ifndef PF_BASE_BUDGET_H
#define PF_BASE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/checked.h"

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
