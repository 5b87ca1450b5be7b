/* How much of a limit is used up, by all that share it. */
#ifndef PF_BASE_BUDGET_H
#define PF_BASE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/checked.h"

typedef struct pf_budget {
    uint64_t used;
    uint64_t limit;
    bool refused; /* something was asked for that the limit had no room for */
} pf_budget;

/* False when the limit has no room for `n` more bytes.  Without a budget (NULL) there is no limit.
 */
static inline bool pf_budget_take(pf_budget *b, uint64_t n)
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

static inline void pf_budget_give(pf_budget *b, uint64_t n)
{
    if (b)
        b->used -= n;
}

/* pf_realloc() of an array of `old_n` items to `n`, more, which are charged.  NULL: no memory, or
 * no room in the limit; `old` is untouched. */
static inline void *pf_budget_realloc(pf_budget *b, void *old, size_t old_n, size_t n, size_t width)
{
    size_t more;
    if (pf_mul_size(n - old_n, width, &more) || !pf_budget_take(b, more))
        return NULL;
    void *p = pf_realloc(old, n, width);
    if (!p)
        pf_budget_give(b, more);
    return p;
}

/* pf_alloc() that is charged, likewise. */
static inline void *pf_budget_alloc(pf_budget *b, size_t n, size_t width)
{
    size_t bytes;
    if (pf_mul_size(n, width, &bytes) || !pf_budget_take(b, bytes))
        return NULL;
    void *p = pf_alloc(n, width);
    if (!p)
        pf_budget_give(b, bytes);
    return p;
}

/* pf_free() of an array of `n` items that were charged. */
static inline void pf_budget_free(pf_budget *b, void *p, size_t n, size_t width)
{
    if (p)
        pf_budget_give(b, (uint64_t)n * width);
    pf_free(p);
}

#endif
