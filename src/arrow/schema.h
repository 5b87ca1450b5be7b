/* The tables and their columns: format/tables.def as data.
 *
 * The makers of rows, the writers (Parquet, Arrow) and `perfile schema` use these descriptions.
 * Those of tracepoints are made while reading, one for each event. */
#ifndef PF_ARROW_SCHEMA_H
#define PF_ARROW_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PF_TABLES_VERSION = 1 }; /* column schema_version of `captures` */

/* Types of columns, see format/tables.def. */
typedef enum pf_column_type {
    PF_COLUMN_BOOL,
    PF_COLUMN_I32,
    PF_COLUMN_I64,
    PF_COLUMN_U64,
    PF_COLUMN_F64,
    PF_COLUMN_TEXT,
    PF_COLUMN_WALL,
    PF_COLUMN_TEXTS, /* a list of texts; and … */
    PF_COLUMN_I64S,  /* … a list of numbers: elements have no description */
    PF_COLUMN_GROUP, /* a structure; its members follow */
    PF_COLUMN_LIST   /* a list of structures, likewise */
} pf_column_type;

/* A column, or a member of the GROUP or LIST before it. */
typedef struct pf_column_about {
    const char *name;
    const char *unit;   /* "": none */
    const char *source; /* origin of its values */
    const char *doc;    /* its meaning */
    pf_column_type type;
    bool is_member;
} pf_column_about;

/* A table. */
typedef struct pf_table_about {
    const char *name;
    const char *rows; /* meaning of a row */
    const char *doc;
    const pf_column_about *columns; /* including members */
    size_t n;
} pf_table_about;

/* The tables of format/tables.def: PF_TABLE_samples. */
enum {
#define TABLE(name, rows, doc) PF_TABLE_##name,
#include "perfile/format/tables.def"
    PF_N_TABLES
};

/* Indices of columns in their table: PF_AT(samples, time); of members PF_IN(samples, data_src,
 * op). */
enum {
#define TABLE(name, rows, doc)                               PF_BEGIN_##name,
#define COLUMN(table, type, name, unit, source, doc)         PF_AT_##table##_##name,
#define GROUP(table, name, source, doc)                      PF_AT_##table##_##name,
#define LIST(table, name, source, doc)                       PF_AT_##table##_##name,
#define MEMBER(table, parent, type, name, unit, source, doc) PF_IN_##table##_##parent##_##name,
#define END(table)                                           PF_END_##table,
#include "perfile/format/tables.def"
};
#define PF_AT(table, name) ((size_t)(PF_AT_##table##_##name - PF_BEGIN_##table - 1))
#define PF_IN(table, parent, name)                                                                 \
    ((size_t)(PF_IN_##table##_##parent##_##name - PF_BEGIN_##table - 1))

extern const pf_table_about pf_all_tables[PF_N_TABLES];

/* Returns the index of the table with this name in pf_all_tables, or PF_N_TABLES. */
size_t pf_table_named(const char *name, size_t length);

#endif
