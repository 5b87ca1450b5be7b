/* A decoder of the codec COLUMNS.  For the decoder's files only: streams.c reads the head,
 * numbers.c the columns, decode.c puts records together and has what others call. */
#ifndef PF_ARCHIVE_COLUMNS_DECODE_H
#define PF_ARCHIVE_COLUMNS_DECODE_H

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "columns/columns.h"

/* Memory of one payload while it is decoded: given out piece by piece, taken back all at once, and
 * kept for the next payload.  For the decoder's files only. */

typedef struct pf_pool_block pf_pool_block;

/* All zeros is an empty pool. */
typedef struct pf_pool {
    pf_pool_block *blocks; /* the newest first */
    uint8_t *at;           /* the next free byte of the newest */
    size_t left;           /* bytes that are free from `at` on */
    size_t total;          /* bytes of all blocks */
} pf_pool;

/* `n` bytes, aligned for any type and not initialised; they live until pf_pool_reset().  NULL: no
 * memory. */
void *pf_pool_get(pf_pool *p, size_t n);

/* Takes everything back.  What the pool holds afterwards is one block, or nothing. */
void pf_pool_reset(pf_pool *p);

/* All pieces together will have about `n` bytes: a pool that holds nothing gets one block for
 * them, of which only what is used costs memory. */
void pf_pool_expect(pf_pool *p, size_t n);

void pf_pool_free(pf_pool *p);

/* The streams of a payload of the codec COLUMNS: what the numbers and blobs of its columns are read
 * from.  For the decoder's files only. */

/* A payload that is being read.  The head and small streams are in frame 0, large streams have a
 * frame each.  After the first failure `bad` says what was wrong, and every read yields zeros. */
typedef struct pf_streams {
    ZSTD_DCtx *zstd;
    pf_pool pool; /* of everything that is decoded of this payload */
    const pf_columns_input *input;
    perfile_error *err;
    const char *bad;                  /* NULL: nothing was wrong */
    perfile_status status;            /* with `bad`: of which kind it was */
    size_t raw_len;                   /* decoded bytes of the chunk: the bound of every count */
    const uint8_t *head, *head_end;   /* the head, from the next byte on */
    const uint8_t *small, *small_end; /* small streams, from the next one on */
    const uint8_t *table;             /* sizes and checksums of the frames */
    uint32_t n_frames, frame;         /* all but frame 0, and the next of them */
    size_t offset;                    /* of the next frame in the payload */
} pf_streams;

/* Begins a payload: reads its table and its frame 0.  A failure is in s->bad. */
void pf_streams_open(pf_streams *s, const pf_columns_input *input, size_t raw_len,
                     perfile_error *err);

/* Sets `bad` unless it is set; the status is PERFILE_E_CORRUPT. */
void pf_streams_fail(pf_streams *s, const char *why);

/* Memory of the pool.  NULL: there is none, and `bad` is set. */
void *pf_streams_memory(pf_streams *s, size_t n);

/* A byte, and an unsigned LEB128 number of at most 64 bits, of the head. */
uint8_t pf_streams_u8(pf_streams *s);
uint64_t pf_streams_v(pf_streams *s);

/* A LEB128 number of a stream.  False: it runs past the end, or has more than 64 bits. */
bool pf_leb128(const uint8_t **at, const uint8_t *end, uint64_t *v);

/* The next stream, of `least` to `most` bytes; they stay until the next payload.  If it is not
 * `wanted`, it is passed by without being read, whatever its size is: `len` is that, and `ptr`
 * NULL.  Empty after a failure. */
perfile_bytes pf_streams_next(pf_streams *s, size_t least, size_t most, bool wanted);

/* True if all of the head, the small streams and the frames was read or passed by. */
bool pf_streams_at_end(const pf_streams *s);

/* Columns of numbers, read from the streams of a payload, block by block.  For the decoder's files
 * only. */

enum { PF_NUMBERS_BLOCK = 128 /* numbers that are decoded at once */ };

/* Numbers that are being decoded, from front to back. */
typedef struct pf_numbers {
    uint8_t how;              /* PF_NUMBERS_…; of DELTA: of its differences */
    bool differences;         /* they are stored, of DELTA and VINT */
    uint8_t width;            /* bytes of a number: 1, 2, 4 or 8 */
    uint8_t count;            /* planes; DICT: bytes of an index */
    bool packed;              /* DICT: indexes stand one after the other, in planes[0] */
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

/* Decodes all numbers that are left to `out`, `width` bytes each, little-endian. */
void pf_numbers_all(pf_streams *s, pf_numbers *c, uint8_t *out);

/* A column of a payload: numbers or blobs that are taken from front to back.  For the decoder's
 * files only. */

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
    /* Blobs: their bytes one after the other; with a dictionary those of its entries. */
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

/* Sets s->bad unless every value was taken, every entry introduced and every byte used. */
void pf_column_check_end(pf_streams *s, const pf_column *c);

/* True if a number of a record, or a column, may have so many bytes. */
static inline bool pf_is_width(unsigned width)
{
    return width == 1 || width == 2 || width == 4 || width == 8;
}

enum { PF_RECORD_HEADER = 8, PF_MOST_RECORD = 65535, PF_NO_CLASS = 255 };

/* One operation of a class. */
typedef struct pf_op {
    uint8_t what;
    uint8_t width; /* of WORD; of the prefix of BLOB: 0, 2, 4 or 8 */
    bool wanted;   /* false: nothing is written, but zeros to prefixes of blobs */
    uint8_t shift; /* of BLOB: the unit is 1 << shift; 255: it is no power of two */
    uint32_t column;
    uint64_t unit, extra; /* of BLOB: the prefix is (length - extra) / unit */
    uint64_t offset;      /* of REF: in the blob */
} pf_op;

typedef struct pf_class {
    uint32_t type;
    uint16_t misc;
    bool apart;
    /* No two operations take from one column, and a REF has the BLOB of its column behind it: then
     * the order operation by operation, for many records, takes the same values as the order record
     * by record. */
    bool regular;
    uint32_t first, n; /* of its operations */
    uint32_t n_blobs;  /* BLOB operations */
    uint32_t size;     /* of a record, without the bytes of blobs */
} pf_class;

/* Where the streams were read to in front of a column. */
typedef struct pf_columns_mark {
    const uint8_t *head, *small;
    size_t offset, values; /* `values`: of the column */
} pf_columns_mark;

struct pf_columns_decoder {
    pf_columns_piece *piece; /* NULL: the bytes are shown when all are there */
    void *piece_user;
    const uint8_t *shown; /* end of the last piece */
    pf_streams streams;
    bool apart_only; /* the other records are not put together */
    pf_op ops[PF_COLUMNS_MOST_OPS];
    pf_class classes[PF_COLUMNS_MOST_CLASSES];
    uint32_t n_ops, n_classes;
    /* By class number.  Classes of one shape have the same operations, and differ in what stands in
     * the header only: so do samples of the kernel and of user space.  Numbers of no class have the
     * shape and the kind PF_NO_CLASS. */
    uint8_t shape[256];
    uint8_t kind[256]; /* 1: apart */
    uint32_t size[256];
    bool has_apart; /* there are classes that are apart */
    size_t n_records;
    const uint8_t *class_of;  /* the class of each record; NULL: all have class_of_all */
    uint8_t class_of_all;     /* then */
    bool has_gaps;            /* the payload says the sizes of gaps */
    size_t n_gaps;            /* then: how many there are */
    pf_column gaps;           /* then: their sizes */
    pf_column *columns;       /* room for the most that a payload had so far */
    uint32_t cap_columns;     /* of them */
    uint32_t n_columns;       /* of this payload */
    pf_columns_budget budget; /* of the columns */
    pf_columns_mark
        *marks; /* of each column, and of the end, for a list of what they cost; else NULL */
};

/* Reads the head and the streams that are wanted.  A failure is in d->streams.bad. */
void pf_columns_read_head(pf_columns_decoder *d);

/* Begins a payload, and reads them. */
void pf_columns_begin(pf_columns_decoder *d, const pf_columns_input *input, bool apart_only,
                      size_t raw_len, perfile_error *err);

/* What a failure is for the caller; PERFILE_OK: there was none. */
perfile_status pf_columns_outcome(const pf_columns_decoder *d, perfile_error *err);

/* The class number of record `i`, which is below d->n_records. */
static inline uint8_t pf_class_of(const pf_columns_decoder *d, size_t i)
{
    return d->class_of ? d->class_of[i] : d->class_of_all;
}

/* How many records from number `i` on have its shape. */
size_t pf_class_run(const pf_columns_decoder *d, size_t i);

/* Passes by records from number `i` on whose class is apart, or is not; returns the number of the
 * first other one, d->n_records if there is none.  Adds their bytes to *bytes, without those of
 * blobs.  A class number that there is not sets d->streams.bad. */
size_t pf_class_pass(pf_columns_decoder *d, size_t i, bool apart, uint64_t *bytes);

/* The next number of d->gaps. */
uint64_t pf_next_gap(pf_columns_decoder *d);

/* Puts together `n` records of one shape, from number `i` on, at `to`; returns their end.  NULL:
 * they do not fit before `end`, or cannot be put together; d->streams.bad is set. */
uint8_t *pf_put_records(pf_columns_decoder *d, size_t i, size_t n, bool big, uint8_t *to,
                        uint8_t *end);

#endif
