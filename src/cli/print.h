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

#include <stdarg.h>
#include <stdio.h>

#include "perfile/base.h"

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

#endif
