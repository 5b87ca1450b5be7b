/* Options that select records: --time, --pid, --where and so on, which `filter`, `stats`, `list`
 * and `dump` have in common.  Each becomes a term of perfile_filter_options. */
#ifndef CLI_SELECT_H
#define CLI_SELECT_H

#include <getopt.h>

#include "cli/input.h"
#include "perfile/filter.h"

/* All zeros selects everything. */
typedef struct cli_selection {
    perfile_filter_term *terms; /* how.n_terms of them, allocated */
    perfile_filter_options how; /* its `terms` is set by cli_selection_check() */
} cli_selection;

enum {
    CLI_OPTION_INVERT = 2000,
    CLI_OPTION_EVERY,
    CLI_OPTION_HEAD,
    CLI_OPTION_TERM, /* plus the kind of the term, PERFILE_FILTER_BY_TIME … */
    CLI_OPTION_TERM_END = CLI_OPTION_TERM + PERFILE_FILTER_N_BY
};

/* The table of these options. */
extern const cli_option cli_select_options[];

/* True if `option` is the code of one of these options. */
static inline bool cli_is_selection(int option)
{
    return option >= CLI_OPTION_INVERT && option < CLI_OPTION_TERM_END;
}

/* Handles one of these options, its value in `optarg`: CLI_CONTINUE, or the exit status. */
int cli_selection_option(const char *command, int option, cli_selection *s);

/* Adds a term, as the option of its kind does.  `text` must stay valid. */
int cli_selection_add(unsigned kind, const char *text, cli_selection *s);

/* Checks all terms before anything is opened, and reports errors: CLI_CONTINUE, or the exit
 * status. */
int cli_selection_check(const char *command, cli_selection *s);

/* True if anything is selected at all; true if there are terms of this kind. */
bool cli_selects(const cli_selection *s);
bool cli_selects_by(const cli_selection *s, unsigned kind);

void cli_selection_free(cli_selection *s);

#endif
