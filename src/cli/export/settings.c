/* The options of `perfile export`. */
#include "cli/export/settings.h"

#include <string.h>

#include "cli/command.h"
#include "cli/output.h"

enum {
    OPTION_TO = CLI_OPTION_OWN,
    OPTION_PER,
    OPTION_WEIGHT,
    OPTION_MARK,
    OPTION_UNKNOWN,
    OPTION_TITLE,
    OPTION_COMPARE,
    OPTION_INLINE,
    OPTION_NO_UNWIND,
    OPTION_BRANCH_CHAINS
};

/* Words of --per, in the order of PERFILE_PER_…. */
static const char *per_word(size_t i)
{
    static const char *const words[] = {"comm", "pid", "tid", "event", "cpu", "none"};
    return i < sizeof words / sizeof words[0] ? words[i] : NULL;
}

static const char *weight_word(size_t i)
{
    static const char *const words[] = {"samples", "period"};
    return i < sizeof words / sizeof words[0] ? words[i] : NULL;
}

static const char *mark_word(size_t i)
{
    static const char *const words[] = {"kernel", "jit", "inline"};
    return i < sizeof words / sizeof words[0] ? words[i] : NULL;
}

static const char *unknown_word(size_t i)
{
    static const char *const words[] = {"module", "address"};
    return i < sizeof words / sizeof words[0] ? words[i] : NULL;
}

/* Calls `add` for the position of each word of a list. */
static int read_list(const char *option, const char *list, cli_word *word_of,
                     int (*add)(cli_export_settings *set, size_t which), cli_export_settings *set)
{
    int status = CLI_CONTINUE;
    for (const char *p = list; status == CLI_CONTINUE; p++) {
        char word[32];
        const size_t n = strcspn(p, ",");
        size_t which;
        if (n >= sizeof word)
            return cli_usage("export", "%s: there is no '%.*s'", option, (int)n, p);
        memcpy(word, p, n);
        word[n] = '\0';
        status = cli_choose("export", option, word, word_of, &which);
        if (status == CLI_CONTINUE)
            status = add(set, which);
        p += n;
        if (!*p)
            break;
    }
    return status;
}

static int add_key(cli_export_settings *set, size_t which)
{
    uint8_t *per = set->exporting.per;
    const uint8_t key = (uint8_t)(PERFILE_PER_COMM + which);
    const size_t n = strlen((const char *)per);
    if (key > PERFILE_PER_CPU) {
        set->exporting.flags |= PERFILE_EXPORT_NO_LABELS;
        return n ? cli_usage("export", "--per none goes with no other key") : CLI_CONTINUE;
    }
    if (set->exporting.flags & PERFILE_EXPORT_NO_LABELS)
        return cli_usage("export", "--per none goes with no other key");
    if (strchr((const char *)per, key) && n)
        return cli_usage("export", "--per: a key is given twice: '%s'", per_word(which));
    per[n] = key; /* there are fewer keys than room */
    return CLI_CONTINUE;
}

static int add_mark(cli_export_settings *set, size_t which)
{
    static const uint32_t flags[] = {PERFILE_EXPORT_MARK_KERNEL, PERFILE_EXPORT_MARK_JIT,
                                     PERFILE_EXPORT_MARK_INLINE};
    set->exporting.flags |= flags[which];
    return CLI_CONTINUE;
}

static int format_option(cli_export_settings *set)
{
    size_t which;
    int status = cli_choose("export", "--to", optarg, perfile_export_format, &which);
    if (status == CLI_CONTINUE)
        set->format = perfile_export_format(which);
    set->binary = status == CLI_CONTINUE && perfile_export_format_is_binary(which);
    set->directory = status == CLI_CONTINUE && perfile_export_format_is_directory(which);
    return status;
}

static int weight_option(cli_export_settings *set)
{
    size_t which;
    int status = cli_choose("export", "--weight", optarg, weight_word, &which);
    if (status == CLI_CONTINUE && which)
        set->exporting.flags |= PERFILE_EXPORT_PERIODS;
    return status;
}

static int unknown_option(cli_export_settings *set)
{
    static const uint32_t flags[] = {PERFILE_EXPORT_UNKNOWN_MODULE, PERFILE_EXPORT_UNKNOWN_ADDRESS};
    size_t which;
    int status = cli_choose("export", "--unknown", optarg, unknown_word, &which);
    set->exporting.flags &= ~(flags[0] | flags[1]);
    if (status == CLI_CONTINUE)
        set->exporting.flags |= flags[which];
    return status;
}

int cli_export_option(int option, cli_export_settings *set)
{
    if (cli_is_selection(option))
        return cli_selection_option("export", option, &set->select);
    if (cli_is_symbols(option))
        return cli_symbols_option("export", option, &set->symbols);
    switch (option) {
    case OPTION_TO:
        return format_option(set);
    case OPTION_PER:
        return read_list("--per", optarg, per_word, add_key, set);
    case OPTION_WEIGHT:
        return weight_option(set);
    case OPTION_MARK:
        return read_list("--mark", optarg, mark_word, add_mark, set);
    case OPTION_UNKNOWN:
        return unknown_option(set);
    case OPTION_INLINE:
        set->exporting.flags |= PERFILE_EXPORT_INLINE;
        return CLI_CONTINUE;
    case OPTION_NO_UNWIND:
        set->exporting.flags |= PERFILE_EXPORT_NO_UNWIND;
        return CLI_CONTINUE;
    case OPTION_BRANCH_CHAINS:
        set->exporting.flags |= PERFILE_EXPORT_BRANCH_CHAINS;
        return CLI_CONTINUE;
    case OPTION_TITLE:
        set->exporting.title = optarg;
        return CLI_CONTINUE;
    case OPTION_COMPARE:
        set->before = optarg;
        set->exporting.flags |= PERFILE_EXPORT_COMPARE;
        return CLI_CONTINUE;
    case CLI_OPTION_JSON:
        set->json = true;
        return CLI_CONTINUE;
    case 'o':
        set->output = cli_output_path(optarg);
        return CLI_CONTINUE;
    case 'f':
        set->force = true;
        return CLI_CONTINUE;
    default:
        return cli_reading_option("export", &cli_export_spec, option, &set->how);
    }
}

/* True if the output is called a picture but is a page: no browser would show it. */
static bool is_called_svg(const cli_export_settings *set)
{
    static const char end[] = ".svg";
    const size_t n = strlen(set->output), m = sizeof end - 1;
    return strcmp(set->format, "flamegraph") == 0 && n >= m &&
           strcmp(set->output + n - m, end) == 0;
}

int cli_export_complete(cli_export_settings *set)
{
    if (!set->format)
        return cli_usage("export", "missing form: give --to %s", perfile_export_format(0));
    if (is_called_svg(set))
        return cli_usage("export", "--to %s writes an HTML page: let OUT end with .html, not .svg",
                         set->format);
    if (set->directory && strcmp(set->output, "-") == 0)
        return cli_usage("export", "--to %s writes a directory: give -o OUT", set->format);
    if (set->json && strcmp(set->output, "-") == 0)
        return cli_usage("export", "--json prints the report to standard output: give -o OUT");
    int status =
        set->binary ? cli_reject_terminal("export", set->output, set->format) : (int)CLI_CONTINUE;
    if (status == CLI_CONTINUE)
        status = cli_selection_check("export", &set->select);
    if (status == CLI_CONTINUE && set->exporting.flags & PERFILE_EXPORT_INLINE)
        status = cli_symbols_need_source("--inline");
    set->exporting.size = sizeof set->exporting;
    set->exporting.symbols = cli_symbols_chosen(&set->symbols, set->how.limits);
    set->how.selection = &set->select;
    set->how.model = true;
    set->how.translate = true;
    set->how.with_sideband = true; /* deferred call chains, and what was lost */
    return status;
}

static const cli_option options[] = {
    {"to", .value = "FORM", .code = OPTION_TO, .word = perfile_export_format,
     .help =
         "the form of the output; folded: a line for each stack, for flame graph scripts and "
         "viewers; flamegraph: a "
         "picture to zoom and search, one HTML file for any browser; speedscope: JSON for that "
         "viewer, a profile for each thread; firefox: JSON for the Firefox Profiler; chrome: trace "
         "events in JSON; pprof: a profile for pprof, compressed; perfetto: a trace for Perfetto; "
         "aux: the AUX area "
         "for decoders, as a directory",
     .more =
         "In folded lines the outermost frame stands first, with ; between frames, and the "
         "weight stands last. In names ; becomes :, and what could break a line becomes ?.\n"
         "The directory of aux has a file for each ring buffer, and index.json, which says what is "
         "in them, when, and what is missing.\n"
         "The forms firefox, chrome and perfetto show time: samples of each thread, when it was on "
         "a processor (SWITCH records, or sched:sched_switch with a period of 1), and what else "
         "was "
         "recorded. For firefox records that are no samples are markers, and each event has "
         "threads of its own; addresses are offsets in the file. For chrome samples are instants "
         "with a stack, counter values (READ, STAT) are counters, and idle on CPU N is thread N of "
         "process 0. For perfetto each event is "
         "a packet sequence with its timebase; the clock of the capture counts as "
         "CLOCK_BOOTTIME."},
    {"per", .value = "KEY[,KEY ...]", .code = OPTION_PER, .word = per_word, .list = true,
     .help = "count stacks apart, by: comm (default), pid, tid, event, cpu; or none",
     .more =
         "Keys stand in front of the frames, in the order given. The default of speedscope is "
         "comm,pid,tid,event, each a profile of its own; of firefox pid,tid,event, each a thread; "
         "of pprof all of them, as labels and values. For chrome and perfetto it is always all."},
    {"weight", .value = "WHAT", .code = OPTION_WEIGHT, .word = weight_word,
     .help =
         "what a stack weighs; samples (default): their number; period: the sum of their periods"},
    {"mark", .value = "LIST", .code = OPTION_MARK, .word = mark_word, .list = true,
     .help = "let names of frames end with _[k] in the kernel (kernel), _[j] in code generated at "
             "run time (jit), _[i] of inlined functions (inline)"},
    {"unknown", .value = "WHAT", .code = OPTION_UNKNOWN, .word = unknown_word,
     .help = "what a frame without a known function is called; module: [libc.so.6], one for each "
             "file; address: [libc.so.6+0x1234]",
     .more = "The default of folded, flamegraph, speedscope and pprof is module, of the others "
             "address."},
    {"inline", .code = OPTION_INLINE,
     .help = "show functions that the compiler inlined as frames of their own",
     .more = "The debug information of the files says which these are."},
    {"branch-chains", .code = OPTION_BRANCH_CHAINS,
     .help = "take the user part of call chains from branch stacks",
     .more = "Of events whose branch stacks are calls that have not returned (perf record "
             "--call-graph lbr)."},
    {"no-unwind", .code = OPTION_NO_UNWIND,
     .help = "leave the user part of call chains out where the capture has a copy of the stack",
     .more = "By default it is unwound (perf record --call-graph dwarf), with the files that were "
             "recorded."},
    {"compare", .value = "BEFORE", .code = OPTION_COMPARE, .path = true,
     .help = "flamegraph, folded: compare with this capture",
     .more =
         "A flame graph shows what grew in red, what shrank in blue, as shares of all; lines get "
         "two weights, before and now."},
    {"title", .value = "TEXT", .code = OPTION_TITLE,
     .help = "flamegraph, speedscope, firefox, chrome: the heading"},
    {"output", .value = "OUT", .letter = 'o', .path = true,
     .help = "write to this file, which appears when it is complete; default: standard output",
     .more = "It must not exist."},
    {"force", .letter = 'f', .help = "replace OUT if it exists"},
    {"json", .code = CLI_OPTION_JSON,
     .help = "report what was exported as a JSON object, see format/reports.md"},
    {.rows = cli_reading_options},
    {.rows = cli_input_options},
    {.rows = cli_common_options},
    {.heading = "Names of functions:"},
    {.rows = cli_symbols_options},
    {.heading = "Which records:"},
    {.rows = cli_select_options},
    {0},
};

const cli_spec cli_export_spec = {
    .about =
        "perfile export writes what samples add up to, in forms that viewers of profiles read.\n"
        "\n"
        "Usage: perfile export --to FORM [OPTION ...] [-o OUT] FILE ...\n",
    .options = options,
    .notes =
        "If an option is given twice, either may match; different options must all match.\n"
        "Several FILEs are added up.  A frame is the function that lies there: of an ELF file with "
        "the\n"
        "build id of what was mapped, of a debug file, of perf-PID.map, of the kernel's symbols.  "
        "Where\n"
        "none is known it is called by its file, see --unknown; [unknown] where nothing is known "
        "to "
        "be\n"
        "mapped.\n"
        "\n"
        "Examples:\n"
        "  perfile export --to flamegraph -o flame.html samples/captures/callgraph.data\n"
        "  perfile export --to folded samples/captures/callgraph.data | sort -k2 | head\n"
        "  perfile export --to pprof -o work.pb.gz samples/captures/callgraph.data\n"
        "  perfile export --to firefox -o work.json samples/captures/switch.data\n"
        "  perfile export --to folded --per event,comm,tid --mark kernel "
        "samples/captures/callgraph.data\n"
        "  perfile export --to flamegraph --compare before.data -o changes.html after.data\n"
        "  perfile export --to flamegraph --weight period --time 10%..20% -o part.html perf.data\n"
        "\n"
        "Exit status: 0 exported; 3 exported, but a FILE was damaged; 1 nothing was written.\n",
};
