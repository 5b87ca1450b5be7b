/* The decoder of the codec COLUMNS.  For its own files only: streams.c reads the streams and the
 * head, numbers.c reads the columns, decode.c rebuilds the records and has the functions of
 * columns.h. */
#ifndef PF_ARCHIVE_COLUMNS_DECODE_H
#define PF_ARCHIVE_COLUMNS_DECODE_H

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "columns/columns.h"

/* The pool: memory of one payload while it is decoded.  Pieces are allocated one by one, released
 * all at once, and reused for the next payload. */

typedef struct pf_pool_block pf_pool_block;

/* All zeros is an empty pool. */
typedef struct pf_pool {
    pf_pool_block *blocks; /* the newest first */
    uint8_t *at;           /* the next free byte of the newest block */
    size_t left;           /* free bytes from `at` on */
    size_t total;          /* bytes of all blocks */
} pf_pool;

/* Returns `n` bytes, aligned for any type and uninitialized.  They live until pf_pool_reset().
 * Returns NULL when out of memory. */
void *pf_pool_get(pf_pool *p, size_t n);

/* Releases all pieces.  The pool keeps at most one block. */
void pf_pool_reset(pf_pool *p);

/* Announces that all pieces together will have about `n` bytes.  An empty pool then gets one block
 * of this size; its untouched pages cost no memory. */
void pf_pool_expect(pf_pool *p, size_t n);

void pf_pool_free(pf_pool *p);

/* The streams of a payload: the encoded numbers and blobs of its columns. */

/* A payload that is being read.  The head and the small streams are in frame 0, each large stream
 * has a frame of its own.  After the first failure `bad` is set, and every read yields zeros. */
typedef struct pf_streams {
    ZSTD_DCtx *zstd;
    pf_pool pool; /* everything that is decoded of this payload */
    const pf_columns_input *input;
    perfile_error *err;
    const char *bad;                  /* the first failure; NULL: none */
    perfile_status status;            /* the kind of failure, if `bad` */
    size_t raw_len;                   /* decoded bytes of the chunk: the limit of every count */
    const uint8_t *head, *head_end;   /* the unread part of the head */
    const uint8_t *small, *small_end; /* the unread small streams */
    const uint8_t *table;             /* sizes and checksums of the frames */
    uint32_t n_frames, frame; /* frames without frame 0, and the number of the last one used */
    size_t offset;            /* of the next frame in the payload */
} pf_streams;

/* Begins a payload: reads its table and frame 0.  A failure is in s->bad. */
void pf_streams_open(pf_streams *s, const pf_columns_input *input, size_t raw_len,
                     perfile_error *err);

/* Sets `bad` and the status PERFILE_E_CORRUPT, unless `bad` is set already. */
void pf_streams_fail(pf_streams *s, const char *why);

/* Returns memory of the pool, or NULL when out of memory or after a failure; `bad` is set then. */
void *pf_streams_memory(pf_streams *s, size_t n);

/* Read a byte, or an unsigned LEB128 number of at most 64 bits, from the head. */
uint8_t pf_streams_u8(pf_streams *s);
uint64_t pf_streams_v(pf_streams *s);

/* Reads a LEB128 number.  Returns false if it exceeds `end`, or has more than 64 bits. */
bool pf_leb128(const uint8_t **at, const uint8_t *end, uint64_t *v);

/* Returns the next stream, which must have `least` to `most` bytes; it is valid until the next
 * payload.  A stream that is not `wanted` is skipped without being read, whatever its size; `ptr`
 * is NULL then and `len` its size.  Returns an empty stream after a failure. */
perfile_bytes pf_streams_next(pf_streams *s, size_t least, size_t most, bool wanted);

/* Returns true if the head, the small streams and the frames were all read or skipped. */
bool pf_streams_at_end(const pf_streams *s);

/* Columns of numbers, decoded block by block. */

enum { PF_NUMBERS_BLOCK = 128 /* numbers decoded at once */ };

/* Numbers that are being decoded, from first to last. */
typedef struct pf_numbers {
    uint8_t how;              /* PF_NUMBERS_…; DELTA: that of its differences */
    bool differences;         /* differences are stored (DELTA and VINT) */
    uint8_t width;            /* bytes of a number: 1, 2, 4 or 8 */
    uint8_t count;            /* planes; DICT: bytes of an index */
    bool packed;              /* DICT: all indexes are in planes[0], one after the other */
    size_t left;              /* numbers not decoded yet */
    size_t next;              /* position of the first of them */
    const uint8_t *planes[8]; /* PLAIN: all bytes in planes[0]; VINT: the next byte in planes[0] */
    const uint8_t *end;       /* VINT: end of its stream */
    uint64_t constant;        /* CONST */
    uint64_t before;          /* DELTA, VINT: the last decoded number */
    const uint64_t *entries;  /* DICT */
    uint64_t n_entries;
} pf_numbers;

/* Reads the head and the streams of `n` numbers of `width` bytes (1, 2, 4 or 8).  If they are not
 * `wanted`, the streams are skipped, no number can be decoded, and `n` is ignored.  The caller has
 * checked n * width against the size of the chunk. */
void pf_numbers_open(pf_streams *s, size_t n, unsigned width, bool wanted, pf_numbers *c);

/* Decodes the next numbers to `block`: PF_NUMBERS_BLOCK, or fewer at the end.  Returns their count;
 * 0 after a failure.  Bits above the width of a number are undefined.  A constant column fills the
 * whole block. */
size_t pf_numbers_next(pf_streams *s, pf_numbers *c, uint64_t *block);

/* Decodes all remaining numbers to `out`, `width` bytes each, little-endian. */
void pf_numbers_all(pf_streams *s, pf_numbers *c, uint8_t *out);

/* Columns: numbers or blobs that are taken from first to last. */

/* A blob: its range in the heap of its column. */
typedef struct pf_blob {
    uint32_t offset, len;
} pf_blob;

/* How much of the size of a chunk columns may still claim. */
typedef struct pf_columns_budget {
    size_t bytes; /* of values */
    size_t blobs;
} pf_columns_budget;

typedef struct pf_column {
    uint8_t width; /* 0: blobs */
    bool by_dictionary;
    bool wanted;         /* set by the caller: the values are needed; blobs: their lengths */
    bool wants_heap;     /* set by the caller: the bytes of blobs are needed */
    bool apart, other;   /* set by the caller: used by side-band classes, by other classes */
    uint32_t last_class; /* scratch of the caller */
    size_t left;         /* values not taken yet */
    size_t at, ready;    /* the next value in the block, and the end of the decoded ones */
    pf_numbers numbers;  /* values; blobs: their lengths or, with a dictionary, their ids */
    /* Bytes of all blobs or, with a dictionary, of all entries. */
    perfile_bytes heap;
    size_t heap_used;              /* without a dictionary: bytes of the blobs decoded so far */
    const uint32_t *offsets;       /* of the entries, and the end of the last one */
    uint32_t n_entries, n_entered; /* all entries, and those that an id has introduced */
    union {
        uint64_t values[PF_NUMBERS_BLOCK];
        pf_blob blobs[PF_NUMBERS_BLOCK];
    } block;
} pf_column;

/* Reads the head of a column, and its streams if they are wanted. */
void pf_column_open(pf_streams *s, pf_columns_budget *budget, pf_column *c);

/* Decodes the next block; to be called if at == ready.  Returns false if there are no more values,
 * or after a failure. */
bool pf_column_fill(pf_streams *s, pf_column *c);

/* Returns true if there is a next value, which is number `at` of the block. */
static inline bool pf_column_has(pf_streams *s, pf_column *c)
{
    return c->at < c->ready || pf_column_fill(s, c);
}

/* Sets s->bad unless every value was taken, every entry introduced, and every byte used. */
void pf_column_check_end(pf_streams *s, const pf_column *c);

/* Returns true if a number or a column may have this width. */
static inline bool pf_is_width(unsigned width)
{
    return width == 1 || width == 2 || width == 4 || width == 8;
}

enum { PF_RECORD_HEADER = 8, PF_MOST_RECORD = 65535, PF_NO_CLASS = 255 };

/* One operation of a class. */
typedef struct pf_op {
    uint8_t what;
    uint8_t width; /* of WORD; BLOB: of its prefix, 0, 2, 4 or 8 */
    bool wanted;   /* the class is decoded */
    uint8_t shift; /* BLOB: the unit is 1 << shift; 255: it is not a power of two */
    uint32_t column;
    uint64_t unit, extra; /* BLOB: the prefix is (length - extra) / unit */
    uint64_t offset;      /* REF: offset in the blob */
} pf_op;

typedef struct pf_class {
    uint32_t type;
    uint16_t misc;
    bool apart;
    /* No two operations take values from one column, and each REF is followed by the BLOB of its
     * column.  Then many records can be decoded operation by operation, and take the same values as
     * record by record. */
    bool regular;
    uint32_t first, n; /* of its operations */
    uint32_t n_blobs;  /* BLOB operations */
    uint32_t size;     /* of a record, without the bytes of blobs */
} pf_class;

/* Read positions in the streams at the beginning of a column. */
typedef struct pf_columns_mark {
    const uint8_t *head, *small;
    size_t offset, values; /* `values`: of the column */
} pf_columns_mark;

struct pf_columns_decoder {
    pf_columns_piece *piece; /* NULL: no callback */
    void *piece_user;
    const uint8_t *shown; /* end of the last piece */
    pf_streams streams;
    bool apart_only; /* only side-band records are decoded */
    pf_op ops[PF_COLUMNS_MOST_OPS];
    pf_class classes[PF_COLUMNS_MOST_CLASSES];
    uint32_t n_ops, n_classes;
    /* Tables by class number.  Classes of one shape have the same operations and differ only in the
     * header; for example samples of the kernel and of user space.  Unused numbers have the shape
     * and the kind PF_NO_CLASS. */
    uint8_t shape[256];
    uint8_t kind[256]; /* 1: side-band; 0: other */
    uint32_t size[256];
    bool has_apart; /* some class is side-band */
    size_t n_records;
    const uint8_t *class_of;  /* class of each record; NULL: all are class_of_all */
    uint8_t class_of_all;     /* the class of all records, if `class_of` is NULL */
    bool has_gaps;            /* the payload has the sizes of gaps */
    size_t n_gaps;            /* number of gaps */
    pf_column gaps;           /* their sizes */
    pf_column *columns;       /* allocated for the largest number so far */
    uint32_t cap_columns;     /* capacity of `columns` */
    uint32_t n_columns;       /* of this payload */
    pf_columns_budget budget; /* what the columns may still claim */
    pf_columns_mark *marks;   /* of each column and the end; NULL unless listing */
};

/* Reads the head and the wanted streams.  A failure is in d->streams.bad. */
void pf_columns_read_head(pf_columns_decoder *d);

/* Begins a payload, and reads its head and the wanted streams. */
void pf_columns_begin(pf_columns_decoder *d, const pf_columns_input *input, bool apart_only,
                      size_t raw_len, perfile_error *err);

/* Converts the failure in d->streams to a status for the caller; PERFILE_OK if there was none. */
perfile_status pf_columns_outcome(const pf_columns_decoder *d, perfile_error *err);

/* Returns the class number of record `i`, which must be less than d->n_records. */
static inline uint8_t pf_class_of(const pf_columns_decoder *d, size_t i)
{
    return d->class_of ? d->class_of[i] : d->class_of_all;
}

/* Returns how many records, from number `i` on, have the same shape as it. */
size_t pf_class_run(const pf_columns_decoder *d, size_t i);

/* Skips records from number `i` on that are side-band (`apart`), or that are not.  Returns the
 * number of the first record of the other kind, or d->n_records.  Adds the bytes of the skipped
 * ones to *bytes, without those of blobs.  Sets d->streams.bad if the next record has an invalid
 * class number. */
size_t pf_class_pass(pf_columns_decoder *d, size_t i, bool apart, uint64_t *bytes);

/* Returns the next number of d->gaps. */
uint64_t pf_next_gap(pf_columns_decoder *d);

/* Decodes `n` records of one shape, from number `i` on, to `to`.  Returns their end; or NULL, and
 * sets d->streams.bad, if they do not fit before `end` or are invalid. */
uint8_t *pf_put_records(pf_columns_decoder *d, size_t i, size_t n, bool big, uint8_t *to,
                        uint8_t *end);

#endif
