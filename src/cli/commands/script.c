/* `perfile script`: the text that `perf script` prints.
 *
 * The library's emitter "script" makes the text (perfile/emit.h).  This file reads the options, and
 * reads records in order of time. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "perfile/archive.h"
#include "perfile/emit.h"
#include "io/command.h"

enum {
    OPTION_NS = CLI_OPTION_OWN,
    OPTION_DELTATIME,
    OPTION_RELTIME,
    OPTION_MAX_STACK,
    OPTION_STOP_BT,
    OPTION_INLINE,
    OPTION_NO_INLINE,
    OPTION_SHOW_TASK,
    OPTION_SHOW_MMAP,
    OPTION_SHOW_SWITCH,
    OPTION_SHOW_NAMESPACE,
    OPTION_SHOW_LOST,
    OPTION_SHOW_ROUND,
    OPTION_SHOW_BPF,
    OPTION_SHOW_CGROUP,
    OPTION_SHOW_TEXT_POKE,
    OPTION_HEADER,
    OPTION_HEADER_ONLY
};

/* The command line. */
typedef struct settings {
    cli_reading how;
    cli_selection select;
    char *fields; /* the values of all -F, separated by spaces; NULL if there are none */
    const char *output;
    bool force;
    bool header_only;
    uint32_t flags; /* PERFILE_SCRIPT_… */
    uint32_t max_stack;
    const char *stop_at; /* names of functions, separated by commas */
    uint32_t jobs;
    cli_symbols symbols;
    perfile_export_options exporting;
} settings;

static int fields_option(settings *set)
{
    const size_t n = set->fields ? strlen(set->fields) : 0, m = strlen(optarg);
    if (!m)
        return cli_usage("script", "-F: cannot set fields to 'none' for all event types");
    if (strchr(optarg, ' '))
        return cli_usage("script", "-F: invalid field requested: '%s'", optarg);
    char *all = realloc(set->fields, n + m + 2);
    if (!all)
        return cli_no_memory();
    set->fields = all;
    if (n)
        all[n] = ' ';
    memcpy(all + n + (n > 0), optarg, m + 1);
    return CLI_CONTINUE;
}

static int stack_option(settings *set)
{
    uint64_t n;
    const int status = cli_read_number("script", "max-stack", optarg, &n);
    if (status == CLI_CONTINUE)
        set->max_stack = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    return status;
}

/* Returns the flag that an option sets, or 0. */
static uint32_t flag_of(int option)
{
    static const struct {
        int option;
        uint32_t flag;
    } flags[] = {
        {OPTION_NS, PERFILE_SCRIPT_NANOSECONDS},
        {OPTION_DELTATIME, PERFILE_SCRIPT_DELTATIME},
        {OPTION_RELTIME, PERFILE_SCRIPT_RELTIME},
        {'G', PERFILE_SCRIPT_NO_CHAINS},
        {OPTION_NO_INLINE, PERFILE_SCRIPT_NO_INLINE},
        {OPTION_SHOW_TASK, PERFILE_SCRIPT_TASKS},
        {OPTION_SHOW_MMAP, PERFILE_SCRIPT_MMAPS},
        {OPTION_SHOW_SWITCH, PERFILE_SCRIPT_SWITCHES},
        {OPTION_SHOW_NAMESPACE, PERFILE_SCRIPT_NAMESPACES},
        {OPTION_SHOW_LOST, PERFILE_SCRIPT_LOST},
        {OPTION_SHOW_ROUND, PERFILE_SCRIPT_ROUNDS},
        {OPTION_SHOW_BPF, PERFILE_SCRIPT_BPF},
        {OPTION_SHOW_CGROUP, PERFILE_SCRIPT_CGROUPS},
        {OPTION_SHOW_TEXT_POKE, PERFILE_SCRIPT_TEXT_POKES},
        {OPTION_HEADER, PERFILE_SCRIPT_HEADER},
        {'I', PERFILE_SCRIPT_SHOW_INFO},
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (flags[i].option == option)
            return flags[i].flag;
    return 0;
}

/* Handles an option with its value in `optarg`.  Returns CLI_CONTINUE or an exit status. */
static int read_option(int option, settings *set)
{
    const uint32_t flag = flag_of(option);
    set->flags |= flag;
    if (flag)
        return CLI_CONTINUE;
    if (cli_is_selection(option))
        return cli_selection_option("script", option, &set->select);
    if (cli_is_symbols(option))
        return cli_symbols_option("script", option, &set->symbols);
    switch (option) {
    case 'F':
        return fields_option(set);
    case OPTION_MAX_STACK:
        return stack_option(set);
    case OPTION_STOP_BT:
        set->stop_at = optarg;
        return CLI_CONTINUE;
    case OPTION_INLINE:
        set->flags &= ~(uint32_t)PERFILE_SCRIPT_NO_INLINE;
        return CLI_CONTINUE;
    case OPTION_HEADER_ONLY:
        set->flags |= PERFILE_SCRIPT_HEADER;
        set->header_only = true;
        return CLI_CONTINUE;
    case 'o':
        set->output = cli_output_path(optarg);
        return CLI_CONTINUE;
    case 'f':
        set->force = true;
        return CLI_CONTINUE;
    case 'j':
        return cli_jobs_option("script", optarg, &set->jobs);
    default:
        return cli_reading_option("script", &cli_script_spec, option, &set->how);
    }
}

static int complete(settings *set)
{
    const uint32_t times = PERFILE_SCRIPT_DELTATIME | PERFILE_SCRIPT_RELTIME;
    if ((set->flags & times) == times)
        return cli_usage("script", "--reltime and --deltatime exclude each other");
    const int status = cli_selection_check("script", &set->select);
    set->exporting.size = sizeof set->exporting;
    set->exporting.symbols = cli_symbols_chosen(&set->symbols, set->how.limits);
    set->how.selection = &set->select;
    set->how.model = true;
    set->how.sorted = true;
    set->how.translate = true;
    set->how.with_sideband = true; /* for the records of --show-… and deferred call chains */
    return status;
}

static const cli_option options[] = {
    {"fields", .value = "LIST", .letter = 'F',
     .help = "what to print: comm, tid, pid, time, cpu, event, trace, ip, sym, dso, addr, symoff, "
             "srcline, period, iregs, uregs, brstack, brstacksym, brstackoff, data_src, weight, "
             "bpf-output, phys_addr, misc, tod, data_page_size, code_page_size, ins_lat, flags, "
             "machine_pid, vcpu, callindent, ipc, synth, dsoff, retire_lat",
     .more = "A list takes the place of the default; +FIELD and -FIELD add to it and take away "
             "from it. hw:, sw:, trace:, raw:, break: and synth: before a list are the events "
             "that it is for; without one it is for all. May be given several times."},
    {"ns", .code = OPTION_NS, .help = "print times with nine decimal places"},
    {"reltime", .code = OPTION_RELTIME, .help = "print times since the first line"},
    {"deltatime", .code = OPTION_DELTATIME, .help = "print times since the line before"},
    {"hide-call-graph", .letter = 'G', .help = "print addresses instead of call chains"},
    {"max-stack", .value = "N", .code = OPTION_MAX_STACK,
     .help = "print at most N frames of a call chain; default: 127"},
    {"stop-bt", .value = "LIST", .code = OPTION_STOP_BT,
     .help = "in call chains, print no callers of these functions"},
    {"inline", .code = OPTION_INLINE,
     .help = "print functions that the compiler inlined on lines of their own (default)"},
    {"no-inline", .code = OPTION_NO_INLINE, .help = "do not print functions that were inlined"},
    {"header", .code = OPTION_HEADER, .help = "print first what the capture says of the recording"},
    {"header-only", .code = OPTION_HEADER_ONLY, .help = "print that and nothing else"},
    {"show-info", .letter = 'I',
     .help = "with --header: print CPUs, memory and caches, too; of a pipe also without it"},
    {"output", .value = "OUT", .letter = 'o', .path = true,
     .help = "write to this file, which appears when it is complete; default: standard output",
     .more = "It must not exist."},
    {"force", .letter = 'f', .help = "replace OUT if it exists"},
    {.rows = cli_jobs_options},
    {.rows = cli_reading_options},
    {.rows = cli_input_options},
    {.rows = cli_common_options},
    {.heading = "Lines for records that are no samples:"},
    {"show-task-events", .code = OPTION_SHOW_TASK, .help = "COMM, FORK, EXIT"},
    {"show-mmap-events", .code = OPTION_SHOW_MMAP, .help = "MMAP, MMAP2"},
    {"show-switch-events", .code = OPTION_SHOW_SWITCH, .help = "SWITCH, SWITCH_CPU_WIDE"},
    {"show-namespace-events", .code = OPTION_SHOW_NAMESPACE, .help = "NAMESPACES"},
    {"show-lost-events", .code = OPTION_SHOW_LOST, .help = "LOST"},
    {"show-round-events", .code = OPTION_SHOW_ROUND,
     .help = "FINISHED_ROUND, as they are after sorting"},
    {"show-bpf-events", .code = OPTION_SHOW_BPF, .help = "KSYMBOL, BPF_EVENT"},
    {"show-cgroup-events", .code = OPTION_SHOW_CGROUP, .help = "CGROUP"},
    {"show-text-poke-events", .code = OPTION_SHOW_TEXT_POKE, .help = "TEXT_POKE"},
    {.heading = "Names of functions:"},
    {.rows = cli_symbols_options},
    {.heading = "Which records:"},
    {.rows = cli_select_options},
    {0},
};

const cli_spec cli_script_spec = {
    .about = "perfile script prints what `perf script` prints: a line for each sample, in\n"
             "order of time, with its call chain.  Scripts for that text work on this one.\n"
             "\n"
             "Usage: perfile script [OPTION ...] FILE ...\n",
    .options = options,
    .notes = "Samples come once the whole input was read, because they are sorted.  Where the\n"
             "text differs from that of perf 6.1 is listed in format/script.md.\n"
             "\n"
             "Examples:\n"
             "  perfile script samples/captures/callgraph.data | head\n"
             "  perfile script -F comm,tid,time,ip,sym samples/captures/callgraph.data\n"
             "  perfile script -F -period,+misc --ns --time 10%..20% perf.data\n"
             "  perfile script --show-task-events --reltime samples/captures/switch.data\n"
             "\n"
             "Exit status: 0 printed; 3 printed, but a FILE was damaged; 1 not printed.\n",
};

/* The output.  The emitter exists after the first input was opened. */
typedef struct output {
    perfile_sink *sink;
    perfile_emitter *emitter;
    perfile_error error;
    perfile_status status; /* of writing, or an error in the options */
} output;

/* Writes the first lines of a header, with the modification time of the file if it is known. */
static perfile_status put_captured(output *o, const cli_file *file)
{
    char text[96] = "# ========\n", name[CLI_CAPTURE_NAME], when[32];
    perfile_archive_options about = {.size = sizeof about};
    struct tm parts;
    cli_archive_name(file, name, &about);
    if (!about.modified && strcmp(file->path, "-") == 0)
        (void)cli_capture_time("-", &about.modified);
    const time_t seconds = (time_t)(about.modified / 1000000000);
    if (about.modified && localtime_r(&seconds, &parts) && asctime_r(&parts, when))
        snprintf(text, sizeof text, "# ========\n# captured on    : %s", when);
    return perfile_sink_write(o->sink, (perfile_bytes){(const uint8_t *)text, strlen(text)},
                              &o->error);
}

/* Opens the emitter for the first input, or continues it with another input. */
static perfile_status begin_input(output *o, const settings *set, const cli_input *in,
                                  const cli_file *file)
{
    const perfile_emit_options how = {.size = sizeof how,
                                      .flags = set->flags,
                                      .fields = set->fields,
                                      .max_stack = set->max_stack,
                                      .stop_at = set->stop_at,
                                      .model = in->model,
                                      .exporting = &set->exporting,
                                      .threads = cli_jobs(set->jobs)};
    const bool follows = o->emitter;
    perfile_status st = PERFILE_OK;
    if (!follows)
        st = perfile_emitter_open("script", in->stream, o->sink, &how, &o->emitter, &o->error);
    if (st == PERFILE_OK && set->flags & PERFILE_SCRIPT_HEADER)
        st = put_captured(o, file);
    if (st == PERFILE_OK && follows)
        return perfile_emitter_continue(o->emitter, in->stream, in->model, &o->error);
    return st == PERFILE_OK ? perfile_emitter_begin(o->emitter, &o->error) : st;
}

/* Prints one input.  Returns its exit status. */
static int script_of(cli_file *file, const settings *set, output *o)
{
    cli_input in;
    const perfile_record *first;
    size_t n;
    if (cli_open(&in, file, &set->how) == CLI_DONE) {
        o->status = begin_input(o, set, &in, file);
        while (o->status == PERFILE_OK && !set->header_only && cli_next_run(&in, &first, &n))
            o->status = perfile_emitter_put_run(o->emitter, first, n, &o->error);
        const bool failed = o->status != PERFILE_OK;
        perfile_error ignored;
        if (o->emitter) { /* the emitter must not use the stream any more */
            const perfile_status st =
                perfile_emitter_continue(o->emitter, NULL, NULL, failed ? &ignored : &o->error);
            o->status = failed ? o->status : st;
        }
    }
    return cli_close(&in);
}

/* Reports why the output is not complete.  Returns the exit status. */
static int failed(const output *o, const settings *set)
{
    if (o->error.sys == EPIPE)
        return CLI_DONE;
    if (o->status == PERFILE_E_USAGE)
        return cli_usage_error("script", &o->error);
    cli_report_error(cli_output_name(set->output), &o->error);
    return CLI_FAILED;
}

/* Opens the output, which must not be one of the files that are read. */
static int open_output(const cli_inputs *in, const settings *set, perfile_sink **sink)
{
    const char *kallsyms = set->symbols.options.kallsyms;
    const char **read = malloc((in->n_paths + 1) * sizeof *read);
    if (!read)
        return cli_no_memory();
    memcpy(read, in->paths, in->n_paths * sizeof *read);
    read[in->n_paths] = kallsyms;
    const cli_output where = {.out = set->output,
                              .replace = set->force,
                              .inputs = read,
                              .n_inputs = in->n_paths + (kallsyms ? 1 : 0)};
    const int status = cli_output_open(&where, sink);
    free(read);
    return status;
}

/* Prints all inputs to one output. */
static int script_all(const cli_inputs *in, settings *set)
{
    output o = {0};
    int status = CLI_DONE;
    if (open_output(in, set, &o.sink) != CLI_DONE)
        return CLI_FAILED;
    for (size_t i = 0; i < in->n && o.status == PERFILE_OK; i++)
        status = cli_worse(status, script_of(&in->at[i], set, &o));
    if (o.status == PERFILE_OK && o.emitter)
        o.status = perfile_emitter_finish(o.emitter, &o.error);
    const bool keeps = status == CLI_DONE || status == CLI_DAMAGED;
    if (o.status == PERFILE_OK && (keeps || !pf_sink_temporary(o.sink)))
        o.status = perfile_sink_finish(o.sink, &o.error);
    if (o.status != PERFILE_OK)
        status = cli_worse(status, failed(&o, set));
    perfile_emitter_close(o.emitter);
    cli_signals_temporary(NULL);
    perfile_sink_close(o.sink);
    return status;
}

int cli_script(int argc, char **argv)
{
    settings set = {.output = "-"};
    int status = CLI_CONTINUE;
    for (int c; status == CLI_CONTINUE &&
                (c = cli_next_option("script", argc, argv, &cli_script_spec)) != -1;)
        status = read_option(c, &set);
    cli_inputs in;
    if (status == CLI_CONTINUE)
        status = cli_read_inputs("script", argc, argv, true, &in);
    if (status == CLI_CONTINUE)
        status = complete(&set);
    if (status == CLI_CONTINUE)
        status = script_all(&in, &set);
    cli_selection_free(&set.select);
    cli_symbols_free(&set.symbols);
    free(set.fields);
    return status;
}
