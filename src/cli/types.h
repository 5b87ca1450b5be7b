/* A set of record types, as --type takes them. */
#ifndef CLI_TYPES_H
#define CLI_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zeros is empty, which means every type. */
typedef struct cli_types {
    bool any;
    bool low[256];
    uint32_t *high; /* those that do not fit above */
    size_t n_high;
} cli_types;

/* Adds names or numbers, separated by commas, as --type of `command` has them: CLI_CONTINUE, or
 * CLI_USAGE or CLI_FAILED, said. */
int cli_types_add(const char *command, cli_types *t, const char *list);

static inline bool cli_types_has(const cli_types *t, uint32_t type)
{
    if (!t->any)
        return true;
    if (type < 256)
        return t->low[type];
    for (size_t i = 0; i < t->n_high; i++)
        if (t->high[i] == type)
            return true;
    return false;
}

void cli_types_free(cli_types *t);

#endif
