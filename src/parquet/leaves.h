/* The leaves of a table: its columns that contain values, as Parquet defines them. */
#ifndef PF_PARQUET_LEAVES_H
#define PF_PARQUET_LEAVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arrow/schema.h"

/* Physical types, with the format's numbers. */
enum {
    PF_PHYSICAL_BOOLEAN = 0,
    PF_PHYSICAL_INT32 = 1,
    PF_PHYSICAL_INT64 = 2,
    PF_PHYSICAL_DOUBLE = 5,
    PF_PHYSICAL_BYTE_ARRAY = 6
};

unsigned pf_physical_type(pf_column_type type);

#define PF_NO_PARENT SIZE_MAX

typedef struct pf_leaf {
    size_t column;    /* its index in the table */
    size_t parent;    /* index of its GROUP or LIST, or PF_NO_PARENT */
    unsigned max_def; /* definition level of a non-null value */
    unsigned max_rep; /* maximum repetition level: 1 in a list, otherwise 0 */
} pf_leaf;

/* An iterator over the leaves of a table.  Initialize with `about` and zeros. */
typedef struct pf_leaves {
    const pf_table_about *about;
    size_t next;   /* index of the next column */
    size_t parent; /* index of the last GROUP or LIST */
} pf_leaves;

/* Returns the next leaf in *leaf, or false at the end. */
bool pf_leaves_next(pf_leaves *x, pf_leaf *leaf);

#endif
