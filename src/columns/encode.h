/* The encoder of the codec COLUMNS (format/columns.md): records are taken apart into columns when
 * they are added, and the columns are encoded and compressed when the chunk is complete.
 *
 * The two halves are apart so that the second can run in another thread: adding asks the session of
 * the records, finishing does not. */
#ifndef PF_ARCHIVE_COLUMNS_ENCODE_H
#define PF_ARCHIVE_COLUMNS_ENCODE_H

#include <zstd.h>

#include "base/buffer.h"
#include "perfile/base.h"
#include "columns/columns.h"
#include "core/layout.h"
#include "perfile/event.h"
#include "perfile/field.h"
#include "perfile/record.h"

/* Streams of a payload in the making: the head, small streams, and a frame for each large stream.
 * For the encoder's files only. */

/* A payload that is being written.  After the first failure `failed` stays set, and every call does
 * nothing: the caller asks once, at the end. */
typedef struct pf_streams_out {
    ZSTD_CCtx *zstd;
    int level;
    bool failed; /* out of memory */
    pf_buffer head, small;
    pf_buffer frames; /* stored, one after the other */
    pf_buffer sizes;  /* uint32_t of each frame … */
    pf_buffer crcs;   /* … and its CRC */
    pf_buffer first;  /* scratch: frame 0 */
} pf_streams_out;

/* Makes room for a new payload; memory is kept. */
void pf_streams_out_begin(pf_streams_out *s, int level);

void pf_streams_out_free(pf_streams_out *s);

/* A byte, and a number, for the head. */
void pf_streams_out_u8(pf_streams_out *s, uint8_t v);
void pf_streams_out_v(pf_streams_out *s, uint64_t v);

/* A stream: its bytes go among the small ones or to a frame, and the head refers to it. */
void pf_streams_out_put(pf_streams_out *s, perfile_bytes bytes);

/* The same for bytes that may repeat by chance only. */
void pf_streams_out_put_by_chance(pf_streams_out *s, perfile_bytes bytes);

/* Appends the payload. */
perfile_status pf_streams_out_finish(pf_streams_out *s, pf_buffer *out, perfile_error *err);

/* Writes an unsigned LEB128 number, 10 bytes at most; returns its end. */
static inline uint8_t *pf_leb128_put(uint8_t *p, uint64_t v)
{
    while (v > 0x7f) {
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}

/* Columns of numbers, encoded.  For the encoder's files only. */

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

/* Columns of blobs, encoded.  For the encoder's files only. */

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

/* Writes `n` blobs of the lengths `lens`, whose bytes lie one after the other in `heap`.  `words`:
 * they are made of 8-byte words that repeat. */
void pf_blobs_encode(pf_blobs_coder *c, pf_streams_out *s, const uint64_t *lens, size_t n,
                     perfile_bytes heap, unsigned strategy, bool words);

/* The distinct numbers of a column, and where each of its numbers is among them.  For the encoder's
 * files only. */

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

/* Records taken apart into columns: the first half of the encoder.  For the encoder's files only.
 *
 * A class says how records of one kind are taken apart: a list of operations.  It is made from the
 * fields of the first record of its kind (encode.c); others belong to it if the
 * operations consume them exactly (shred.c).  That makes every split right, however
 * the fields were understood: what they mean decides only how well the columns compress. */

/* What a column holds.  Equal keys share the column. */
typedef struct pf_column_key {
    const perfile_field *field; /* NULL: bytes of a record that have no fields to be split into */
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

/* encode.c: makes a class from the fields of `r` and adds it.  NULL: there is no room
 * for it, or no memory (x->failed). */
pf_shred_class *pf_shred_plan(pf_shred *x, const pf_class_key *key, const perfile_record *r);

/* The column with this key, made if there is none; UINT32_MAX: no room or no memory. */
uint32_t pf_shred_column_of(pf_shred *x, const pf_column_key *key, unsigned width, bool words);

/* Memory of an encoder is used again for the next chunk. */
typedef struct pf_columns_encoder pf_columns_encoder;

/* NULL: no memory. */
pf_columns_encoder *pf_columns_encoder_new(void);

/* NULL is fine. */
void pf_columns_encoder_free(pf_columns_encoder *e);

/* Begins a chunk, whose records are stored in the other byte order than this machine's with
 * `swapped`.  What was added and not finished is forgotten. */
void pf_columns_encoder_begin(pf_columns_encoder *e, bool swapped);

/* Adds records of perf's own family, which follow each other in the file and are of the byte order
 * of the chunk.  Their bytes are copied.  False: no memory; the chunk cannot be finished then. */
bool pf_columns_encoder_add(pf_columns_encoder *e, const perfile_record *first, size_t n);

/* Appends the payload to `out`; `level` is that of zstd.  PERFILE_E_LIMIT: the records are of more
 * kinds than the codec can describe, and have to be stored in another one. */
perfile_status pf_columns_encoder_finish(pf_columns_encoder *e, int level, pf_buffer *out,
                                         perfile_error *err);

#endif
