/* Shared by commands that write a capture in another form: the report of differences between input
 * and output, and output by CPU. */
#ifndef CLI_COMMANDS_CONVERT_H
#define CLI_COMMANDS_CONVERT_H

#include "cli/output.h"
#include "perfile/convert.h"
#include "perfile/merge_captures.h"

typedef struct cli_conversion {
    const char *name; /* name of the input, for messages */
    const char *out;
    bool json;          /* print one JSON object to standard output instead of messages */
    bool copied_chunks; /* the input is an archive, and its chunks were copied */
    bool scrubs;        /* the summary has the number of zeroed bytes */
    perfile_convert_summary sum;
} cli_conversion;

/* Called in this order: begin, note() for each note (as a callback of perfile_convert_capture(),
 * with the cli_conversion as `user`), then end.  `failed` is the error, or NULL. */
void cli_conversion_begin(cli_conversion *x);
void cli_conversion_note(void *conversion, const perfile_note *note);
void cli_conversion_end(cli_conversion *x, const perfile_error *failed);

/* Output of captures that have a file for each CPU (perfmon buffers), for commands that bring the
 * records of several CPUs together.  The output is a file for each CPU, or a capture of another
 * format. */

/* The inputs, which are sorted, and merged if there are several. */
typedef struct cli_per_cpu {
    const char *command;
    const perfile_merge_source *in; /* paths in `name`, and offsets */
    size_t n;
    const cli_writing *w;
    uint64_t max_memory;
    uint32_t merge_flags; /* PERFILE_MERGE_… */
} cli_per_cpu;

typedef enum cli_per_cpu_way {
    CLI_PER_CPU_NONE,     /* not such an input, or its output is one file: treat it like any other
                           * capture */
    CLI_PER_CPU_FILES,    /* OUT has %d or %s in its name */
    CLI_PER_CPU_CONVERTED /* --to is another format than that of the input */
} cli_per_cpu_way;

/* Returns how such an input is written.  `file` is the first of several. */
cli_per_cpu_way cli_per_cpu_way_of(const cli_writing *w, const cli_file *file);

/* Sorts, merges and writes the inputs, reports, and returns the exit status. */
int cli_write_per_cpu(cli_per_cpu *x, cli_per_cpu_way way);

#endif
