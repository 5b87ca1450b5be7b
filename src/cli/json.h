/* JSON on standard output, compact.  format/reports.md says what the reports hold. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "perfile/base.h"

/* Everything from here on goes there; NULL is standard output. */
void cli_json_to(FILE *stream);

/* `key` is NULL inside arrays. */
void cli_json_object(const char *key);
void cli_json_object_end(void);
void cli_json_array(const char *key);
void cli_json_array_end(void);

void cli_json_number(const char *key, uint64_t value);
void cli_json_signed(const char *key, int64_t value);
void cli_json_real(const char *key, double value);
void cli_json_bool(const char *key, bool value);
void cli_json_null(const char *key);
void cli_json_decimal(const char *key, uint64_t value);    /* "123": may be above 2^53 */
void cli_json_hex(const char *key, uint64_t value);        /* "0x7b" */
void cli_json_bytes(const char *key, perfile_bytes bytes); /* "00ff" */

/* A string; what is no UTF-8 becomes {"hex":"…"}.  NULL becomes null. */
void cli_json_text(const char *key, perfile_bytes text);
void cli_json_string(const char *key, const char *text);

/* Ends the line; to be called behind the outermost object. */
void cli_json_line(void);

#endif
