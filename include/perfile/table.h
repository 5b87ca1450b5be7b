/* Describes the tables for columnar engines, and their columns.
 *
 * Parquet exports and perfile_table_stream() have these tables. format/tables.md has the rules that
 * apply to all of them, and explains how content ids are made.  Everything comes from the rows of
 * format/tables.def and is static: strings live as long as the program.
 *
 *     perfile_table t;
 *     perfile_column c;
 *     for (size_t i = 0; perfile_table_at(i, &t, sizeof t); i++)
 *         for (size_t k = 0; perfile_table_column(i, k, &c, sizeof c); k++)
 *             printf("%s.%s: %s\n", t.name, c.name, c.doc);
 *
 * Positions of tables change with the version of the library.  Columns are only ever added, at the
 * end of their table: existing ones keep their names, types and positions. */
#ifndef PERFILE_TABLE_H
#define PERFILE_TABLE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Types of columns.  Any value may be null: the capture does not have it. */
typedef enum perfile_column_type {
    PERFILE_COLUMN_BOOL = 0,  /* true or false */
    PERFILE_COLUMN_I32 = 1,   /* signed 32-bit number */
    PERFILE_COLUMN_I64 = 2,   /* signed 64-bit number */
    PERFILE_COLUMN_U64 = 3,   /* unsigned 64-bit number: an address or hardware bits */
    PERFILE_COLUMN_F64 = 4,   /* a double */
    PERFILE_COLUMN_TEXT = 5,  /* text, valid UTF-8 */
    PERFILE_COLUMN_WALL = 6,  /* a time in UTC: µs since 1970 */
    PERFILE_COLUMN_TEXTS = 7, /* a list of TEXT */
    PERFILE_COLUMN_I64S = 8,  /* a list of I64 */
    PERFILE_COLUMN_GROUP = 9, /* a structure: the next columns are its members */
    PERFILE_COLUMN_LIST = 10  /* a list of structures: the next columns are their members */
} perfile_column_type;

/* A table. */
typedef struct perfile_table {
    const char *name; /* "samples" */
    const char *rows; /* meaning of one row, "a sample" */
    const char *doc;  /* what the table is for, in a few words */
    size_t n_columns; /* members of structures included */
    uint64_t reserved[4];
} perfile_table;

#ifndef PERFILE_DECLARATIONS
/* Gets the table at `position`: fills the first `size` bytes of *out; returns false after the last.
 */
static inline bool perfile_table_at(size_t position, perfile_table *out, size_t size)
{
    return perfile_row(PERFILE_ROW_TABLE, 0, position, out, size);
}
#endif

/* perfile_column.parent of a column that is not a member. */
#define PERFILE_NO_COLUMN UINT32_MAX

/* A column, or a member of a structure before it. */
typedef struct perfile_column {
    const char *name;   /* "time" */
    const char *unit;   /* "ns"; "": it has none */
    const char *source; /* the field or rule its values come from, "sample.time" */
    const char *doc;    /* description, in a few words */
    uint32_t type;      /* PERFILE_COLUMN_… */
    uint32_t parent;    /* position of the GROUP or LIST of a member, else PERFILE_NO_COLUMN */
    uint64_t reserved[4];
} perfile_column;

#ifndef PERFILE_DECLARATIONS
/* Gets the column at `position` of the table at `table`; members follow their structure.  Returns
 * false after the last, or if there is no such table. */
static inline bool perfile_table_column(size_t table, size_t position, perfile_column *out,
                                        size_t size)
{
    return perfile_row(PERFILE_ROW_COLUMN, table, position, out, size);
}

/* Returns the name of a PERFILE_COLUMN_…: "bool", "i32", "i64", "u64", "f64", "text", "wall",
 * "texts", "i64s", "group", "list"; NULL for other numbers. */
static inline const char *perfile_column_type_name(uint32_t type)
{
    return perfile_name(PERFILE_NAME_COLUMN_TYPE, type);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
