/* `perfile merge`: the report on what was merged. */
#ifndef CLI_MERGE_MERGE_H
#define CLI_MERGE_MERGE_H

#include <stdio.h>

#include "perfile/merge_captures.h"

/* A note that is kept until the report is printed. */
typedef struct cli_merge_message {
    uint32_t kind;   /* of perfile_merge_note; from PERFILE_N_MERGE_NOTES on, of perfile_note */
    uint32_t number; /* of a feature or record type, UINT32_MAX: none */
    uint32_t input;  /* index, UINT32_MAX: of no single input */
    uint64_t count;
    char *text; /* escaped for terminals; allocated */
} cli_merge_message;

typedef struct cli_merge_run {
    perfile_merge_source *in;
    perfile_stream_summary *summaries; /* one for each input */
    size_t n;                          /* inputs */
    const char *out;
    bool json;                /* the report is a JSON object */
    bool maps;                /* --report json: with the new ids and pids of all inputs */
    FILE *report;             /* a buffered standard error, if OUT is standard output; or NULL */
    cli_merge_message *notes; /* printed behind the summary */
    size_t n_notes;
    size_t more_notes; /* notes that were not kept: too many, or no memory */
    uint32_t clocks; /* bit PERFILE_MERGE_CLOCK_… is set if an input, except the first, has it */
    bool merged;     /* cli_merge_report_inputs() was called */
    perfile_merge_summary result;
    perfile_copy_summary copied;
} cli_merge_run;

/* Begins the report; `json`, `maps` and `out` are set. */
void cli_merge_begin(cli_merge_run *x);

/* Callbacks of perfile_merge() and perfile_merge_captures(); their `user` is the cli_merge_run. */
void cli_merge_note(void *run, const perfile_merge_note *note);
void cli_merge_copy_note(void *run, uint32_t input, const perfile_note *note);
void cli_merge_report_inputs(void *run, const perfile_stream *stream);

/* Prints the rest of the report and frees the notes; `failed` is the error, NULL if there is none.
 */
void cli_merge_end(cli_merge_run *x, const perfile_error *failed);

#endif
