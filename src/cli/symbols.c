/* Options that say where names of functions come from (see symbols.h). */
#include "cli/symbols.h"

#include "cli/command.h"
#include "cli/options.h"

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

const perfile_symbols_options *cli_symbols_chosen(cli_symbols *symbols,
                                                  const perfile_limits *limits)
{
    symbols->options.size = sizeof symbols->options;
    symbols->options.debug_dirs = symbols->options.n_debug_dirs ? symbols->debug_dirs : NULL;
    symbols->options.limits = limits;
    symbols->options.notice = notice;
    return symbols->off ? NULL : &symbols->options;
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
