/* Columns of numbers, encoded.  For the encoder's files only. */
#ifndef PF_ARCHIVE_COLUMNS_ENCODE_NUMBERS_H
#define PF_ARCHIVE_COLUMNS_ENCODE_NUMBERS_H

#include "archive/columns_encode_streams.h"

enum { /* what is known about a column before it is looked at: see format/columns.def */
       PF_STRATEGY_TRIAL = 0,
       PF_STRATEGY_DELTA,
       PF_STRATEGY_DICT,
       PF_STRATEGY_VINT,
       PF_STRATEGY_BULK,
       PF_STRATEGY_PLANES,
       PF_STRATEGY_WORDS /* DICT with one stream of indexes: for numbers that come in sequences */
};

enum {
    PF_NUMBERS_DICT_PACKED = 16 /* added to the number of planes: one stream has all indexes */
};

/* Scratch memory. */
typedef struct pf_numbers_coder {
    ZSTD_CCtx *zstd;       /* for trials */
    pf_buffer bytes;       /* a stream in the making: planes, differences */
    pf_buffer packed;      /* of a trial */
    pf_buffer differences; /* uint64_t */
    pf_buffer table;       /* uint32_t: hash table of positions in `entries`, plus 1 */
    pf_buffer entries;     /* uint64_t: distinct numbers, in the order in which they were seen */
    pf_buffer indexes;     /* uint32_t: of each number */
    pf_buffer order;       /* for sorting: two arrays */
    pf_buffer ranks;       /* uint32_t: of each entry */
} pf_numbers_coder;

void pf_numbers_coder_free(pf_numbers_coder *c);

/* Writes `n` numbers of `width` bytes (1, 2, 4 or 8), whose higher bytes are 0. */
void pf_numbers_encode(pf_numbers_coder *c, pf_streams_out *s, const uint64_t *v, size_t n,
                       unsigned width, unsigned strategy);

#endif
