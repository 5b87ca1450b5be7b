/* The subjects of `perfile list`: each lists one kind of thing that a capture has.
 *
 * list.c reads the input; a subject collects what it needs while the records pass, and prints at
 * the end.  Most subjects collect nothing: they print from the session or from a model. */
#ifndef CLI_LIST_LIST_H
#define CLI_LIST_LIST_H

#include "cli/input.h"
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

#endif
