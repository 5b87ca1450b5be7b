/* What `perfile merge` says of what it did. */
#ifndef CLI_MERGE_MERGE_H
#define CLI_MERGE_MERGE_H

#include <stdio.h>

#include "perfile/merge_captures.h"

typedef struct cli_merge_message {
    uint32_t kind, number, input;
    uint64_t count;
    char *text;
} cli_merge_message;

typedef struct cli_merge_run {
    perfile_merge_source *in;
    perfile_stream_summary *summaries; /* of them */
    size_t n;
    const char *out;
    bool json;
    bool maps; /* --report json: ids and pids, too */
    FILE *report;
    cli_merge_message *notes; /* told when the summary was */
    size_t n_notes, more_notes;
    uint32_t clocks; /* 1 << PERFILE_CLOCK_… of the inputs behind the first */
    bool merged;     /* cli_merge_report_inputs() was called */
    perfile_merge_summary result;
    perfile_copy_summary copied;
} cli_merge_run;

/* Before anything is told; `json`, `maps` and `out` are set. */
void cli_merge_begin(cli_merge_run *x);

/* Callbacks of perfile_merge() and perfile_merge_captures(). */
void cli_merge_note(void *run, const perfile_merge_note *note);
void cli_merge_copy_note(void *run, uint32_t input, const perfile_note *note);
void cli_merge_report_inputs(void *run, const perfile_stream *stream);

/* At the end; `failed` is NULL when it went well. */
void cli_merge_end(cli_merge_run *x, const perfile_error *failed);

#endif
