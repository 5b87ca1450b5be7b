/* A column of a payload: numbers or blobs that are taken from front to back.  For the decoder's
 * files only. */
#ifndef PF_ARCHIVE_COLUMNS_VALUES_H
#define PF_ARCHIVE_COLUMNS_VALUES_H

#include "archive/columns_numbers.h"

/* A blob: where it is in the heap of its column. */
typedef struct pf_blob {
    uint32_t offset, len;
} pf_blob;

/* What may still be claimed of the size of a chunk. */
typedef struct pf_columns_budget {
    size_t bytes; /* of values */
    size_t blobs;
} pf_columns_budget;

typedef struct pf_column {
    uint8_t width; /* 0: blobs */
    bool by_dictionary;
    bool wanted;         /* the caller: values are needed; of blobs, their lengths */
    bool wants_heap;     /* the caller: the bytes of blobs are needed */
    bool apart, other;   /* the caller: classes that are apart use it; classes that are not */
    uint32_t last_class; /* scratch of the caller */
    size_t left;         /* values that were not taken yet */
    size_t at, ready;    /* the next value in the block, and the end of those that are there */
    pf_numbers numbers;  /* values; of blobs their lengths or, with a dictionary, their ids */
    /* Blobs: their bytes one behind the other; with a dictionary those of its entries. */
    perfile_bytes heap;
    size_t heap_used;              /* without a dictionary: bytes of blobs that were decoded */
    const uint32_t *offsets;       /* of entries, and the end of the last */
    uint32_t n_entries, n_entered; /* of these an id has introduced */
    union {
        uint64_t values[PF_NUMBERS_BLOCK];
        pf_blob blobs[PF_NUMBERS_BLOCK];
    } block;
} pf_column;

/* Reads the head of a column, and those of its streams that are wanted. */
void pf_column_open(pf_streams *s, pf_columns_budget *budget, pf_column *c);

/* Decodes the next block, when at == ready.  False: there are no more values, or a failure. */
bool pf_column_fill(pf_streams *s, pf_column *c);

/* True if there is a next value: it is number `at` of the block. */
static inline bool pf_column_has(pf_streams *s, pf_column *c)
{
    return c->at < c->ready || pf_column_fill(s, c);
}

/* Takes `n` values, at most c->left, and does nothing with them. */
void pf_column_skip(pf_streams *s, pf_column *c, size_t n);

/* Sets s->bad unless every value was taken, every entry introduced and every byte used. */
void pf_column_check_end(pf_streams *s, const pf_column *c);

/* True if a number of a record, or a column, may have so many bytes. */
static inline bool pf_is_width(unsigned width)
{
    return width == 1 || width == 2 || width == 4 || width == 8;
}

#endif
