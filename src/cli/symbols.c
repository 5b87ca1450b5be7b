/* Options that say where names of functions come from, and why some are missing (see symbols.h). */
#include "cli/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/text.h"

enum {
    OPTION_SYMFS = 3000, /* apart from the codes of all other tables */
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
    if (perfile_symbols_built_in() & PERFILE_SYMBOLS_SOURCE)
        return CLI_CONTINUE;
    cli_message("%s needs perfile-symbolizer to read debug information: it is not installed, or "
                "was built without libdw",
                what);
    return CLI_FAILED;
}

/* perfile_symbols_options.notice */
static void notice(void *user, const perfile_error *what)
{
    (void)user;
    cli_message("%s", what->message);
}

/* perfile_symbols_options.unnamed; without memory a file is not listed. */
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

static int by_places(const void *a, const void *b)
{
    const cli_unnamed *x = a, *y = b;
    return x->places != y->places ? (x->places < y->places ? 1 : -1) : by_file(a, b);
}

/* Adds up what several processes or captures have of a file; those with most places come first. */
static void join_unnamed(cli_symbols *s)
{
    size_t n = 0;
    if (s->n_unnamed)
        qsort(s->unnamed, s->n_unnamed, sizeof *s->unnamed, by_file);
    for (size_t i = 0; i < s->n_unnamed; i++) {
        if (n && by_file(&s->unnamed[n - 1], &s->unnamed[i]) == 0) {
            s->unnamed[n - 1].places += s->unnamed[i].places;
            free(s->unnamed[i].file);
        } else {
            s->unnamed[n++] = s->unnamed[i];
        }
    }
    s->n_unnamed = n;
    if (n)
        qsort(s->unnamed, n, sizeof *s->unnamed, by_places);
}

/* Why the places of a file have no name, and what helps. */
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

void cli_unnamed_print(cli_symbols *s, const char *capture, uint64_t places)
{
    enum { SHOWN = 5 };
    char number[32];
    uint64_t rest = places;
    if (!places)
        return;
    cli_message("%s%s%s %s", capture ? capture : "", capture ? ": " : "",
                cli_format_grouped(places, number),
                places == 1 ? "place in code has no known function"
                            : "places in code have no known function");
    join_unnamed(s);
    for (size_t i = 0; i < s->n_unnamed && i < SHOWN; i++) {
        const cli_unnamed *u = &s->unnamed[i];
        cli_message("  %s in %s: %s", cli_format_grouped(u->places, number), u->file, advice(u));
        rest -= u->places < rest ? u->places : rest;
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
        cli_json_number("places", s->unnamed[i].places);
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
