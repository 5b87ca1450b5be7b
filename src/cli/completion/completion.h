/* Completion scripts for shells, made of the option tables.  Each of the first three functions
 * prints the script of one shell to standard output. */
#ifndef CLI_COMPLETION_COMPLETION_H
#define CLI_COMPLETION_COMPLETION_H

#include "cli/command.h"

void cli_completion_bash(void);
void cli_completion_zsh(void);
void cli_completion_fish(void);

/* The names of these shells. */
cli_word cli_shell_name;

/* The words that may follow `perfile` besides the commands: help, --version … */
cli_word cli_other_word;

/* Prints all words of `word`, separated by `between`. */
void cli_print_word_list(cli_word *word, const char *between);

/* Writes the first clause of an option's help into `out`, for shells that show it beside the
 * option, and returns `out`. */
const char *cli_short_help(const cli_option *o, char *out, size_t size);

#endif
