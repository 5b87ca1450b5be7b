/* Batches as arrays of the Arrow C data interface (perfile/arrow.h), without copying values. */
#ifndef PF_ARROW_ARROW_H
#define PF_ARROW_ARROW_H

#include "base/buffer.h"
#include "perfile/arrow.h"
#include "arrow/batch.h"

/* The types and arrays of a table, each parent before its children.  Schema and arrays are made
 * from it, even after the table's descriptions have been freed.  All zeros is empty. */
typedef struct pf_arrow_shape {
    struct pf_arrow_part *parts; /* the first one is the row */
    size_t n, cap;
    pf_buffer texts; /* names and metadata */
} pf_arrow_shape;

/* Makes the shape of these columns of a table, in the given order; `columns` are indices and must
 * not include members.  Returns false when out of memory; call pf_arrow_shape_free() in any
 * case. */
bool pf_arrow_shape_make(pf_arrow_shape *s, const pf_table_about *about, const size_t *columns,
                         size_t n_columns);
void pf_arrow_shape_free(pf_arrow_shape *s);

/* Returns true if the shape contains the column at this index of the table; a member is contained
 * if its structure is. */
bool pf_arrow_shape_has(const pf_arrow_shape *s, size_t column);

/* Return false when out of memory; *out is then unchanged. */

bool pf_arrow_schema(const pf_arrow_shape *s, struct ArrowSchema *out);

/* The batch must be complete (pf_table_batch_complete()).  On success the array owns it. */
bool pf_arrow_array(const pf_arrow_shape *s, pf_table_batch *b, struct ArrowArray *out);

#endif
