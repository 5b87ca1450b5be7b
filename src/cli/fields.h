/* What a walk of fields (perfile/field.h) meets, as JSON and as lines of text. */
#ifndef CLI_FIELDS_H
#define CLI_FIELDS_H

#include "perfile/field.h"

/* Members of the JSON object that is open.  Begin with all zeros; end with cli_fields_json_end(),
 * which closes what a walk that failed left open. */
typedef struct cli_fields_json {
    unsigned depth;
    char closing[16];
} cli_fields_json;

extern const perfile_visitor cli_fields_json_visitor;
void cli_fields_json_end(cli_fields_json *f);

/* Lines "name: value", items of lists on one line each. */
typedef struct cli_fields_text {
    unsigned indent;
    unsigned items; /* lists within lists */
    bool line_open;
    uint64_t attr_flags; /* the last of an event */
} cli_fields_text;

extern const perfile_visitor cli_fields_text_visitor;
void cli_fields_text_end(cli_fields_text *f);

/* The parts of `value` that are set, or its word: "IP|TID|TIME", "software". */
void cli_flag_names(const perfile_vocabulary *v, uint64_t value, char *out, size_t size);

#endif
