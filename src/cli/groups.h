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

/* Counts `records` and `bytes` for `key`; false when there is no memory. */
bool cli_groups_add(cli_groups *g, const uint64_t *key, uint64_t records, uint64_t bytes);
void cli_groups_free(cli_groups *g);

#endif
