/* Decoded fields (perfile/field.h) as members of a JSON object and as lines of text: used for the
 * attr of an event and for feature sections.
 *
 * Both are visitors of perfile_attr_walk() and perfile_feature_walk(). */
#ifndef CLI_FIELDS_H
#define CLI_FIELDS_H

#include "perfile/field.h"

/* State of the JSON visitor, which writes members of the JSON object that is open.  Begin with all
 * zeros; cli_fields_json_end() closes brackets that a failed walk left open. */
typedef struct cli_fields_json {
    unsigned depth;   /* nested fields that are open */
    char closing[16]; /* the bracket that closes each: ']', '}', or 0 for a flat structure */
} cli_fields_json;

extern const perfile_visitor cli_fields_json_visitor;
void cli_fields_json_end(cli_fields_json *f);

/* State of the text visitor: lines "name: value", each item of a list on one line.  Begin with all
 * zeros and the `indent` of the first line. */
typedef struct cli_fields_text {
    unsigned indent;     /* columns in front of a line */
    unsigned items;      /* depth of list items; above 0, fields share a line */
    bool line_open;      /* an item's line has been begun */
    uint64_t attr_flags; /* flags of the attr being walked; decides how its clockid is shown */
} cli_fields_text;

extern const perfile_visitor cli_fields_text_visitor;
void cli_fields_text_end(cli_fields_text *f);

/* Writes the names of the flags that are set in `value` ("IP|TID|TIME"), or the word of an
 * enumeration ("software"); "" if there is none. */
void cli_flag_names(const perfile_vocabulary *v, uint64_t value, char *out, size_t size);

#endif
