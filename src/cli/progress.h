/* The progress line: on a terminal, how far a long operation has come. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdint.h>

/* Starts the clock.  `name` of the input is shown in the line and must stay valid. */
void cli_progress_start(const char *name);

/* `done` of `total` bytes (0: not known) have been read.  Prints the line if standard error is a
 * terminal, the operation has taken a second, and the last update is 200 ms old. */
void cli_progress_step(uint64_t done, uint64_t total);

/* Erases the line if it is shown.  To be called before anything else is printed. */
void cli_progress_clear(void);

#endif
