/* The distinct numbers of a column, and each value as an index of one of them. */
#ifndef PF_PARQUET_DICTIONARY_H
#define PF_PARQUET_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* All zeros is empty. */
typedef struct pf_dictionary {
    pf_buffer distinct; /* uint64_t, in order of first occurrence */
    pf_buffer slots;    /* uint32_t: a hash table of their indices + 1; 0: free */
    size_t n;           /* distinct numbers; 0: gave up */
    size_t runs;        /* runs of equal values */
} pf_dictionary;

void pf_dictionary_free(pf_dictionary *d);

/* Fills `indexes` with the indices of the `n` values.  Gives up, with d->n 0, if more than `most`
 * or half of them are distinct, if nearly all of the first ones are, or if there are too many
 * collisions.  Returns false when out of memory. */
bool pf_dictionary_make(pf_dictionary *d, const uint64_t *values, size_t n, size_t most,
                        uint32_t *indexes);

#endif
