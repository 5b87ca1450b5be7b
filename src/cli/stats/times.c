/* `perfile stats --on-cpu`: how long threads were on CPUs and off them.  The library's profile adds
 * up the times (PF_PROFILE_TIMES).  This file fills the profile, and sorts and prints its
 * rows. */
#include "cli/stats/stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/print.h"
#include "report/command.h"

typedef struct line {
    perfile_profile_row row;
    pf_profile_times times;
} line;

/* The lines of one input. */
typedef struct lines {
    const cli_stats_settings *set;
    line *at;
    size_t n;
    line total;
    perfile_profile_summary sum;
    cli_losses losses;
} lines;

/* Argument of order(), to which qsort() passes none. */
static const cli_stats_settings *sorting;

int cli_stats_check_times(cli_stats_settings *set)
{
    static const uint8_t has[] = {PERFILE_PER_COMM, PERFILE_PER_PID, PERFILE_PER_TID,
                                  PERFILE_PER_CPU};
    if (set->keys.n == 0)
        cli_keys_add(&set->keys, "comm");
    for (unsigned k = 0; k < set->keys.n; k++)
        if (!memchr(has, cli_key_per(&set->keys, k), sizeof has))
            return cli_usage("stats", "--on-cpu counts by comm, pid, tid and cpu, not by %s",
                             cli_key_name(&set->keys, k));
    if (set->of_code || set->function || set->tree || set->before || set->parent || set->unknown)
        return cli_usage("stats", "--on-cpu counts no samples: --total, --tree, --callers, "
                                  "--callees, --compare, --parent and --unknown do not go with it");
    if (set->sort != BY_DEFAULT && set->sort != BY_KEY && set->sort < BY_ON)
        return cli_usage("stats", "with --on-cpu --sort takes on, off, waiting, switches or key");
    return CLI_CONTINUE;
}

static uint64_t sort_value(const line *x)
{
    switch (sorting->sort) {
    case BY_OFF:
        return x->times.off;
    case BY_WAITING:
        return x->times.waiting;
    case BY_SWITCHES:
        return x->row.samples;
    case BY_KEY:
        return 0;
    default: /* BY_ON */
        return x->row.period;
    }
}

static int order(const void *a, const void *b)
{
    const line *x = a, *y = b;
    const uint64_t m = sort_value(x), n = sort_value(y);
    int found = (m < n) - (m > n);
    for (unsigned k = 0; k < sorting->keys.n && !found; k++) {
        const uint8_t per = cli_key_per(&sorting->keys, k);
        const char *s = cli_line_text(&x->row, per), *t = cli_line_text(&y->row, per);
        const uint32_t i = cli_line_number(&x->row, per), j = cli_line_number(&y->row, per);
        found = s && t ? strcmp(s, t) : (i > j) - (i < j);
    }
    return found;
}

/* Gets the rows from the profile, sorts them, and sums them up.  Returns false when out of
 * memory. */
static bool take(lines *x, const perfile_profile *profile)
{
    perfile_profile_get_summary(profile, &x->sum, sizeof x->sum);
    x->n = (size_t)x->sum.rows;
    x->at = x->n < SIZE_MAX / sizeof *x->at ? malloc((x->n + 1) * sizeof *x->at) : NULL;
    if (!x->at)
        return false;
    pf_profile_times *all = &x->total.times;
    for (size_t i = 0; i < x->n; i++) {
        line *l = &x->at[i];
        (void)perfile_profile_get_row(profile, i, &l->row, sizeof l->row);
        (void)pf_profile_get_times(profile, i, &l->times, sizeof l->times);
        x->total.row.samples += l->row.samples;
        x->total.row.period += l->row.period;
        all->off += l->times.off;
        all->waiting += l->times.waiting;
        all->preempted += l->times.preempted;
        if (l->times.longest > all->longest)
            all->longest = l->times.longest;
    }
    all->idle = x->sum.idle;
    sorting = x->set;
    qsort(x->at, x->n, sizeof *x->at, order);
    return true;
}

static size_t shown(const lines *x)
{
    return x->set->top && x->set->top < x->n ? (size_t)x->set->top : x->n;
}

static void put_ms(cli_table *t, uint64_t ns)
{
    cli_cell(t, "%" PRIu64 ".%03" PRIu64, ns / 1000000, ns / 1000 % 1000);
}

/* True if each row is a CPU.  Then its idle time is a column. */
static bool by_cpu_alone(const lines *x)
{
    return x->set->keys.n == 1 && cli_key_per(&x->set->keys, 0) == PERFILE_PER_CPU;
}

/* Adds the cells of a row, except its keys. */
static void put_times(cli_table *t, const lines *x, const line *l)
{
    put_ms(t, l->row.period);
    if (by_cpu_alone(x))
        put_ms(t, l->times.idle);
    put_ms(t, l->times.off);
    put_ms(t, l->times.waiting);
    put_ms(t, l->times.longest);
    cli_cell(t, "%" PRIu64, l->row.samples);
    cli_cell(t, "%" PRIu64, l->times.preempted);
    if (l != &x->total)
        cli_cell_string(t, l->times.preempted_by);
    else
        cli_cell(t, "%s", "");
}

static void put_key(cli_table *t, const perfile_profile_row *row, uint8_t per)
{
    const uint32_t number = cli_line_number(row, per);
    if (per == PERFILE_PER_COMM || number == UINT32_MAX)
        cli_cell_string(t, cli_line_text(row, per));
    else
        cli_cell(t, "%" PRIu32, number);
}

static bool print_table(const lines *x)
{
    const cli_keys *keys = &x->set->keys;
    const char *names[8 + CLI_MAX_KEYS];
    unsigned n = 0;
    names[n++] = ">ON(ms)";
    if (by_cpu_alone(x))
        names[n++] = ">IDLE(ms)";
    names[n++] = ">OFF(ms)";
    names[n++] = ">WAITING(ms)";
    names[n++] = ">LONGEST(ms)";
    names[n++] = ">SWITCHES";
    names[n++] = ">PREEMPTED";
    names[n++] = "BY";
    for (unsigned k = 0; k < keys->n; k++)
        names[n++] = cli_key_heading(keys, k);
    cli_table *t = cli_table_new(names, n);
    for (size_t i = 0; t && i < shown(x); i++) {
        put_times(t, x, &x->at[i]);
        for (unsigned k = 0; k < keys->n; k++)
            put_key(t, &x->at[i].row, cli_key_per(keys, k));
    }
    if (!t)
        return false;
    put_times(t, x, &x->total);
    for (unsigned k = 0; k < keys->n; k++)
        cli_cell(t, "%s", k == 0 ? "total" : "");
    return cli_table_end(t, true);
}

/* Returns true if there are tracepoints whose payloads nothing describes, so that it is not known
 * which of them are sched:sched_switch. */
static bool lacks_formats(const perfile_session *session)
{
    const perfile_feature *f = perfile_session_feature(session, PERFILE_FEATURE_TRACING_DATA);
    if (f && !f->damage)
        return false;
    for (uint32_t i = 0; i < perfile_session_n_events(session); i++)
        if (perfile_session_event(session, i)->attr->type == PERFILE_TYPE_TRACEPOINT)
            return true;
    return false;
}

/* Prints information outside of the rows: idle time, losses, and why there may be no rows. */
static void print_notes(const lines *x, const cli_input *in)
{
    const perfile_session *session = perfile_stream_session(in->stream);
    if (x->sum.idle && !by_cpu_alone(x))
        cli_print("idle: %" PRIu64 ".%03" PRIu64 " ms\n", x->sum.idle / 1000000,
                  x->sum.idle / 1000 % 1000);
    if (cli_losses_print(&x->losses, session, CLI_SAMPLES_UNKNOWN, "lost: "))
        cli_print("\n");
    if (!x->n && !x->sum.idle && !in->selects)
        cli_message("%s: no switches of threads are counted: record SWITCH (perf record "
                    "--switch-events) or sched:sched_switch%s",
                    in->name,
                    lacks_formats(session)
                        ? "; the formats of the tracepoints, feature TRACING_DATA, are missing"
                        : "");
}

static void print_line(const lines *x, const line *l)
{
    for (unsigned k = 0; k < x->set->keys.n && l != &x->total; k++) {
        const uint8_t per = cli_key_per(&x->set->keys, k);
        const char *key = cli_key_name(&x->set->keys, k);
        const uint32_t number = cli_line_number(&l->row, per);
        if (per == PERFILE_PER_COMM)
            cli_json_string(key, l->row.comm);
        else if (number == UINT32_MAX)
            cli_json_null(key);
        else
            cli_json_number(key, number);
    }
    cli_json_decimal("on", l->row.period);
    cli_json_decimal("off", l->times.off);
    cli_json_decimal("waiting", l->times.waiting);
    cli_json_decimal("longest", l->times.longest);
    if (by_cpu_alone(x) || l == &x->total)
        cli_json_decimal("idle", l->times.idle);
    cli_json_number("switches", l->row.samples);
    cli_json_number("preempted", l->times.preempted);
    if (l == &x->total)
        return;
    cli_json_string("preempted_by", l->times.preempted_by);
    cli_json_number("preempted_by_times", l->times.preempted_most);
}

static void print_json(const lines *x, const cli_input *in)
{
    cli_json_object(NULL);
    cli_json_string("file", in->name);
    cli_json_array("by");
    for (unsigned k = 0; k < x->set->keys.n; k++)
        cli_json_string(NULL, cli_key_name(&x->set->keys, k));
    cli_json_array_end();
    cli_json_array("rows");
    for (size_t i = 0; i < shown(x); i++) {
        cli_json_object(NULL);
        print_line(x, &x->at[i]);
        cli_json_object_end();
    }
    cli_json_array_end();
    cli_json_number("rows_in_all", x->n);
    cli_json_object("total");
    print_line(x, &x->total);
    cli_json_object_end();
    cli_json_object("losses");
    cli_losses_json(&x->losses, perfile_stream_session(in->stream));
    cli_json_object_end();
    cli_json_damage(in);
    cli_json_object_end();
    cli_json_line();
}

static bool print(const lines *x, const cli_input *in)
{
    bool ok = true;
    if (x->set->json) {
        print_json(x, in);
        return true;
    }
    if (x->set->heading)
        cli_print("%s:\n", in->name);
    if (x->n)
        ok = print_table(x);
    print_notes(x, in);
    if (x->set->heading)
        cli_print("\n");
    return ok;
}

/* Adds up all switches of an input. */
static perfile_status count(lines *x, cli_input *in, perfile_profile **profile, perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    perfile_profile_options options = {.size = sizeof options, .flags = PF_PROFILE_TIMES};
    for (unsigned k = 0; k < x->set->keys.n; k++)
        options.per[k] = cli_key_per(&x->set->keys, k);
    perfile_status st =
        perfile_profile_open(perfile_stream_session(in->stream), in->model, &options, profile, err);
    while (st == PERFILE_OK && cli_next_run(in, &first, &n)) {
        cli_losses_feed(&x->losses, first, n);
        st = perfile_profile_put_run(*profile, first, n, err);
    }
    return st == PERFILE_OK ? perfile_profile_finish(*profile, err) : st;
}

int cli_stats_of_times(cli_file *file, const cli_stats_settings *set)
{
    cli_input in;
    lines x = {.set = set};
    perfile_profile *profile = NULL;
    perfile_error err;
    perfile_status st = PERFILE_OK;
    if (cli_open(&in, file, &set->how) == CLI_DONE) {
        st = count(&x, &in, &profile, &err);
        if (st == PERFILE_OK && in.status >= 0 && !(take(&x, profile) && print(&x, &in))) {
            err = (perfile_error){.status = PERFILE_E_NOMEM, .message = "out of memory"};
            st = PERFILE_E_NOMEM;
        }
    }
    if (st != PERFILE_OK)
        cli_report_error(in.name, &err);
    perfile_profile_close(profile);
    free(x.at);
    const int status = cli_close(&in);
    return st != PERFILE_OK ? CLI_FAILED : status;
}
