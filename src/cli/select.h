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
    CLI_OPTION_TERM, /* and the kind: PERFILE_BY_TIME … */
    CLI_OPTION_TERM_END = CLI_OPTION_TERM + PERFILE_N_BY
};

/* clang-format off */
#define CLI_TERM_OPTION(name, kind) {name, required_argument, NULL, CLI_OPTION_TERM + PERFILE_BY_##kind}
#define CLI_SELECT_OPTIONS                                   \
    CLI_TERM_OPTION("time", TIME),                           \
    CLI_TERM_OPTION("pid", PID),                             \
    CLI_TERM_OPTION("tid", TID),                             \
    CLI_TERM_OPTION("cpu", CPU),                             \
    CLI_TERM_OPTION("comm", COMM),                           \
    CLI_TERM_OPTION("event", EVENT),                         \
    CLI_TERM_OPTION("type", TYPE),                           \
    CLI_TERM_OPTION("ip", IP),                               \
    CLI_TERM_OPTION("dso", DSO),                             \
    CLI_TERM_OPTION("cgroup", CGROUP),                       \
    CLI_TERM_OPTION("where", WHERE),                         \
    {"invert", no_argument, NULL, CLI_OPTION_INVERT},        \
    {"every", required_argument, NULL, CLI_OPTION_EVERY},    \
    {"head", required_argument, NULL, CLI_OPTION_HEAD}

#define CLI_SELECT_HELP                                                                            \
    "  --time A..B        seconds (12.5..13), with a unit (500ms..), after the first sample\n"     \
    "                     (+1s..+2s), shares (10%..20%), UTC (2026-05-01T10:00..);\n"              \
    "                     also A,B and 10%-20% as perf has them\n"                                   \
    "  --pid, --tid LIST  processes, threads: 7,100-199\n"                                         \
    "  --cpu LIST         processors: 0-3,7\n"                                                     \
    "  --comm NAME        name of the thread at that time; * and ? stand for any; several\n"       \
    "                     with commas, as for --event and --dso\n"                                   \
    "  --event NAME       event, or its position from 0\n"                                         \
    "  --type TYPE        record types: SAMPLE,MMAP2\n"                                            \
    "  --ip A..B          addresses: 0x400000..0x4fffff\n"                                         \
    "  --dso NAME         what is mapped at the address: a path, or the last part of it\n"         \
    "  --cgroup NAME      path of the cgroup\n"                                                    \
    "  --where EXPR       a condition on fields, see format/expressions.md\n"                      \
    "  --invert           what does not fit\n"                                                     \
    "  --every N          of what fits, one sample in N\n"                                         \
    "  --head N           of what fits, the first N samples\n"
/* clang-format on */

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
