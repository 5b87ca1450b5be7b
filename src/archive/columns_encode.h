/* The encoder of the codec COLUMNS (format/columns.md): records are taken apart into columns when
 * they are added, and the columns are encoded and compressed when the chunk is complete.
 *
 * The two halves are apart so that the second can run in another thread: adding asks the session of
 * the records, finishing does not. */
#ifndef PF_ARCHIVE_COLUMNS_ENCODE_H
#define PF_ARCHIVE_COLUMNS_ENCODE_H

#include "base/buffer.h"
#include "perfile/record.h"

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
