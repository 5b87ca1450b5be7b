/* Parquet files: a table as row groups of columns, each encoded and compressed for itself
 * (format/parquet.md says what is written).
 *
 * A row group is made from a batch by pf_parquet_encode(), in any thread, as bytes that depend on
 * the batch alone, not on where they will be in the file.  Whoever writes the file appends them in
 * order, and tells pf_parquet_append(), which keeps what the footer has to say of them.  So a file
 * is
 *
 *     pf_parquet_head(), then for each row group its bytes, then pf_parquet_footer(). */
#ifndef PF_PARQUET_PARQUET_H
#define PF_PARQUET_PARQUET_H

#include "base/buffer.h"
#include "perfile/base.h"
#include "arrow/batch.h"
#include "arrow/schema.h"

/* Rows that a row group should have. */
enum { PF_PARQUET_GROUP_ROWS = 122880 };

/* Level of zstd: 1 and 2 take as long and leave up to a tenth more. */
enum { PF_PARQUET_LEVEL = 3 };

/* Memory and a state of zstd, for one row group at a time. */
typedef struct pf_parquet_encoder pf_parquet_encoder;

/* `level`: of zstd.  NULL: there is no memory. */
pf_parquet_encoder *pf_parquet_encoder_new(int level);
void pf_parquet_encoder_free(pf_parquet_encoder *e);

/* The longest texts that are noted as least and greatest of a column. */
enum { PF_PARQUET_BOUND_BYTES = 64 };

/* What the footer says of a column of a row group. */
typedef struct pf_parquet_chunk {
    uint64_t values;           /* with nulls, and elements of lists */
    uint64_t nulls;            /* of them, and of the lists around them */
    uint64_t nans;             /* of them, of F64 */
    uint64_t offset;           /* of its first page in the row group, in bytes */
    uint64_t dictionary_bytes; /* of its dictionary page, which comes first; 0: it has none */
    uint64_t bytes, unpacked;  /* of its pages, as they are and without compression */
    unsigned encoding;         /* PF_ENCODING_…, of its data pages */
    bool bounded;              /* the following are known: */
    uint8_t least[PF_PARQUET_BOUND_BYTES], greatest[PF_PARQUET_BOUND_BYTES]; /* as PLAIN */
    uint8_t least_len, greatest_len;
} pf_parquet_chunk;

/* What the footer says of a row group.  All zeros is one without rows. */
typedef struct pf_parquet_group {
    uint64_t rows;
    uint64_t bytes;
    pf_buffer chunks; /* pf_parquet_chunk, in the order of the columns */
} pf_parquet_group;

void pf_parquet_group_free(pf_parquet_group *g);

/* Appends the batch as a row group to `out` (nothing if it has no rows), and fills `g`, whose
 * memory is used again.  pf_table_batch_end() must have been called.
 *
 * PERFILE_E_NOMEM: also if it was missing while the batch was filled.  PERFILE_E_LIMIT: more than
 * 2^31 - 1 values of a column, or bytes of a page.  After a failure `out` is as it was, and `g` has
 * no rows. */
perfile_status pf_parquet_encode(pf_parquet_encoder *e, const pf_table_batch *b, pf_buffer *out,
                                 pf_parquet_group *g, perfile_error *err);

/* A file that is being written. */
typedef struct pf_parquet pf_parquet;

/* `about` must live as long.  NULL: there is no memory. */
pf_parquet *pf_parquet_new(const pf_table_about *about);
void pf_parquet_free(pf_parquet *f);

/* Adds a key with a value to what the footer says; false: there is no memory. */
bool pf_parquet_note(pf_parquet *f, const char *key, const char *value);

/* Appends what a file begins with; false: there is no memory. */
bool pf_parquet_head(pf_buffer *out);

/* The bytes of the row group stand behind those so far.  PERFILE_E_NOMEM: nothing is noted. */
perfile_status pf_parquet_append(pf_parquet *f, const pf_parquet_group *g, perfile_error *err);

/* Appends the footer.  PERFILE_E_NOMEM; PERFILE_E_LIMIT: it would have 2^31 bytes. */
perfile_status pf_parquet_footer(pf_parquet *f, pf_buffer *out, perfile_error *err);

#endif
