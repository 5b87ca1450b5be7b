/* Parquet files: a table as row groups of columns, each column encoded and compressed separately
 * (format/parquet.md describes the bytes).
 *
 * pf_parquet_encode() makes a row group from a batch, in any thread.  Its bytes depend only on the
 * batch, not on their offset in the file.  The writer of the file appends row groups in order and
 * calls pf_parquet_append() for each, which stores their entry for the footer.  So a file is
 *
 * pf_parquet_head(), the bytes of each row group, pf_parquet_footer(). */
#ifndef PF_PARQUET_PARQUET_H
#define PF_PARQUET_PARQUET_H

#include "base/buffer.h"
#include "perfile/base.h"
#include "arrow/batch.h"
#include "arrow/schema.h"

/* Recommended number of rows in a row group. */
enum { PF_PARQUET_GROUP_ROWS = 122880 };

/* Compression level of zstd: levels 1 and 2 take as long and give up to a tenth more bytes. */
enum { PF_PARQUET_LEVEL = 3 };

/* Memory and zstd state for encoding one row group at a time. */
typedef struct pf_parquet_encoder pf_parquet_encoder;

/* `level` is zstd's.  Returns NULL when out of memory. */
pf_parquet_encoder *pf_parquet_encoder_new(int level);
void pf_parquet_encoder_free(pf_parquet_encoder *e);

/* Longest texts that are stored as bounds of a column. */
enum { PF_PARQUET_BOUND_BYTES = 64 };

/* The footer's entry for a column of a row group. */
typedef struct pf_parquet_chunk {
    uint64_t values;           /* including nulls and elements of lists */
    uint64_t nulls;            /* including null and empty lists */
    uint64_t nans;             /* NaNs among them, for F64 */
    uint64_t offset;           /* of its first page, in bytes from the start of the row group */
    uint64_t dictionary_bytes; /* size of its dictionary page, which comes first; 0: none */
    uint64_t bytes, unpacked;  /* size of its pages, compressed and uncompressed */
    unsigned encoding;         /* PF_ENCODING_… of its data pages */
    bool bounded;              /* the members below are valid */
    uint8_t least[PF_PARQUET_BOUND_BYTES], greatest[PF_PARQUET_BOUND_BYTES]; /* in PLAIN encoding */
    uint8_t least_len, greatest_len;
} pf_parquet_chunk;

/* The footer's entry for a row group.  All zeros is one without rows. */
typedef struct pf_parquet_group {
    uint64_t rows;
    uint64_t bytes;
    pf_buffer chunks; /* pf_parquet_chunk, in the order of the columns */
} pf_parquet_group;

void pf_parquet_group_free(pf_parquet_group *g);

/* Appends the batch as a row group to `out` (nothing if it has no rows), and fills `g`, reusing its
 * memory.  pf_table_batch_end() must have been called.
 *
 * PERFILE_E_NOMEM: also if memory was missing while the batch was filled.  PERFILE_E_LIMIT: a
 * column has more than 2^31 - 1 values, or a page has more bytes.  On failure `out` is unchanged,
 * and `g` has no rows. */
perfile_status pf_parquet_encode(pf_parquet_encoder *e, const pf_table_batch *b, pf_buffer *out,
                                 pf_parquet_group *g, perfile_error *err);

/* A file that is being written. */
typedef struct pf_parquet pf_parquet;

/* `about` must live as long as the file.  Returns NULL when out of memory. */
pf_parquet *pf_parquet_new(const pf_table_about *about);
void pf_parquet_free(pf_parquet *f);

/* Adds a key-value pair to the footer.  Returns false when out of memory. */
bool pf_parquet_note(pf_parquet *f, const char *key, const char *value);

/* Appends the head of a file.  Returns false when out of memory. */
bool pf_parquet_head(pf_buffer *out);

/* Notes that the bytes of the row group follow those so far.  PERFILE_E_NOMEM: nothing was
 * noted. */
perfile_status pf_parquet_append(pf_parquet *f, const pf_parquet_group *g, perfile_error *err);

/* Appends the footer.  PERFILE_E_NOMEM; PERFILE_E_LIMIT: it would have 2^31 bytes or more. */
perfile_status pf_parquet_footer(pf_parquet *f, pf_buffer *out, perfile_error *err);

#endif
