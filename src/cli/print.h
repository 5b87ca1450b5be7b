/* Output for people: every byte goes through these functions, to standard output or standard error.
 *
 * The text of a format string is ours and is printed unchanged, line breaks included.  What is
 * inserted with %s and %c comes from captures, file names and arguments.  In it control characters,
 * line breaks, bidirectional controls and invalid UTF-8 are printed as \xNN (perfile/text.h), so
 * that it can neither drive a terminal nor begin a line of its own.  No other file of the command
 * prints with stdio except json.c, which escapes by the rules of JSON (checked by
 * tests/build/printing.sh). */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include "perfile/stream.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Prints to standard output.  The format is that of printf without %n, %p, %a, %e, the length L,
 * and flags other than `-` and `0`. */
void cli_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same to standard error, after flushing standard output so that the order is kept. */
void cli_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Shows a line on standard error, a terminal, in the place of the one that was shown before.  It is
 * erased before anything else is printed on a terminal. */
void cli_print_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Erases that line if something will be printed to `stream`, which is on a terminal. */
void cli_print_make_room(FILE *stream);

/* Prints the line "HEAD: MESSAGE" to standard error.  Lines up to 1 KiB are one write(), so that
 * lines of several processes do not mix. */
void cli_print_error_line(const char *head, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Prints a constant text unchanged, to standard output or (`error`) standard error. */
void cli_print_help(bool error, const char *text);

/* Prints bytes that are not NUL-terminated to standard output, escaped like %s. */
void cli_print_text(perfile_bytes text);

/* A writer of compact JSON to standard output.  format/reports.md describes the reports.
 *
 * Calls nest: cli_json_object("a") … cli_json_object_end().  `key` is the name of the member, NULL
 * inside arrays and for the outermost value.  Commas are inserted automatically.  The state is
 * static: one document at a time.  Write errors are found at the end (cli_finish_output()). */

/* Redirects everything that follows to `stream`; NULL is standard output. */
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
void cli_json_decimal(const char *key, uint64_t value); /* "123", for values that may pass 2^53 */
/* The same for times and offsets: null for UINT64_MAX, which is one that is not known. */
void cli_json_known(const char *key, uint64_t value);
void cli_json_signed_decimal(const char *key, int64_t value);
void cli_json_hex(const char *key, uint64_t value);        /* "0x7b" */
void cli_json_bytes(const char *key, perfile_bytes bytes); /* "00ff" */

/* A string.  Bytes that are not valid UTF-8 become {"hex":"…"}, a NULL string becomes null. */
void cli_json_text(const char *key, perfile_bytes text);
void cli_json_string(const char *key, const char *text);

/* Ends the line; called behind the outermost value. */
void cli_json_line(void);

/* A table of text whose columns are as wide as their longest cell, in a pipe or file up to 64
 * columns, beyond which cells are not aligned; on a terminal long texts are cut in the middle until
 * rows fit.  All cells are kept in memory until the table is printed. */

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
/* A time in seconds; "-" if there is none. */
void cli_cell_time(cli_table *t, uint64_t time);

/* Prints the headings and all rows to standard output; false, without output, if memory ran out. */
bool cli_table_print(cli_table *t);

/* Prints the table with `print`, and frees it; false if memory ran out. */
bool cli_table_end(cli_table *t, bool print);

/* Numbers, times, sizes and file names as text for people, and sizes read back from text. */

/* Names of record types and of forms of captures. */

/* Returns the family and the type of a record as one number, to be used as a key. */
static inline uint64_t cli_type_key(const perfile_record *r)
{
    return (uint64_t)r->family << 32 | r->type;
}

/* Returns the name of the type of a key: "SAMPLE", or "type 99", written into `buf`, if it has
 * none. */
const char *cli_type_name(uint64_t key, char *buf, size_t size);

/* Returns the number of the type as it is stored in the capture. */
uint32_t cli_type_number(uint64_t key);

/* Returns "file" or "pipe"; for captures of other families the name of their format. */
const char *cli_form_name(const perfile_container *c);

/* True if `text` is well-formed UTF-8. */
bool cli_is_utf8(perfile_bytes text);

enum { CLI_SHELL_WORD = 4096 }; /* room for a quoted word */

/* Writes `word` quoted for a shell, if it needs that, and with unprintable characters escaped, for
 * commands that are suggested to the user.  Returns false, with "" in `out`, if it does not fit. */
bool cli_shell_word(const char *word, char *out, size_t size);

/* The same for a file operand: "-- -x" for a name that would be taken for an option.  Returns false
 * also for "-", since standard input cannot be read again. */
bool cli_shell_file(const char *path, char *out, size_t size);

/* Writes `ns` as seconds with nine digits: "12.000000345". */
void cli_format_seconds(uint64_t ns, char *out, size_t size);

/* Writes ns since 1970 as a date in UTC with nine digits: "2026-04-21T11:03:09.000000000Z". */
void cli_format_wall_time(uint64_t ns, char *out, size_t size);

/* Writes "12,345" and returns `out`. */
const char *cli_format_grouped(uint64_t n, char out[32]);

/* Writes "12.3 MB" (powers of 1000). */
void cli_format_bytes(uint64_t bytes, char *out, size_t size);

/* Returns the columns that the first `n` bytes of a text take: UTF-8 continuation bytes take none.
 */
size_t cli_columns(const char *text, size_t n);

/* Returns the position after the first `n` characters of a text. */
const char *cli_skip_columns(const char *text, size_t n);

/* Returns the columns of the terminal of `fd`: as it says itself, else from COLUMNS, else 80. */
size_t cli_terminal_width(int fd);

/* Reads "64M": a number of bytes, KiB, MiB or GiB (powers of 1024); false if it is not one. */
bool cli_read_size(const char *word, uint64_t *bytes);

#endif
