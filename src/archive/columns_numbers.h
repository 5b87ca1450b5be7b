/* Columns of numbers and of blobs, read from the streams of a payload.  For the decoder's files
 * only.
 */
#ifndef PF_ARCHIVE_COLUMNS_NUMBERS_H
#define PF_ARCHIVE_COLUMNS_NUMBERS_H

#include "archive/columns_streams.h"

/* Numbers of `width` bytes each, little-endian, one every `stride` bytes; a stride of 0: all are
 * equal, and one is stored. */
typedef struct pf_numbers {
    const uint8_t *ptr;
    size_t stride;
    pf_buffer memory;    /* of `ptr`, if it was made here */
    uint8_t constant[8]; /* of `ptr`, if all are equal */
} pf_numbers;

/* Scratch memory of all columns. */
typedef struct pf_numbers_scratch {
    pf_buffer planes[8];
    pf_buffer stream;
    pf_buffer entries;
} pf_numbers_scratch;

/* Reads `n` numbers of `width` bytes (1, 2, 4 or 8).  The caller has compared n * width with what
 * the chunk may have. */
void pf_numbers_read(pf_streams *s, pf_numbers_scratch *scratch, size_t n, unsigned width,
                     pf_numbers *out);

#endif
