/* Options that say where names of functions come from. */
#ifndef CLI_SYMBOLS_H
#define CLI_SYMBOLS_H

#include "cli/spec.h"
#include "perfile/symbol.h"

enum { CLI_DEBUG_DIRS = 16 };

typedef struct cli_symbols {
    perfile_symbols_options options;
    const char *debug_dirs[CLI_DEBUG_DIRS];
    bool off; /* --no-symbols */
} cli_symbols;

/* A table of options, with codes of their own. */
extern const cli_option cli_symbols_options[];

/* True for the code of one of them. */
bool cli_is_symbols(int option);

/* Handles one: CLI_CONTINUE, or the exit status. */
int cli_symbols_option(const char *command, int option, cli_symbols *symbols);

/* CLI_CONTINUE if this perfile can read lines and inlined functions out of debug information, which
 * `what` needs; else the exit status, after a message. */
int cli_symbols_need_source(const char *what);

/* The options for the library; NULL: no names are wanted. */
const perfile_symbols_options *cli_symbols_chosen(cli_symbols *symbols,
                                                  const perfile_limits *limits);

#endif
