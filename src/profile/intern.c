/* Interned items (see intern.h): an array of them, and a hash table with linear probing of their
 * numbers, at most half full. */
#include "profile/profile.h"

#include <string.h>

enum { FIRST_ITEMS = 64 };

/* The slot of the item with this key, or the free slot where it would be added. */
static struct pf_intern_slot *slot_of(const pf_intern *t, const void *key, uint32_t hash)
{
    size_t at = hash & (t->n_slots - 1);
    while (t->slots[at].number &&
           (t->slots[at].hash != hash ||
            memcmp(pf_intern_at(t, t->slots[at].number - 1), key, t->key) != 0))
        at = (at + 1) & (t->n_slots - 1);
    return &t->slots[at];
}

/* Moves the entries to a table of twice the size. */
static bool grow_slots(pf_intern *t)
{
    const size_t n_slots = t->n_slots ? t->n_slots * 2 : 2 * FIRST_ITEMS;
    struct pf_intern_slot *slots = pf_budget_alloc(t->budget, n_slots, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < t->n_slots; i++) {
        size_t at = t->slots[i].hash & (n_slots - 1);
        if (!t->slots[i].number)
            continue;
        while (slots[at].number)
            at = (at + 1) & (n_slots - 1);
        slots[at] = t->slots[i];
    }
    pf_budget_free(t->budget, t->slots, t->n_slots, sizeof *t->slots);
    t->slots = slots;
    t->n_slots = n_slots;
    return true;
}

/* Makes room for one more item, and keeps the table half empty. */
static bool reserve(pf_intern *t)
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? t->cap + t->cap / 2 : FIRST_ITEMS;
        void *items = cap < PF_INTERN_NONE
                          ? pf_budget_realloc(t->budget, t->items, t->cap, cap, t->width)
                          : NULL;
        if (!items)
            return false;
        t->items = items;
        t->cap = cap;
    }
    return t->n < t->n_slots / 2 || grow_slots(t);
}

uint32_t pf_intern_add(pf_intern *t, const void *key)
{
    const uint32_t hash = (uint32_t)pf_index_hash(t->seed, key, t->key);
    if (t->n_slots) {
        uint32_t found = slot_of(t, key, hash)->number;
        if (found)
            return found - 1;
    }
    if (!reserve(t))
        return PF_INTERN_NONE;
    uint8_t *item = pf_intern_at(t, (uint32_t)t->n);
    memset(item, 0, t->width);
    memcpy(item, key, t->key);
    *slot_of(t, key, hash) = (struct pf_intern_slot){(uint32_t)t->n + 1, hash};
    return (uint32_t)t->n++;
}

void pf_intern_free(pf_intern *t)
{
    pf_budget_free(t->budget, t->items, t->cap, t->width);
    pf_budget_free(t->budget, t->slots, t->n_slots, sizeof *t->slots);
    t->items = NULL;
    t->slots = NULL;
    t->n = t->cap = t->n_slots = 0;
}
