/* What `perfile split` was asked for, and what it says. */
#ifndef CLI_SPLIT_SPLIT_H
#define CLI_SPLIT_SPLIT_H

#include "perfile/split.h"

typedef struct cli_split_part {
    perfile_split_part part;
    char *name, *key;
} cli_split_part;

typedef struct cli_split_run {
    const char *name; /* of the input, for messages */
    const char *out;
    bool json;
    cli_split_part *parts; /* for --json */
    size_t n_parts, cap_parts;
    bool no_memory; /* for them */
    perfile_split_summary sum;
} cli_split_run;

/* Callbacks of perfile_split_capture(). */
void cli_split_note(void *run, const perfile_note *note);
void cli_split_done(void *run, const perfile_split_part *part, perfile_sink *sink);

void cli_split_free(cli_split_run *x);

/* At the end; `failed` is NULL when it went well. */
void cli_split_report(const cli_split_run *x, const perfile_error *failed);

#endif
