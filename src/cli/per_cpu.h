/* Output of captures whose files are of one processor each (perfmon buffers), where the records of
 * several processors come together: a file for each of them, or a capture of another format. */
#ifndef CLI_PER_CPU_H
#define CLI_PER_CPU_H

#include "cli/output.h"
#include "perfile/merge_captures.h"

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

/* How such an input is written; `path` is the first of several. */
cli_per_cpu_way cli_per_cpu_way_of(const cli_writing *w, const char *path);

/* Sorts, merges and writes; reports, and returns the exit status. */
int cli_write_per_cpu(cli_per_cpu *x, cli_per_cpu_way way);

#endif
