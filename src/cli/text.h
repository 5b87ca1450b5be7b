/* Numbers, times, sizes and file names as text for people, and sizes read back from text. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>

#include "cli/input.h"
#include "perfile/base.h"

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

/* Returns the columns of the terminal of `fd`: as it says itself, else from COLUMNS, else 80. */
size_t cli_terminal_width(int fd);

/* Reads "64M": a number of bytes, KiB, MiB or GiB (powers of 1024); false if it is not one. */
bool cli_read_size(const char *word, uint64_t *bytes);

#endif
