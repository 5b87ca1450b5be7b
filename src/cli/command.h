/* What a command is, and what it ends with. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "perfile/base.h"

enum {
    CLI_DONE = 0,
    CLI_FAILED = 1,   /* could not */
    CLI_USAGE = 2,    /* asked in a wrong way */
    CLI_DAMAGED = 3,  /* done, but the input was damaged and something may be missing */
    CLI_CONTINUE = -1 /* options are read: go on */
};

#define COMMAND(name, summary) int cli_##name(int argc, char **argv);
#include "cli/commands.def"

/* The worse of two: could not, then wrong usage, then damaged, then done. */
int cli_worse(int a, int b);

/* Of a command that has written something: with `st`, of an input with damage or without. */
int cli_status_of(perfile_status st, bool damaged);

/* "perfile: " and the words on standard error. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, a pointer to the help of `command`, and CLI_USAGE. */
int cli_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with the message of `err`, which for an expression has lines that show the place. */
int cli_usage_error(const char *command, const perfile_error *err);

/* Flushes standard output; says what went wrong unless the reader has just closed its end. */
int cli_finish_output(int status);

#endif
