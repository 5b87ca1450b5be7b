/* The codec COLUMNS: records taken apart into columns, each compressed for itself.
 *
 * The payload says how the bytes are put together again; the decoder knows no record format.  Each
 * record has a class, and a class is a list of operations, each of which takes the next value of a
 * column and appends it to the record.  Columns are compressed apart from each other, so that what
 * is needed of a chunk can be had without the rest.  format/columns.md is the specification. */
#ifndef PF_ARCHIVE_COLUMNS_H
#define PF_ARCHIVE_COLUMNS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "perfile/base.h"

/* The limits of an archive, PF_ARCHIVE_MOST_…: also of what is decoded here. */
#define ARCHIVE_LIMIT(id, value, doc) PF_ARCHIVE_MOST_##id = value,
enum {
#include "perfile/format/archive.def"
};

enum {
    PF_COLUMNS_MOST_CLASSES = 255,
    PF_COLUMNS_MOST_OPS = 4096,        /* of all classes together */
    PF_COLUMNS_MOST_COLUMNS = 4096,    /* of a chunk */
    PF_COLUMNS_MOST_ENTRIES = 1 << 20, /* of the dictionary of a numeric column */
    PF_COLUMNS_BLOB_BYTES = 4,         /* decoded bytes of the chunk for each blob, at least */
    /* Bytes of the head and the small streams: so many, and so many for each decoded byte. */
    PF_COLUMNS_HEAD_BYTES = 1 << 20,
    PF_COLUMNS_HEAD_RATIO = 4
};

enum { /* operations */
       PF_COLUMNS_WORD = 1,
       PF_COLUMNS_BLOB = 2,
       PF_COLUMNS_REF = 3
};

enum { /* encodings of numbers */
       PF_NUMBERS_CONST = 0,
       PF_NUMBERS_PLAIN = 1,
       PF_NUMBERS_PLANES = 2,
       PF_NUMBERS_DELTA = 3,
       PF_NUMBERS_DICT = 4,
       PF_NUMBERS_VINT = 5
};

enum { /* encodings of blobs */
       PF_BLOBS_PLAIN = 0,
       PF_BLOBS_DICT = 1
};

/* Memory of a decoder is used again for the next chunk. */
typedef struct pf_columns_decoder pf_columns_decoder;

/* NULL: no memory. */
pf_columns_decoder *pf_columns_decoder_new(void);

/* NULL is fine. */
void pf_columns_decoder_free(pf_columns_decoder *d);

/* Decodes a payload to exactly `raw_len` bytes at `out`; `big`: numbers of the records are written
 * big-endian.  PERFILE_E_CORRUPT: the payload is not one of that many bytes; those at `out` are
 * then undefined. */
perfile_status pf_columns_decode(pf_columns_decoder *d, perfile_bytes payload, bool big,
                                 uint8_t *out, size_t raw_len, perfile_error *err);

/* Gets bytes as soon as they are decoded, in order, while they are in the cache. */
typedef void pf_columns_piece(void *user, perfile_bytes bytes);

/* The same, and shows the bytes piece by piece.  On a failure some may have been shown. */
perfile_status pf_columns_decode_pieces(pf_columns_decoder *d, perfile_bytes payload, bool big,
                                        uint8_t *out, size_t raw_len, pf_columns_piece *piece,
                                        void *user, perfile_error *err);

/* Where the bytes of a payload come from. */
typedef struct pf_columns_input {
    /* Shows `len` bytes of the payload, which are within it, from `offset` on.  They are valid
     * until the next call or, with `stays`, until the decoder returns.  An error ends the decoding,
     * which returns it. */
    perfile_status (*read)(void *user, size_t offset, size_t len, perfile_bytes *bytes,
                           perfile_error *err);
    void *user;
    size_t len; /* of the payload */
    bool stays;
} pf_columns_input;

/* Records that follow each other and were put together. */
typedef struct pf_columns_range {
    uint32_t offset, bytes; /* among the decoded bytes of the chunk */
    uint32_t at;            /* where they are in the output */
    uint32_t first;         /* the number of the first, among all records of the chunk */
    uint32_t records;       /* how many */
} pf_columns_range;

/* Decodes the records of a payload that are apart to `out`, one after the other; it has room for
 * all `raw_len` bytes.  Of the others only the class numbers are looked at, and no frame is read
 * that is not needed.  Appends to `ranges` where records were put together, each run of them, in
 * their order (pf_columns_range each).  *n_records is the number of all records of the chunk.
 *
 * What was not read was not checked.  PERFILE_E_CORRUPT as pf_columns_decode(); on an error
 * `ranges` and *n_records are unchanged. */
perfile_status pf_columns_decode_apart(pf_columns_decoder *d, const pf_columns_input *input,
                                       bool big, uint8_t *out, size_t raw_len, pf_buffer *ranges,
                                       uint64_t *n_records, perfile_error *err);

/* What a column of a payload costs, and where its values go. */
typedef struct pf_columns_listed {
    uint64_t stored;  /* bytes of the payload; of what is compressed together a share */
    uint64_t decoded; /* bytes of records that come from it */
    uint64_t values;
    uint8_t width; /* of numbers; 0: blobs */
    uint8_t how;   /* PF_NUMBERS_… of its numbers, differences or, of blobs, lengths or ids */
    bool differences;
    bool by_dictionary; /* blobs of a dictionary */
    bool placed;        /* the next three are known */
    uint32_t record;    /* offset, among the decoded bytes, of the first record with a value … */
    uint32_t at, len;   /* … and where in it the value is, from the header on */
} pf_columns_listed;

/* Appends to `listed` (pf_columns_listed each) first what the headers and the order of the records
 * cost, then each column of a payload.  Their `stored` add up to the payload, their `decoded` to
 * `raw_len`.  Slower than decoding.  Errors as of pf_columns_decode(). */
perfile_status pf_columns_list(pf_columns_decoder *d, perfile_bytes payload, size_t raw_len,
                               pf_buffer *listed, perfile_error *err);

#endif
