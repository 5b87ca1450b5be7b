/* The subjects of `perfile list`: each lists one kind of thing in a capture.
 *
 * list.c reads the input.  A subject collects data while the records are read, and prints at the
 * end.  Most subjects collect nothing: they print from the session or from a model. */
#ifndef CLI_LIST_LIST_H
#define CLI_LIST_LIST_H

#include "cli/input.h"
#include "perfile/field.h"
#include "perfile/model.h"

/* The listing of one capture. */
typedef struct cli_listing {
    cli_input in;
    const perfile_session *session; /* session of the stream */
    perfile_model *model;           /* owned; NULL unless the subject needs one */
    bool json;
    bool verbose;
    void *collected; /* data of the subject's `feed`; freed by its `release` */
    uint32_t ranged; /* CPUs that were printed one by one although the capture has them as ranges;
                      * limits the output, see events.c */
} cli_listing;

typedef struct cli_subject {
    const char *name;   /* the word on the command line */
    const char *member; /* key of the array in the JSON report */
    bool model;         /* needs cli_listing.model */
    /* The first two return false when out of memory.  `feed` and `release` may be NULL. */
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

/* Prints decoded fields (perfile/field.h) as members of a JSON object or as lines of text.  Used
 * for the attr of an event and for feature sections.
 *
 * Both printers are visitors for perfile_attr_walk() and perfile_feature_walk(). */

/* State of the JSON visitor, which writes members of the JSON object that is open.  Initialize it
 * with zeros.  If a walk fails, cli_fields_json_end() closes the brackets that are still open. */
typedef struct cli_fields_json {
    unsigned depth;   /* number of nested fields that are open */
    char closing[16]; /* closing bracket of each: ']', '}', or 0 for a flat structure */
} cli_fields_json;

extern const perfile_visitor cli_fields_json_visitor;
void cli_fields_json_end(cli_fields_json *f);

/* State of the text visitor, which writes lines "name: value", and each item of a list on one line.
 * Initialize it with zeros and the `indent` of the first line. */
typedef struct cli_fields_text {
    unsigned indent;     /* columns before the text of a line */
    unsigned items;      /* depth of list items; if above 0, fields share a line */
    bool line_open;      /* the line of an item has been started */
    uint64_t attr_flags; /* flags of the attr that is printed; they decide how its clockid is
                          * shown */
} cli_fields_text;

extern const perfile_visitor cli_fields_text_visitor;
void cli_fields_text_end(cli_fields_text *f);

/* Writes the names of the flags that are set in `value` ("IP|TID|TIME"), or the word for the value
 * of an enumeration ("software").  Writes "" if there is none. */
void cli_flag_names(const perfile_vocabulary *v, uint64_t value, char *out, size_t size);

#endif
