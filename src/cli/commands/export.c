/* `perfile export`: samples of captures, resolved and added up, in the formats of viewers.
 *
 * The library's emitters do the work (perfile/emit.h).  All inputs go into one emitter.  Each input
 * is read with a model of the whole capture, so that an address is resolved with the mapping at the
 * time of its sample. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/print.h"
#include "perfile/emit.h"

/* The results of one run. */
typedef struct report {
    const char *format;
    const char *out;
    bool json;            /* the report is a JSON object on standard output */
    bool weighs;          /* weights are periods */
    bool off_cpu;         /* weights are times off CPUs */
    bool compares;        /* there is a capture before, for comparison */
    bool aux;             /* the form has the AUX area and no samples */
    cli_symbols *symbols; /* where functions are looked up, and which are not found; NULL if they
                           * are not looked up */
    size_t n_inputs;
    cli_losses losses;     /* of all inputs */
    uint64_t lost_records; /* sum of cli_losses_others() of all inputs */
    bool foreign;          /* there were records of another family, which have no samples */
    uint64_t damages;      /* of all inputs */
    perfile_export_summary sum;
} report;

typedef struct settings {
    cli_reading how;
    cli_selection select;
    const char *format;  /* NULL if not given */
    bool binary;         /* the output is not suitable for terminals */
    bool directory;      /* the output is a directory */
    bool folder;         /* the output is files in a folder, or one table as a file */
    const char **labels; /* labels of the folder: KEY=VALUE, terminated by NULL */
    size_t n_labels;
    const char *output;
    bool force, json;
    uint32_t jobs;
    cli_symbols symbols;
    const char *before; /* the capture that inputs are compared with, or NULL */
    perfile_export_options exporting;
} settings;

/* The report of `export`: lines on standard error, or with --json an object on standard output. */

/* Prints a message about a number, unless it is 0. */
static void note(uint64_t n, const char *one, const char *many)
{
    char text[32];
    if (n)
        cli_message("%s %s", cli_format_grouped(n, text), n == 1 ? one : many);
}

/* Reports call chains from copied stacks that end early. */
static void report_unwinding(const perfile_export_summary *s)
{
    note(s->unwound_short, "call chain ends with the copied part of the stack",
         "call chains end with the copied part of the stack");
    note(s->unwound_no_file, "call chain ends in code whose file was not found",
         "call chains end in code whose file was not found");
    note(s->unwound_no_rules, "call chain ends in code without call frame information",
         "call chains end in code without call frame information");
    note(s->not_unwound, "copied stack could not be unwound", "copied stacks could not be unwound");
}

/* Reports what is missing in the output, or less exact than it seems. */
static void report_losses(const report *x)
{
    const perfile_export_summary *s = &x->sum;
    if (x->foreign)
        cli_message("records of a family other than perf cannot be exported");
    note(x->losses.lost_samples, "sample was lost while recording",
         "samples were lost while recording");
    note(x->lost_records, "record was lost while recording", "records were lost while recording");
    note(s->unmapped, "node of the call tree is in no known mapping",
         "nodes of the call tree are in no known mapping");
    if (x->symbols)
        cli_unnamed_print(x->symbols, NULL, s->stacks - s->unmapped - s->named);
    note(s->too_costly, "name or file of debug information took too much time or memory",
         "names or files of debug information took too much time or memory");
    note(s->without_stack, "sample has no address", "samples have no address");
    note(s->unreadable, "call chain could not be read", "call chains could not be read");
    note(s->not_joined, "call chain lacks its user part, which was not found",
         "call chains lack their user part, which was not found");
    report_unwinding(s);
    note(s->payloads_left_out,
         "sample of a tracepoint has no payload: memory for payloads is limited",
         "samples of tracepoints have no payload: memory for payloads is limited");
    note(s->not_inlined, "inlined function has no frame: there are too many of them",
         "inlined functions have no frames: there are too many of them");
    if (s->names_most)
        cli_message("names longer than %" PRIu64 " bytes are shortened: the output repeats them",
                    s->names_most);
    if (x->off_cpu && !s->samples)
        cli_message("no thread left a CPU in a sample and came back: record each "
                    "sched:sched_switch, or -e context-switches -c 1 with --switch-events");
    if (x->weighs)
        note(s->without_period, "sample has no period and weighs nothing",
             "samples have no period and weigh nothing");
    note(s->pruned, "frame is too small to be shown", "frames are too small to be shown");
    if (s->events > 1 && !s->events_apart)
        cli_message("%" PRIu64 " events are added up; --per event,comm or --event NAME tells them "
                    "apart",
                    s->events);
}

static void report_text(const report *x)
{
    char samples[32], stacks[32], frames[32];
    const perfile_export_summary *s = &x->sum;
    if (x->aux) {
        cli_message("%s: %s bytes of %s ring buffer%s", x->format,
                    cli_format_grouped(s->aux_bytes, samples),
                    cli_format_grouped(s->aux_files, stacks), s->aux_files == 1 ? "" : "s");
        note(s->aux_missing, "part of an AUX stream is missing",
             "parts of AUX streams are missing");
        return;
    }
    if (x->compares)
        cli_message("compared with %s sample%s before",
                    cli_format_grouped(s->before_samples, samples),
                    s->before_samples == 1 ? "" : "s");
    cli_message("%s: %s sample%s, %s frame%s, %s node%s of the call tree", x->format,
                cli_format_grouped(s->samples, samples), s->samples == 1 ? "" : "s",
                cli_format_grouped(s->frames, frames), s->frames == 1 ? "" : "s",
                cli_format_grouped(s->stacks, stacks), s->stacks == 1 ? "" : "s");
    report_losses(x);
}

static void report_json(const report *x, bool written)
{
    const perfile_export_summary *s = &x->sum;
    cli_json_object(NULL);
    cli_json_string("format", x->format);
    cli_json_string("out", written ? x->out : NULL);
    cli_json_number("inputs", x->n_inputs);
    cli_json_number("samples", s->samples);
    if (x->compares)
        cli_json_number("before_samples", s->before_samples);
    cli_json_decimal("period", s->period);
    cli_json_number("stacks", s->stacks);
    cli_json_number("frames", s->frames);
    cli_json_number("unmapped", s->unmapped);
    cli_json_number("named", s->named);
    if (x->symbols)
        cli_unnamed_json(x->symbols);
    cli_json_number("too_costly", s->too_costly);
    cli_json_number("events", s->events);
    cli_json_number("without_period", s->without_period);
    cli_json_number("without_stack", s->without_stack);
    cli_json_number("unreadable", s->unreadable);
    cli_json_number("joined", s->joined);
    cli_json_number("not_joined", s->not_joined);
    cli_json_number("unwound", s->unwound);
    cli_json_number("unwound_short", s->unwound_short);
    cli_json_number("unwound_no_file", s->unwound_no_file);
    cli_json_number("unwound_no_rules", s->unwound_no_rules);
    cli_json_number("not_unwound", s->not_unwound);
    cli_json_number("pruned", s->pruned);
    cli_json_number("names_most", s->names_most);
    cli_json_number("not_inlined", s->not_inlined);
    cli_json_number("payloads_left_out", s->payloads_left_out);
    if (x->aux) {
        cli_json_number("aux_files", s->aux_files);
        cli_json_number("aux_bytes", s->aux_bytes);
        cli_json_number("aux_missing", s->aux_missing);
    }
    cli_json_number("lost_samples", x->losses.lost_samples);
    cli_json_number("lost_records", x->lost_records);
    cli_json_number("damages", x->damages);
    cli_json_number("bytes", s->bytes);
    cli_json_object_end();
    cli_json_line();
}

static void report_end(const report *x, bool written)
{
    if (x->json)
        report_json(x, written);
    else if (written)
        report_text(x);
}

/* The options of `perfile export`. */

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
    OPTION_BRANCH_CHAINS,
    OPTION_REVERSE,
    OPTION_SYMBOL_SERVER,
    OPTION_LINES,
    OPTION_TABLES,
    OPTION_PARTITION,
    OPTION_LABEL,
    OPTION_WIDE
};

/* Words of --per, in the order of PERFILE_PER_…. */
CLI_WORDS(per_word, "comm", "pid", "tid", "event", "cpu", "none")

CLI_WORDS(weight_word, "samples", "period", "offcpu")

CLI_WORDS(mark_word, "kernel", "jit", "inline")

CLI_WORDS(unknown_word, "module", "address")

CLI_WORDS(partition_word, "host,date", "none")

/* Calls `add` with the index of each word of a list. */
static int read_list(const char *option, const char *list, cli_word *word_of,
                     int (*add)(settings *set, size_t which), settings *set)
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

static int add_key(settings *set, size_t which)
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
    per[n] = key; /* there are fewer keys than entries */
    return CLI_CONTINUE;
}

static int add_mark(settings *set, size_t which)
{
    static const uint32_t flags[] = {PERFILE_EXPORT_MARK_KERNEL, PERFILE_EXPORT_MARK_JIT,
                                     PERFILE_EXPORT_MARK_INLINE};
    set->exporting.flags |= flags[which];
    return CLI_CONTINUE;
}

static int format_option(settings *set)
{
    size_t which;
    int status = cli_choose("export", "--to", optarg, perfile_export_format, &which);
    perfile_format format;
    if (status != CLI_CONTINUE || !perfile_format_at(true, which, &format, sizeof format))
        return status;
    set->format = format.name;
    set->binary = format.binary;
    set->directory = format.directory;
    set->folder = format.folder;
    return status;
}

static int weight_option(settings *set)
{
    size_t which;
    static const uint32_t flags[] = {PERFILE_EXPORT_SAMPLES, PERFILE_EXPORT_PERIODS,
                                     PERFILE_EXPORT_OFF_CPU};
    int status = cli_choose("export", "--weight", optarg, weight_word, &which);
    set->exporting.flags &= ~(flags[0] | flags[1] | flags[2]);
    if (status == CLI_CONTINUE)
        set->exporting.flags |= flags[which];
    return status;
}

static int unknown_option(settings *set)
{
    static const uint32_t flags[] = {PERFILE_EXPORT_UNKNOWN_MODULE, PERFILE_EXPORT_UNKNOWN_ADDRESS};
    size_t which;
    int status = cli_choose("export", "--unknown", optarg, unknown_word, &which);
    set->exporting.flags &= ~(flags[0] | flags[1]);
    if (status == CLI_CONTINUE)
        set->exporting.flags |= flags[which];
    return status;
}

static int partition_option(settings *set)
{
    size_t which;
    int status = cli_choose("export", "--partition", optarg, partition_word, &which);
    set->exporting.flags &= ~(uint32_t)PERFILE_EXPORT_ONE_FOLDER;
    if (status == CLI_CONTINUE && which == 1)
        set->exporting.flags |= PERFILE_EXPORT_ONE_FOLDER;
    return status;
}

static int label_option(settings *set)
{
    const char *equals = strchr(optarg, '=');
    if (!equals || equals == optarg)
        return cli_usage("export", "--label: '%s' is not KEY=VALUE", optarg);
    const char **more = realloc(set->labels, (set->n_labels + 2) * sizeof *more);
    if (!more)
        return cli_no_memory();
    more[set->n_labels++] = optarg;
    more[set->n_labels] = NULL;
    set->labels = more;
    set->exporting.labels = more;
    return CLI_CONTINUE;
}

static int read_option(int option, settings *set)
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
    case OPTION_REVERSE:
        set->exporting.flags |= PERFILE_EXPORT_REVERSE;
        return CLI_CONTINUE;
    case OPTION_LINES:
        set->exporting.flags |= PERFILE_EXPORT_LINES;
        return CLI_CONTINUE;
    case OPTION_TABLES:
        set->exporting.tables = optarg;
        return CLI_CONTINUE;
    case OPTION_PARTITION:
        return partition_option(set);
    case OPTION_LABEL:
        return label_option(set);
    case OPTION_WIDE:
        set->exporting.flags |= PERFILE_EXPORT_WIDE;
        return CLI_CONTINUE;
    case OPTION_SYMBOL_SERVER:
        set->exporting.flags |= PERFILE_EXPORT_SYMBOL_SERVER;
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
    case 'j':
        return cli_jobs_option("export", optarg, &set->jobs);
    default:
        return cli_reading_option("export", &cli_export_spec, option, &set->how);
    }
}

/* True if OUT is named like a picture, but is an HTML page.  No browser would show it. */
static bool is_called_svg(const settings *set)
{
    static const char end[] = ".svg";
    const size_t n = strlen(set->output), m = sizeof end - 1;
    return strcmp(set->format, "flamegraph") == 0 && n >= m &&
           strcmp(set->output + n - m, end) == 0;
}

/* True if the output is one table as a file: --tables names one, and OUT is standard output or has
 * the suffix of such files. */
static bool is_one_table(const settings *set)
{
    static const char end[] = ".parquet";
    const size_t n = strlen(set->output), m = sizeof end - 1;
    const bool is_file =
        strcmp(set->output, "-") == 0 || (n >= m && strcmp(set->output + n - m, end) == 0);
    return is_file && set->exporting.tables && !strchr(set->exporting.tables, ',');
}

static int complete(settings *set)
{
    if (!set->format)
        return cli_usage("export", "missing form: give --to %s", perfile_export_format(0));
    if (is_called_svg(set))
        return cli_usage("export", "--to %s writes an HTML page: let OUT end with .html, not .svg",
                         set->format);
    if (set->directory && strcmp(set->output, "-") == 0)
        return cli_usage("export", "--to %s writes a directory: give -o OUT", set->format);
    if (set->folder && !is_one_table(set) && strcmp(set->output, "-") == 0)
        return cli_usage("export",
                         "--to %s writes a directory: give -o OUT, or one table (--tables)",
                         set->format);
    set->folder = set->folder && !is_one_table(set);
    if (set->json && strcmp(set->output, "-") == 0)
        return cli_usage("export", "--json prints the report to standard output: give -o OUT");
    int status =
        set->binary ? cli_reject_terminal("export", set->output, set->format) : (int)CLI_CONTINUE;
    if (status == CLI_CONTINUE)
        status = cli_selection_check("export", &set->select);
    if (status == CLI_CONTINUE && set->exporting.flags & PERFILE_EXPORT_INLINE)
        status = cli_symbols_need_source("--inline");
    if (status == CLI_CONTINUE && set->exporting.flags & PERFILE_EXPORT_LINES)
        status = cli_symbols_need_source("--lines");
    set->exporting.size = sizeof set->exporting;
    set->exporting.symbols = cli_symbols_chosen(&set->symbols, set->how.limits);
    set->how.selection = &set->select;
    set->select.how.symbols = set->exporting.symbols;
    set->how.model = true;
    set->how.translate = true;
    set->how.with_sideband = true;                     /* for deferred call chains and losses */
    if (set->exporting.flags & PERFILE_EXPORT_OFF_CPU) /* events before each switch are needed */
        set->how.sorted = set->how.marked = true;
    return status;
}

static const cli_option options[] = {
    {"to", .value = "FORM", .code = OPTION_TO, .word = perfile_export_format,
     .help =
         "the form of the output; folded: a line for each stack, for flame graph scripts and "
         "viewers; flamegraph: a "
         "picture to zoom and search, one HTML file for any browser; speedscope: JSON for that "
         "viewer, a profile for each thread and one for all; firefox: JSON for the Firefox "
         "Profiler; chrome: trace "
         "events in JSON; pprof: a profile for pprof, compressed; perfetto: a trace for Perfetto; "
         "aux: the AUX area "
         "for decoders, as a directory; parquet: tables for DuckDB, ClickHouse, Spark, pandas and "
         "others, as a directory",
     .more =
         "In folded lines the outermost frame comes first, with ; between frames, and the "
         "weight comes last. In names ; becomes :, and what could break a line becomes ?.\n"
         "The directory of aux has a file for each ring buffer, and index.json, which says what is "
         "in them, when, and what is missing.\n"
         "The forms firefox, chrome and perfetto show time: samples of each thread, when it was on "
         "a CPU (SWITCH records, or sched:sched_switch with a period of 1), and what else "
         "was "
         "recorded. For firefox each thread has the samples of one event, the clock with most of "
         "them (cpu-clock, task-clock, cycles) or else another counter; those of all other events "
         "are markers with a stack, and records that are no samples are markers, too; --per "
         "pid,tid,event gives each event threads of its own. Addresses are offsets in the file. "
         "For chrome samples are instants "
         "with a stack, counter values (READ, STAT) are counters, and idle on CPU N is thread N of "
         "process 0. For perfetto each event is "
         "a packet sequence with its timebase, and payloads of tracepoints are instants; the clock "
         "of the capture counts as CLOCK_BOOTTIME."},
    {"per", .value = "KEY[,KEY ...]", .code = OPTION_PER, .word = per_word, .list = true,
     .help = "count stacks apart, by: comm (default), pid, tid, event, cpu; or none",
     .more =
         "Keys come before the frames, in the order given. The default of speedscope is "
         "comm,pid,tid,event, each a profile of its own; of firefox pid,tid, each a thread; "
         "of pprof all of them, as labels and values. For chrome and perfetto it is always all."},
    {"weight", .value = "WHAT", .code = OPTION_WEIGHT, .word = weight_word,
     .help =
         "what a stack weighs; samples (default): their number; period: the sum of their periods; "
         "offcpu: the ns for which threads that left a CPU there were away",
     .more =
         "offcpu is for folded, flamegraph, speedscope and pprof. The stacks are those of samples "
         "of sched:sched_switch or context-switches, all of them (perf record -c 1); these or "
         "SWITCH records (--switch-events) say when a thread came back. One that did not come back "
         "counts nothing. Preempted threads, which could have gone on, can be left out by "
         "--where 'prev_state & 0xff'.\n"
         "For speedscope the default is time, if the event is a clock, or cycles so many times a "
         "second.  Then the time that switches prove a thread to have been on no CPU is "
         "an empty stack."},
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
    {"lines", .code = OPTION_LINES,
     .help =
         "pprof, firefox, speedscope, parquet: say the file and line of the source of each frame",
     .more = "The debug information of the files has them.  A caller has the line of its call, a "
             "function into which others are inlined that of the outermost of them, unless these "
             "have frames of their own (--inline).  In tables each frame has the line at its "
             "address."},
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
    {"reverse", .code = OPTION_REVERSE,
     .help =
         "flamegraph, folded: merge stacks from the leaf, so that each function that ran is one "
         "box, with its callers on it",
     .more = "Keys of --per stand at the other end then."},
    {"tables", .value = "LIST", .code = OPTION_TABLES, .list = true,
     .help = "parquet: write these tables only; see perfile schema",
     .more =
         "One table can be a file: -o - writes it to standard output, and -o NAME.parquet to that "
         "file."},
    {"partition", .value = "HOW", .code = OPTION_PARTITION, .word = partition_word,
     .help = "parquet: where files are in the folder of a table; host,date (default): in "
             "host=HOST/date=YYYY-MM-DD, by which engines prune; none: in the folder itself"},
    {"label", .value = "KEY=VALUE", .code = OPTION_LABEL,
     .help = "parquet: say this of the captures in the table captures (again for more)"},
    {"wide", .code = OPTION_WIDE,
     .help = "parquet: write branch stacks and registers of samples, too"},
    {"symbol-server", .code = OPTION_SYMBOL_SERVER,
     .help = "firefox: let the viewer ask a symbol server for functions that are not named",
     .more = "It learns names and build ids of the files."},
    {"title", .value = "TEXT", .code = OPTION_TITLE,
     .help =
         "flamegraph, speedscope, firefox, chrome: the heading; default: the names of the FILEs"},
    {"output", .value = "OUT", .letter = 'o', .path = true,
     .help = "write to this file, which appears when it is complete; default: standard output",
     .more = "It must not exist."},
    {"force", .letter = 'f', .help = "replace OUT if it exists"},
    {"json", .code = CLI_OPTION_JSON,
     .help = "report what was exported as a JSON object, see format/reports.md"},
    {.rows = cli_jobs_options},
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
    .about = "perfile export writes what samples add up to, in forms for viewers of profiles.\n"
             "\n"
             "Usage: perfile export --to FORM [OPTION ...] [-o OUT] FILE ...\n",
    .options = options,
    .notes = "If an option is given twice, either may match; different options must all match.\n"
             "Several FILEs are added up.  A frame is the function that is there: of an ELF\n"
             "file with the build id of what was mapped, of a debug file, of perf-PID.map, of\n"
             "the kernel's symbols.  Where none is known it is called by its file, see\n"
             "--unknown; [unknown] where nothing is known to be mapped.\n"
             "\n"
             "Examples:\n"
             "  perfile export --to flamegraph -o flame.html samples/captures/callgraph.data\n"
             "  perfile export --to folded samples/captures/callgraph.data | sort -k2 | head\n"
             "  perfile export --to pprof -o work.pb.gz samples/captures/callgraph.data\n"
             "  perfile export --to firefox -o work.json samples/captures/switch.data\n"
             "  perfile export --to folded --per tid --weight period --mark kernel perf.data\n"
             "  perfile export --to flamegraph --compare before.data -o diff.html after.data\n"
             "  perfile export --to flamegraph --time 10%..20% -o part.html perf.data\n"
             "\n"
             "Exit status: 0 exported; 3 exported, but a FILE was damaged; 1 not exported.\n",
};

/* The output.  The emitter exists after the first input was opened. */
typedef struct output {
    perfile_sink *sink;
    perfile_emitter *emitter;
    perfile_error error; /* an error of writing or of adding up */
    perfile_status status;
} output;

/* Opens the emitter for the first input, or continues it with another input. */
static perfile_status begin_input(output *o, const settings *set, const cli_input *in)
{
    const perfile_emit_options how = {.size = sizeof how,
                                      .model = in->model,
                                      .exporting = &set->exporting,
                                      .threads = cli_jobs(set->jobs)};
    if (o->emitter)
        return perfile_emitter_continue(o->emitter, in->stream, in->model, &o->error);
    perfile_status st =
        perfile_emitter_open(set->format, in->stream, o->sink, &how, &o->emitter, &o->error);
    return st == PERFILE_OK ? perfile_emitter_begin(o->emitter, &o->error) : st;
}

/* Puts all records of an input into the emitter, and its damage, which is shown in tables. */
static perfile_status put_records(output *o, cli_input *in, report *x)
{
    const perfile_record *first;
    size_t n;
    cli_losses losses = {0};
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK && cli_next_items(in, &first, &n)) {
        if (first->family != PERFILE_FAMILY_DAMAGE) {
            cli_losses_feed(&losses, first, n);
            x->foreign |= first->family != PERFILE_FAMILY_PERF;
        }
        st = perfile_emitter_put_run(o->emitter, first, n, &o->error);
    }
    x->losses.lost_samples += losses.lost_samples;
    x->lost_records += cli_losses_others(&losses, perfile_stream_session(in->stream));
    return st == PERFILE_OK ? perfile_emitter_continue(o->emitter, NULL, NULL, &o->error) : st;
}

/* Exports one input.  Returns its exit status. */
static int export_of(cli_file *file, const settings *set, output *o, report *x)
{
    cli_input in;
    if (cli_open(&in, file, &set->how) == CLI_DONE) {
        o->status = begin_input(o, set, &in);
        if (o->status == PERFILE_OK)
            o->status = put_records(o, &in, x);
        if (o->status != PERFILE_OK && o->emitter) /* the emitter must not use the stream any
                                                    * more */
            (void)!perfile_emitter_continue(o->emitter, NULL, NULL, NULL);
        x->damages += cli_damage_count(&in);
    }
    return cli_close(&in);
}

/* Finishes the output.  Returns false if it is not complete. */
static bool end_output(output *o, const settings *set)
{
    if (o->status == PERFILE_OK)
        o->status = perfile_emitter_finish(o->emitter, &o->error);
    if (o->status == PERFILE_OK)
        o->status = perfile_sink_finish(o->sink, &o->error);
    if (o->status == PERFILE_OK || o->error.sys == EPIPE)
        return o->status == PERFILE_OK;
    /* Without an emitter, the error is not about the output, but about a file in the options. */
    const char *name = cli_output_name(set->output);
    bool of_output = o->emitter && o->error.status == PERFILE_E_IO;
    cli_report_error(of_output ? name : set->format, &o->error);
    return false;
}

/* Opens the output, which must not be one of the files that are read. */
static int open_output(const cli_inputs *in, const settings *set, perfile_sink **sink)
{
    const char **read = malloc((in->n_paths + 1) * sizeof *read);
    if (!read)
        return cli_no_memory();
    memcpy(read, in->paths, in->n_paths * sizeof *read);
    size_t n = in->n_paths;
    if (set->before)
        read[n++] = set->before;
    const cli_output where = {.out = set->output,
                              .replace = set->force,
                              .inputs = read,
                              .n_inputs = n,
                              .kallsyms = set->symbols.options.kallsyms,
                              .directory = set->directory,
                              .folder = set->folder};
    int status = cli_output_open(&where, sink);
    free(read);
    return status;
}

/* Exports all inputs to one output. */
static int export_all(const cli_inputs *in, settings *set)
{
    report x = {.format = set->format,
                .out = set->output,
                .json = set->json,
                .symbols = set->exporting.symbols ? &set->symbols : NULL,
                .compares = set->before,
                .aux = set->directory,
                .weighs = set->exporting.flags & PERFILE_EXPORT_PERIODS,
                .off_cpu = set->exporting.flags & PERFILE_EXPORT_OFF_CPU};
    output o = {0};
    int status = CLI_DONE;
    if (open_output(in, set, &o.sink) != CLI_DONE)
        return CLI_FAILED;
    if (set->before) {
        cli_file before = cli_file_of(set->before);
        status = export_of(&before, set, &o, &x);
    }
    for (size_t i = 0;
         i < in->n && o.status == PERFILE_OK && status != CLI_FAILED && status != CLI_USAGE;
         i++, x.n_inputs++)
        status = cli_worse(status, export_of(&in->at[i], set, &o, &x));
    bool written = (status == CLI_DONE || status == CLI_DAMAGED) && end_output(&o, set);
    if (o.emitter)
        perfile_emitter_get_summary(o.emitter, &x.sum, sizeof x.sum);
    if (!written && status != CLI_USAGE && o.error.sys != EPIPE)
        status = o.status == PERFILE_E_USAGE ? CLI_USAGE : CLI_FAILED;
    report_end(&x, written);
    perfile_emitter_close(o.emitter);
    cli_signals_temporary(NULL);
    perfile_sink_close(o.sink);
    return status;
}

int cli_export(int argc, char **argv)
{
    settings set = {.output = "-"};
    int status = CLI_CONTINUE;
    for (int c; status == CLI_CONTINUE &&
                (c = cli_next_option("export", argc, argv, &cli_export_spec)) != -1;)
        status = read_option(c, &set);
    cli_inputs in;
    if (status == CLI_CONTINUE)
        status = cli_read_inputs("export", argc, argv, true, &in);
    if (status == CLI_CONTINUE)
        status = complete(&set);
    if (status == CLI_CONTINUE)
        status = export_all(&in, &set);
    cli_selection_free(&set.select);
    cli_symbols_free(&set.symbols);
    free(set.labels);
    return status;
}
