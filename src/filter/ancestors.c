/* Parents of processes: an array of FORKs, sorted by child, which is searched for each process and
 * its parents in turn. A pid may have several parents, as Linux reuses pids; all of them are
 * needed. */
#include "filter/filter.h"

#include <stdlib.h>

#include "perfile/records.h"

enum { MOST_BYTES = 32 << 20 }; /* of FORKs: 2 million */

/* A FORK of a process. */
typedef struct fork_entry {
    uint64_t time; /* 0: the record has none, the process existed before the recording */
    uint32_t child, parent;
} fork_entry;

/* A fork of a thread has the same pid on both sides. */
bool pf_ancestors_note(pf_ancestors *b, const perfile_record *r)
{
    perfile_fork fork;
    if (perfile_fork_decode(r, &fork, sizeof fork, NULL) != PERFILE_OK || fork.pid == fork.ppid)
        return true;
    uint64_t time = perfile_record_time(r);
    const fork_entry one = {time == PERFILE_NO_TIME ? 0 : time, fork.pid, fork.ppid};
    /* With `full` ancestors are unknown; the caller keeps the side-band of all processes. */
    b->full |= b->all.len >= MOST_BYTES;
    return b->full || pf_buffer_append(&b->all, &one, sizeof one);
}

/* By child, parent and time. */
static int by_child(const void *a, const void *b)
{
    const fork_entry *x = a, *y = b;
    if (x->child != y->child)
        return x->child < y->child ? -1 : 1;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

/* Of equal pairs of child and parent the earliest is enough: it counts for the most ends. */
void pf_ancestors_sort(pf_ancestors *b)
{
    fork_entry *all = (fork_entry *)(void *)b->all.ptr;
    size_t n = b->all.len / sizeof *all, kept = 0;
    if (n == 0)
        return;
    qsort(all, n, sizeof *all, by_child);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || all[i].child != all[kept - 1].child ||
            all[i].parent != all[kept - 1].parent)
            all[kept++] = all[i];
    b->all.len = kept * sizeof *all;
}

/* Index of the first FORK of `child`; if there is none, of the next greater child. */
static size_t first_fork_of(const fork_entry *all, size_t n, uint32_t child)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all[middle].child < child)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* `waiting` is a stack of processes whose parents are still to be added; no recursion. */
bool pf_ancestors_add_needed(const pf_ancestors *b, uint32_t child, uint64_t end, pf_pids *needed,
                             pf_buffer *waiting, void (*on_added)(void *user, uint32_t pid),
                             void *user)
{
    const fork_entry *all = (const fork_entry *)(const void *)b->all.ptr;
    size_t n = b->all.len / sizeof *all;
    bool is_new;
    pf_buffer_clear(waiting);
    if (!pf_pids_add(needed, child, &is_new))
        return false;
    if (is_new && !pf_buffer_append(waiting, &child, sizeof child))
        return false;
    while (waiting->len) {
        memcpy(&child, waiting->ptr + waiting->len - sizeof child, sizeof child);
        waiting->len -= sizeof child;
        if (on_added)
            on_added(user, child);
        for (size_t i = first_fork_of(all, n, child); i < n && all[i].child == child; i++) {
            if (all[i].time > end)
                continue;
            if (!pf_pids_add(needed, all[i].parent, &is_new))
                return false;
            if (is_new && !pf_buffer_append(waiting, &all[i].parent, sizeof child))
                return false;
        }
    }
    return true;
}

bool pf_ancestors_parents(const pf_ancestors *b, uint64_t end, const pf_pids *needed,
                          pf_pids *parents)
{
    const fork_entry *all = (const fork_entry *)(const void *)b->all.ptr;
    size_t n = b->all.len / sizeof *all;
    bool ok = true, is_new;
    for (size_t i = 0; i < n && ok; i++)
        if (all[i].time <= end && pf_pids_have(needed, all[i].child))
            ok = pf_pids_add(parents, all[i].parent, &is_new);
    return ok;
}

void pf_ancestors_free(pf_ancestors *b)
{
    pf_buffer_free(&b->all);
}
