/* Numbers, times and sizes in words for people, and the way back. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>

#include "perfile/base.h"

/* Whether `text` is well-formed UTF-8. */
bool cli_is_utf8(perfile_bytes text);

/* Writes `word` as a shell takes it, without characters that drive a terminal; false, and nothing,
 * when it does not fit. */
enum { CLI_SHELL_WORD = 4096 };
bool cli_shell_word(const char *word, char *out, size_t size);

/* The same for a file in front of which no option stands: "-- -x" where it begins like an option.
 * False also for "-", which cannot be read again. */
bool cli_shell_file(const char *path, char *out, size_t size);

/* Seconds with nine digits, of ns. */
void cli_format_seconds(uint64_t ns, char *out, size_t size);

/* UTC with nine digits, of ns since 1970. */
void cli_format_wall_time(uint64_t ns, char *out, size_t size);

/* "12,345"; returns `out`. */
const char *cli_format_grouped(uint64_t n, char out[32]);

/* "12.3 MB" */
void cli_format_bytes(uint64_t bytes, char *out, size_t size);

/* "64M": a number of bytes, KiB, MiB or GiB; false when it is none. */
bool cli_read_size(const char *word, uint64_t *bytes);

#endif
