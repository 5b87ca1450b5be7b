/* `perfile filter`: the report on what was kept. */
#ifndef CLI_FILTER_FILTER_H
#define CLI_FILTER_FILTER_H

#include "perfile/filter.h"

typedef struct cli_filter_run {
    const char *name; /* of the input, for messages */
    const char *out;
    bool json; /* the report is a JSON object on standard output */
    perfile_filter_summary filtered;
    perfile_copy_summary copied;
} cli_filter_run;

/* A callback of perfile_filter_capture(), whose `user` is the cli_filter_run: prints a note. */
void cli_filter_note(void *run, const perfile_note *note);

/* Prints the report at the end; `failed` is the error, NULL if there is none. */
void cli_filter_report(const cli_filter_run *x, const perfile_error *failed);

#endif
