/* The codec COLUMNS: records taken apart into columns, each compressed for itself.
 *
 * The payload says how the bytes are put together again; the decoder knows no record format.  Each
 * record has a class, and a class is a list of operations, each of which takes the next value of a
 * column and appends it to the record.  format/columns.md is the specification. */
#ifndef PF_ARCHIVE_COLUMNS_H
#define PF_ARCHIVE_COLUMNS_H

#include <stdbool.h>

#include "perfile/base.h"

enum {
    PF_COLUMNS_MOST_CLASSES = 255,
    PF_COLUMNS_MOST_OPS = 4096,        /* of all classes together */
    PF_COLUMNS_MOST_COLUMNS = 4096,    /* of a chunk */
    PF_COLUMNS_MOST_ENTRIES = 1 << 20, /* of the dictionary of a numeric column */
    PF_COLUMNS_BLOB_BYTES = 4          /* decoded bytes of the chunk for each blob, at least */
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

#endif
