/* Completions for shells, made of the tables of options.  Each function prints a script of one
 * shell. */
#ifndef CLI_COMPLETION_COMPLETION_H
#define CLI_COMPLETION_COMPLETION_H

#include "cli/command.h"

void cli_completion_bash(void);
void cli_completion_zsh(void);
void cli_completion_fish(void);

/* The shells that there are. */
cli_word cli_shell_name;

/* The next word that is complete behind `perfile`, beside the commands; NULL behind the last. */
cli_word cli_other_word;

/* Prints "name" "another": the words that an option takes, `between` them. */
void cli_print_word_list(cli_word *word, const char *between);

/* The first clause of the help of `o`, for shells that show it beside the option. */
const char *cli_short_help(const cli_option *o, char *out, size_t size);

#endif
