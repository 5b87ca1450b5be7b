/* `perfile stats --by sym`, `--by parent` and `--total`: samples counted by where they were, and by
 * who called that.  The library's profile counts (perfile/profile.h); this file sorts its rows and
 * prints them. */
#include "cli/stats/stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/print.h"

/* The counts of one input. */
typedef struct counts {
    const cli_stats_settings *set;
    perfile_profile *profile;
    perfile_profile_summary sum;
    perfile_profile_row *rows;
    cli_losses losses;
    cli_symbols symbols; /* where names come from, and what has none */
    int sorted_by;       /* BY_… */
    bool periods;        /* shares are of periods, not of samples */
} counts;

/* Of qsort(), which passes none. */
static const counts *sorting;

int cli_stats_check(cli_stats_settings *set)
{
    const bool by_code = cli_keys_of_code(&set->keys);
    if (set->parent && !by_code)
        return cli_usage("stats", "--parent needs --by parent");
    bool by_symbol = false;
    for (unsigned k = 0; k < set->keys.n; k++)
        by_symbol |= cli_key_per(&set->keys, k) == PERFILE_PER_SYMBOL;
    if (set->unknown && !by_symbol)
        return cli_usage("stats", "--unknown needs --by sym");
    set->of_code |= by_code;
    if (!set->of_code)
        return set->sort == BY_TOTAL ? cli_usage("stats", "--sort total needs --by sym, or --total")
                                     : CLI_CONTINUE;
    for (unsigned k = 0; k < set->keys.n; k++)
        if (!cli_key_per(&set->keys, k))
            return cli_usage("stats",
                             "%s does not go with sym, srcline, parent and --total, which count "
                             "samples only",
                             cli_key_name(&set->keys, k));
    if (set->sort == BY_RECORDS || set->sort == BY_BYTES)
        return cli_usage("stats",
                         "with sym, srcline, parent and --total only samples are counted: --sort "
                         "takes samples, period, total or key");
    for (unsigned k = 0; k < set->keys.n; k++)
        if (cli_key_per(&set->keys, k) == PERFILE_PER_SOURCE)
            return cli_symbols_need_source("--by srcline");
    return CLI_CONTINUE;
}

/* The text that a row has for a key; NULL: it is unknown, or a number. */
static const char *text_of(const perfile_profile_row *row, uint8_t per)
{
    switch (per) {
    case PERFILE_PER_COMM:
        return row->comm;
    case PERFILE_PER_EVENT:
        return row->event;
    case PERFILE_PER_DSO:
        return row->dso;
    case PERFILE_PER_SYMBOL:
        return row->symbol;
    case PERFILE_PER_PARENT:
        return row->parent;
    case PERFILE_PER_SOURCE:
        return row->source;
    default:
        return NULL;
    }
}

/* The number that a row has for a key; UINT32_MAX: it is unknown, or a text. */
static uint32_t number_of(const perfile_profile_row *row, uint8_t per)
{
    switch (per) {
    case PERFILE_PER_PID:
        return row->pid;
    case PERFILE_PER_TID:
        return row->tid;
    case PERFILE_PER_CPU:
        return row->cpu;
    default:
        return UINT32_MAX;
    }
}

/* Compares two rows by their keys; unknown values come last.  Functions of one name are in the
 * order of their addresses. */
static int by_key(const perfile_profile_row *x, const perfile_profile_row *y)
{
    for (unsigned k = 0; k < sorting->set->keys.n; k++) {
        const uint8_t per = cli_key_per(&sorting->set->keys, k);
        const char *a = text_of(x, per), *b = text_of(y, per);
        const uint32_t m = number_of(x, per), n = number_of(y, per);
        const int order = a && b ? strcmp(a, b) : (b != NULL) - (a != NULL);
        if (order || m != n)
            return order ? order : m < n ? -1 : 1;
    }
    if (x->cpumode != y->cpumode)
        return x->cpumode < y->cpumode ? -1 : 1;
    const int order = x->module && y->module ? strcmp(x->module, y->module) : 0;
    return order ? order : (x->start > y->start) - (x->start < y->start);
}

/* What rows are sorted by, largest first; 0: by their keys. */
static uint64_t sort_value(const perfile_profile_row *row)
{
    switch (sorting->sorted_by) {
    case BY_SAMPLES:
        return row->samples;
    case BY_PERIOD:
        return row->mixed ? 0 : row->period;
    case BY_TOTAL:
        return sorting->periods ? row->total_period : row->total_samples;
    default:
        return 0;
    }
}

static int order(const void *a, const void *b)
{
    const perfile_profile_row *x = a, *y = b;
    const uint64_t m = sort_value(x), n = sort_value(y);
    if (m != n)
        return m < n ? 1 : -1;
    if (x->total_samples != y->total_samples && sorting->sorted_by != BY_KEY)
        return x->total_samples < y->total_samples ? 1 : -1;
    return by_key(x, y);
}

/* Puts all records of an input into the profile. */
static perfile_status count(counts *c, cli_input *in, perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK && cli_next_run(in, &first, &n)) {
        cli_losses_feed(&c->losses, first, n);
        st = perfile_profile_put_run(c->profile, first, n, err);
    }
    return st == PERFILE_OK ? perfile_profile_finish(c->profile, err) : st;
}

/* Opens the profile of an input. */
static perfile_status open_profile(counts *c, const cli_input *in, perfile_error *err)
{
    perfile_profile_options options = {.size = sizeof options,
                                       .flags = c->set->unknown,
                                       .parent = c->set->parent,
                                       .threads = cli_jobs(c->set->jobs)};
    for (unsigned k = 0; k < c->set->keys.n; k++)
        options.per[k] = cli_key_per(&c->set->keys, k);
    if (cli_keys_of_code(&c->set->keys))
        options.symbols = cli_symbols_chosen(&c->symbols, c->set->how.limits);
    return perfile_profile_open(perfile_stream_session(in->stream), in->model, &options,
                                &c->profile, err);
}

/* Takes the rows, in their order; false if there is no memory. */
static bool take_rows(counts *c)
{
    perfile_profile_get_summary(c->profile, &c->sum, sizeof c->sum);
    c->periods = !c->sum.mixed && c->set->sort != BY_SAMPLES;
    c->sorted_by = c->set->sort;
    if (c->sorted_by == BY_DEFAULT)
        c->sorted_by = c->periods ? BY_PERIOD : BY_SAMPLES;
    const size_t n = (size_t)c->sum.rows;
    c->rows = n == c->sum.rows && n < SIZE_MAX / sizeof *c->rows ? malloc((n + 1) * sizeof *c->rows)
                                                                 : NULL;
    if (!c->rows)
        return false;
    for (size_t i = 0; i < n; i++)
        (void)perfile_profile_get_row(c->profile, i, &c->rows[i], sizeof *c->rows);
    sorting = c;
    qsort(c->rows, n, sizeof *c->rows, order);
    return true;
}

static size_t rows_shown(const counts *c)
{
    return c->set->top && c->set->top < c->sum.rows ? (size_t)c->set->top : (size_t)c->sum.rows;
}

/* "[k] name", as perf shows functions; other keys as they are. */
static void put_key(cli_table *t, const perfile_profile_row *row, uint8_t per)
{
    static const char letters[] = "-k.Hgu";
    const char *text = text_of(row, per);
    const uint32_t number = number_of(row, per);
    const bool is_number =
        per == PERFILE_PER_PID || per == PERFILE_PER_TID || per == PERFILE_PER_CPU;
    if (per == PERFILE_PER_SYMBOL && text)
        cli_cell(t, "[%c] %s", row->cpumode < sizeof letters - 1 ? letters[row->cpumode] : '-',
                 text);
    else if (is_number && number == UINT32_MAX && per != PERFILE_PER_CPU)
        cli_cell(t, "-1");
    else if (is_number && number != UINT32_MAX)
        cli_cell(t, "%" PRIu32, number);
    else
        cli_cell_string(t, text);
}

/* Adds the figures of a row; `total` NULL: none is shown, as of sums of rows. */
static void put_figures(cli_table *t, const counts *c, const perfile_profile_row *row, bool total)
{
    const double all = (double)(c->periods ? c->sum.period : c->sum.samples);
    const uint64_t self = c->periods ? row->period : row->samples;
    const uint64_t with_callees = c->periods ? row->total_period : row->total_samples;
    cli_cell(t, "%.2f%%", all > 0 ? 100 * (double)self / all : 0);
    if (c->sum.has_chains && total)
        cli_cell(t, "%.2f%%", all > 0 ? 100 * (double)with_callees / all : 0);
    else if (c->sum.has_chains)
        cli_cell(t, "%s", "");
    cli_cell(t, "%" PRIu64, row->samples);
    if (!c->sum.mixed)
        cli_cell(t, "%" PRIu64, row->period);
}

/* Adds a row for all rows from `first` on, and the word for it. */
static void put_sum(cli_table *t, const counts *c, size_t first, const char *word)
{
    perfile_profile_row sum = {0};
    for (size_t i = first; i < c->sum.rows; i++) {
        sum.samples += c->rows[i].samples;
        sum.period += c->rows[i].period;
    }
    put_figures(t, c, &sum, false);
    cli_cell(t, "%s", word);
    for (unsigned k = 1; k < c->set->keys.n; k++)
        cli_cell(t, "%s", "");
}

/* Prints the table; false if there is no memory. */
static bool print_table(const counts *c)
{
    const char *names[4 + CLI_MAX_KEYS];
    const cli_keys *keys = &c->set->keys;
    char more[48];
    unsigned n = 0;
    names[n++] = ">SELF";
    if (c->sum.has_chains)
        names[n++] = ">TOTAL";
    names[n++] = ">SAMPLES";
    if (!c->sum.mixed)
        names[n++] = ">PERIOD";
    for (unsigned k = 0; k < keys->n; k++)
        names[n++] = cli_key_heading(keys, k);
    cli_table *t = cli_table_new(names, n);
    if (!t)
        return false;
    const size_t shown = rows_shown(c);
    for (size_t i = 0; i < shown; i++) {
        put_figures(t, c, &c->rows[i], true);
        for (unsigned k = 0; k < keys->n; k++)
            put_key(t, &c->rows[i], cli_key_per(keys, k));
    }
    if (shown < c->sum.rows) {
        snprintf(more, sizeof more, "(%zu more)", (size_t)c->sum.rows - shown);
        put_sum(t, c, shown, more);
    }
    put_sum(t, c, 0, "total");
    return cli_table_end(t, true);
}

/* Prints a key of a row as a member of a JSON object. */
static void key_json(const perfile_profile_row *row, const char *name, uint8_t per)
{
    static const char *const modes[] = {NULL,         "kernel",       "user",
                                        "hypervisor", "guest_kernel", "guest_user"};
    const char *text = text_of(row, per);
    const uint32_t number = number_of(row, per);
    const bool is_task = per == PERFILE_PER_PID || per == PERFILE_PER_TID;
    if (text)
        cli_json_string(name, text);
    else if (number != UINT32_MAX || is_task)
        cli_json_number(name, number);
    else
        cli_json_null(name);
    if (per != PERFILE_PER_SYMBOL)
        return;
    cli_json_bool("named", row->named);
    if (text)
        cli_json_decimal("start", row->start);
    else
        cli_json_null("start");
    if (row->cpumode < sizeof modes / sizeof modes[0] && modes[row->cpumode])
        cli_json_string("cpumode", modes[row->cpumode]);
    else
        cli_json_null("cpumode");
}

/* Prints samples and period, which may mean nothing, and with `total` those of callers. */
static void figures_json(const perfile_profile_row *row, bool mixed, bool total)
{
    cli_json_number("samples", row->samples);
    if (mixed)
        cli_json_null("period");
    else
        cli_json_decimal("period", row->period);
    if (!total)
        return;
    cli_json_number("total_samples", row->total_samples);
    if (mixed)
        cli_json_null("total_period");
    else
        cli_json_decimal("total_period", row->total_period);
}

static void print_json(counts *c, const cli_input *in)
{
    const cli_keys *keys = &c->set->keys;
    cli_json_object(NULL);
    cli_json_string("file", in->name);
    cli_json_array("by");
    for (unsigned k = 0; k < keys->n; k++)
        cli_json_string(NULL, cli_key_name(keys, k));
    cli_json_array_end();
    cli_json_array("rows");
    for (size_t i = 0; i < rows_shown(c); i++) {
        cli_json_object(NULL);
        for (unsigned k = 0; k < keys->n; k++)
            key_json(&c->rows[i], cli_key_name(keys, k), cli_key_per(keys, k));
        figures_json(&c->rows[i], c->rows[i].mixed, true);
        cli_json_object_end();
    }
    cli_json_array_end();
    cli_json_number("rows_in_all", c->sum.rows);
    cli_json_object("total");
    const perfile_profile_row all = {.samples = c->sum.samples, .period = c->sum.period};
    figures_json(&all, c->sum.mixed, false);
    cli_json_object_end();
    cli_json_object("code");
    cli_json_bool("chains", c->sum.has_chains);
    cli_json_number("stacks", c->sum.stacks);
    cli_json_number("frames", c->sum.frames);
    cli_json_number("unmapped", c->sum.unmapped);
    cli_json_number("named", c->sum.named);
    cli_unnamed_json(&c->symbols);
    cli_json_number("too_costly", c->sum.too_costly);
    cli_json_number("without_period", c->sum.without_period);
    cli_json_number("without_stack", c->sum.without_stack);
    cli_json_number("unreadable", c->sum.unreadable);
    cli_json_number("joined", c->sum.joined);
    cli_json_number("not_joined", c->sum.not_joined);
    cli_json_number("unwound", c->sum.unwound);
    cli_json_number("unwound_short", c->sum.unwound_short);
    cli_json_number("unwound_no_file", c->sum.unwound_no_file);
    cli_json_number("unwound_no_rules", c->sum.unwound_no_rules);
    cli_json_number("not_unwound", c->sum.not_unwound);
    cli_json_number("names_most", c->sum.names_most);
    cli_json_object_end();
    cli_json_object("losses");
    cli_losses_json(&c->losses, perfile_stream_session(in->stream));
    cli_json_object_end();
    cli_json_damage(in);
    cli_json_object_end();
    cli_json_line();
}

/* Prints the counts of one input; false if there is no memory. */
static bool print(counts *c, const cli_input *in)
{
    bool ok = take_rows(c);
    if (!ok)
        return false;
    if (c->set->heading)
        cli_print("%s:\n", in->name);
    if (c->set->json) {
        print_json(c, in);
    } else {
        ok = print_table(c);
        if (c->sum.names_most)
            cli_print("names longer than %" PRIu32 " bytes are shortened\n", c->sum.names_most);
        if (cli_losses_print(&c->losses, perfile_stream_session(in->stream),
                             in->selects ? CLI_SAMPLES_UNKNOWN : c->sum.samples, "lost: "))
            cli_print("\n");
        if (c->symbols.options.unnamed) /* names are wanted */
            cli_unnamed_print(&c->symbols, in->name,
                              c->sum.stacks - c->sum.unmapped - c->sum.named);
        if (c->sum.too_costly)
            cli_message("%s: %" PRIu64 " name%s or file%s of debug information took too much time "
                        "or memory",
                        in->name, c->sum.too_costly, c->sum.too_costly == 1 ? "" : "s",
                        c->sum.too_costly == 1 ? "" : "s");
    }
    if (c->set->heading)
        cli_print("\n");
    return ok;
}

int cli_stats_of_code(cli_file *file, const cli_stats_settings *set)
{
    cli_input in;
    counts c = {.set = set, .symbols = set->symbols};
    perfile_error err;
    perfile_status st = PERFILE_OK;
    bool ok = true;
    if (cli_open(&in, file, &set->how) == CLI_DONE) {
        st = open_profile(&c, &in, &err);
        if (st == PERFILE_OK)
            st = count(&c, &in, &err);
        if (st == PERFILE_OK && in.status >= 0)
            ok = print(&c, &in);
    }
    if (st == PERFILE_E_USAGE)
        cli_usage("stats", "--parent: %s", err.message);
    else if (st != PERFILE_OK)
        cli_report_error(in.name, &err);
    if (!ok)
        cli_message("%s: out of memory", in.name);
    perfile_profile_close(c.profile);
    int status = cli_close(&in);
    cli_symbols_free(&c.symbols);
    free(c.rows);
    if (st == PERFILE_E_USAGE)
        return CLI_USAGE;
    return st != PERFILE_OK || !ok ? CLI_FAILED : status;
}
