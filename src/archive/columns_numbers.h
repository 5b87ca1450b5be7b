/* Columns of numbers, read from the streams of a payload, block by block.  For the decoder's files
 * only. */
#ifndef PF_ARCHIVE_COLUMNS_NUMBERS_H
#define PF_ARCHIVE_COLUMNS_NUMBERS_H

#include "archive/columns_streams.h"

enum { PF_NUMBERS_BLOCK = 128 /* numbers that are decoded at once */ };

/* Numbers that are being decoded, from front to back. */
typedef struct pf_numbers {
    uint8_t how;              /* PF_NUMBERS_…; of DELTA: of its differences */
    bool differences;         /* they are stored, of DELTA and VINT */
    uint8_t width;            /* bytes of a number: 1, 2, 4 or 8 */
    uint8_t count;            /* planes; DICT: bytes of an index */
    bool packed;              /* DICT: indexes stand one behind the other, in planes[0] */
    size_t left;              /* numbers that were not decoded yet */
    size_t next;              /* the first of them */
    const uint8_t *planes[8]; /* PLAIN: all bytes in planes[0]; VINT: the next byte in planes[0] */
    const uint8_t *end;       /* VINT: of its stream */
    uint64_t constant;        /* CONST */
    uint64_t before;          /* DELTA, VINT: the number in front of the next one */
    const uint64_t *entries;  /* DICT */
    uint64_t n_entries;
} pf_numbers;

/* Reads the head and the streams of `n` numbers of `width` bytes (1, 2, 4 or 8); streams that are
 * not `wanted` are passed by, there are no blocks then, and `n` does not matter.  The caller has
 * compared n * width with what the chunk may have. */
void pf_numbers_open(pf_streams *s, size_t n, unsigned width, bool wanted, pf_numbers *c);

/* Decodes the next numbers to `block`: PF_NUMBERS_BLOCK, or fewer at the end; returns how many, 0
 * after a failure.  Bits above the width of a number are undefined.  A constant column fills all of
 * the block. */
size_t pf_numbers_next(pf_streams *s, pf_numbers *c, uint64_t *block);

/* Passes by up to `n` numbers without decoding them, if they can be had in any order; returns how
 * many: `n`, or 0. */
size_t pf_numbers_pass(pf_numbers *c, size_t n);

/* Decodes all numbers that are left to `out`, `width` bytes each, little-endian. */
void pf_numbers_all(pf_streams *s, pf_numbers *c, uint8_t *out);

#endif
