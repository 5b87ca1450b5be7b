/* A decoder of the codec COLUMNS.  For the decoder's files only: columns_head.c reads the head,
 * columns_places.c looks through the class numbers, columns_records.c puts records together, and
 * columns_decode.c is what others call. */
#ifndef PF_ARCHIVE_COLUMNS_DECODE_H
#define PF_ARCHIVE_COLUMNS_DECODE_H

#include "archive/columns_values.h"

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
    pf_columns_mark *marks;   /* of each column, and of the end, for columns_list.c; else NULL */
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
