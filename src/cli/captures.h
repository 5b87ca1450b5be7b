/* Archives of several captures as inputs: each capture is an input of its own. */
#ifndef CLI_CAPTURES_H
#define CLI_CAPTURES_H

#include "cli/options.h"

enum { CLI_MOST_CAPTURES = 128 /* of an archive that are inputs without --source */ };

/* Puts the captures of archives that have several in the place of these, unless --source was given
 * or there are more than CLI_MOST_CAPTURES.
 * The new paths are those of the archives; the functions below, and those that open inputs, know
 * them by their address.  CLI_CONTINUE, or CLI_FAILED without memory. */
int cli_each_capture(cli_inputs *in);

/* The number of the capture that the input `path` stands for, from 1 on; 0: it is no such input. */
uint32_t cli_capture_of(const char *path);

/* "FILE, capture N"; NULL: it is no such input. */
const char *cli_capture_name(const char *path);

#endif
