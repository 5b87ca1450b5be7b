/* The codec COLUMNS: splits records into columns, one for each field, which are compressed
 * separately.  The specification is format/columns.md.
 *
 * The payload says how to rebuild the bytes, so the decoder knows no record format.  Each record
 * has a class.  A class is a list of operations; each takes the next value of a column and appends
 * it to the record.
 *
 * Classes of side-band records (MMAP, COMM …) are marked `apart`, and share no column with other
 * classes.  So a reader that needs only the side-band of a chunk leaves all other columns
 * compressed. */
#ifndef PF_ARCHIVE_COLUMNS_H
#define PF_ARCHIVE_COLUMNS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "perfile/base.h"

/* The limits of an archive, PF_ARCHIVE_MOST_…, which apply to decoded payloads, too. */
#define ARCHIVE_LIMIT(id, value, doc) PF_ARCHIVE_MOST_##id = value,
enum {
#include "perfile/format/archive.def"
};

enum {
    PF_COLUMNS_MOST_CLASSES = 255,
    PF_COLUMNS_MOST_OPS = 4096,        /* of all classes together */
    PF_COLUMNS_MOST_COLUMNS = 4096,    /* of a chunk */
    PF_COLUMNS_MOST_ENTRIES = 1 << 20, /* of the dictionary of a numeric column */
    PF_COLUMNS_BLOB_BYTES = 4,         /* least decoded bytes of the chunk for each blob */
    /* Limit of the head and the small streams: so many bytes, and so many for each decoded byte. */
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

/* A decoder keeps its memory for the next payload. */
typedef struct pf_columns_decoder pf_columns_decoder;

/* Returns NULL when out of memory. */
pf_columns_decoder *pf_columns_decoder_new(void);

/* `d` may be NULL. */
void pf_columns_decoder_free(pf_columns_decoder *d);

/* Decodes a payload to exactly `raw_len` bytes at `out`.  `big`: the numbers of the records are
 * big-endian.  PERFILE_E_CORRUPT: the payload is invalid, or decodes to another number of bytes;
 * the bytes at `out` are then undefined. */
perfile_status pf_columns_decode(pf_columns_decoder *d, perfile_bytes payload, bool big,
                                 uint8_t *out, size_t raw_len, perfile_error *err);

/* Receives decoded bytes, in order, as soon as they are complete and while they are in the
 * cache. */
typedef void pf_columns_piece(void *user, perfile_bytes bytes);

/* The same, and passes the bytes on piece by piece.  After a failure some may have been passed
 * on. */
perfile_status pf_columns_decode_pieces(pf_columns_decoder *d, perfile_bytes payload, bool big,
                                        uint8_t *out, size_t raw_len, pf_columns_piece *piece,
                                        void *user, perfile_error *err);

/* Reads the bytes of a payload. */
typedef struct pf_columns_input {
    /* Yields `len` bytes of the payload at `offset`; the range is within the payload.  They are
     * valid until the next call or, with `stays`, until the decoder returns.  An error ends the
     * decoding, which returns it. */
    perfile_status (*read)(void *user, size_t offset, size_t len, perfile_bytes *bytes,
                           perfile_error *err);
    void *user;
    size_t len; /* of the payload */
    bool stays;
} pf_columns_input;

/* Consecutive records that were decoded. */
typedef struct pf_columns_range {
    uint32_t offset, bytes; /* range in the decoded bytes of the chunk */
    uint32_t at;            /* offset in the output */
    uint32_t first;         /* number of the first record, counted over all records of the chunk */
    uint32_t records;       /* number of records */
} pf_columns_range;

/* Decodes only the side-band records of a payload to `out`, one after the other.  `out` has room
 * for all `raw_len` bytes.  Of the other records only the class numbers are read, and no frame is
 * read that is not needed.  Appends a pf_columns_range to `ranges` for each run of decoded records,
 * in order.  *n_records is set to the number of all records of the chunk.
 *
 * Bytes that are not read are not checked.  PERFILE_E_CORRUPT as in pf_columns_decode().  On an
 * error `ranges` and *n_records are unchanged. */
perfile_status pf_columns_decode_apart(pf_columns_decoder *d, const pf_columns_input *input,
                                       bool big, uint8_t *out, size_t raw_len, pf_buffer *ranges,
                                       uint64_t *n_records, perfile_error *err);

/* What a column of a payload costs, and the offset of its first value. */
typedef struct pf_columns_listed {
    uint64_t stored;  /* bytes of the payload; a share of what is compressed together */
    uint64_t decoded; /* bytes of the records that come from the column */
    uint64_t values;
    uint8_t width; /* of numbers; 0: blobs */
    uint8_t how;   /* PF_NUMBERS_… of its numbers or differences; blobs: of lengths or ids */
    bool differences;
    bool by_dictionary; /* blobs of a dictionary */
    bool placed;        /* the next three are known */
    uint32_t record;    /* offset, in the decoded bytes, of the first record with a value … */
    uint32_t at, len;   /* … and the value in it, from the header on */
} pf_columns_listed;

/* Appends to `listed` (pf_columns_listed) first the cost of the headers and the order of the
 * records, then each column of a payload.  The sum of `stored` is the size of the payload, the sum
 * of `decoded` is `raw_len`.  Slower than decoding.  Errors as in pf_columns_decode(). */
perfile_status pf_columns_list(pf_columns_decoder *d, perfile_bytes payload, size_t raw_len,
                               pf_buffer *listed, perfile_error *err);

#endif
