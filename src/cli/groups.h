/* Counts by a key of several numbers: the table behind `perfile stats`. */
#ifndef CLI_GROUPS_H
#define CLI_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLI_MAX_KEYS = 10 };

/* The counts for one key. */
typedef struct cli_group {
    uint64_t records;
    uint64_t bytes;
    uint64_t samples;
    uint64_t period; /* sum over the samples */
    uint32_t event;  /* index of the samples' event + 1; 0: no sample yet, or of no event */
    bool no_period;  /* the sum means nothing: samples of several events, or without a period */
    uint64_t key[CLI_MAX_KEYS];
} cli_group;

/* A hash table of groups, with open addressing.  All zeros except `n_keys` and `seed` is an empty
 * one.  The seed is random, so that the author of an input cannot choose keys that collide. */
typedef struct cli_groups {
    unsigned n_keys; /* numbers of a key that are used */
    uint64_t seed;
    cli_group *at; /* the groups in the order in which they were added */
    size_t n, cap;
    size_t *slots;  /* index into `at` + 1; 0: a free slot */
    size_t n_slots; /* a power of two, twice `cap` */
    size_t last;    /* index of the group that was counted last */
} cli_groups;

/* Adds `records` and `bytes` to the group of `key`, which is created if it does not exist.  Returns
 * the group, valid until the next call; NULL if there is no memory. */
cli_group *cli_groups_add(cli_groups *g, const uint64_t *key, uint64_t records, uint64_t bytes);

/* Counts a sample of event `index` (UINT32_MAX: of no event) in a group.  Periods of different
 * events count different things: then the sum is marked as meaningless. */
static inline void cli_group_sample(cli_group *g, uint32_t index, bool has_period, uint64_t period)
{
    uint32_t event = index + 1; /* UINT32_MAX wraps to 0; such a sample has no period anyway */
    g->no_period |= !has_period || (g->samples && g->event != event);
    g->samples++;
    g->event = event;
    g->period += period;
}

void cli_groups_free(cli_groups *g);

#endif
