/* Counts by a key of several numbers. */
#ifndef CLI_GROUPS_H
#define CLI_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLI_MAX_KEYS = 8 };

typedef struct cli_group {
    uint64_t records;
    uint64_t bytes;
    uint64_t samples;
    uint64_t period; /* sum over the samples */
    uint32_t event;  /* index + 1 of theirs; 0: there is none yet */
    bool no_period;  /* they are of several events, or do not say it: the sum means nothing */
    uint64_t key[CLI_MAX_KEYS];
} cli_group;

/* All zeros but `n_keys` and `seed` is an empty one.  The seed keeps whoever wrote the input from
 * knowing which keys collide. */
typedef struct cli_groups {
    unsigned n_keys;
    uint64_t seed;
    cli_group *at;
    size_t n, cap;
    size_t *slots; /* position + 1 */
    size_t n_slots;
    size_t last; /* position of the group that was counted last */
} cli_groups;

/* Counts `records` and `bytes` for `key`; NULL when there is no memory.  Valid until the next call.
 */
cli_group *cli_groups_add(cli_groups *g, const uint64_t *key, uint64_t records, uint64_t bytes);

/* Counts a sample of event `index` (or none: UINT32_MAX) for the group. */
static inline void cli_group_sample(cli_group *g, uint32_t index, bool has_period, uint64_t period)
{
    uint32_t event = index + 1; /* none is 0 again, and tells no period */
    g->no_period |= !has_period || (g->samples && g->event != event);
    g->samples++;
    g->event = event;
    g->period += period;
}
void cli_groups_free(cli_groups *g);

#endif
