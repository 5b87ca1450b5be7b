/* `perfile convert --target`: the result is checked for that version of perf. */
#ifndef CLI_CONVERT_TARGET_H
#define CLI_CONVERT_TARGET_H

/* Reads the capture `path`, which was written for `version` of perf, as `perfile validate --for`
 * does, and says with messages what this version will not read, or which rules are broken.
 * CLI_DONE: it reads all; CLI_DAMAGED: not all, or nobody knows. */
int cli_check_target(const char *path, const char *version);

#endif
