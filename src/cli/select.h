/* The options that say which records are wanted: those of `filter`, `stats`, `list` and `dump`. */
#ifndef CLI_SELECT_H
#define CLI_SELECT_H

#include <getopt.h>

#include "cli/input.h"
#include "perfile/filter.h"

/* All zeros is "everything". */
typedef struct cli_selection {
    perfile_filter_term *terms;
    perfile_filter_options how; /* its terms are set by cli_selection_check() */
} cli_selection;

enum {
    CLI_OPTION_INVERT = 2000,
    CLI_OPTION_EVERY,
    CLI_OPTION_HEAD,
    CLI_OPTION_TERM, /* and the kind: PERFILE_FILTER_BY_TIME … */
    CLI_OPTION_TERM_END = CLI_OPTION_TERM + PERFILE_FILTER_N_BY
};

/* Rows of their tables. */
extern const cli_option cli_select_options[];

/* Whether `option` is one of these. */
static inline bool cli_is_selection(int option)
{
    return option >= CLI_OPTION_INVERT && option < CLI_OPTION_TERM_END;
}

/* Takes one of these: CLI_CONTINUE, or what to exit with. */
int cli_selection_option(const char *command, int option, cli_selection *s);

/* Adds a term, as the option of its kind does. */
int cli_selection_add(unsigned kind, const char *text, cli_selection *s);

/* Whether the terms are right, which is told before anything is opened: CLI_CONTINUE, or what to
 * exit with. */
int cli_selection_check(const char *command, cli_selection *s);

/* Whether anything is selected, and whether terms of this kind are given. */
bool cli_selects(const cli_selection *s);
bool cli_selects_by(const cli_selection *s, unsigned kind);

void cli_selection_free(cli_selection *s);

#endif
