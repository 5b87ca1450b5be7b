/* A line on a terminal that says how far a long work is. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdint.h>

/* Begins to count time. */
void cli_progress_start(const char *name);

/* `done` bytes of `total` (0: not known) are read.  Writes when standard error is a terminal, the
 * work has taken a second, and the line is a while old; no wider than the terminal. */
void cli_progress_step(uint64_t done, uint64_t total);

/* Erases the line, if there is one. */
void cli_progress_clear(void);

#endif
