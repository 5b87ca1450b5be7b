/* `perfile split`: the report on the parts that were written. */
#ifndef CLI_SPLIT_SPLIT_H
#define CLI_SPLIT_SPLIT_H

#include "perfile/split.h"

/* A part that was written; name and key are copies of those in `part`. */
typedef struct cli_split_part {
    perfile_split_part part;
    char *name, *key;
} cli_split_part;

typedef struct cli_split_run {
    const char *name; /* of the input, for messages */
    const char *out;  /* the pattern */
    bool json;
    cli_split_part *parts; /* kept for --json */
    size_t n_parts, cap_parts;
    bool no_memory; /* some part could not be kept: there is no JSON report */
    perfile_split_summary sum;
    uint64_t most;            /* --size; 0: no limit */
    uint64_t larger, largest; /* parts above it; bytes of the largest part */
} cli_split_run;

/* Callbacks of perfile_split_capture(), whose `user` is the cli_split_run: a note; a part that is
 * complete. */
void cli_split_note(void *run, const perfile_note *note);
void cli_split_done(void *run, const perfile_split_part *part, perfile_sink *sink);

void cli_split_free(cli_split_run *x);

/* Prints the report at the end; `failed` is the error, NULL if there is none. */
void cli_split_report(const cli_split_run *x, const perfile_error *failed);

#endif
