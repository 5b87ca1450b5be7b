/* A capture that a command writes. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>

#include "perfile/sink.h"

/* Opens `out` for a capture that is made of `in`, a file (or "-") or with `directory` a directory,
 * or says why not and returns CLI_FAILED.  `in`, the word for it in messages being `what`, is never
 * what `out` takes the place of. */
int cli_output_open(const char *out, const char *in, const char *what, bool replace, bool directory,
                    perfile_sink **sink);

#endif
