/* `perfile recover`: the report on what was recovered and what was lost. */
#ifndef CLI_RECOVER_RECOVER_H
#define CLI_RECOVER_RECOVER_H

#include "cli/output.h"
#include "perfile/recover.h"

typedef struct cli_rescue {
    const char *name; /* of the input, for messages */
    const char *path; /* of the input, as given */
    const char *out;
    bool json, dry_run;
    uint64_t n_gaps; /* reported so far */
    struct {
        uint32_t feature; /* number, UINT32_MAX: not about a feature */
        uint32_t damage;  /* its kind, 0: none */
        char *text;       /* allocated */
    } * notes;            /* kept for --json */
    size_t n_notes;
    perfile_recover_summary sum;
} cli_rescue;

/* Callbacks of perfile_recover_capture(): report a gap at once, and a note.  `part` is the file of
 * a directory, or NULL. */
void cli_rescue_gap(cli_rescue *x, const perfile_gap *gap, const char *part);
void cli_rescue_note(cli_rescue *x, const perfile_recover_note *note);

/* Begin the report, before the first gap, and end it; `failed` is the error, NULL if there is
 * none. */
void cli_rescue_begin(cli_rescue *x);
void cli_rescue_end(cli_rescue *x, const perfile_error *failed);

void cli_rescue_clear(cli_rescue *x);

/* If `path` is an archive, repairs it, sets *status to the exit status and returns true. */
bool cli_recover_archive(const char *path, const cli_writing *w, bool dry_run, int *status);

#endif
