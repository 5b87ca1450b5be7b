/* What happens when the command is interrupted, or its input is cut while it is read. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

void cli_signals_install(void);

/* The input that is mapped now, for the message; NULL when none is. */
void cli_signals_file(const char *name);

/* The unfinished output file that has to go; NULL when there is none. */
void cli_signals_temporary(const char *path);

#endif
