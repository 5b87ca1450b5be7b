/* Who was made by whom, and when: the ancestors of processes. */
#ifndef PF_FILTER_ANCESTORS_H
#define PF_FILTER_ANCESTORS_H

#include "base/buffer.h"
#include "perfile/record.h"
#include "stage/pids.h"

/* All zeros is empty. */
typedef struct pf_ancestors {
    pf_buffer all;
    bool full; /* there were too many to tell ancestors */
} pf_ancestors;

/* Of a FORK record.  False when there is no memory. */
bool pf_ancestors_note(pf_ancestors *b, const perfile_record *r);
/* Between the last note and the first question. */
void pf_ancestors_settle(pf_ancestors *b);
/* Adds `child` to `needed`, and with it its ancestors as far as they were not there; of each that
 * is new `meet` (may be NULL) is called.  Births later than `end` do not count.  `waiting` is room
 * to work in.  False when there is no memory. */
bool pf_ancestors_need(const pf_ancestors *b, uint32_t child, uint64_t end, pf_pids *needed,
                       pf_buffer *waiting, void (*meet)(void *user, uint32_t pid), void *user);
/* Adds the parents of those that are needed. */
bool pf_ancestors_parents(const pf_ancestors *b, uint64_t end, const pf_pids *needed,
                          pf_pids *parents);
void pf_ancestors_free(pf_ancestors *b);

#endif
