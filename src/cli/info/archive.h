/* `perfile info --chunks` and `--columns`: what an archive consists of. */
#ifndef CLI_INFO_ARCHIVE_H
#define CLI_INFO_ARCHIVE_H

#include "cli/archive.h"
#include "cli/input.h"

/* What is shown of an archive. */
enum { CLI_INFO_CHUNKS = 1, CLI_INFO_COLUMNS = 2 };

/* Does one input and returns its exit status. */
int cli_info_archive(const char *path, const cli_reading *how, unsigned what, bool json);

/* The parts of it.  Errors are of reading; PERFILE_E_NOMEM. */
perfile_status cli_info_chunks(perfile_archive *a, bool json, bool *damaged, perfile_error *err);
perfile_status cli_info_columns(perfile_archive *a, const cli_reading *how, bool json,
                                bool *damaged, perfile_error *err);

#endif
