/* A table of text whose columns are as wide as their longest cell, in a pipe or file up to 64
 * columns, beyond which cells are not aligned; on a terminal long texts are cut in the middle until
 * rows fit.  All cells are kept in memory until the table is printed. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>

#include "perfile/base.h"

typedef struct cli_table cli_table;

/* Returns a new table with these column headings, which must stay valid; a column whose heading
 * begins with '>' is right-aligned (the '>' is not shown).  NULL if there is no memory. */
cli_table *cli_table_new(const char *const *columns, unsigned n);
void cli_table_free(cli_table *t);

/* Adds the next cell; `n` cells make a row.  Unprintable characters are escaped as \xNN.  If memory
 * runs out, cli_table_print() reports it. */
void cli_cell(cli_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_cell_text(cli_table *t, perfile_bytes text);
/* The same; NULL is shown as "-". */
void cli_cell_string(cli_table *t, const char *text);

/* Prints the headings and all rows to standard output; false, without output, if memory ran out. */
bool cli_table_print(cli_table *t);

#endif
