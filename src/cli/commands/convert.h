/* What commands share that write a capture in another form: the report on what differs between
 * input and output, and output by processor. */
#ifndef CLI_COMMANDS_CONVERT_H
#define CLI_COMMANDS_CONVERT_H

#include "cli/output.h"
#include "perfile/convert.h"
#include "perfile/merge_captures.h"

typedef struct cli_conversion {
    const char *name; /* of the input, for messages */
    const char *out;
    bool json;          /* one JSON object on standard output instead of messages */
    bool copied_chunks; /* the input is an archive, and its chunks were copied */
    bool scrubs;        /* the summary tells what was zeroed */
    perfile_convert_summary sum;
} cli_conversion;

/* To be called in this order: begin, then note() for each note (a callback of
 * perfile_convert_capture(), whose `user` is the cli_conversion), then end.  `failed` is the error,
 * NULL if there is none. */
void cli_conversion_begin(cli_conversion *x);
void cli_conversion_note(void *conversion, const perfile_note *note);
void cli_conversion_end(cli_conversion *x, const perfile_error *failed);

/* Output of captures whose files are of one processor each (perfmon buffers), where the records of
 * several processors come together: a file for each of them, or a capture of another format. */

/* What is sorted, and merged if there are several. */
typedef struct cli_per_cpu {
    const char *command;
    const perfile_merge_source *in; /* paths in `name`, and offsets */
    size_t n;
    const cli_writing *w;
    uint64_t max_memory;
    uint32_t merge_flags; /* PERFILE_MERGE_… */
} cli_per_cpu;

typedef enum cli_per_cpu_way {
    CLI_PER_CPU_NONE,     /* the input has no such files, or goes into one: as any other capture */
    CLI_PER_CPU_FILES,    /* OUT is a name with %d or %s */
    CLI_PER_CPU_CONVERTED /* --to is another format than the input's */
} cli_per_cpu_way;

/* How such an input is written; `file` is the first of several. */
cli_per_cpu_way cli_per_cpu_way_of(const cli_writing *w, const cli_file *file);

/* Sorts, merges and writes; reports, and returns the exit status. */
int cli_write_per_cpu(cli_per_cpu *x, cli_per_cpu_way way);

#endif
