/* Columns of text, as wide as they have to be. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>

#include "perfile/base.h"

typedef struct cli_table cli_table;

/* `columns` are headings; one that begins with '>' is set flush right (without the '>').  NULL when
 * there is no memory. */
cli_table *cli_table_new(const char *const *columns, unsigned n);
void cli_table_free(cli_table *t);

/* The next cell of the row, n of them make a row.  Control characters are shown as \xNN; a memory
 * failure is kept and told by cli_table_print(). */
void cli_cell(cli_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_cell_text(cli_table *t, perfile_bytes text);
/* NULL is shown as "-". */
void cli_cell_string(cli_table *t, const char *text);

/* Prints headings and rows; false when memory ran out. */
bool cli_table_print(cli_table *t);

#endif
