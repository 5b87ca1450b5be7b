/* Tables: cells are stored as strings one after the other, and printed when all widths are known.
 */
#include "cli/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/print.h"
#include "perfile/text.h"

enum { MAX_COLUMNS = 16 };

struct cli_table {
    const char *const *columns; /* headings, with their '>' */
    unsigned n;
    unsigned at;               /* column of the next cell */
    size_t width[MAX_COLUMNS]; /* of the widest cell so far */
    char *cells;               /* NUL-terminated, row by row */
    size_t len, cap;           /* bytes of `cells` used, and allocated */
    bool failed;               /* memory ran out: no cells are added any more */
};

/* Returns the number of columns on the screen: UTF-8 continuation bytes take none. */
static size_t display_width(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static const char *heading(const cli_table *t, unsigned column)
{
    return t->columns[column] + (t->columns[column][0] == '>');
}

cli_table *cli_table_new(const char *const *columns, unsigned n)
{
    cli_table *t = calloc(1, sizeof *t);
    if (!t || n > MAX_COLUMNS) {
        free(t);
        return NULL;
    }
    t->columns = columns;
    t->n = n;
    for (unsigned i = 0; i < n; i++)
        t->width[i] = display_width(heading(t, i));
    return t;
}

void cli_table_free(cli_table *t)
{
    if (t)
        free(t->cells);
    free(t);
}

/* Makes room for `n` bytes. */
static bool reserve(cli_table *t, size_t n)
{
    if (t->cap - t->len >= n)
        return true;
    size_t cap = (t->cap + n) * 2;
    char *cells = t->failed ? NULL : realloc(t->cells, cap);
    if (!cells) {
        t->failed = true;
        return false;
    }
    t->cells = cells;
    t->cap = cap;
    return true;
}

void cli_cell_text(cli_table *t, perfile_bytes text)
{
    size_t n = perfile_printable(text, NULL, 0) + 1;
    if (!reserve(t, n))
        return;
    char *cell = t->cells + t->len;
    perfile_printable(text, cell, n);
    t->len += n;
    size_t wide = display_width(cell);
    if (wide > t->width[t->at])
        t->width[t->at] = wide;
    t->at = (t->at + 1) % t->n;
}

void cli_cell_string(cli_table *t, const char *text)
{
    if (!text)
        text = "-";
    cli_cell_text(t, (perfile_bytes){(const uint8_t *)text, strlen(text)});
}

void cli_cell(cli_table *t, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cli_cell_string(t, text);
}

/* Prints one cell.  *blank is the number of spaces that are due in front of the next text, so that
 * no line ends with spaces. */
static void put_cell(const cli_table *t, unsigned column, const char *text, size_t *blank)
{
    size_t wide = display_width(text);
    size_t pad = t->width[column] > wide ? t->width[column] - wide : 0;
    bool right = t->columns[column][0] == '>';
    *blank += (column ? 2 : 0) + (right ? pad : 0);
    if (*text) {
        cli_print("%*s%s", (int)*blank, "", text);
        *blank = 0;
    }
    *blank += right ? 0 : pad;
    if (column + 1 == t->n) {
        cli_print("\n");
        *blank = 0;
    }
}

bool cli_table_print(cli_table *t)
{
    if (t->failed)
        return false;
    size_t blank = 0;
    for (unsigned i = 0; i < t->n; i++)
        put_cell(t, i, heading(t, i), &blank);
    unsigned column = 0;
    for (const char *cell = t->cells; cell && cell < t->cells + t->len; cell += strlen(cell) + 1) {
        put_cell(t, column, cell, &blank);
        column = (column + 1) % t->n;
    }
    return true;
}
