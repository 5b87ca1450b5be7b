/* Output of captures whose files are of one processor each (perfmon buffers): a file for each,
 * where the records of several processors come together. */
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

/* True if OUT is a name with %d or %s and the input holds files of one processor each. */
bool cli_is_per_cpu(const cli_writing *w, const char *path);

/* Sorts, merges and writes; reports, and returns the exit status. */
int cli_write_per_cpu(cli_per_cpu *x);

#endif
