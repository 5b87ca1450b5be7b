/* Records taken apart into columns: the first half of the encoder.  For the encoder's files only.
 *
 * A class says how records of one kind are taken apart: a list of operations.  It is made from the
 * fields of the first record of its kind (columns_encode_plan.c); others belong to it if the
 * operations consume them exactly (columns_encode_shred.c).  That makes every split right, however
 * the fields were understood: what they mean decides only how well the columns compress. */
#ifndef PF_ARCHIVE_COLUMNS_ENCODE_SHRED_H
#define PF_ARCHIVE_COLUMNS_ENCODE_SHRED_H

#include "archive/columns.h"
#include "base/buffer.h"
#include "core/sample_shape.h"
#include "perfile/event.h"
#include "perfile/field.h"

/* What a column holds.  Equal keys share the column. */
typedef struct pf_column_key {
    const perfile_field *field; /* NULL: bytes of a record that nobody can take apart further */
    uint32_t of;                /* type of these records; of RAW: number of the tracepoint */
    uint16_t nth;               /* item of a list, word of a blob */
    bool apart;                 /* of records that are read without the others */
} pf_column_key;

typedef struct pf_shred_column {
    pf_column_key key;
    uint8_t width; /* 0: blobs */
    uint8_t strategy;
    bool words;       /* blobs of 8-byte words that repeat */
    bool in_slab;     /* `values` is a piece of a slab */
    uint32_t n, cap;  /* values */
    uint64_t *values; /* numbers; of blobs their lengths */
    pf_buffer heap;   /* bytes of blobs */
} pf_shred_column;

typedef struct pf_shred_op {
    uint8_t what;  /* PF_COLUMNS_… */
    uint8_t width; /* of the word, or of the prefix; 0: no prefix */
    bool fixed;    /* BLOB without prefix of `extra` bytes; else all but the `extra` last ones */
    bool guarded;  /* WORD that must be `value` */
    bool unlike;   /* WORD that must not repeat the word of the call chain that REF would name */
    uint32_t column;
    uint32_t unit, extra; /* of a prefix: length = prefix * unit + extra */
    uint32_t distance;    /* of REF and `unlike`: that word stands so many bytes behind … */
    uint32_t offset;      /* … and so many from the beginning of the chain */
    uint64_t value;
} pf_shred_op;

/* Which records may be of a class. */
typedef struct pf_class_key {
    uint32_t type;
    uint16_t misc;
    const perfile_layout *layout;
    uint64_t
        raw; /* size of raw data and number of its tracepoint, where they stand at a known place */
} pf_class_key;

typedef struct pf_shred_class {
    pf_class_key key;
    uint32_t first, n; /* operations */
    uint32_t size;     /* bytes of the body without what varies; all of it with n_checks 0 */
    bool apart;
    bool varies;   /* it has a BLOB */
    bool checked;  /* an operation may not fit although the size does */
    uint16_t next; /* class with the same hash, plus 1 */
} pf_shred_class;

enum {
    PF_SHRED_SLOTS = 512,
    PF_SHRED_PLANNED = 230,   /* classes made from fields; those behind hold bodies as blobs */
    PF_SHRED_WORDS_MOST = 800 /* bytes of a payload that are split into words */
};

typedef struct pf_shred {
    bool swapped;
    bool failed;  /* no memory */
    bool refused; /* more kinds of records than a payload can describe */
    pf_shred_column *columns;
    uint32_t n_columns, made_columns; /* in use; with memory */
    uint64_t **slabs;                 /* for values of columns that have many */
    uint32_t n_slabs, pieces_left;    /* of the last slab */
    pf_shred_op *ops;                 /* PF_COLUMNS_MOST_OPS */
    uint32_t n_ops;
    pf_shred_class classes[PF_COLUMNS_MOST_CLASSES];
    uint32_t n_classes;
    uint16_t slots[PF_SHRED_SLOTS]; /* class, plus 1 */
    uint32_t last;                  /* class of the record before */
    pf_buffer class_of;             /* uint8_t for each record */
    pf_buffer gaps;                 /* uint64_t: bytes of records between those apart */
    uint64_t gap;                   /* bytes of the one that was begun */
    const perfile_layout *shaped;   /* `shape` is of this layout */
    pf_sample_shape shape;
} pf_shred;

bool pf_shred_init(pf_shred *x);
void pf_shred_free(pf_shred *x);
void pf_shred_begin(pf_shred *x, bool swapped);

/* Takes records apart; see pf_columns_encoder_add(). */
void pf_shred_add(pf_shred *x, const perfile_record *first, size_t n);

/* columns_encode_plan.c: makes a class from the fields of `r` and adds it.  NULL: there is no room
 * for it, or no memory (x->failed). */
pf_shred_class *pf_shred_plan(pf_shred *x, const pf_class_key *key, const perfile_record *r);

/* The column with this key, made if there is none; UINT32_MAX: no room or no memory. */
uint32_t pf_shred_column_of(pf_shred *x, const pf_column_key *key, unsigned width, bool words);

#endif
