/* The list of commands, their exit statuses, and the messages they print to standard error.
 *
 * A command is one line in commands.def, a function cli_NAME(argc, argv) that runs it and returns
 * an exit status, and a cli_spec (cli/spec.h) that describes its options. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/spec.h"
#include "perfile/base.h"

/* Exit statuses.  Functions that read options also use them as return values; CLI_CONTINUE is not
 * an exit status, it tells the caller to go on. */
enum {
    CLI_DONE = 0,
    CLI_FAILED = 1,   /* could not be done: no such file, no capture, no memory, output failed */
    CLI_USAGE = 2,    /* wrong options or operands */
    CLI_DAMAGED = 3,  /* done, but the input was damaged and something may be missing */
    CLI_CONTINUE = -1 /* nothing to exit for */
};

/* Declares cli_info(), cli_info_spec and so on, for every command. */
#define COMMAND(name, summary)                                                                     \
    int cli_##name(int argc, char **argv);                                                         \
    extern const cli_spec cli_##name##_spec;
#include "cli/commands.def"

typedef struct cli_command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the name of the command; an exit status */
    const char *summary;               /* one line of `perfile --help` */
    const cli_spec *spec;
} cli_command;

/* Returns command `i` in the order of commands.def; NULL behind the last one. */
const cli_command *cli_command_at(size_t i);

/* Returns the command of that name.  If there is none, prints an error with the most similar names
 * and returns NULL. */
const cli_command *cli_find_command(const char *name);

/* `perfile completion SHELL`: prints the script that completes command lines in that shell. */
int cli_completion(int argc, char **argv);

/* Returns the worse of two exit statuses.  From worst to best: CLI_FAILED, CLI_USAGE, CLI_DAMAGED,
 * CLI_DONE. */
int cli_worse(int a, int b);

/* Returns the exit status of a command that writes a capture.  `st` is the result of writing it,
 * `damaged` says whether the input was damaged. */
int cli_status_of(perfile_status st, bool damaged);

/* Prints "perfile: " and the message as one line to standard error. */
void cli_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "perfile COMMAND: ", the message and a pointer to --help to standard error.  Returns
 * CLI_USAGE. */
int cli_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with the message of `err`.  For an expression it has further lines, which show the
 * position of the error. */
int cli_usage_error(const char *command, const perfile_error *err);

/* Flushes standard output at the end of the process and returns the exit status.  Write errors are
 * reported and turn `status` into CLI_FAILED; a closed pipe (`perfile dump | head`) is not an error
 * and gives CLI_DONE. */
int cli_finish_output(int status);

#endif
