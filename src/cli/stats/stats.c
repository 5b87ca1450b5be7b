/* `perfile stats`: counts of samples and other records by keys. count.c and counters.c count.  This
 * file reads the command line, sorts the rows, and prints them. */
#include "cli/stats/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/print.h"

enum {
    OPTION_BY = CLI_OPTION_OWN,
    OPTION_SORT,
    OPTION_TOP,
    OPTION_TOTAL,
    OPTION_PARENT,
    OPTION_TREE,
    OPTION_MIN,
    OPTION_DEPTH,
    OPTION_WIDTH,
    OPTION_CALLERS,
    OPTION_CALLEES,
    OPTION_COMPARE,
    OPTION_ON_CPU,
    OPTION_UNKNOWN,
    OPTION_RAW,
    OPTION_JSON
};

typedef cli_stats_settings settings;

/* Arguments of order(), to which qsort() passes none. */
static const cli_counts *sorted_counts;
static int sorted_by;

/* Compares two rows by their keys. */
static int by_key(const cli_group *x, const cli_group *y)
{
    for (unsigned k = 0; k < sorted_counts->keys->n; k++) {
        int order = cli_key_order(sorted_counts, k, x->key[k], y->key[k]);
        if (order)
            return order;
    }
    return 0;
}

/* Returns the number by which a row is sorted; 0 for BY_KEY. */
static uint64_t sort_value(const cli_group *g, int by)
{
    switch (by) {
    case BY_SAMPLES:
        return g->samples;
    case BY_PERIOD:
        return g->no_period ? 0 : g->period;
    case BY_RECORDS:
        return g->records;
    case BY_BYTES:
        return g->bytes;
    default: /* BY_KEY */
        return 0;
    }
}

/* Compares two rows for qsort(): larger numbers first, then by key. */
static int order(const void *a, const void *b)
{
    const cli_group *x = a;
    const cli_group *y = b;
    uint64_t of_x = sort_value(x, sorted_by), of_y = sort_value(y, sorted_by);
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    /* Rows without samples (other record types) are sorted by number of records. */
    if (sorted_by == BY_SAMPLES && x->records != y->records)
        return x->records < y->records ? 1 : -1;
    return by_key(x, y);
}

/* Sorts the rows.  The default is by samples, or by records if there are no samples. */
static void sort_rows(const settings *set, cli_counts *counts)
{
    sorted_counts = counts;
    sorted_by = set->sort;
    if (sorted_by == BY_DEFAULT)
        sorted_by = counts->total.samples ? BY_SAMPLES : BY_RECORDS;
    if (counts->groups.at)
        qsort(counts->groups.at, counts->groups.n, sizeof *counts->groups.at, order);
}

static size_t rows_shown(const settings *set, const cli_counts *counts)
{
    return set->top && set->top < counts->groups.n ? (size_t)set->top : counts->groups.n;
}

/* Prints the counts of a row; a period without meaning is null. */
static void figures_json(const cli_counts *counts, const cli_group *g)
{
    cli_json_number("records", g->records);
    cli_json_number("bytes", g->bytes);
    cli_json_number("samples", g->samples);
    if (!counts->periods)
        return;
    if (g->no_period)
        cli_json_null("period");
    else
        cli_json_decimal("period", g->period);
}

/* Prints the counts of one input as a JSON object.  Returns false when out of memory. */
static bool print_json(const settings *set, const cli_counts *counts, const cli_input *in)
{
    const cli_groups *g = &counts->groups;
    cli_json_object(NULL);
    cli_json_string("file", in->name);
    cli_json_array("by");
    for (unsigned k = 0; k < set->keys.n; k++)
        cli_json_string(NULL, cli_key_name(&set->keys, k));
    cli_json_array_end();
    cli_json_array("rows");
    for (size_t i = 0; i < rows_shown(set, counts); i++) {
        cli_json_object(NULL);
        for (unsigned k = 0; k < set->keys.n; k++)
            cli_key_json(counts, k, g->at[i].key[k]);
        figures_json(counts, &g->at[i]);
        cli_json_object_end();
    }
    cli_json_array_end();
    cli_json_number("rows_in_all", g->n);
    cli_json_object("total");
    figures_json(counts, &counts->total);
    cli_json_object_end();
    const bool ok = !cli_counters_any(counts) || cli_counters_json(counts, set->top);
    cli_json_object("losses");
    cli_losses_json(&counts->losses, counts->session);
    cli_json_object_end();
    cli_json_damage(in);
    cli_json_object_end();
    cli_json_line();
    return ok;
}

/* The columns of a table in addition to the first one, PERCENT and BYTES. */
typedef struct columns {
    bool samples, period;
    uint64_t total; /* the number for the whole input */
    int by;         /* BY_…: PERCENT is a share of this number */
} columns;

/* Chooses the columns.  PERCENT needs a number that can be summed up: with a sort by key, or by
 * periods of several events, it is the number of samples. */
static columns columns_of(const cli_counts *counts)
{
    columns c = {.by = sorted_by};
    /* By type alone, samples are a separate row. */
    c.samples = counts->total.samples && !cli_keys_type_only(counts->keys);
    for (size_t i = 0; i < counts->groups.n && c.samples; i++)
        c.period |= counts->periods && counts->groups.at[i].period;
    if (c.by == BY_KEY || (c.by == BY_PERIOD && counts->total.no_period))
        c.by = c.samples ? BY_SAMPLES : BY_RECORDS;
    if (c.by == BY_SAMPLES && !c.samples)
        c.by = BY_RECORDS;
    c.total = sort_value(&counts->total, c.by);
    return c;
}

/* Adds the cells of a row, except its keys. */
static void put_figures(cli_table *t, const columns *c, const cli_group *g)
{
    double share = c->total ? 100.0 * (double)sort_value(g, c->by) / (double)c->total : 0;
    if (c->samples)
        cli_cell(t, "%" PRIu64, g->samples);
    else
        cli_cell(t, "%" PRIu64, g->records);
    cli_cell(t, "%.1f%%", share);
    if (c->period && (g->no_period || !g->samples))
        cli_cell_string(t, NULL);
    else if (c->period)
        cli_cell(t, "%" PRIu64, g->period);
    if (c->samples)
        cli_cell(t, "%" PRIu64, g->records);
    cli_cell(t, "%" PRIu64, g->bytes);
}

/* Adds one row for all rows that --top omits. */
static void put_others_row(const settings *set, const cli_counts *counts, size_t shown,
                           cli_table *t, const columns *c)
{
    cli_group sum = {.no_period = true}; /* periods of different rows may be of different events */
    size_t n = counts->groups.n;
    for (size_t i = shown; i < n; i++) {
        sum.records += counts->groups.at[i].records;
        sum.bytes += counts->groups.at[i].bytes;
        sum.samples += counts->groups.at[i].samples;
    }
    if (shown == n)
        return;
    put_figures(t, c, &sum);
    cli_cell(t, "(%zu more)", n - shown);
    for (unsigned k = 1; k < set->keys.n; k++)
        cli_cell(t, "%s", "");
}

/* Prints the counts as a table, with a row for the omitted rows and one for the total.  Returns
 * false when out of memory. */
static bool print_table(const settings *set, const cli_counts *counts)
{
    const cli_groups *g = &counts->groups;
    const columns c = columns_of(counts);
    const char *names[5 + CLI_MAX_KEYS];
    unsigned n = 0;
    names[n++] = c.samples ? ">SAMPLES" : ">RECORDS";
    names[n++] = ">PERCENT";
    if (c.period)
        names[n++] = ">PERIOD";
    if (c.samples)
        names[n++] = ">RECORDS";
    names[n++] = ">BYTES";
    for (unsigned k = 0; k < set->keys.n; k++)
        names[n++] = cli_key_heading(&set->keys, k);
    cli_table *t = cli_table_new(names, n);
    if (!t)
        return false;
    size_t shown = rows_shown(set, counts);
    for (size_t i = 0; i < shown; i++) {
        put_figures(t, &c, &g->at[i]);
        for (unsigned k = 0; k < set->keys.n; k++)
            cli_key_cell(counts, k, g->at[i].key[k], t);
    }
    put_others_row(set, counts, shown, t, &c);
    put_figures(t, &c, &counts->total);
    for (unsigned k = 0; k < set->keys.n; k++)
        cli_cell(t, "%s", k == 0 ? "total" : "");
    bool ok = cli_table_print(t);
    cli_table_free(t);
    /* Losses are those of the whole recording, so their share of a selection has no meaning. */
    const uint64_t samples = set->how.selection && cli_selects(set->how.selection)
                                 ? CLI_SAMPLES_UNKNOWN
                                 : counts->total.samples;
    if (cli_losses_print(&counts->losses, counts->session, samples, "lost: "))
        cli_print("\n");
    return ok;
}

/* Prints the counts of one input.  Returns false when out of memory. */
static bool print(const settings *set, cli_counts *counts, const cli_input *in)
{
    bool ok = true;
    if (in->selects && !counts->total.records && in->file->n_captures && !set->json)
        return true; /* a note already reports that nothing is selected */
    sort_rows(set, counts);
    if (set->heading)
        cli_print("%s:\n", in->name);
    if (set->json)
        ok = print_json(set, counts, in);
    else
        ok = print_table(set, counts);
    if (!set->json && ok && cli_counters_any(counts))
        ok = cli_counters_print(counts, set->top);
    if (set->heading)
        cli_print("\n");
    return ok;
}

/* Counts one input, prints the counts, and returns the exit status. */
static int stats_of(cli_file *file, const settings *set)
{
    cli_input in;
    cli_counts counts;
    perfile_status st = PERFILE_OK;
    perfile_error err = {0};
    if (set->on_cpu)
        return cli_stats_of_times(file, set);
    if (set->of_code)
        return cli_stats_of_code(file, set);
    cli_counts_start(&counts, &set->keys);
    counts.symbols = set->select.how.symbols;
    if (cli_open(&in, file, &set->how) == CLI_DONE) {
        st = cli_count(&counts, &in, &err);
        if (st == PERFILE_OK && in.status >= 0 &&
            !(cli_counts_join(&counts) && print(set, &counts, &in)))
            st = PERFILE_E_NOMEM;
    }
    if (st == PERFILE_E_USAGE)
        cli_message("%s: --by: %s", in.name, err.message);
    else if (st != PERFILE_OK)
        cli_message("%s: out of memory", in.name);
    cli_fields_close(&counts); /* they use the session, which ends with the input */
    int status = cli_close(&in);
    cli_counts_end(&counts);
    return st == PERFILE_OK ? status : cli_status_of(st, false);
}

CLI_WORDS(sort_word, "samples", "period", "count", "bytes", "key", "total", "delta", "ratio", "on",
          "off", "waiting", "switches")

static int sort_option(settings *set)
{
    size_t which;
    int status = cli_choose("stats", "--sort", optarg, sort_word, &which);
    if (status == CLI_CONTINUE)
        set->sort = BY_SAMPLES + (int)which;
    return status;
}

CLI_WORDS(unknown_word, "mapped", "module", "address")

static int unknown_option(settings *set)
{
    static const uint32_t flags[] = {0, PERFILE_PROFILE_UNKNOWN_MODULE,
                                     PERFILE_PROFILE_UNKNOWN_ADDRESS};
    size_t which;
    int status = cli_choose("stats", "--unknown", optarg, unknown_word, &which);
    if (status == CLI_CONTINUE)
        set->unknown = flags[which];
    return status;
}

CLI_WORDS(tree_word, "callers", "callees")

/* Reads --tree or --tree=WHICH. */
static int tree_option(settings *set)
{
    size_t which;
    set->tree = TREE_DEFAULT;
    if (!optarg)
        return CLI_CONTINUE;
    int status = cli_choose("stats", "--tree", optarg, tree_word, &which);
    if (status == CLI_CONTINUE)
        set->tree = TREE_CALLERS + (int)which;
    return status;
}

/* Reads --min: "0.5" or "0.5%". */
static int min_option(settings *set)
{
    char *end;
    const double value = strtod(optarg, &end);
    if (end == optarg || !(value >= 0 && value <= 100) || (end[0] && strcmp(end, "%") != 0))
        return cli_usage("stats", "--min is a percentage from 0 to 100: '%s'", optarg);
    set->least = value;
    return CLI_CONTINUE;
}

/* Reads --callers or --callees, which exclude each other. */
static int around_option(settings *set, uint32_t around)
{
    if (set->function && set->around != around)
        return cli_usage("stats", "--callers and --callees do not go together");
    set->function = optarg;
    set->around = around;
    return CLI_CONTINUE;
}

/* Reads --depth or --width. */
static int size_option(const char *name, uint64_t *size)
{
    if (cli_read_number("stats", name, optarg, size) != CLI_CONTINUE)
        return CLI_USAGE;
    return *size && *size <= 1024 ? CLI_CONTINUE
                                  : cli_usage("stats", "--%s is a number from 1 to 1024", name);
}

/* Handles an option for which a profile counts samples. */
static int read_code_option(int option, settings *set)
{
    switch (option) {
    case OPTION_TREE:
        return tree_option(set);
    case OPTION_MIN:
        return min_option(set);
    case OPTION_DEPTH:
        return size_option("depth", &set->depth);
    case OPTION_WIDTH:
        return size_option("width", &set->width);
    case OPTION_CALLERS:
        return around_option(set, PERFILE_PROFILE_CALLERS);
    case OPTION_CALLEES:
        return around_option(set, PERFILE_PROFILE_CALLEES);
    case OPTION_COMPARE:
        set->before = optarg;
        return CLI_CONTINUE;
    case OPTION_ON_CPU:
        set->on_cpu = true;
        return CLI_CONTINUE;
    default: /* OPTION_TOTAL */
        set->of_code = true;
        return CLI_CONTINUE;
    }
}

/* Handles an option with its value in `optarg`.  Returns CLI_CONTINUE or an exit status. */
static int read_option(int option, settings *set)
{
    const char *wrong;
    char suggestion[128];
    if (cli_is_selection(option))
        return cli_selection_option("stats", option, &set->select);
    if (cli_is_symbols(option))
        return cli_symbols_option("stats", option, &set->symbols);
    switch (option) {
    case OPTION_BY: /* may be given again: keys are added */
        wrong = cli_keys_add(&set->keys, optarg);
        cli_keys_suggestion(optarg, suggestion, sizeof suggestion);
        return wrong ? cli_usage("stats", "%s: '%s'%s", wrong, optarg, suggestion) : CLI_CONTINUE;
    case OPTION_SORT:
        return sort_option(set);
    case OPTION_TOP:
        return cli_read_number("stats", "top", optarg, &set->top);
    case OPTION_TOTAL:
    case OPTION_TREE:
    case OPTION_MIN:
    case OPTION_DEPTH:
    case OPTION_WIDTH:
    case OPTION_CALLERS:
    case OPTION_CALLEES:
    case OPTION_COMPARE:
    case OPTION_ON_CPU:
        return read_code_option(option, set);
    case OPTION_PARENT:
        set->parent = optarg;
        return CLI_CONTINUE;
    case OPTION_UNKNOWN:
        return unknown_option(set);
    case OPTION_RAW:
        set->how.raw = true;
        return CLI_CONTINUE;
    case 'j':
        return cli_jobs_option("stats", optarg, &set->jobs);
    case OPTION_JSON:
        set->json = true;
        return CLI_CONTINUE;
    default:
        return cli_reading_option("stats", &cli_stats_spec, option, &set->how);
    }
}

static const cli_option options[] = {
    {"by", .value = "KEY[,KEY ...]", .code = OPTION_BY, .word = cli_key_word, .list = true,
     .help = "one line for each value of the key, or combination of keys: type (default), event, "
             "cpu, pid, tid, comm, dso, time=STEP (such as 1s, 10ms, 250us), sym, srcline, parent, "
             "or a field, as dump --fields has them: prev_comm, weight, ip, addr/64",
     .more = "dso is the file mapped at the address of a sample, sym the function there, srcline "
             "file and line of its source, parent the "
             "function of its call chain that --parent names. Records without a value are counted "
             "under -. With these three, only samples are counted."},
    {"sort", .value = "ORDER", .code = OPTION_SORT, .word = sort_word,
     .help = "what the lines are sorted by; samples (default, if there are any), period, count, "
             "bytes or key; PERCENT is "
             "its share; with sym also total, with --compare delta or ratio; with --on-cpu on "
             "(default), off, waiting, switches or key",
     .more = "period is the sum over the samples, count the number of records. With key, PERCENT "
             "is the share of samples. With sym, period is the default where all samples are of "
             "one event."},
    {"top", .value = "N", .code = OPTION_TOP, .help = "only the first N lines",
     .more = "One more line has the sum of the others."},
    {"total", .code = OPTION_TOTAL,
     .help = "with any of comm, pid, tid, cpu, event and dso: count samples only, also for those "
             "that called them",
     .more = "TOTAL is the share of the samples that have the line anywhere in their call chain, "
             "as `perf report --children` shows it. With sym it is always shown."},
    {"parent", .value = "REGEX", .code = OPTION_PARENT,
     .help = "which functions the key parent is; default: "
             "^(__(x64|ia32|arm64|s390x|riscv)_)?sys_|^(do|exc)_page_fault",
     .more = "Of a call chain the innermost that matches counts."},
    {"tree", .value = "[=WHICH]", .code = OPTION_TREE, .word = tree_word,
     .help = "below each line its call tree: callers, from the line outwards, or callees; default: "
             "callees for --sort total, else callers",
     .more = "Like `perf report -g caller` and `-g callee`: callers are of the samples that were "
             "taken in the function, with --sort total of all that have it in their call chain. A "
             "function below another one at the same indent is its only one. Without --by the key "
             "is sym."},
    {"min", .value = "PERCENT", .code = OPTION_MIN,
     .help = "leave functions out of trees that have less of all samples; default: 0.5"},
    {"depth", .value = "N", .code = OPTION_DEPTH,
     .help = "how many functions deep trees are; default: 64"},
    {"width", .value = "N", .code = OPTION_WIDTH,
     .help = "how many callers or callees of one function trees have, those with the most samples; "
             "default: all with at least --min"},
    {"callers", .value = "SYM", .code = OPTION_CALLERS,
     .help = "count only samples with the function SYM in their call chain, a line for each of "
             "those that called it",
     .more = "SYM is a name as sym shows it. TOTAL is the share of samples in SYM and what it "
             "calls, SELF in SYM itself. Each sample counts once: where SYM calls itself, the "
             "innermost call counts. --tree shows who called the callers."},
    {"callees", .value = "SYM", .code = OPTION_CALLEES,
     .help = "the same with a line for each function that SYM called",
     .more = "Where SYM calls itself, the outermost call counts. --tree shows what the callees "
             "call: all that SYM calls, of all places that it is called from."},
    {"compare", .value = "BEFORE", .code = OPTION_COMPARE, .path = true,
     .help = "shares of the capture BEFORE, those of FILE, their difference in percentage points, "
             "and NOW divided by BEFORE, for each line of any key; sorted by the difference",
     .more = "Like `perf diff`; the ratio is that of periods (of samples, where those are of "
             "several events). Functions are compared by their name, files without their folders, "
             "so that both may be of different builds. Without --by the keys are dso,sym."},
    {"on-cpu", .code = OPTION_ON_CPU,
     .help = "add up how long threads were on a CPU, off it, and waiting for one; keys are "
             "comm (default), pid, tid and cpu",
     .more =
         "Of SWITCH records (perf record --switch-events) or sched:sched_switch; with "
         "sched:sched_wakeup or sched_waking WAITING begins when a thread is woken, else only "
         "when it is preempted. Counted is what ends with the thread leaving its CPU: ON is "
         "how long it was there, OFF how long it was away before, WAITING how much of that it was "
         "ready to run, LONGEST the longest such wait, and BY who preempted it most often. "
         "Records that are not selected still say when a thread came. Like `perf sched "
         "timehist -s` and `perf sched latency`."},
    {"unknown", .value = "WHAT", .code = OPTION_UNKNOWN, .word = unknown_word,
     .help = "with sym, what is in no known function; mapped (default): a line for each place in a "
             "file, [libc.so.6+0x1234] (with --compare for each file), and one, [unknown], for all "
             "addresses where nothing is "
             "known to be mapped; module: one for each file; address: one for each address",
     .more = "Most of these addresses are no code, but what perf took for return addresses on "
             "stacks of programs without frame pointers."},
    {"raw", .code = OPTION_RAW, .help = "do not decompress compressed records"},
    {"json", .code = OPTION_JSON, .help = "a JSON object for each FILE, see format/reports.md"},
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

const cli_spec cli_stats_spec = {
    .about = "perfile stats counts samples, and all other records.\n"
             "\n"
             "Usage: perfile stats [OPTION ...] FILE ...\n",
    .options = options,
    .notes = "If an option is given twice, either may match; different options must all match.\n"
             "PERIOD is the sum over the samples, if all are of one event.  BYTES is the size\n"
             "of the records as stored, with the data after AUXTRACE and TRACING_DATA records;\n"
             "for records from compressed ones, the size after decompression.\n"
             "Of a capture of `perf stat record` a second table has its counts, by event and\n"
             "any of time, cpu, tid and comm; RUNNING is the part of the time for which they\n"
             "were counted.\n"
             "\n"
             "Examples:\n"
             "  perfile stats perf.data                           like `perf report --stats`\n"
             "  perfile stats --by comm,event --top 10 perf.data\n"
             "  perfile stats --by dso --type sample --time 10%..20% perf.data\n"
             "  perfile stats --by dso,sym --top 20 perf.data     like `perf report`\n"
             "  perfile stats --by sym --sort total perf.data     functions and what they call\n"
             "  perfile stats --tree --top 10 perf.data           and who called it\n"
             "  perfile stats --callees main --tree perf.data     what main spends its time on\n"
             "  perfile stats --compare before.data --top 20 after.data   like `perf diff`\n"
             "  perfile stats --by time=1s --sort key perf.data   samples per second\n"
             "  perfile stats --on-cpu --by comm,tid --sort waiting sched.data   who waits\n"
             "  perfile stats --by time,cpu perf.data             like `perf stat report`\n"
             "  perfile stats --json perf.data | jq '.rows[0]'\n",
};

int cli_stats(int argc, char **argv)
{
    settings set = {.least = -1};
    int status = CLI_CONTINUE;
    for (int c; status == CLI_CONTINUE &&
                (c = cli_next_option("stats", argc, argv, &cli_stats_spec)) != -1;)
        status = read_option(c, &set);
    cli_inputs in;
    if (status == CLI_CONTINUE)
        status = cli_read_inputs("stats", argc, argv, true, &in);
    if (status == CLI_CONTINUE)
        status = cli_selection_check("stats", &set.select);
    if (status == CLI_CONTINUE)
        status = cli_stats_check(&set);
    if (status == CLI_CONTINUE) {
        set.how.selection = &set.select;
        set.select.how.symbols = cli_symbols_chosen(&set.symbols, set.how.limits);
        set.how.translate = set.of_code;
        set.how.model = set.of_code || set.keys.needs_model || cli_key_resolved(&set.keys) >= 0;
        set.how.names_only = !set.of_code && !set.keys.needs_model && !cli_keys_of_files(&set.keys);
        set.how.with_sideband = set.of_code; /* for call chains that come later */
        if (set.on_cpu)                      /* events before each switch are needed, in order of
                                              * time */
            set.how.model = set.how.marked = set.how.sorted = true;
        set.heading = !set.json && in.n > 1;
        status = CLI_DONE;
        for (size_t i = 0; i < in.n; i++)
            status = cli_worse(status, stats_of(&in.at[i], &set));
    }
    cli_selection_free(&set.select);
    cli_symbols_free(&set.symbols);
    cli_field_keys_free(&set.keys);
    return status;
}
