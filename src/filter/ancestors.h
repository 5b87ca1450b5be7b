/* Parents of processes, from FORK records: which processes are the ancestors of others. */
#ifndef PF_FILTER_ANCESTORS_H
#define PF_FILTER_ANCESTORS_H

#include "base/buffer.h"
#include "perfile/record.h"
#include "stage/pids.h"

/* All zeros is empty. */
typedef struct pf_ancestors {
    pf_buffer all; /* one entry for each FORK of a process */
    bool full;     /* the limit was reached: ancestors are not known */
} pf_ancestors;

/* Adds a FORK record; forks of threads are ignored.  False: out of memory. */
bool pf_ancestors_note(pf_ancestors *b, const perfile_record *r);
/* Sorts; call it after the last note and before the first search. */
void pf_ancestors_sort(pf_ancestors *b);
/* Adds `child` and all its ancestors to `needed`, without those that are in it, and calls
 * on_added(user, pid) for each process that was added, if `on_added` is not NULL.  FORKs later than
 * `end` do not count.  `waiting` is memory to work in, which the caller keeps between calls. False:
 * out of memory. */
bool pf_ancestors_add_needed(const pf_ancestors *b, uint32_t child, uint64_t end, pf_pids *needed,
                             pf_buffer *waiting, void (*on_added)(void *user, uint32_t pid),
                             void *user);
/* Adds the parents of all processes in `needed` to `parents`. */
bool pf_ancestors_parents(const pf_ancestors *b, uint64_t end, const pf_pids *needed,
                          pf_pids *parents);
void pf_ancestors_free(pf_ancestors *b);

#endif
