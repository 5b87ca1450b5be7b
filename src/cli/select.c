/* Options that select records, and options that say where function names come from.
 *
 * The selection options become terms of a filter; the library parses their values.
 * cli_selection_check() makes a filter from them once, only to find errors before any file is
 * opened. */
#include "cli/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/print.h"
#include "symbol/command.h"

/* Returns the name of the record type that is number `i` among those with a name. */
static const char *type_word(size_t i)
{
    for (uint32_t type = 1; type < PERFILE_RECORD_SIMPLEPERF_END; type++)
        if (perfile_record_type_name(type) && i-- == 0)
            return perfile_record_type_name(type);
    return NULL;
}

#define TERM(kind) CLI_OPTION_TERM + PERFILE_FILTER_BY_##kind

const cli_option cli_select_options[] = {
    {"time", .value = "A..B", .code = TERM(TIME),
     .help = "seconds (12.5..13), with a unit (500ms..), after the first sample (+1s..+2s), "
             "as dump shows it (3389479242773ns..), percent (10%..20%), UTC (2026-05-01T10:00..); "
             "also A,B and 10%-20% as with perf",
     .more = "Percentages are of the time from the first to the last sample. UTC needs the feature "
             "CLOCK_DATA (`perf record -k CLOCK_MONOTONIC`). 10%/2 is the second of ten parts. "
             "Records without a time are not selected."},
    {"pid", .value = "LIST", .code = TERM(PID), .help = "processes: numbers and ranges, 7,100-199"},
    {"tid", .value = "LIST", .code = TERM(TID), .help = "threads, in the same way"},
    {"cpu", .value = "LIST", .code = TERM(CPU), .help = "CPUs: 0-3,7"},
    {"comm", .value = "NAME", .code = TERM(COMM),
     .help = "name of the thread at that time; * and ? are wildcards; several names are separated "
             "by commas, also for --event, --dso and --cgroup",
     .more = "A name that the capture has is that name, whatever characters it consists of. Else a "
             "backslash takes away what *, ?, a comma or a backslash means."},
    {"event", .value = "NAME", .code = TERM(EVENT), .help = "event, or its position from 0"},
    {"type", .value = "TYPE", .code = TERM(TYPE), .word = type_word, .list = true,
     .help = "record types: SAMPLE,MMAP2", .more = "They are given by name or number."},
    {"ip", .value = "A..B", .code = TERM(IP), .help = "addresses of samples: 0x400000..0x4fffff"},
    {"dso", .value = "NAME", .code = TERM(DSO),
     .help = "file mapped at the address of the sample: a path, or its last component",
     .more = "It is the mapping at the time of the sample."},
    {"cgroup", .value = "NAME", .code = TERM(CGROUP), .help = "path of the cgroup of the sample"},
    {"where", .value = "EXPR", .code = TERM(WHERE),
     .help = "a condition on fields, see format/expressions.md",
     .more = "An example is period > 1e6 && any(callchain, . in 0x400000..0x500000). comm and dso "
             "are defined for samples."},
    {"invert", .code = CLI_OPTION_INVERT, .help = "select the records that do not match"},
    {"every", .value = "N", .code = CLI_OPTION_EVERY, .help = "one matching sample in N",
     .more = "It is the first of each N; with --type the records of these types are counted."},
    {"head", .value = "N", .code = CLI_OPTION_HEAD, .help = "the first N matching samples"},
    {0},
};

int cli_selection_add(unsigned kind, const char *text, cli_selection *s)
{
    size_t n = s->how.n_terms;
    perfile_filter_term *more = realloc(s->terms, (n + 1) * sizeof *more);
    if (!more)
        return cli_no_memory();
    more[n] = (perfile_filter_term){.kind = kind, .text = text};
    s->terms = more;
    s->how.n_terms++;
    return CLI_CONTINUE;
}

int cli_selection_option(const char *command, int option, cli_selection *s)
{
    switch (option) {
    case CLI_OPTION_INVERT:
        s->how.flags |= PERFILE_FILTER_INVERT;
        return CLI_CONTINUE;
    case CLI_OPTION_EVERY:
        return cli_read_number(command, "every", optarg, &s->how.every);
    case CLI_OPTION_HEAD:
        return cli_read_number(command, "head", optarg, &s->how.head);
    default:
        return cli_selection_add((unsigned)(option - CLI_OPTION_TERM), optarg, s);
    }
}

int cli_selection_check(const char *command, cli_selection *s)
{
    perfile_error err;
    perfile_filter_state *filter;
    s->how.size = sizeof s->how;
    s->how.terms = s->terms;
    perfile_status st = perfile_filter_open(&s->how, &filter, &err);
    if (st == PERFILE_E_USAGE || st == PERFILE_E_LIMIT)
        return cli_usage_error(command, &err);
    if (st != PERFILE_OK) {
        cli_message("%s", err.message);
        return CLI_FAILED;
    }
    perfile_filter_close(filter);
    return CLI_CONTINUE;
}

bool cli_selects(const cli_selection *s)
{
    return s->how.n_terms || s->how.every || s->how.head || s->how.flags & PERFILE_FILTER_INVERT;
}

bool cli_selects_by(const cli_selection *s, unsigned kind)
{
    for (uint32_t i = 0; i < s->how.n_terms; i++)
        if (s->terms[i].kind == kind)
            return true;
    return false;
}

void cli_selection_free(cli_selection *s)
{
    free(s->terms);
    *s = (cli_selection){0};
}

/* Options that say where function names come from, and the report of names that were not found. */

enum {
    OPTION_SYMFS = 3000, /* different from the codes in all other tables */
    OPTION_DEBUG_DIR,
    OPTION_KALLSYMS,
    OPTION_PERF_MAP_DIR,
    OPTION_MANGLED,
    OPTION_NO_SYMBOLS,
    OPTION_END
};

bool cli_is_symbols(int option)
{
    return option >= OPTION_SYMFS && option < OPTION_END;
}

int cli_symbols_option(const char *command, int option, cli_symbols *symbols)
{
    perfile_symbols_options *o = &symbols->options;
    switch (option) {
    case OPTION_SYMFS:
        o->symfs = optarg;
        break;
    case OPTION_DEBUG_DIR:
        if (o->n_debug_dirs == CLI_DEBUG_DIRS)
            return cli_usage(command, "--debug-dir: more than %d", CLI_DEBUG_DIRS);
        symbols->debug_dirs[o->n_debug_dirs++] = optarg;
        break;
    case OPTION_KALLSYMS:
        o->kallsyms = optarg;
        break;
    case OPTION_PERF_MAP_DIR:
        o->perf_map_dir = optarg;
        break;
    case OPTION_MANGLED:
        o->flags |= PERFILE_SYMBOLS_MANGLED;
        break;
    default: /* OPTION_NO_SYMBOLS */
        symbols->off = true;
    }
    return CLI_CONTINUE;
}

int cli_symbols_need_source(const char *what)
{
    if (pf_symbols_built_in() & PF_SYMBOLS_SOURCE)
        return CLI_CONTINUE;
    cli_message("%s needs perfile-symbolizer to read debug information: it is not installed, or "
                "was built without libdw",
                what);
    return CLI_FAILED;
}

/* The callback perfile_symbols_options.notice. */
static void notice(void *user, const perfile_error *what)
{
    (void)user;
    cli_message("%s", what->message);
}

/* The callback perfile_symbols_options.unnamed.  When out of memory, the file is not listed. */
static void add_unnamed(void *user, const perfile_unnamed *what)
{
    cli_symbols *s = user;
    if (s->n_unnamed == s->unnamed_cap) {
        const size_t cap = s->unnamed_cap ? s->unnamed_cap * 2 : 16;
        cli_unnamed *more = realloc(s->unnamed, cap * sizeof *more);
        if (!more)
            return;
        s->unnamed = more;
        s->unnamed_cap = cap;
    }
    char *file = strdup(what->file);
    if (file)
        s->unnamed[s->n_unnamed++] = (cli_unnamed){file, what->addresses, what->kind, what->reason};
}

static int by_file(const void *a, const void *b)
{
    const cli_unnamed *x = a, *y = b;
    const int names = strcmp(x->file, y->file);
    return names                    ? names
           : x->kind != y->kind     ? x->kind - y->kind
           : x->reason != y->reason ? x->reason - y->reason
                                    : 0;
}

static int by_stacks(const void *a, const void *b)
{
    const cli_unnamed *x = a, *y = b;
    return x->stacks != y->stacks ? (x->stacks < y->stacks ? 1 : -1) : by_file(a, b);
}

/* Adds up the counts of a file in several processes or captures, and sorts the files by them,
 * largest first. */
static void join_unnamed(cli_symbols *s)
{
    size_t n = 0;
    if (s->n_unnamed)
        qsort(s->unnamed, s->n_unnamed, sizeof *s->unnamed, by_file);
    for (size_t i = 0; i < s->n_unnamed; i++) {
        if (n && by_file(&s->unnamed[n - 1], &s->unnamed[i]) == 0) {
            s->unnamed[n - 1].stacks += s->unnamed[i].stacks;
            free(s->unnamed[i].file);
        } else {
            s->unnamed[n++] = s->unnamed[i];
        }
    }
    s->n_unnamed = n;
    if (n)
        qsort(s->unnamed, n, sizeof *s->unnamed, by_stacks);
}

/* Returns why addresses in a file have no name, and what helps. */
static const char *advice(const cli_unnamed *u)
{
    const bool is_missing = u->reason == PERFILE_SYMBOL_NO_FILE;
    if (u->kind == PERFILE_UNNAMED_KERNEL &&
        (is_missing || u->reason == PERFILE_SYMBOL_OTHER_BUILD))
        return "the symbols of the recorded kernel are not here: a copy of its /proc/kallsyms "
               "helps (--kallsyms)";
    if (u->kind == PERFILE_UNNAMED_GENERATED && is_missing)
        return "compiled while it ran, and there is no perf-PID.map (--perf-map-dir)";
    if (u->kind == PERFILE_UNNAMED_GENERATED && u->reason == PERFILE_SYMBOL_NO_SYMBOLS)
        return "compiled while it ran, and its perf-PID.map is empty";
    if (u->kind == PERFILE_UNNAMED_FILE && is_missing)
        return "the file is not here (--symfs, --debug-dir)";
    if (u->reason == PERFILE_SYMBOL_OTHER_BUILD)
        return "the file here is of another build (--symfs, --debug-dir)";
    if (u->reason == PERFILE_SYMBOL_NO_SYMBOLS)
        return "stripped, and there is no debug file of it (--debug-dir)";
    if (u->kind == PERFILE_UNNAMED_FILE && u->reason == PERFILE_SYMBOL_NO_SYMBOL_HERE)
        return "none of its symbols covers them; a debug file may have more (--debug-dir)";
    return perfile_symbol_reason_text(u->reason);
}

void cli_unnamed_print(cli_symbols *s, const char *capture, uint64_t stacks)
{
    enum { SHOWN = 5 };
    char number[32];
    uint64_t rest = stacks;
    if (!stacks)
        return;
    cli_message("%s%s%s %s", capture ? capture : "", capture ? ": " : "",
                cli_format_grouped(stacks, number),
                stacks == 1 ? "node of the call tree has no known function"
                            : "nodes of the call tree have no known function");
    join_unnamed(s);
    for (size_t i = 0; i < s->n_unnamed && i < SHOWN; i++) {
        const cli_unnamed *u = &s->unnamed[i];
        cli_message("  %s in %s: %s", cli_format_grouped(u->stacks, number), u->file, advice(u));
        rest -= u->stacks < rest ? u->stacks : rest;
    }
    if (rest && s->n_unnamed > SHOWN)
        cli_message("  %s in other files", cli_format_grouped(rest, number));
}

void cli_unnamed_json(cli_symbols *s)
{
    static const char *const kinds[] = {[PERFILE_UNNAMED_FILE] = "file",
                                        [PERFILE_UNNAMED_KERNEL] = "kernel",
                                        [PERFILE_UNNAMED_GENERATED] = "generated"};
    join_unnamed(s);
    cli_json_array("unnamed");
    for (size_t i = 0; i < s->n_unnamed; i++) {
        cli_json_object(NULL);
        cli_json_string("file", s->unnamed[i].file);
        cli_json_string("kind", kinds[s->unnamed[i].kind]);
        cli_json_number("stacks", s->unnamed[i].stacks);
        cli_json_string("reason", perfile_symbol_reason_text(s->unnamed[i].reason));
        cli_json_object_end();
    }
    cli_json_array_end();
}

void cli_symbols_free(cli_symbols *s)
{
    for (size_t i = 0; i < s->n_unnamed; i++)
        free(s->unnamed[i].file);
    free(s->unnamed);
    s->unnamed = NULL;
    s->n_unnamed = s->unnamed_cap = 0;
}

const perfile_symbols_options *cli_symbols_chosen(cli_symbols *symbols,
                                                  const perfile_limits *limits)
{
    if (symbols->off)
        return NULL;
    symbols->options.size = sizeof symbols->options;
    symbols->options.debug_dirs = symbols->options.n_debug_dirs ? symbols->debug_dirs : NULL;
    symbols->options.limits = limits;
    symbols->options.notice = notice;
    symbols->options.unnamed = add_unnamed;
    symbols->options.unnamed_user = symbols;
    return &symbols->options;
}

const cli_option cli_symbols_options[] = {
    {"symfs", .value = "DIR", .code = OPTION_SYMFS, .path = true,
     .help = "look for the recorded files below DIR",
     .more = "DIR is their root directory: `..` and links in it do not lead out of it."},
    {"debug-dir", .value = "DIR", .code = OPTION_DEBUG_DIR, .path = true,
     .help = "look for debug files in DIR (may be given several times), before ~/.debug and "
             "/usr/lib/debug",
     .more = "Files are found by build id, by the path of what was mapped, and by the debuglink."},
    {"kallsyms", .value = "FILE", .code = OPTION_KALLSYMS, .path = true,
     .help = "symbols of the recorded kernel: a copy of its /proc/kallsyms",
     .more = "Without it those of the capture (perf record --kcore) are taken, else those of "
             "perf's cache, else this machine's if it runs the recorded kernel."},
    {"perf-map-dir", .value = "DIR", .code = OPTION_PERF_MAP_DIR, .path = true,
     .help = "look for the maps of compiled code, perf-PID.map, in DIR instead of /tmp",
     .more = "Without it they are looked for in tmp below --symfs, in /tmp of the process while it "
             "runs (containers have one of their own), and in /tmp. There only files count that no "
             "other user can have written; a message names those that do not."},
    {"mangled", .code = OPTION_MANGLED, .help = "names of C++ and Rust as they are stored"},
    {"no-symbols", .code = OPTION_NO_SYMBOLS,
     .help = "do not look for functions: frames are places in files"},
    {0},
};
