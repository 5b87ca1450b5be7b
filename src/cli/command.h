/* The list of commands, their exit statuses, and the messages on standard error.
 *
 * A command is one line in commands.def, a function cli_NAME(argc, argv) that runs it and returns
 * an exit status, and a cli_spec (cli/options.h) that describes its options. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/options.h"
#include "perfile/base.h"
#include "perfile/copy.h"

/* Exit statuses.  Functions that read options return them, too.  CLI_CONTINUE is not an exit
 * status: it tells the caller to continue. */
enum {
    CLI_DONE = 0,
    CLI_FAILED = 1,   /* failed: no such file, no capture, out of memory, output failed */
    CLI_USAGE = 2,    /* wrong options or operands */
    CLI_DAMAGED = 3,  /* done, but the input was damaged and something may be missing */
    CLI_CONTINUE = -1 /* no reason to exit */
};

/* Declares cli_info(), cli_info_spec and so on, for every command. */
#define COMMAND(name, summary)                                                                     \
    int cli_##name(int argc, char **argv);                                                         \
    extern const cli_spec cli_##name##_spec;
#include "cli/commands.def"

typedef struct cli_command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the name of the command; returns an exit
                                        * status */
    const char *summary;               /* one line of `perfile --help` */
    const cli_spec *spec;
} cli_command;

/* Returns command `i` in the order of commands.def, or NULL after the last one. */
const cli_command *cli_command_at(size_t i);

/* Returns the command of that name, or prints an error with the most similar names and returns
 * NULL. */
const cli_command *cli_find_command(const char *name);

/* Runs `perfile completion SHELL`: prints the script that completes command lines in that shell. */
int cli_completion(int argc, char **argv);

/* Returns the worse of two exit statuses.  From worst to best: CLI_FAILED, CLI_USAGE, CLI_DAMAGED,
 * CLI_DONE. */
int cli_worse(int a, int b);

/* Returns the exit status of a command that writes a capture.  `st` is the result of writing,
 * `damaged` whether the input was damaged. */
int cli_status_of(perfile_status st, bool damaged);

/* Prints "perfile: " and the message as one line to standard error. */
void cli_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports that memory is exhausted, and returns CLI_FAILED. */
int cli_no_memory(void);

/* Prints "perfile COMMAND: ", the message and a pointer to --help to standard error.  Returns
 * CLI_USAGE. */
int cli_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Like cli_usage(), with the message of `err`.  A message about an expression has more lines, which
 * show the position of the error. */
int cli_usage_error(const char *command, const perfile_error *err);

/* Flushes standard output at the end of the process and returns the exit status.  A write error is
 * reported and turns `status` into CLI_FAILED.  A closed pipe (`perfile dump | head`) is not an
 * error; the status is CLI_DONE then. */
int cli_finish_output(int status);

/* Notes on standard error: parts of the input that a command did not write unchanged.  Each note of
 * the library is one line, but several features that are damaged in the same way share a line. */

/* The library does not know options: its messages name members of its structs.  The functions below
 * replace these by options. */

enum { CLI_MEMBERS_TEXT = 2 * sizeof((perfile_error *)0)->message };

/* Writes a message of the library about its member `where`, with options instead of the member.  A
 * message that begins with the name of the member begins with the option instead; to other messages
 * the options are appended in parentheses.  Returns `message` if no option sets this member, or
 * `where` is NULL. */
const char *cli_with_options(const char *where, const char *message, char out[CLI_MEMBERS_TEXT]);

/* Prints the member "error" of a report, unless `failed` is NULL. */
void cli_json_error(const perfile_error *failed);

/* Prints a note of the input `name`. */
void cli_note(const char *name, const perfile_note *note);

/* Like cli_note(), for notes in other structs.  `feature` is the number of the feature, or
 * UINT32_MAX. */
void cli_note_of(const char *name, uint32_t feature, uint32_t damage, const char *text);

/* Prints the notes that are still held back.  Call it after the last note, before anything else is
 * printed. */
void cli_notes_end(void);

#endif
