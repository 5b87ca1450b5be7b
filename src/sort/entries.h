/* Sorting of (key, position) pairs: a stable natural merge sort. */
#ifndef PF_SORT_ENTRIES_H
#define PF_SORT_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

typedef struct pf_sort_entry {
    uint64_t key;
    uint64_t at; /* the record's address or offset; only the user of the entries knows which */
} pf_sort_entry;

/* Sorts by key; entries with equal keys keep their order.  Captures are sequences of ascending
 * times, one for each ring buffer: these are found and merged, so an array that is in order costs
 * one pass.  `scratch` has room for n / 2 entries. */
void pf_sort_entries_sort(pf_sort_entry *e, size_t n, pf_sort_entry *scratch);

/* Merges e[0 .. middle) and e[middle .. n), each of which is sorted; stable.  `scratch` has room
 * for the shorter of the two. */
void pf_sort_entries_merge(pf_sort_entry *e, size_t middle, size_t n, pf_sort_entry *scratch);

#endif
