/* `perfile convert --target`: the result is checked for that version of perf. */
#ifndef CLI_CONVERT_TARGET_H
#define CLI_CONVERT_TARGET_H

#include "perfile/base.h"

/* The number of captures in the archive `path`; 0 if it is no archive, or not there. */
uint32_t cli_captures_in(const char *path, const perfile_limits *limits);

/* Reads what was written to `path` for `version` of perf, as `perfile validate --for` does, and
 * prints what that version will not read and which rules are broken.  Of an archive the captures
 * after the first `before` are read.  CLI_DONE: the version reads all of it; CLI_DAMAGED: it does
 * not, or the check failed. */
int cli_check_target(const char *path, const char *version, uint32_t before,
                     const perfile_limits *limits);

#endif
