/* `perfile stats --by sym`, `--by parent`, `--total`, `--tree`, `--callers`, `--compare`: samples
 * counted by their location in code, and by the callers of that code.  The library's profile counts
 * (perfile/profile.h).  This file checks the combination of options, fills the profile, and sorts
 * its rows; lines.c prints them. */
#include "cli/stats/stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/print.h"
#include "report/command.h"

/* Argument of order(), to which qsort() passes none. */
static const cli_lines *sorting;

static bool has_key(const cli_keys *keys, uint8_t per)
{
    bool found = false;
    for (unsigned k = 0; k < keys->n; k++)
        found |= cli_key_per(keys, k) == per;
    return found;
}

/* Returns the keys to use without --by. */
static const char *default_keys(const cli_stats_settings *set)
{
    if (set->before)
        return "dso,sym"; /* as `perf diff` does */
    return set->function || set->tree ? "sym" : set->of_code ? "comm" : "type";
}

/* Checks --sort and the options of trees, for samples that a profile counts. */
static int check_code(const cli_stats_settings *set)
{
    for (unsigned k = 0; k < set->keys.n; k++)
        if (!cli_key_per(&set->keys, k))
            return cli_usage("stats",
                             "%s does not go with sym, srcline, parent, --total, --tree, "
                             "--callers, --callees and --compare, which count samples only",
                             cli_key_name(&set->keys, k));
    if (set->sort == BY_RECORDS || set->sort == BY_BYTES)
        return cli_usage("stats",
                         "with sym, srcline, parent and --total only samples are counted: --sort "
                         "takes samples, period, total or key");
    if (set->before && set->tree)
        return cli_usage("stats", "--tree does not go with --compare");
    if (set->function && set->tree > TREE_DEFAULT &&
        (set->tree == TREE_CALLERS) != (set->around == PERFILE_PROFILE_CALLERS))
        return cli_usage("stats", "with --callers and --callees trees go the same way: --tree");
    return has_key(&set->keys, PERFILE_PER_SOURCE) ? cli_symbols_need_source("--by srcline")
                                                   : CLI_CONTINUE;
}

int cli_stats_check(cli_stats_settings *set)
{
    if (set->on_cpu)
        return cli_stats_check_times(set);
    set->of_code |= set->function || set->tree || set->before;
    if (set->keys.n == 0) /* without --by */
        cli_keys_add(&set->keys, default_keys(set));
    const bool by_code = cli_keys_of_code(&set->keys);
    if (set->parent && !by_code)
        return cli_usage("stats", "--parent needs --by parent");
    if (set->unknown && !has_key(&set->keys, PERFILE_PER_SYMBOL))
        return cli_usage("stats", "--unknown needs --by sym");
    if ((set->sort == BY_DELTA || set->sort == BY_RATIO) && !set->before)
        return cli_usage("stats", "--sort delta and --sort ratio need --compare");
    if ((set->least >= 0 || set->depth || set->width) && !set->tree)
        return cli_usage("stats", "--min, --depth and --width need --tree");
    set->of_code |= by_code;
    if (set->of_code && set->sort < BY_ON)
        return check_code(set);
    if (set->sort >= BY_ON)
        return cli_usage("stats", "--sort on, off, waiting and switches need --on-cpu");
    return set->sort == BY_TOTAL ? cli_usage("stats", "--sort total needs --by sym, or --total")
                                 : CLI_CONTINUE;
}

/* Compares two rows by their keys; unknown values come last.  Functions with the same name are in
 * the order of their addresses. */
static int by_key(const perfile_profile_row *x, const perfile_profile_row *y)
{
    for (unsigned k = 0; k < sorting->set->keys.n; k++) {
        const uint8_t per = cli_key_per(&sorting->set->keys, k);
        const char *a = cli_line_text(x, per), *b = cli_line_text(y, per);
        const uint32_t m = cli_line_number(x, per), n = cli_line_number(y, per);
        const int order = a && b ? strcmp(a, b) : (b != NULL) - (a != NULL);
        if (order || m != n)
            return order ? order : m < n ? -1 : 1;
    }
    if (x->cpumode != y->cpumode)
        return x->cpumode < y->cpumode ? -1 : 1;
    const int order = x->module && y->module ? strcmp(x->module, y->module) : 0;
    return order ? order : (x->start > y->start) - (x->start < y->start);
}

/* Returns the number by which a line is sorted, largest first; 0 for all lines sorts them by their
 * keys. */
static double sort_value(const cli_line *line)
{
    const perfile_profile_row *row = &line->row;
    const perfile_profile_summary *sum = &sorting->sum;
    const uint64_t now = sorting->periods ? row->period : row->samples;
    switch (sorting->sorted_by) {
    case BY_SAMPLES:
        return (double)row->samples;
    case BY_PERIOD:
        return row->mixed ? 0 : (double)row->period;
    case BY_TOTAL:
        return (double)(sorting->periods ? row->total_period : row->total_samples);
    case BY_DELTA: {
        const double delta = cli_lines_share(now, sorting->periods ? sum->period : sum->samples) -
                             cli_lines_share(line->before, sorting->periods ? sum->before_period
                                                                            : sum->before_samples);
        return delta < 0 ? -delta : delta;
    }
    case BY_RATIO:
        return line->before ? (double)now / (double)line->before : 0;
    default:
        return 0;
    }
}

static int order(const void *a, const void *b)
{
    const cli_line *x = a, *y = b;
    const double m = sort_value(x), n = sort_value(y);
    if (m < n || m > n)
        return m < n ? 1 : -1;
    if (x->row.total_samples != y->row.total_samples && sorting->sorted_by != BY_KEY)
        return x->row.total_samples < y->row.total_samples ? 1 : -1;
    return by_key(&x->row, &y->row);
}

/* Puts all records of an input into the profile. */
static perfile_status count(cli_lines *c, cli_input *in, cli_losses *losses, perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK && cli_next_run(in, &first, &n)) {
        cli_losses_feed(losses, first, n);
        st = perfile_profile_put_run(c->profile, first, n, err);
    }
    return st;
}

/* Opens the profile for its first input, or continues it with another input. */
static perfile_status open_profile(cli_lines *c, const cli_input *in, perfile_error *err)
{
    const cli_stats_settings *set = c->set;
    const perfile_session *session = perfile_stream_session(in->stream);
    perfile_profile_options options = {.size = sizeof options,
                                       .flags = set->unknown | set->around,
                                       .parent = set->parent,
                                       .function = set->function,
                                       .threads = cli_jobs(set->jobs)};
    if (c->profile)
        return pf_profile_continue(c->profile, session, in->model, err);
    if (set->before)
        options.flags |= PF_PROFILE_COMPARE;
    for (unsigned k = 0; k < set->keys.n; k++)
        options.per[k] = cli_key_per(&set->keys, k);
    if (cli_keys_of_code(&set->keys) || set->function || set->tree)
        options.symbols = cli_symbols_chosen(&c->symbols, set->how.limits);
    return perfile_profile_open(session, in->model, &options, &c->profile, err);
}

/* Chooses the unit of shares, the sort order of lines, and the direction of trees.  As in perf,
 * trees show callers, or callees if lines are sorted by totals. */
static void choose(cli_lines *c)
{
    const cli_stats_settings *set = c->set;
    c->periods = !c->sum.mixed && set->sort != BY_SAMPLES;
    c->sorted_by = set->sort;
    if (c->sorted_by == BY_DEFAULT)
        c->sorted_by = set->before     ? BY_DELTA
                       : set->function ? BY_TOTAL
                       : c->periods    ? BY_PERIOD
                                       : BY_SAMPLES;
    c->tree = set->tree;
    if (c->tree && set->function)
        c->tree = set->around == PERFILE_PROFILE_CALLERS ? TREE_CALLERS : TREE_CALLEES;
    else if (c->tree == TREE_DEFAULT)
        c->tree = c->sorted_by == BY_TOTAL ? TREE_CALLEES : TREE_CALLERS;
}

/* Gets the rows from the profile, and sorts them.  Returns false when out of memory. */
static bool take_rows(cli_lines *c)
{
    perfile_profile_row before;
    perfile_profile_get_summary(c->profile, &c->sum, sizeof c->sum);
    choose(c);
    const size_t n = (size_t)c->sum.rows;
    c->at =
        n == c->sum.rows && n < SIZE_MAX / sizeof *c->at ? malloc((n + 1) * sizeof *c->at) : NULL;
    if (!c->at)
        return false;
    for (size_t i = 0; i < n; i++) {
        cli_line *line = &c->at[c->n];
        *line = (cli_line){.number = i};
        (void)perfile_profile_get_row(c->profile, i, &line->row, sizeof line->row);
        (void)pf_profile_get_before(c->profile, i, &before, sizeof before);
        line->before = c->periods ? before.period : before.samples;
        c->n += !c->set->before || line->row.samples || before.samples;
    }
    sorting = c;
    qsort(c->at, c->n, sizeof *c->at, order);
    return true;
}

/* Makes the trees of the lines that are printed. */
static perfile_status make_trees(cli_lines *c, perfile_error *err)
{
    const double least = c->set->least < 0 ? 0.5 : c->set->least;
    pf_calls_options options = {.least = (uint32_t)(least * 1e4 + 0.5),
                                .depth = (uint32_t)c->set->depth,
                                .width = (uint32_t)c->set->width,
                                .n_rows = cli_lines_shown(c)};
    uint64_t *rows = malloc((options.n_rows + 1) * sizeof *rows);
    if (!rows) {
        *err = (perfile_error){.status = PERFILE_E_NOMEM, .message = "out of memory"};
        return PERFILE_E_NOMEM;
    }
    for (size_t i = 0; i < options.n_rows; i++)
        rows[i] = c->at[i].number;
    options.rows = rows;
    options.flags |= c->tree == TREE_CALLEES ? PF_TREE_CALLEES : 0;
    options.flags |= c->sorted_by == BY_TOTAL ? PF_TREE_TOTAL : 0;
    options.flags |= c->periods ? PF_TREE_PERIODS : 0;
    perfile_status st = pf_profile_make_trees(c->profile, &options, err);
    free(rows);
    return st;
}

/* Counts one input, or the capture that it is compared with.  Returns the exit status of opening
 * it; the status of the profile is *st, its error *err. */
static int count_input(cli_lines *c, cli_input *in, cli_file *file, cli_losses *losses,
                       perfile_status *st, perfile_error *err)
{
    const int status = cli_open(in, file, &c->set->how);
    if (status != CLI_DONE)
        return status;
    *st = open_profile(c, in, err);
    if (*st == PERFILE_OK)
        *st = count(c, in, losses, err);
    return CLI_DONE;
}

/* Counts the capture that an input is compared with.  Returns its exit status. */
static int count_before(cli_lines *c, perfile_status *st, perfile_error *err)
{
    cli_input in;
    cli_losses losses = {0};
    cli_file before = cli_file_of(c->set->before);
    (void)count_input(c, &in, &before, &losses, st, err);
    if (*st == PERFILE_OK && c->profile)
        *st = pf_profile_continue(c->profile, NULL, NULL, err);
    if (*st != PERFILE_OK)
        cli_report_error(in.name, err);
    return cli_close(&in);
}

/* Sorts and prints the counts. */
static perfile_status print(cli_lines *c, const cli_input *in, perfile_error *err)
{
    bool ok = take_rows(c);
    perfile_status st = ok && c->tree ? make_trees(c, err) : PERFILE_OK;
    if (st != PERFILE_OK)
        return st;
    if (ok && c->set->json)
        cli_lines_json(c, in);
    else if (ok)
        ok = cli_lines_print(c, in);
    if (ok)
        return PERFILE_OK;
    *err = (perfile_error){.status = PERFILE_E_NOMEM, .message = "out of memory"};
    return PERFILE_E_NOMEM;
}

int cli_stats_of_code(cli_file *file, const cli_stats_settings *set)
{
    cli_input in;
    cli_lines c = {.set = set, .symbols = set->symbols};
    perfile_error err;
    perfile_status st = PERFILE_OK;
    int before = CLI_DONE;
    if (set->before)
        before = count_before(&c, &st, &err);
    if (st != PERFILE_OK || (before != CLI_DONE && before != CLI_DAMAGED)) {
        perfile_profile_close(c.profile);
        cli_symbols_free(&c.symbols);
        return st != PERFILE_OK ? CLI_FAILED : before;
    }
    if (count_input(&c, &in, file, &c.losses, &st, &err) == CLI_DONE && st == PERFILE_OK)
        st = perfile_profile_finish(c.profile, &err);
    if (st == PERFILE_OK && c.profile && in.status >= 0)
        st = print(&c, &in, &err);
    if (st == PERFILE_E_USAGE)
        cli_usage("stats", "--parent: %s", err.message);
    else if (st != PERFILE_OK)
        cli_report_error(in.name, &err);
    perfile_profile_close(c.profile);
    int status = cli_worse(before, cli_close(&in));
    cli_symbols_free(&c.symbols);
    free(c.at);
    if (st == PERFILE_E_USAGE)
        return CLI_USAGE;
    return st != PERFILE_OK ? CLI_FAILED : status;
}
