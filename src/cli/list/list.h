/* The subjects of `perfile list`: each lists one kind of thing that a capture has.
 *
 * list.c reads the input; a subject collects what it needs while the records pass, and prints at
 * the end.  Most subjects collect nothing: they print from the session or from a model. */
#ifndef CLI_LIST_LIST_H
#define CLI_LIST_LIST_H

#include "cli/input.h"
#include "perfile/field.h"
#include "perfile/model.h"

/* The listing of one capture. */
typedef struct cli_listing {
    cli_input in;
    const perfile_session *session; /* of the stream */
    perfile_model *model;           /* NULL unless the subject needs one; owned */
    bool json;
    bool verbose;
    void *collected; /* by the subject's `feed`; freed by its `release` */
    uint32_t ranged; /* processors that were printed one by one although the capture has them as
                      * ranges; limits the output, see events.c */
} cli_listing;

typedef struct cli_subject {
    const char *name;   /* the word on the command line */
    const char *member; /* key of the array in the JSON report */
    bool model;         /* needs cli_listing.model */
    /* The first two return false if there is no memory; `feed` and `release` may be NULL. */
    bool (*feed)(cli_listing *l, const perfile_record *r); /* called for each record */
    bool (*print)(cli_listing *l); /* prints a table, or the items of a JSON array */
    void (*release)(cli_listing *l);
} cli_subject;

extern const cli_subject cli_list_events;
extern const cli_subject cli_list_ids;
extern const cli_subject cli_list_processes;
extern const cli_subject cli_list_threads;
extern const cli_subject cli_list_mappings;
extern const cli_subject cli_list_build_ids;
extern const cli_subject cli_list_features;
extern const cli_subject cli_list_cpus;

/* Decoded fields (perfile/field.h) as members of a JSON object and as lines of text: used for the
 * attr of an event and for feature sections.
 *
 * Both are visitors of perfile_attr_walk() and perfile_feature_walk(). */

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
