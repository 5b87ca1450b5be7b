/* Rows that have the same names are one row: two events may have one name, and a file may have been
 * mapped under names of which only a part is shown.  So what is printed is what an option selects
 * that is given the printed name. */
#include <stdlib.h>
#include <string.h>

#include "cli/stats/key.h"

/* The name of a value, and the group that has it. */
typedef struct named {
    perfile_bytes name;
    uint64_t value;
    size_t group;
} named;

/* qsort() order: by name, then by value. */
static int compare(const void *a, const void *b)
{
    const named *x = a, *y = b;
    const size_t n = x->name.len < y->name.len ? x->name.len : y->name.len;
    const int order = n ? memcmp(x->name.ptr, y->name.ptr, n) : 0;
    if (order)
        return order;
    if (x->name.len != y->name.len)
        return x->name.len < y->name.len ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static bool same_name(const named *a, const named *b)
{
    return a->name.len == b->name.len &&
           (!a->name.len || memcmp(a->name.ptr, b->name.ptr, a->name.len) == 0);
}

/* Puts the least value of each name in the place of the others, in key `k` of all groups.  *changed
 * becomes true if there are others.  False if there is no memory. */
static bool join_values(cli_counts *counts, unsigned k, bool *changed)
{
    cli_groups *g = &counts->groups;
    named *all = malloc((g->n + 1) * sizeof *all);
    size_t n = 0;
    if (!all)
        return false;
    for (size_t i = 0; i < g->n; i++) {
        named x = {.value = g->at[i].key[k], .group = i};
        if (cli_key_text(counts, k, x.value, &x.name))
            all[n++] = x;
    }
    qsort(all, n, sizeof *all, compare);
    for (size_t i = 1, first = 0; i < n; i++) {
        if (!same_name(&all[i], &all[first])) {
            first = i;
            continue;
        }
        *changed |= all[i].value != all[first].value;
        g->at[all[i].group].key[k] = all[first].value;
    }
    free(all);
    return true;
}

bool cli_counts_join(cli_counts *counts)
{
    bool changed = false;
    cli_groups joined = {.n_keys = counts->groups.n_keys, .seed = counts->groups.seed};
    for (unsigned k = 0; k < counts->keys->n; k++)
        if (!join_values(counts, k, &changed))
            return false;
    for (size_t i = 0; changed && i < counts->groups.n; i++) {
        const cli_group *from = &counts->groups.at[i];
        cli_group *to = cli_groups_add(&joined, from->key, from->records, from->bytes);
        if (!to) {
            cli_groups_free(&joined);
            return false;
        }
        to->samples += from->samples;
        to->period += from->period;
        to->no_period |= from->no_period;
        to->event = from->event ? from->event : to->event;
    }
    if (changed) {
        cli_groups_free(&counts->groups);
        counts->groups = joined;
    }
    return true;
}
