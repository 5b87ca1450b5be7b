/* Keys to sort by, and where what they belong to is. */
#ifndef PF_SORT_ENTRIES_H
#define PF_SORT_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

typedef struct pf_sort_entry {
    uint64_t key;
    uint64_t at;
} pf_sort_entry;

/* Sorts by key, stable.  Captures are runs of ascending times, one for each ring buffer: those are
 * found and merged, so that what is in order costs one look.  `scratch` has room for n / 2. */
void pf_sort_entries(pf_sort_entry *e, size_t n, pf_sort_entry *scratch);

/* Merges e[0 .. middle) and e[middle .. n), each sorted. */
void pf_sort_entries_merge(pf_sort_entry *e, size_t middle, size_t n, pf_sort_entry *scratch);

#endif
