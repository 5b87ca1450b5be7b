/* What happens when the command is interrupted, or its input is cut while it is read. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

void cli_signals_install(void);

/* The input that is mapped now, for the message; NULL when none is. */
void cli_signals_file(const char *name);

/* The unfinished output file that has to go; NULL when there is none. */
void cli_signals_temporary(const char *path);

/* From here on the process does not end by a signal that asks it to, until it does not hold any
 * more: then it does, if one came. */
void cli_signals_hold(bool hold);

#endif
