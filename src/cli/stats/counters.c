/* The counts of perf stat (STAT records), which `perfile stats` prints below its table of records.
 * The library's profile adds them up (PERFILE_PROFILE_COUNTERS) by event and by those keys of --by
 * that they have.  This file gives the records to the profile and prints its rows, like `perf stat
 * report`. */
#include "cli/stats/stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/print.h"

/* A row, with the index of the first row of its event. */
typedef struct line {
    perfile_profile_row row;
    size_t number, event;
} line;

/* The rows of one input. */
typedef struct counters {
    const cli_counts *counts;
    uint8_t per[8]; /* keys PERFILE_PER_…, terminated by 0 */
    line *at;
    size_t n;
} counters;

/* Argument of order(), to which qsort() passes none. */
static const uint8_t *sorted_per;

/* Sets per[] to the keys of --by that counters have, and the event, and *step to the step of the
 * key `time` if it was given. */
static void choose_keys(const cli_counts *counts, uint8_t per[8], uint64_t *step)
{
    const cli_keys *keys = counts->keys;
    size_t n = 0;
    memset(per, 0, 8);
    for (unsigned k = 0; k < keys->n; k++) {
        const uint8_t key = cli_key_of_counters(keys, k);
        if (key == PERFILE_PER_TIME && keys->step_given)
            *step = keys->step[k];
        if (key)
            per[n++] = key;
    }
    if (!strchr((const char *)per, PERFILE_PER_EVENT))
        per[n] = PERFILE_PER_EVENT;
}

/* Makes an error of the profile the error of the input, which ends reading. */
static void fail(cli_input *in, perfile_status st, const perfile_error *err)
{
    if (st == PERFILE_OK || in->status < 0)
        return;
    in->status = st;
    in->error = *err;
}

void cli_counters_put(cli_counts *counts, cli_input *in, const perfile_record *first, size_t n)
{
    perfile_error err = {0};
    perfile_status st = PERFILE_OK;
    if (!counts->counters) {
        perfile_profile_options options = {.size = sizeof options,
                                           .flags = PERFILE_PROFILE_COUNTERS};
        choose_keys(counts, options.per, &options.time_step);
        st = perfile_profile_open(counts->session, NULL, &options, &counts->counters, &err);
    }
    if (st == PERFILE_OK)
        st = perfile_profile_put_run(counts->counters, first, n, &err);
    fail(in, st, &err);
}

void cli_counters_finish(cli_counts *counts, cli_input *in)
{
    perfile_error err = {0};
    if (counts->counters && in->status >= 0)
        fail(in, perfile_profile_finish(counts->counters, &err), &err);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Compares two names; unknown names come last. */
static int compare_names(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (b != NULL) - (a != NULL);
}

/* Compares by the keys in their order; events are in the order of their first rows. */
static int order(const void *a, const void *b)
{
    const line *x = a, *y = b;
    int found = 0;
    for (const uint8_t *per = sorted_per; *per && !found; per++)
        found = *per == PERFILE_PER_TIME   ? compare_numbers(x->row.time, y->row.time)
                : *per == PERFILE_PER_CPU  ? compare_numbers(x->row.cpu, y->row.cpu)
                : *per == PERFILE_PER_TID  ? compare_numbers(x->row.tid, y->row.tid)
                : *per == PERFILE_PER_COMM ? compare_names(x->row.comm, y->row.comm)
                                           : compare_numbers(x->event, y->event);
    return found ? found : compare_numbers(x->number, y->number);
}

/* Compares by the address of the event name: in a profile, equal names are one string. */
static int by_event(const void *a, const void *b)
{
    const line *x = a, *y = b;
    const int found = compare_numbers((uintptr_t)x->row.event, (uintptr_t)y->row.event);
    return found ? found : compare_numbers(x->number, y->number);
}

/* Gets the rows from the profile, and sorts them.  Returns false when out of memory. */
static bool take(counters *c, const cli_counts *counts)
{
    perfile_profile_summary sum;
    uint64_t step;
    perfile_profile_get_summary(counts->counters, &sum, sizeof sum);
    *c = (counters){.counts = counts, .n = (size_t)sum.rows};
    choose_keys(counts, c->per, &step);
    c->at = c->n < SIZE_MAX / sizeof *c->at ? malloc((c->n + 1) * sizeof *c->at) : NULL;
    if (!c->at)
        return false;
    for (size_t i = 0; i < c->n; i++) {
        c->at[i].number = i;
        (void)perfile_profile_get_row(counts->counters, i, &c->at[i].row, sizeof c->at[i].row);
    }
    qsort(c->at, c->n, sizeof *c->at, by_event);
    for (size_t i = 0; i < c->n; i++)
        c->at[i].event = i && c->at[i - 1].row.event == c->at[i].row.event ? c->at[i - 1].event
                                                                           : c->at[i].number;
    sorted_per = c->per;
    qsort(c->at, c->n, sizeof *c->at, order);
    return true;
}

bool cli_counters_any(const cli_counts *counts)
{
    perfile_profile_summary sum = {0};
    if (counts->counters)
        perfile_profile_get_summary(counts->counters, &sum, sizeof sum);
    return sum.rows;
}

/* Adds a key as a cell of a table. */
static void put_key(cli_table *t, const perfile_profile_row *row, uint8_t per)
{
    char time[32];
    const uint32_t number = per == PERFILE_PER_CPU ? row->cpu : row->tid;
    switch (per) {
    case PERFILE_PER_TIME:
        if (row->time != PERFILE_NO_TIME)
            cli_format_seconds(row->time, time, sizeof time);
        cli_cell_string(t, row->time != PERFILE_NO_TIME ? time : NULL);
        return;
    case PERFILE_PER_CPU:
    case PERFILE_PER_TID:
        if (number != UINT32_MAX)
            cli_cell(t, "%" PRIu32, number);
        else
            cli_cell_string(t, NULL);
        return;
    default:
        cli_cell_string(t, per == PERFILE_PER_COMM ? row->comm : row->event);
    }
}

/* Adds the count, its unit, and the part of the time for which it was counted. */
static void put_count(cli_table *t, const perfile_profile_row *row)
{
    if (!row->samples)
        cli_cell(t, "<not supported>");
    else if (!row->running)
        cli_cell(t, "<not counted>");
    else if (row->scale != 1)
        cli_cell(t, "%.2f", (double)row->count * row->scale);
    else
        cli_cell(t, "%" PRIu64, row->count);
    cli_cell(t, "%s", row->unit ? row->unit : "");
    if (row->enabled)
        cli_cell(t, "%.2f%%", 100 * (double)row->running / (double)row->enabled);
    else
        cli_cell_string(t, NULL);
}

bool cli_counters_print(const cli_counts *counts, uint64_t top)
{
    static const char *const headings[] = {[PERFILE_PER_COMM] = "COMM",
                                           [PERFILE_PER_TID] = ">TID",
                                           [PERFILE_PER_EVENT] = "EVENT",
                                           [PERFILE_PER_CPU] = ">CPU",
                                           [PERFILE_PER_TIME] = ">TIME"};
    const char *names[3 + 8] = {">COUNT", "UNIT", ">RUNNING"};
    unsigned n = 3;
    counters c;
    if (!take(&c, counts))
        return false;
    for (const uint8_t *per = c.per; *per; per++)
        names[n++] = headings[*per];
    cli_table *t = cli_table_new(names, n);
    const size_t shown = top && top < c.n ? (size_t)top : c.n;
    for (size_t i = 0; t && i < shown; i++) {
        put_count(t, &c.at[i].row);
        for (const uint8_t *per = c.per; *per; per++)
            put_key(t, &c.at[i].row, *per);
    }
    free(c.at);
    cli_print("\n");
    return t && cli_table_end(t, true);
}

/* Prints a key as a member of a JSON object. */
static void key_json(const perfile_profile_row *row, uint8_t per)
{
    switch (per) {
    case PERFILE_PER_TIME:
        cli_json_known("time", row->time);
        break;
    case PERFILE_PER_CPU:
        if (row->cpu != UINT32_MAX)
            cli_json_number("cpu", row->cpu);
        else
            cli_json_null("cpu");
        break;
    case PERFILE_PER_TID:
        cli_json_signed("tid", row->tid != UINT32_MAX ? (int64_t)row->tid : -1);
        break;
    case PERFILE_PER_COMM:
        cli_json_string("comm", row->comm);
        break;
    default:
        cli_json_string("event", row->event);
    }
}

bool cli_counters_json(const cli_counts *counts, uint64_t top)
{
    counters c;
    if (!take(&c, counts))
        return false;
    const size_t shown = top && top < c.n ? (size_t)top : c.n;
    cli_json_array("counters");
    for (size_t i = 0; i < shown; i++) {
        const perfile_profile_row *row = &c.at[i].row;
        cli_json_object(NULL);
        for (const uint8_t *per = c.per; *per; per++)
            key_json(row, *per);
        if (row->running)
            cli_json_decimal("count", row->count);
        else
            cli_json_null("count");
        cli_json_string("unit", row->unit);
        cli_json_real("scale", row->scale);
        cli_json_number("values", row->samples);
        cli_json_decimal("counted", row->period);
        cli_json_decimal("enabled", row->enabled);
        cli_json_decimal("running", row->running);
        cli_json_object_end();
    }
    cli_json_array_end();
    cli_json_number("counters_in_all", c.n);
    free(c.at);
    return true;
}
