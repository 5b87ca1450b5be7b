/* Items of one size, each kept once and numbered from 0: frames, stacks, sums.
 *
 * An item begins with its key; what follows the key is the caller's and starts as zeros.  Items lie
 * one after the other in memory that may move when one is added, so keep numbers, not pointers. */
#ifndef PF_PROFILE_INTERN_H
#define PF_PROFILE_INTERN_H

#include "base/budget.h"
#include "model/index.h"

#define PF_INTERN_NONE UINT32_MAX

/* All zeros except `seed`, `budget`, `width` and `key` is empty. */
typedef struct pf_intern {
    uint64_t seed;     /* pf_index_seed() */
    pf_budget *budget; /* may be NULL */
    size_t width, key; /* bytes of an item; of them the key, a multiple of 8 */
    uint8_t *items;
    size_t n, cap; /* items in use, allocated */
    struct pf_intern_slot {
        uint32_t number; /* + 1; 0: free */
        uint32_t hash;   /* most keys that differ are told apart by it */
    } * slots;           /* a hash table */
    size_t n_slots;      /* a power of two, at least twice `n` */
} pf_intern;

/* The number of the item with this key, which is added if there is none.  PF_INTERN_NONE if there
 * is no memory or the budget is exhausted. */
uint32_t pf_intern_add(pf_intern *t, const void *key);

static inline void *pf_intern_at(const pf_intern *t, uint32_t number)
{
    return t->items + (size_t)number * t->width;
}

void pf_intern_free(pf_intern *t);

#endif
