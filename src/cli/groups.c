/* The hash table of groups.h: linear probing, at most half full, so that a free slot is always
 * found. */
#include "cli/groups.h"

#include <stdlib.h>
#include <string.h>

/* Multiplies by an odd constant and folds the upper half down for each number of the key. */
static uint64_t hash(uint64_t seed, const uint64_t *key, unsigned n)
{
    uint64_t h = seed;
    for (unsigned i = 0; i < n; i++) {
        h = (h ^ key[i]) * 0xd6e8feb86659fd93;
        h ^= h >> 32;
    }
    return h;
}

/* Returns the slot that has `key`, or the free slot where it belongs. */
static size_t *slot_of(const cli_groups *g, const uint64_t *key)
{
    size_t at = (size_t)hash(g->seed, key, g->n_keys) & (g->n_slots - 1);
    while (g->slots[at] && memcmp(g->at[g->slots[at] - 1].key, key, g->n_keys * sizeof *key) != 0)
        at = (at + 1) & (g->n_slots - 1);
    return &g->slots[at];
}

/* Doubles the table and inserts all groups again; false, with all groups still valid, if
 * there is no memory. */
static bool grow(cli_groups *g)
{
    size_t n_slots = g->n_slots ? g->n_slots * 2 : 256;
    size_t *slots = calloc(n_slots, sizeof *slots);
    cli_group *at = realloc(g->at, n_slots / 2 * sizeof *at);
    if (at)
        g->at = at;
    if (!slots || !at) {
        free(slots);
        return false;
    }
    free(g->slots);
    g->slots = slots;
    g->n_slots = n_slots;
    g->cap = n_slots / 2;
    for (size_t i = 0; i < g->n; i++)
        *slot_of(g, g->at[i].key) = i + 1;
    return true;
}

/* Makes g->last the group of `key`, which is added if necessary; false if there is no memory. */
static bool find_group(cli_groups *g, const uint64_t *key)
{
    if (g->n == g->cap && !grow(g))
        return false;
    size_t *slot = slot_of(g, key);
    if (!*slot) {
        cli_group *fresh = &g->at[g->n++];
        *fresh = (cli_group){0};
        memcpy(fresh->key, key, g->n_keys * sizeof *key);
        *slot = g->n;
    }
    g->last = *slot - 1;
    return true;
}

cli_group *cli_groups_add(cli_groups *g, const uint64_t *key, uint64_t records, uint64_t bytes)
{
    /* Records that follow each other often have the same key: no search for them. */
    if ((g->n == 0 || memcmp(g->at[g->last].key, key, g->n_keys * sizeof *key) != 0) &&
        !find_group(g, key))
        return NULL;
    g->at[g->last].records += records;
    g->at[g->last].bytes += bytes;
    return &g->at[g->last];
}

void cli_groups_free(cli_groups *g)
{
    free(g->at);
    free(g->slots);
    *g = (cli_groups){.n_keys = g->n_keys, .seed = g->seed};
}
