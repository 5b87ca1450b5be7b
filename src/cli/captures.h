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

/* "FILE, capture N (NAME)", where NAME is what was packed, if the archive says that; NULL: it is no
 * such input. */
const char *cli_capture_name(const char *path);

/* Notes that a capture does not have what the options select by name, such as an event.  True if
 * that is so of all captures of its archive, or if `path` is no such input: then the options are
 * wrong. */
bool cli_all_lack_selection(const char *path);

/* cli_shell_file() for an input, after --source if it is a capture of an archive. */
bool cli_shell_input(const char *path, char *out, size_t size);

#endif
