/* Every byte for people goes through here, to standard output and standard error.
 *
 * The words of a format are ours and go out as they are, line ends included.  What is put into it,
 * %s and %c, comes from captures, names and arguments: it is printed with control characters,
 * line breaks, marks of direction and what is no UTF-8 as \xNN (perfile/text.h), so that it can
 * neither drive a terminal nor begin a line of its own.  No other file of the command prints with
 * stdio, but json.c, which escapes in the way of JSON (tests/build/printing.sh). */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include <stdarg.h>

#include "perfile/base.h"

/* Formats are those of printf without %n, %p, %a, %e, L, and flags other than `-` and `0`. */
void cli_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same to standard error, after what stands in the buffer of standard output. */
void cli_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The line "HEAD: …" to standard error, in one write when it is not long. */
void cli_print_error_line(const char *head, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* A text of ours with its line ends, to standard output or standard error. */
void cli_print_help(bool error, const char *text);

/* Text that is no string, to standard output. */
void cli_print_text(perfile_bytes text);

#endif
