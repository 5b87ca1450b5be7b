/* The encoder of the codec COLUMNS (format/columns.md).  Records are split into columns when they
 * are added.  Columns are encoded and compressed when the chunk is complete.
 *
 * The two steps are separate so that the second can run in another thread: adding records reads
 * their session, finishing does not. */
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

/* Output streams of a payload: the head, the small streams, and a frame for each large stream.  For
 * the encoder's files only. */

/* A payload that is being written.  After the first failure `failed` stays set and every call does
 * nothing, so the caller checks once, at the end. */
typedef struct pf_streams_out {
    ZSTD_CCtx *zstd;
    int level;
    bool failed; /* out of memory */
    pf_buffer head, small;
    pf_buffer frames; /* stored frames, one after the other */
    pf_buffer sizes;  /* uint32_t: size of each frame … */
    pf_buffer crcs;   /* … and its CRC */
    pf_buffer first;  /* scratch: frame 0 */
} pf_streams_out;

/* Begins a new payload, and keeps the memory. */
void pf_streams_out_begin(pf_streams_out *s, int level);

void pf_streams_out_free(pf_streams_out *s);

/* Append a byte, or a number, to the head. */
void pf_streams_out_u8(pf_streams_out *s, uint8_t v);
void pf_streams_out_v(pf_streams_out *s, uint64_t v);

/* Adds a stream: appends its bytes to the small streams, or makes a frame of them; the head refers
 * to it. */
void pf_streams_out_put(pf_streams_out *s, perfile_bytes bytes);

/* The same for bytes that repeat only by chance. */
void pf_streams_out_put_by_chance(pf_streams_out *s, perfile_bytes bytes);

/* Appends the payload to `out`. */
perfile_status pf_streams_out_finish(pf_streams_out *s, pf_buffer *out, perfile_error *err);

/* Writes an unsigned LEB128 number, 10 bytes at most.  Returns its end. */
static inline uint8_t *pf_leb128_put(uint8_t *p, uint64_t v)
{
    while (v > 0x7f) {
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}

/* Encoding of columns of numbers.  For the encoder's files only. */

enum { /* known about a column before its values are seen: see format/columns.def */
       PF_STRATEGY_TRIAL = 0,
       PF_STRATEGY_DELTA,
       PF_STRATEGY_DICT,
       PF_STRATEGY_VINT,
       PF_STRATEGY_BULK,
       PF_STRATEGY_PLANES,
       PF_STRATEGY_WORDS /* DICT with one stream of indexes: for numbers that come in sequences */
};

enum {
    PF_NUMBERS_DICT_PACKED = 16 /* added to the number of planes: all indexes are in one stream */
};

/* Scratch memory. */
typedef struct pf_numbers_coder {
    ZSTD_CCtx *zstd;       /* for trials */
    pf_buffer bytes;       /* stream that is being made: planes, differences */
    pf_buffer packed;      /* output of a trial */
    pf_buffer differences; /* uint64_t */
    pf_buffer table;       /* uint32_t: hash table of positions in `entries`, plus 1 */
    pf_buffer entries;     /* uint64_t: distinct numbers, in the order of appearance */
    pf_buffer indexes;     /* uint32_t: for each number */
    pf_buffer order;       /* for sorting: two arrays */
    pf_buffer ranks;       /* uint32_t: for each entry */
} pf_numbers_coder;

void pf_numbers_coder_free(pf_numbers_coder *c);

/* Encodes `n` numbers of `width` bytes (1, 2, 4 or 8).  Their higher bytes must be 0. */
void pf_numbers_encode(pf_numbers_coder *c, pf_streams_out *s, const uint64_t *v, size_t n,
                       unsigned width, unsigned strategy);

/* Encoding of columns of blobs.  For the encoder's files only. */

/* Scratch memory. */
typedef struct pf_blobs_coder {
    pf_numbers_coder numbers;
    pf_buffer table;  /* uint32_t: hash table of entries, plus 1 */
    pf_buffer starts; /* uint64_t: offset of each entry in the bytes of all blobs */
    pf_buffer lens;   /* uint64_t: length of each entry */
    pf_buffer ids;    /* uint64_t: of each blob */
    pf_buffer heap;   /* the bytes of all entries */
    pf_buffer words;  /* the bytes of all entries, as numbers */
} pf_blobs_coder;

void pf_blobs_coder_free(pf_blobs_coder *c);

/* Encodes `n` blobs of the lengths `lens`; `heap` has their bytes, one after the other.  `words`:
 * they consist of 8-byte words that repeat. */
void pf_blobs_encode(pf_blobs_coder *c, pf_streams_out *s, const uint64_t *lens, size_t n,
                     perfile_bytes heap, unsigned strategy, bool words);

/* Dictionaries: the distinct numbers of a column, and the index of each number.  For the encoder's
 * files only. */

/* Everything is in memory of the coder, valid until its next use. */
typedef struct pf_dict {
    uint32_t n;              /* entries; 0: too many to be useful */
    const uint64_t *entries; /* in the order in which they are stored */
    const uint32_t *indexes; /* for each number, an index into … */
    const uint32_t *ranks;   /* … the position of the entry in `entries` */
    uint64_t cost;           /* estimated bits of all indexes and of the entries */
} pf_dict;

/* Makes the dictionary of `n` numbers.  Returns false when out of memory. */
bool pf_dict_make(pf_numbers_coder *c, const uint64_t *v, size_t n, pf_dict *dict);

/* Returns the bits that an entropy coder needs for bytes with these counts: the lower limit if the
 * bytes do not depend on each other. */
uint64_t pf_entropy_bits(const uint32_t counts[256]);

/* Splitting records into columns: the first step of the encoder.  For the encoder's files only.
 *
 * A class says how records of one kind are split: it is a list of operations.  It is made from the
 * fields of the first record of its kind (encode.c).  Other records belong to it if the operations
 * consume them exactly (shred.c).  So every split is correct, however the fields were understood;
 * their meaning only decides how well the columns compress. */

/* What a column contains.  Equal keys share the column. */
typedef struct pf_column_key {
    const perfile_field *field; /* NULL: bytes of a record without known fields */
    uint32_t of;                /* type of the records; RAW: number of the tracepoint */
    uint16_t nth;               /* item of a list, word of a blob */
    bool apart;                 /* of side-band records */
} pf_column_key;

typedef struct pf_shred_column {
    pf_column_key key;
    uint8_t width; /* 0: blobs */
    uint8_t strategy;
    bool words;       /* blobs of 8-byte words that repeat */
    bool in_slab;     /* `values` is a piece of a slab */
    uint32_t n, cap;  /* values */
    uint64_t *values; /* numbers; blobs: their lengths */
    pf_buffer heap;   /* bytes of blobs */
} pf_shred_column;

typedef struct pf_shred_op {
    uint8_t what;  /* PF_COLUMNS_… */
    uint8_t width; /* of the word or the prefix; 0: no prefix */
    bool fixed;    /* BLOB without prefix: `extra` bytes; else all but the last `extra` bytes */
    bool guarded;  /* WORD that must be `value` */
    bool unlike;   /* WORD that must differ from the word of the call chain that a REF would name */
    uint32_t column;
    uint32_t unit, extra; /* prefix: length = prefix * unit + extra */
    uint32_t distance;    /* REF and `unlike`: bytes from this word to the one in the chain … */
    uint32_t offset;      /* … and offset of the latter in the chain */
    uint64_t value;
} pf_shred_op;

/* Which records may belong to a class. */
typedef struct pf_class_key {
    uint32_t type;
    uint16_t misc;
    const perfile_layout *layout;
    uint64_t raw; /* size of raw data and tracepoint number; 0 if not at a known offset */
} pf_class_key;

typedef struct pf_shred_class {
    pf_class_key key;
    uint32_t first, n; /* of its operations */
    uint32_t size;     /* least bytes of the body; exact unless `varies` */
    bool apart;
    bool varies;   /* it has a BLOB */
    bool checked;  /* an operation may not fit although the size does */
    uint16_t next; /* next class with the same hash, plus 1 */
} pf_shred_class;

enum {
    PF_SHRED_SLOTS = 512,
    PF_SHRED_PLANNED = 230,   /* classes made from fields; later ones store the body as a blob */
    PF_SHRED_WORDS_MOST = 800 /* bytes of raw data that are split into words */
};

typedef struct pf_shred {
    bool swapped;
    bool failed;  /* out of memory */
    bool refused; /* more kinds of records than a payload can describe */
    pf_shred_column *columns;
    uint32_t n_columns, made_columns; /* in use; with allocated memory */
    uint64_t **slabs;                 /* for values of columns that have many */
    uint32_t n_slabs, pieces_left;    /* free pieces of the last slab */
    pf_shred_op *ops;                 /* PF_COLUMNS_MOST_OPS */
    uint32_t n_ops;
    pf_shred_class classes[PF_COLUMNS_MOST_CLASSES];
    uint32_t n_classes;
    uint16_t slots[PF_SHRED_SLOTS]; /* class, plus 1 */
    uint32_t last;                  /* class of the previous record */
    pf_buffer class_of;             /* uint8_t for each record */
    pf_buffer gaps;                 /* uint64_t: sizes of gaps (format/columns.md) */
    uint64_t gap;                   /* bytes of the current gap */
    const perfile_layout *shaped;   /* `shape` belongs to this layout */
    pf_sample_shape shape;
} pf_shred;

bool pf_shred_init(pf_shred *x);
void pf_shred_free(pf_shred *x);
void pf_shred_begin(pf_shred *x, bool swapped);

/* Splits records; see pf_columns_encoder_add(). */
void pf_shred_add(pf_shred *x, const perfile_record *first, size_t n);

/* In encode.c: makes a class from the fields of `r` and adds it.  Returns NULL if there is no room
 * for it. */
pf_shred_class *pf_shred_plan(pf_shred *x, const pf_class_key *key, const perfile_record *r);

/* Returns the column with this key, made if it is new; UINT32_MAX if there are too many. */
uint32_t pf_shred_column_of(pf_shred *x, const pf_column_key *key, unsigned width, bool words);

/* An encoder keeps its memory for the next chunk. */
typedef struct pf_columns_encoder pf_columns_encoder;

/* Returns NULL when out of memory. */
pf_columns_encoder *pf_columns_encoder_new(void);

/* `e` may be NULL. */
void pf_columns_encoder_free(pf_columns_encoder *e);

/* Begins a chunk.  `swapped`: its records are not in the byte order of this machine.  Records that
 * were added and not finished are dropped. */
void pf_columns_encoder_begin(pf_columns_encoder *e, bool swapped);

/* Adds records of perf's own family, which are contiguous in the file and have the byte order of
 * the chunk.  Their bytes are copied.  Returns false when out of memory; then the chunk cannot be
 * finished. */
bool pf_columns_encoder_add(pf_columns_encoder *e, const perfile_record *first, size_t n);

/* Appends the payload to `out`, compressed with zstd at `level`.  PERFILE_E_LIMIT: the records are
 * of more kinds than the codec can describe; they need another codec. */
perfile_status pf_columns_encoder_finish(pf_columns_encoder *e, int level, pf_buffer *out,
                                         perfile_error *err);

#endif
