/* The progress line: on a terminal, how far a long operation has come. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdint.h>

/* From now on there is no line: a sink writes to the terminal, past print.c. */
void cli_progress_off(void);

/* Starts the clock.  `name` of the input is shown in the line and must stay valid. */
void cli_progress_start(const char *name);

/* `done` of `total` bytes (0: not known) have been read.  Prints the line if standard error is a
 * terminal, the operation has taken a second, and the last update is 200 ms old. */
void cli_progress_step(uint64_t done, uint64_t total);

/* Erases the line if it is shown.  Not needed before something is printed: print.c sees to that. */
void cli_progress_clear(void);

#endif
