/* Options that say where names of functions come from, and the report of those not found. */
#ifndef CLI_SYMBOLS_H
#define CLI_SYMBOLS_H

#include "cli/spec.h"
#include "perfile/symbol.h"

enum { CLI_DEBUG_DIRS = 16 };

/* Places in code of one mapped thing that have no name. */
typedef struct cli_unnamed {
    char *file;
    uint64_t places;
    uint8_t kind;   /* PERFILE_UNNAMED_FILE … */
    uint8_t reason; /* PERFILE_SYMBOL_NO_FILE … */
} cli_unnamed;

typedef struct cli_symbols {
    perfile_symbols_options options;
    const char *debug_dirs[CLI_DEBUG_DIRS];
    bool off;             /* --no-symbols */
    cli_unnamed *unnamed; /* of all captures that were read with the options */
    size_t n_unnamed, unnamed_cap;
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

/* The options for the library; NULL: no names are wanted.  `symbols` must not move while what is
 * opened with them is open. */
const perfile_symbols_options *cli_symbols_chosen(cli_symbols *symbols,
                                                  const perfile_limits *limits);

/* Says that `places` of a capture (NULL: of all) have no name, and why, for the files with most of
 * them.  What is opened with the options has to be finished. */
void cli_unnamed_print(cli_symbols *symbols, const char *capture, uint64_t places);

/* The same as an array "unnamed" of the JSON object that is open, all of them. */
void cli_unnamed_json(cli_symbols *symbols);

/* Forgets what had no name. */
void cli_symbols_free(cli_symbols *symbols);

#endif
