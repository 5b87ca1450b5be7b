/* The subjects of `list`. */
#ifndef CLI_LIST_LIST_H
#define CLI_LIST_LIST_H

#include "cli/input.h"
#include "perfile/model.h"

/* What is collected of one capture. */
typedef struct cli_listing {
    cli_input in;
    const perfile_session *session;
    perfile_model *model;
    bool json;
    bool verbose;
    void *collected; /* of the subject */
    uint32_t ranged; /* processors listed one by one that the capture names by ranges */
} cli_listing;

typedef struct cli_subject {
    const char *name;
    const char *member; /* of the JSON report */
    bool model;         /* needs one */
    /* Each returns false when there is no memory.  `feed` and `release` may be NULL; `print` writes
     * a table, or the items of a JSON array. */
    bool (*feed)(cli_listing *l, const perfile_record *r);
    bool (*print)(cli_listing *l);
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
