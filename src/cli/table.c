/* Tables: cells are stored as strings one after the other, and printed when all widths are known.
 *
 * Text is never cut in a pipe or file.  On a terminal the widest columns give way until a row fits:
 * their texts are cut in the middle, because long names mostly begin alike. */
#include "cli/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/print.h"
#include "cli/text.h"
#include "perfile/text.h"

enum {
    MAX_COLUMNS = 16,
    MOST_PADDING = 64, /* spaces that one long cell may cost the rows of all others */
    LEAST_TEXT = 12    /* columns of text that are left of a cell */
};

struct cli_table {
    const char *const *columns; /* headings, with their '>' */
    unsigned n;
    unsigned at;               /* column of the next cell */
    size_t width[MAX_COLUMNS]; /* of the widest cell so far */
    char *cells;               /* NUL-terminated, row by row */
    size_t len, cap;           /* bytes of `cells` used, and allocated */
    bool failed;               /* memory ran out: no cells are added any more */
    bool narrowed;             /* `width` is what a cell has at most: the table is for a terminal */
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
    char small[64], *text = small;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(small, sizeof small, format, args);
    if (n >= (int)sizeof small && (text = malloc((size_t)n + 1)))
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    if (text)
        cli_cell_string(t, text);
    else
        t->failed = true;
    if (text != small)
        free(text);
}

/* Makes columns of text narrower until a row has no more than `most` columns of the screen, as far
 * as that goes; the widest first. */
static void narrow(cli_table *t, size_t most)
{
    size_t sum = 2 * ((size_t)t->n - 1);
    for (unsigned i = 0; i < t->n; i++)
        sum += t->width[i];
    while (sum > most) {
        unsigned widest = t->n;
        for (unsigned i = 0; i < t->n; i++)
            if (t->columns[i][0] != '>' && t->width[i] > LEAST_TEXT &&
                (widest == t->n || t->width[i] > t->width[widest]))
                widest = i;
        if (widest == t->n)
            break;
        t->width[widest]--;
        sum--;
    }
}

/* The position after the first `n` characters of a text. */
static const char *skip(const char *text, size_t n)
{
    for (; *text && n; n--)
        do
            text++;
        while (((unsigned char)*text & 0xc0) == 0x80);
    return text;
}

/* Prints a text, its middle left out if it has more than `most` columns. */
static void print_within(const char *text, size_t wide, size_t most)
{
    if (wide <= most) {
        cli_print("%s", text);
        return;
    }
    cli_print("%.*s\xe2\x80\xa6%s", (int)(skip(text, most / 2) - text), text,
              skip(text, wide - (most - 1 - most / 2)));
}

/* Prints one cell.  *blank is the number of spaces that are due in front of the next text, so that
 * no line ends with spaces. */
static void put_cell(const cli_table *t, unsigned column, const char *text, size_t *blank)
{
    size_t wide = display_width(text);
    size_t pad = t->width[column] > wide ? t->width[column] - wide : 0;
    bool right = t->columns[column][0] == '>';
    if (!t->narrowed && t->width[column] > MOST_PADDING)
        pad = wide < MOST_PADDING ? MOST_PADDING - wide : 0;
    *blank += (column ? 2 : 0) + (right ? pad : 0);
    if (*text) {
        cli_print("%*s", (int)*blank, "");
        print_within(text, wide, t->narrowed ? t->width[column] : SIZE_MAX);
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
    t->narrowed = isatty(STDOUT_FILENO);
    if (t->narrowed)
        narrow(t, cli_terminal_width(STDOUT_FILENO));
    for (unsigned i = 0; i < t->n; i++)
        put_cell(t, i, heading(t, i), &blank);
    unsigned column = 0;
    for (const char *cell = t->cells; cell && cell < t->cells + t->len; cell += strlen(cell) + 1) {
        put_cell(t, column, cell, &blank);
        column = (column + 1) % t->n;
    }
    return true;
}
