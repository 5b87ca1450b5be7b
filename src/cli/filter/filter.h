/* What `perfile filter` was asked for, and what it says. */
#ifndef CLI_FILTER_FILTER_H
#define CLI_FILTER_FILTER_H

#include "perfile/filter.h"

typedef struct cli_filter_run {
    const char *name; /* of the input, for messages */
    const char *out;
    bool json;
    perfile_filter_summary filtered;
    perfile_copy_summary copied;
} cli_filter_run;

/* A callback of perfile_filter_capture(). */
void cli_filter_note(void *run, const perfile_note *note);

/* At the end; `failed` is NULL when it went well. */
void cli_filter_report(const cli_filter_run *x, const perfile_error *failed);

#endif
