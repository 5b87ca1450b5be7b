/* The leaves of a table: its columns that hold values, as Parquet sees them. */
#ifndef PF_PARQUET_LEAVES_H
#define PF_PARQUET_LEAVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arrow/schema.h"

/* Physical types, as the format numbers them. */
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
    size_t column;    /* its position in the table */
    size_t parent;    /* that of its GROUP or LIST, or PF_NO_PARENT */
    unsigned max_def; /* definition level of a value that is there */
    unsigned max_rep; /* repetition level: 1 if it is in a list, else 0 */
} pf_leaf;

/* Goes through the leaves of a table: `about`, and zeros at the beginning. */
typedef struct pf_leaves {
    const pf_table_about *about;
    size_t next;   /* position of the column that comes next */
    size_t parent; /* of the last GROUP or LIST */
} pf_leaves;

/* Takes the next leaf; false: there is none. */
bool pf_leaves_next(pf_leaves *x, pf_leaf *leaf);

#endif
