/* Words for people: what comes from a capture must not drive the terminal. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>

#include "perfile/base.h"

/* Whether `text` is well-formed UTF-8. */
bool cli_is_utf8(perfile_bytes text);

/* Bytes of the well-formed UTF-8 sequence at `p`, 0 when there is none. */
size_t cli_utf8_step(const uint8_t *p, size_t left);

/* Writes `text` to `out` (of `size` bytes, NUL-terminated, cut at a character when it does not fit)
 * with control characters and what is no UTF-8 as \xNN.  Returns the bytes that all of it needs,
 * NUL not counted. */
size_t cli_printable(perfile_bytes text, char *out, size_t size);

/* The same to standard output. */
void cli_put_text(perfile_bytes text);
void cli_put_string(const char *text);

/* Seconds with nine digits, of ns. */
void cli_seconds(uint64_t ns, char *out, size_t size);

/* UTC with nine digits, of ns since 1970. */
void cli_wall(uint64_t ns, char *out, size_t size);

/* "12,345"; returns `out`. */
const char *cli_grouped(uint64_t n, char out[32]);

/* "12.3 MB" */
void cli_bytes(uint64_t bytes, char *out, size_t size);

/* "64M": a number of bytes, KiB, MiB or GiB; false when it is none. */
bool cli_read_size(const char *word, uint64_t *bytes);

#endif
