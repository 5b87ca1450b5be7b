/* `perfile convert --to archive`. */
#ifndef CLI_CONVERT_ARCHIVE_H
#define CLI_CONVERT_ARCHIVE_H

#include "cli/output.h"
#include "perfile/convert.h"

typedef struct cli_archive_output {
    const cli_writing *w;
    const perfile_convert_options *how; /* what happens to each input; `user` is set here */
    cli_inputs inputs;
    bool append; /* OUT may be an archive, and is continued */
    bool repack; /* archives among the inputs are decoded and packed again */
} cli_archive_output;

/* Returns the exit status. */
int cli_convert_to_archive(const cli_archive_output *o);

#endif
