/* Counts and sets of zones.
 *
 * A set is a list of its members and, while values are added, a hash table of them: open
 * addressing, at most half full.  The table of each chunk starts small and grows with its members,
 * in memory that is kept, because clearing a large one for a chunk of few threads would cost more
 * than adding them.  Counts are few: a sorted list, and the position that was counted last. */
#include "core/zone_sets.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { FIRST_SLOTS = 64 };

/* The position of `v`, not 0, in the table, or the free one where it belongs.  There is one. */
static inline uint32_t slot_of(const pf_zone_set *s, uint32_t v)
{
    const uint32_t mask = s->n_slots - 1;
    uint64_t h = (v ^ s->seed) * (s->seed | 1);
    h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i = (uint32_t)(h >> 32) & mask;
    while (s->slots[i] != v && s->slots[i] != 0)
        i = (i + 1) & mask;
    return i;
}

/* Doubles the table, and puts the members into it once more. */
static bool grow_slots(pf_zone_set *s)
{
    const uint32_t n = s->n_slots ? 2 * s->n_slots : FIRST_SLOTS;
    if (n > s->cap_slots) {
        uint32_t *more = pf_realloc(s->slots, n, sizeof *more);
        if (!more)
            return false;
        s->slots = more;
        s->cap_slots = n;
    }
    memset(s->slots, 0, n * sizeof *s->slots);
    s->n_slots = n;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->at[i] != 0)
            s->slots[slot_of(s, s->at[i])] = s->at[i];
    return true;
}

/* Adds a value that is not a member. */
static bool add_member(pf_zone_set *s, uint32_t v)
{
    if (s->n == PF_ZONE_MOST_MEMBERS) {
        s->known = false;
        return true;
    }
    uint32_t *at = pf_array_more(s->at, s->n, &s->cap, sizeof *at);
    if (!at)
        return false;
    s->at = at;
    if (s->n >= s->n_slots / 2 && !grow_slots(s))
        return false;
    if (v == 0)
        s->has_zero = true;
    else
        s->slots[slot_of(s, v)] = v;
    s->at[s->n++] = v;
    return true;
}

bool pf_zone_set_add(pf_zone_set *s, uint32_t v)
{
    if (!s->known || (v == 0 ? s->has_zero : s->n_slots && s->slots[slot_of(s, v)] == v))
        return true;
    return add_member(s, v);
}

void pf_zone_set_clear(pf_zone_set *s, bool known)
{
    s->n = s->n_slots = 0;
    s->has_zero = false;
    s->known = known;
}

void pf_zone_set_free(pf_zone_set *s)
{
    pf_free(s->at);
    pf_free(s->slots);
    *s = (pf_zone_set){0};
}

/* qsort() order: ascending. */
static int compare_members(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void pf_zone_set_seal(pf_zone_set *s)
{
    if (s->known && s->n)
        qsort(s->at, s->n, sizeof *s->at, compare_members);
}

bool pf_zone_set_meets(const pf_zone_set *s, uint32_t low, uint32_t high)
{
    /* The first member that is not below `low` lies in from .. to. */
    uint32_t from = 0, to = s->n;
    if (!s->known)
        return true;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (s->at[middle] < low)
            from = middle + 1;
        else
            to = middle;
    }
    return from < s->n && s->at[from] <= high;
}

bool pf_zone_set_has(const pf_zone_set *s, uint32_t v)
{
    return pf_zone_set_meets(s, v, v);
}

/* The position of the first count whose key is not below `key`. */
static uint32_t position_of(const pf_zone_counts *c, uint64_t key)
{
    uint32_t from = 0, to = c->n;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (c->at[middle].key < key)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Inserts a count of 0 at position `i`. */
static bool insert_count(pf_zone_counts *c, uint32_t i, uint64_t key)
{
    pf_zone_count *at = pf_array_more(c->at, c->n, &c->cap, sizeof *at);
    if (!at)
        return false;
    c->at = at;
    memmove(at + i + 1, at + i, (c->n - i) * sizeof *at);
    at[i] = (pf_zone_count){.key = key};
    c->n++;
    return true;
}

bool pf_zone_counts_add(pf_zone_counts *c, uint64_t key, uint64_t records, uint64_t bytes)
{
    if (!c->known)
        return true;
    if (c->last >= c->n || c->at[c->last].key != key) {
        const uint32_t i = position_of(c, key);
        if (i == c->n || c->at[i].key != key) {
            /* The limit bounds the cost of insertions, too, whatever keys the input has. */
            if (c->n == PF_ZONE_MOST_COUNTS) {
                c->known = c->has_bytes = false;
                return true;
            }
            if (!insert_count(c, i, key))
                return false;
        }
        c->last = i;
    }
    c->at[c->last].records += records;
    c->at[c->last].bytes += bytes;
    return true;
}

const pf_zone_count *pf_zone_counts_find(const pf_zone_counts *c, uint64_t key)
{
    const uint32_t i = position_of(c, key);
    return i < c->n && c->at[i].key == key ? &c->at[i] : NULL;
}

void pf_zone_counts_clear(pf_zone_counts *c, bool known)
{
    c->n = c->last = 0;
    c->known = c->has_bytes = known;
}

void pf_zone_counts_free(pf_zone_counts *c)
{
    pf_free(c->at);
    *c = (pf_zone_counts){0};
}
