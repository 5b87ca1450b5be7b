/* What tables there are for engines that know columns, and of which columns they consist.
 *
 * `export --to parquet` writes these tables.  Rules that hold for all of them, and how ids of
 * content are made, are in format/tables.md.  Everything comes from the rows of format/tables.def
 * and is static: strings live as long as the program.
 *
 *     perfile_table t;
 *     perfile_column c;
 *     for (size_t i = 0; perfile_table_at(i, &t, sizeof t); i++)
 *         for (size_t k = 0; perfile_table_column(i, k, &c, sizeof c); k++)
 *             printf("%s.%s: %s\n", t.name, c.name, c.doc);
 *
 * Positions of tables change with the version of the library.  Columns are only ever added, at the
 * end of their table: those that are there keep their names, types and positions. */
#ifndef PERFILE_TABLE_H
#define PERFILE_TABLE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Types of columns.  Each value may be null, which means that the capture does not say it. */
typedef enum perfile_column_type {
    PERFILE_COLUMN_BOOL = 0,  /* true or false */
    PERFILE_COLUMN_I32 = 1,   /* a number of 32 bits with a sign */
    PERFILE_COLUMN_I64 = 2,   /* a number of 64 bits with a sign */
    PERFILE_COLUMN_U64 = 3,   /* an address or bits of the hardware: 64 bits without a sign */
    PERFILE_COLUMN_F64 = 4,   /* a double */
    PERFILE_COLUMN_TEXT = 5,  /* a text, valid UTF-8 */
    PERFILE_COLUMN_WALL = 6,  /* a time in UTC: µs since 1970 */
    PERFILE_COLUMN_TEXTS = 7, /* a list of TEXT */
    PERFILE_COLUMN_I64S = 8,  /* a list of I64 */
    PERFILE_COLUMN_GROUP = 9, /* a structure: the next columns are its members */
    PERFILE_COLUMN_LIST = 10  /* a list of structures, whose members follow likewise */
} perfile_column_type;

/* A table. */
typedef struct perfile_table {
    const char *name; /* "samples" */
    const char *rows; /* what one row is, "a sample" */
    const char *doc;  /* what the table is for, in a few words */
    size_t n_columns; /* members of structures included */
    uint64_t reserved[4];
} perfile_table;

/* The table at `position`: fills the first `size` bytes of *out; false behind the last. */
PERFILE_API bool perfile_table_at(size_t position, perfile_table *out, size_t size);

/* perfile_column.parent of a column that is no member. */
#define PERFILE_NO_COLUMN UINT32_MAX

/* A column, or a member of the structure in front of it. */
typedef struct perfile_column {
    const char *name;   /* "time" */
    const char *unit;   /* "ns"; "": it has none */
    const char *source; /* the field or rule its values come from, "sample.time" */
    const char *doc;    /* what it says, in a few words */
    uint32_t type;      /* PERFILE_COLUMN_… */
    uint32_t parent;    /* of a member the position of its GROUP or LIST, else PERFILE_NO_COLUMN */
    uint64_t reserved[4];
} perfile_column;

/* The column at `position` in the table at `table`, members behind their structure; false behind
 * the last, or without the table. */
PERFILE_API bool perfile_table_column(size_t table, size_t position, perfile_column *out,
                                      size_t size);

/* The name of PERFILE_COLUMN_…: "bool", "i32", "i64", "u64", "f64", "text", "wall", "texts",
 * "i64s", "group", "list"; NULL for other numbers. */
PERFILE_API const char *perfile_column_type_name(uint32_t type);

/* The version of the descriptions: the column schema_version of the table `captures`.  It grows
 * when columns or tables are added. */
PERFILE_API uint32_t perfile_tables_version(void);

#ifdef __cplusplus
}
#endif

#endif
