/* The command line of `perfile stats`, and the counts of places in code. */
#ifndef CLI_STATS_SETTINGS_H
#define CLI_STATS_SETTINGS_H

#include "cli/select.h"
#include "cli/stats/key.h"
#include "cli/symbols.h"

/* What rows are sorted by, and what PERCENT is a share of.  BY_SAMPLES and on are in the order of
 * the words of --sort. */
enum { BY_DEFAULT = 0, BY_SAMPLES, BY_PERIOD, BY_RECORDS, BY_BYTES, BY_KEY, BY_TOTAL };

typedef struct cli_stats_settings {
    cli_reading how;
    cli_selection select;
    cli_keys keys;
    cli_symbols symbols;
    const char *parent; /* NULL: the default */
    bool of_code;       /* samples are counted by a profile: keys of code, or --total */
    bool json;
    bool heading; /* the name of each file is printed above its table */
    int sort;     /* BY_… */
    uint64_t top; /* 0: all */
} cli_stats_settings;

/* Checks which options go together, and sets of_code: CLI_CONTINUE, or the exit status. */
int cli_stats_check(cli_stats_settings *set);

/* Does one input by a profile, and returns its exit status. */
int cli_stats_of_code(const char *path, const cli_stats_settings *set);

#endif
