/* Columns of blobs, encoded.  For the encoder's files only. */
#ifndef PF_ARCHIVE_COLUMNS_ENCODE_BLOBS_H
#define PF_ARCHIVE_COLUMNS_ENCODE_BLOBS_H

#include "archive/columns_encode_numbers.h"

/* Scratch memory. */
typedef struct pf_blobs_coder {
    pf_numbers_coder numbers;
    pf_buffer table;  /* uint32_t: hash table of entries, plus 1 */
    pf_buffer starts; /* uint64_t: where the bytes of each entry begin */
    pf_buffer lens;   /* uint64_t: their number */
    pf_buffer ids;    /* uint64_t: of each blob */
    pf_buffer heap;   /* the bytes of all entries */
    pf_buffer words;  /* the same as numbers */
} pf_blobs_coder;

void pf_blobs_coder_free(pf_blobs_coder *c);

/* Writes `n` blobs of the lengths `lens`, whose bytes lie one behind the other in `heap`.  `words`:
 * they are made of 8-byte words that repeat. */
void pf_blobs_encode(pf_blobs_coder *c, pf_streams_out *s, const uint64_t *lens, size_t n,
                     perfile_bytes heap, unsigned strategy, bool words);

#endif
