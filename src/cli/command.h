/* What a command is, and what it ends with. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/spec.h"
#include "perfile/base.h"

enum {
    CLI_DONE = 0,
    CLI_FAILED = 1,   /* could not */
    CLI_USAGE = 2,    /* asked in a wrong way */
    CLI_DAMAGED = 3,  /* done, but the input was damaged and something may be missing */
    CLI_CONTINUE = -1 /* options are read: go on */
};

/* Every command: cli_info() … run it, cli_info_spec … are what can be said of it. */
#define COMMAND(name, summary)                                                                     \
    int cli_##name(int argc, char **argv);                                                         \
    extern const cli_spec cli_##name##_spec;
#include "cli/commands.def"

typedef struct cli_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
    const cli_spec *spec;
} cli_command;

/* The commands in their order; NULL behind the last. */
const cli_command *cli_command_at(size_t i);
/* The one of that name; NULL, said with what may have been meant. */
const cli_command *cli_find_command(const char *name);

/* `perfile completion SHELL`: prints what makes that shell complete the words of a command line. */
int cli_completion(int argc, char **argv);

/* The worse of two: could not, then wrong usage, then damaged, then done. */
int cli_worse(int a, int b);

/* Of a command that has written something: with `st`, of an input with damage or without. */
int cli_status_of(perfile_status st, bool damaged);

/* "perfile: " and the words on standard error. */
void cli_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, a pointer to the help of `command`, and CLI_USAGE. */
int cli_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with the message of `err`, which for an expression has lines that show the place. */
int cli_usage_error(const char *command, const perfile_error *err);

/* Flushes standard output; says what went wrong unless the reader has just closed its end. */
int cli_finish_output(int status);

#endif
