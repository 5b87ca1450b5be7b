/* Batches as arrays of the Arrow C data interface (perfile/arrow.h), without copying a value. */
#ifndef PF_ARROW_ARROW_H
#define PF_ARROW_ARROW_H

#include "base/buffer.h"
#include "perfile/arrow.h"
#include "arrow/batch.h"

/* The types and arrays that a table consists of, a parent in front of its children: what schema and
 * arrays are made of, when the descriptions of the table are gone.  All zeros is empty. */
typedef struct pf_arrow_shape {
    struct pf_arrow_part *parts; /* the first is the row */
    size_t n, cap;
    pf_buffer texts; /* names and metadata */
} pf_arrow_shape;

/* Makes the shape of these columns of a table: positions that are no members, in the order wanted.
 * False if there is no memory; to be freed in any case. */
bool pf_arrow_shape_make(pf_arrow_shape *s, const pf_table_about *about, const size_t *columns,
                         size_t n_columns);
void pf_arrow_shape_free(pf_arrow_shape *s);

/* True if the column at this position of the table is in it, a member with its structure. */
bool pf_arrow_shape_has(const pf_arrow_shape *s, size_t column);

/* Both are false if there is no memory: then *out is as it was. */

bool pf_arrow_schema(const pf_arrow_shape *s, struct ArrowSchema *out);

/* The array owns the batch from success on, which must be complete (pf_table_batch_complete()). */
bool pf_arrow_array(const pf_arrow_shape *s, pf_table_batch *b, struct ArrowArray *out);

#endif
