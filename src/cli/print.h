/* Output for people: every byte goes through these functions, to standard output or standard error.
 *
 * A format string is printed unchanged, including its line breaks.  The values of %s and %c come
 * from captures, file names and arguments: in them control characters, line breaks, bidirectional
 * controls and invalid UTF-8 are printed as \xNN (perfile/text.h), so that they can neither control
 * a terminal nor begin a new line.  No other file of the command prints with stdio, except json.c,
 * which escapes by the rules of JSON (checked by tests/build/printing.sh). */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include "perfile/stream.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Prints to standard output.  The format is that of printf(), without %n, %p, %a, %e, the length L,
 * and flags other than `-` and `0`. */
void cli_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Like cli_print(), to standard error.  Flushes standard output before, so that the order is
 * preserved. */
void cli_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Shows a line on standard error, which is a terminal, in place of the line that was shown before.
 * The line is erased before anything else is printed on a terminal. */
void cli_print_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Erases the progress line if `stream`, which will be printed to, is a terminal. */
void cli_print_make_room(FILE *stream);

/* Prints the line "HEAD: MESSAGE" to standard error.  Lines up to 1 KiB are one write(), so that
 * lines of several processes do not mix. */
void cli_print_error_line(const char *head, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Prints a constant text unchanged, to standard error if `error` is set, else to standard
 * output. */
void cli_print_help(bool error, const char *text);

/* Prints bytes that are not NUL-terminated to standard output, escaped like %s. */
void cli_print_text(perfile_bytes text);

/* A writer of compact JSON to standard output. format/reports.md describes the reports.
 *
 * Calls nest: cli_json_object("a") … cli_json_object_end().  `key` is the name of the member; it is
 * NULL in arrays and for the outermost value.  Commas are inserted automatically.  The state is
 * static: one document at a time.  Write errors are reported at the end (cli_finish_output()). */

/* Redirects all JSON that follows to `stream`; NULL is standard output. */
void cli_json_to(FILE *stream);

void cli_json_object(const char *key);
void cli_json_object_end(void);
void cli_json_array(const char *key);
void cli_json_array_end(void);

void cli_json_number(const char *key, uint64_t value);
void cli_json_signed(const char *key, int64_t value);
void cli_json_real(const char *key, double value); /* infinity and NaN become null */
void cli_json_bool(const char *key, bool value);
void cli_json_null(const char *key);

/* Numbers and bytes as strings. */
void cli_json_decimal(const char *key, uint64_t value); /* "123", for values that may exceed 2^53 */
/* Like cli_json_decimal(), for times and offsets: null for UINT64_MAX, which means unknown. */
void cli_json_known(const char *key, uint64_t value);
void cli_json_signed_decimal(const char *key, int64_t value);
void cli_json_hex(const char *key, uint64_t value);        /* "0x7b" */
void cli_json_bytes(const char *key, perfile_bytes bytes); /* "00ff" */

/* A string.  Bytes that are not valid UTF-8 become {"hex":"…"}, a NULL string becomes null. */
void cli_json_text(const char *key, perfile_bytes text);
void cli_json_string(const char *key, const char *text);

/* Ends the line.  Call it after the outermost value. */
void cli_json_line(void);

/* A table of text.  A column is as wide as its longest cell, but at most 64 columns in a pipe or
 * file; cells that are longer are not aligned.  On a terminal, long texts are shortened in the
 * middle until the rows fit.  All cells are in memory until the table is printed. */

typedef struct cli_table cli_table;

/* Returns a new table with these column headings, which must stay valid; NULL when out of memory.
 * A column is right-aligned if its heading begins with '>', which is not shown. */
cli_table *cli_table_new(const char *const *columns, unsigned n);
void cli_table_free(cli_table *t);

/* Adds the next cell; `n` cells make a row.  Unprintable characters are escaped as \xNN.  If memory
 * runs out, cli_table_print() reports it. */
void cli_cell(cli_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_cell_text(cli_table *t, perfile_bytes text);
/* Adds a text as a cell; NULL is shown as "-". */
void cli_cell_string(cli_table *t, const char *text);
/* Adds a time in seconds as a cell; "-" if there is none. */
void cli_cell_time(cli_table *t, uint64_t time);

/* Prints the headings and all rows to standard output.  Returns false, without output, if memory
 * ran out. */
bool cli_table_print(cli_table *t);

/* Prints the table if `print` is set, and frees it.  Returns false if memory ran out. */
bool cli_table_end(cli_table *t, bool print);

/* Numbers, times, sizes and file names as text for people, and sizes from text. */

/* Names of record types and of capture forms. */

/* Returns the family and type of a record as one number, for use as a key. */
static inline uint64_t cli_type_key(const perfile_record *r)
{
    return (uint64_t)r->family << 32 | r->type;
}

/* Returns the name of a type by its key: "SAMPLE".  If it has none, writes "type 99" into `buf` and
 * returns that. */
const char *cli_type_name(uint64_t key, char *buf, size_t size);

/* Returns the number of the type as stored in the capture. */
uint32_t cli_type_number(uint64_t key);

/* Returns "file" or "pipe", or the name of the format for captures of other families. */
const char *cli_form_name(const perfile_container *c);

/* True if `text` is well-formed UTF-8. */
bool cli_is_utf8(perfile_bytes text);

enum { CLI_SHELL_WORD = 4096 }; /* size of a buffer for a quoted word */

/* Writes `word` for commands that are suggested to the user: quoted for a shell if necessary, with
 * unprintable characters escaped.  If it does not fit, writes "" and returns false. */
bool cli_shell_word(const char *word, char *out, size_t size);

/* Like cli_shell_word(), for a file operand: writes "-- -x" for a name that looks like an option.
 * Returns false for "-", too, because standard input cannot be read again. */
bool cli_shell_file(const char *path, char *out, size_t size);

/* Writes `ns` as seconds with nine digits: "12.000000345". */
void cli_format_seconds(uint64_t ns, char *out, size_t size);

/* Writes ns since 1970 as a UTC date with nine digits: "2026-04-21T11:03:09.000000000Z". */
void cli_format_wall_time(uint64_t ns, char *out, size_t size);

/* Writes "12,345" and returns `out`. */
const char *cli_format_grouped(uint64_t n, char out[32]);

/* Writes "12.3 MB" (powers of 1000). */
void cli_format_bytes(uint64_t bytes, char *out, size_t size);

/* Returns how many columns the first `n` bytes of a text take.  UTF-8 continuation bytes take
 * none. */
size_t cli_columns(const char *text, size_t n);

/* Returns the position after the first `n` characters of a text. */
const char *cli_skip_columns(const char *text, size_t n);

/* Returns the width of the terminal `fd` in columns: from the terminal, else from COLUMNS, else
 * 80. */
size_t cli_terminal_width(int fd);

/* Reads a size such as "64M": a number of bytes, KiB, MiB or GiB (powers of 1024).  Returns false
 * if `word` is not a size. */
bool cli_read_size(const char *word, uint64_t *bytes);

#endif
