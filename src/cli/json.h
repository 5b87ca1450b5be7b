/* A writer of compact JSON to standard output.  format/reports.md describes the reports.
 *
 * Calls nest: cli_json_object("a") … cli_json_object_end().  `key` is the name of the member, NULL
 * inside arrays and for the outermost value.  Commas are inserted automatically.  The state is
 * static: one document at a time.  Write errors are found at the end (cli_finish_output()). */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "perfile/base.h"

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
void cli_json_signed_decimal(const char *key, int64_t value);
void cli_json_hex(const char *key, uint64_t value);        /* "0x7b" */
void cli_json_bytes(const char *key, perfile_bytes bytes); /* "00ff" */

/* A string.  Bytes that are not valid UTF-8 become {"hex":"…"}, a NULL string becomes null. */
void cli_json_text(const char *key, perfile_bytes text);
void cli_json_string(const char *key, const char *text);

/* Ends the line; called behind the outermost value. */
void cli_json_line(void);

#endif
