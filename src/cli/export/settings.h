/* The command line of `perfile export`. */
#ifndef CLI_EXPORT_SETTINGS_H
#define CLI_EXPORT_SETTINGS_H

#include "cli/input.h"
#include "cli/select.h"
#include "cli/symbols.h"
#include "perfile/emit.h"

typedef struct cli_export_settings {
    cli_reading how;
    cli_selection select;
    const char *format; /* NULL: not given */
    bool binary;        /* its output is not for terminals */
    bool directory;     /* its output is one */
    const char *output;
    bool force, json;
    cli_symbols symbols;
    const char *before; /* what the inputs are compared with; NULL: nothing */
    perfile_export_options exporting;
} cli_export_settings;

/* Handles one option, its value in `optarg`: CLI_CONTINUE, or the exit status. */
int cli_export_option(int option, cli_export_settings *set);

/* Checks that the options go together, and sets what follows from them. */
int cli_export_complete(cli_export_settings *set);

#endif
