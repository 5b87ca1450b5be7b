/* Distinct numbers of a column, and each value as a position among them. */
#ifndef PF_PARQUET_DICTIONARY_H
#define PF_PARQUET_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* All zeros is empty. */
typedef struct pf_dictionary {
    pf_buffer distinct; /* uint64_t, in the order in which they came */
    pf_buffer slots;    /* uint32_t: a hash table of their positions + 1; 0: free */
    size_t n;           /* distinct numbers; 0: it was not worth while */
    size_t runs;        /* of equal values, one after the other */
} pf_dictionary;

void pf_dictionary_free(pf_dictionary *d);

/* Fills `indexes` with the positions of the `n` values.  Gives up, with d->n 0, where more than
 * `most` or half of them are distinct, or nearly all of the first ones, or where they are made to
 * collide.  False: there is no
 * memory. */
bool pf_dictionary_make(pf_dictionary *d, const uint64_t *values, size_t n, size_t most,
                        uint32_t *indexes);

#endif
