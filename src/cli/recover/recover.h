/* What `perfile recover` says about what it did. */
#ifndef CLI_RECOVER_RECOVER_H
#define CLI_RECOVER_RECOVER_H

#include "perfile/recover.h"

typedef struct cli_rescue {
    const char *name; /* of the input, for messages */
    const char *path; /* of it, as given */
    const char *out;
    bool json, dry_run;
    uint64_t n_gaps; /* told so far */
    uint64_t n_features_lost;
    struct {
        uint32_t feature, damage;
        char *text;
    } * notes;
    size_t n_notes;
    perfile_recover_summary sum;
} cli_rescue;

/* Callbacks of perfile_recover_capture(), for people and for --report json. */
void cli_rescue_gap(cli_rescue *x, const perfile_gap *gap, const char *part);
void cli_rescue_note(cli_rescue *x, const perfile_recover_note *note);

/* Before the first gap, and at the end; `failed` is NULL when it went well. */
void cli_rescue_begin(cli_rescue *x);
void cli_rescue_end(cli_rescue *x, const perfile_error *failed);

void cli_rescue_clear(cli_rescue *x);

#endif
