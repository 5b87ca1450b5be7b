/* The distinct numbers of a column, and where each of its numbers is among them.  For the encoder's
 * files only. */
#ifndef PF_ARCHIVE_COLUMNS_ENCODE_DICT_H
#define PF_ARCHIVE_COLUMNS_ENCODE_DICT_H

#include "archive/columns_encode_numbers.h"

/* All in memory of the coder, valid until its next use. */
typedef struct pf_dict {
    uint32_t n;              /* entries; 0: too many to be worth it */
    const uint64_t *entries; /* in the order in which they are stored */
    const uint32_t *indexes; /* for each number, a position in … */
    const uint32_t *ranks;   /* … the position of the entry in `entries` */
    uint64_t cost;           /* bits of all indexes, and of the entries, as estimated */
} pf_dict;

/* Makes the dictionary of `n` numbers.  False: no memory. */
bool pf_dict_make(pf_numbers_coder *c, const uint64_t *v, size_t n, pf_dict *dict);

/* Bits that an entropy coder needs for bytes that occur so often: the lower bound for bytes that do
 * not depend on each other. */
uint64_t pf_entropy_bits(const uint32_t counts[256]);

#endif
