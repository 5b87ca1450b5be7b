/* Captures as tables: passes records to makers, and full batches to the consumer (tables.h). */
#include "tables/tables.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/error.h"
#include "core/session.h"
#include "core/stream.h"
#include "profile/queue.h"
#include "io/command.h"
#include "schema/command.h"

enum {
    BATCH_BYTES = 16 << 20, /* size limit of a batch, checked each … */
    LOOK_ROWS = 1 << 10,    /* … number of rows */
/* Limit for stored stacks and frames.  When it is reached, all are dropped; those that come again
 * are written again. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    MOST_KEPT = 16 << 10
#else
    MOST_KEPT = 24 << 20
#endif
};

/* In order: rows of samples make rows of stacks, and so do rows of tracepoints. */
static const pf_table_maker *const makers[] = {
    &pf_make_samples,  &pf_make_stacks,   &pf_make_captures,    &pf_make_threads,
    &pf_make_counters, &pf_make_switches, &pf_make_tracepoints,
};

enum { N_MAKERS = sizeof makers / sizeof makers[0] };

/* Tables. */

bool pf_table_open(pf_tables *x, pf_table *table)
{
    table->batch = pf_table_batch_new(table->about);
    return table->batch &&
           (!x->consumer->open || x->consumer->open(x->user, table, &x->failed) == PERFILE_OK);
}

bool pf_table_flush(pf_tables *x, pf_table *table)
{
    if (!table->batch->rows)
        return true;
    return pf_table_batch_end(table->batch) &&
           x->consumer->put(x->user, table, &x->failed) == PERFILE_OK;
}

bool pf_table_is_full(const pf_table *table)
{
    const pf_table_batch *b = table->batch;
    return b->rows >= PF_BATCH_ROWS || b->no_memory ||
           (b->rows % LOOK_ROWS == 0 && pf_table_batch_bytes(b) >= BATCH_BYTES);
}

bool pf_table_row(pf_tables *x, pf_table *table)
{
    pf_table_batch_row(table->batch);
    return !pf_table_is_full(table) || pf_table_flush(x, table);
}

void pf_table_drop(pf_tables *x, pf_table *table)
{
    pf_table_batch_free(table->batch);
    table->batch = NULL;
    if (table->to && x->consumer->drop)
        x->consumer->drop(x->user, table);
}

bool pf_table_end(pf_tables *x, pf_table *table)
{
    bool ok = pf_table_flush(x, table);
    if (ok && x->consumer->end)
        ok = x->consumer->end(x->user, table, &x->failed) == PERFILE_OK;
    pf_table_drop(x, table);
    return ok;
}

/* Columns that many tables have. */

void pf_put_capture(pf_tables *x, pf_table_column *c)
{
    pf_column_same_text(c, x->id);
}

void pf_put_time(pf_table_column *c, uint64_t time)
{
    if (time <= INT64_MAX)
        pf_column_number(c, time);
}

void pf_put_wall(pf_tables *x, pf_table_column *c, uint64_t time)
{
    enum { NS_PER_US = 1000 };
    uint64_t wall;
    if (x->clock.has_wall && time != PERFILE_NO_TIME &&
        perfile_session_wall_time(x->session, time, &wall))
        pf_column_number(c, wall / NS_PER_US);
}

void pf_put_cpu(pf_table_column *c, uint32_t cpu)
{
    if (cpu != PF_NO_LABEL)
        pf_column_number(c, cpu);
}

void pf_put_number(pf_table_column *c, uint64_t value)
{
    if (value <= INT64_MAX)
        pf_column_number(c, value);
}

void pf_put_bits(pf_table_column *c, const char *vocabulary, uint64_t bits)
{
    const perfile_vocabulary *words = pf_vocabulary_find(vocabulary);
    size_t n = 0;
    for (uint32_t i = 0; i < words->n; i++)
        if (words->bits[i].width == 1 && bits >> words->bits[i].shift & 1) {
            pf_column_element_text(c, words->bits[i].name);
            n++;
        }
    pf_column_list_end(c, n);
}

/* A capture. */

/* Returns the status of a failed step. */
static perfile_status failure(pf_tables *x, perfile_error *err)
{
    if (x->failed.status == PERFILE_OK)
        return pf_profile_fail(&x->x.profile, err);
    if (err)
        *err = x->failed;
    return x->failed.status;
}

/* Begins a capture.  Reads all its bytes, so no record may be in use. */
static perfile_status begin_capture(pf_tables *x, perfile_error *err)
{
    x->stream = x->x.base.stream;
    x->session = x->x.base.session;
    x->model = x->x.base.model;
    perfile_source *source = pf_stream_source(x->stream);
    if (!source || !source->seekable)
        return pf_fail(err, PERFILE_E_USAGE, "tables",
                       "tables are made of captures that can be read more than once");
    perfile_status st = pf_id_of_source(source, x->id, err);
    if (st != PERFILE_OK)
        return st;
    perfile_session_clock(x->session, &x->clock);
    x->records = 0;
    x->first_time = PERFILE_NO_TIME;
    x->last_time = 0;
    if (x->consumer->begin)
        st = x->consumer->begin(x->user, err);
    bool ok = st == PERFILE_OK;
    for (size_t i = 0; i < PF_N_TABLES && ok; i++) {
        x->at[i] = (pf_table){.about = &pf_all_tables[i], .number = i};
        if (x->wanted >> i & 1 && i != PF_TABLE_tracepoints)
            ok = pf_table_open(x, &x->at[i]);
    }
    for (size_t i = 0; i < N_MAKERS && ok; i++)
        ok = !makers[i]->begin || makers[i]->begin(x);
    x->begun = ok;
    return ok ? PERFILE_OK : st != PERFILE_OK ? st : failure(x, err);
}

/* Counts the items of the profile before they are dropped. */
static void count_known(pf_tables *x)
{
    uint64_t unmapped, named;
    pf_count_known(&x->x.profile, &unmapped, &named);
    x->sum.unmapped += unmapped;
    x->sum.named += named;
    x->sum.frames += x->x.profile.frames.n;
    x->sum.stacks += x->x.profile.stacks.n - 1;
}

/* Completes the rows that wait for their stacks. */
static bool complete(pf_tables *x)
{
    return pf_samples_complete(x) && pf_tracepoints_complete(x);
}

/* Drops stacks and frames, but not texts, if there are many. */
static perfile_status forget_some(pf_tables *x, perfile_error *err)
{
    const pf_budget *budget = &x->x.profile.budget;
    if (budget->used - x->kept < MOST_KEPT)
        return PERFILE_OK;
    perfile_status st = pf_queue_finish(x->x.reader.queue, err);
    if (st != PERFILE_OK)
        return st;
    bool ok = complete(x);
    count_known(x);
    pf_stacks_forget(x);
    x->x.n_named = 0;
    ok = ok && pf_queue_forget(x->x.reader.queue);
    x->kept = budget->used;
    return ok ? PERFILE_OK : failure(x, err);
}

static bool note_time(pf_tables *x, uint64_t time)
{
    if (time < x->first_time && time)
        x->first_time = time;
    if (time != PERFILE_NO_TIME && time > x->last_time)
        x->last_time = time;
    return true;
}

bool pf_tables_take(pf_exporter *e, const pf_profiled *sample, uint32_t label)
{
    pf_tables *x = (pf_tables *)(void *)e;
    bool ok = note_time(x, sample->time);
    (void)label;
    for (size_t i = 0; i < N_MAKERS && ok; i++)
        ok = !makers[i]->sample || makers[i]->sample(x, sample);
    return ok;
}

bool pf_tables_note(pf_exporter *e, const pf_profiled *about)
{
    pf_tables *x = (pf_tables *)(void *)e;
    bool ok = note_time(x, about->time);
    if (about->record->type == PERFILE_RECORD_HEADER_FEATURE && !x->clock.has_wall)
        perfile_session_clock(x->session, &x->clock); /* CLOCK_DATA of a pipe */
    for (size_t i = 0; i < N_MAKERS && ok; i++)
        ok = !makers[i]->note || makers[i]->note(x, about);
    return ok;
}

perfile_status pf_tables_put(perfile_emitter *e, const perfile_record *r, perfile_error *err)
{
    return pf_tables_put_run(e, r, 1, err);
}

/* Passes damage to the makers. */
static bool show_damage(pf_tables *x, const perfile_record *r)
{
    bool ok = true;
    for (size_t i = 0; i < N_MAKERS && ok; i++)
        ok = !makers[i]->damage || makers[i]->damage(x, r);
    return ok;
}

/* Puts in records of a capture that has begun. */
static perfile_status put_records(pf_tables *x, const perfile_record *first, size_t n,
                                  perfile_error *err)
{
    if (n == 1 && first->family == PERFILE_FAMILY_DAMAGE) /* it is alone in its batch */
        return show_damage(x, first) ? PERFILE_OK : failure(x, err);
    x->records += n;
    const perfile_status st = pf_export_put_run(&x->x.base, first, n, err);
    if (st != PERFILE_OK)
        return x->failed.status != PERFILE_OK ? failure(x, err) : st;
    return forget_some(x, err);
}

perfile_status pf_tables_put_run(perfile_emitter *e, const perfile_record *first, size_t n,
                                 perfile_error *err)
{
    pf_tables *x = (pf_tables *)(void *)e;
    if (!x->begun)
        return pf_fail(err, PERFILE_E_USAGE, "emitter", "records of no capture that has begun");
    const perfile_status st = put_records(x, first, n, err);
    x->begun = st == PERFILE_OK; /* after an error nothing more of it is written */
    return st;
}

/* Ends makers and tables.  The first failure counts. */
static perfile_status end_tables(pf_tables *x, perfile_error *err)
{
    bool ok = pf_samples_complete(x); /* the makers' end() completes the others */
    for (size_t i = 0; i < N_MAKERS && ok; i++)
        ok = !makers[i]->end || makers[i]->end(x);
    for (size_t i = 0; i < PF_N_TABLES && ok; i++)
        if (x->at[i].batch)
            ok = pf_table_end(x, &x->at[i]);
    return ok ? PERFILE_OK : failure(x, err);
}

static void close_makers(pf_tables *x)
{
    for (size_t i = 0; i < N_MAKERS; i++)
        if (makers[i]->close)
            makers[i]->close(x);
    for (size_t i = 0; i < PF_N_TABLES; i++)
        pf_table_drop(x, &x->at[i]);
    pf_buffer_free(&x->branch_frames);
    x->branch_frames = (pf_buffer){0};
    x->begun = false;
}

perfile_status pf_tables_end_input(pf_tables *x, perfile_error *err)
{
    if (!x->x.reading)
        return PERFILE_OK;
    perfile_status st =
        x->begun ? pf_profile_reader_end(&x->x.reader, err)
                 : pf_fail(err, PERFILE_E_USAGE, "emitter", "a capture ends that has not begun");
    if (st != PERFILE_OK && x->failed.status != PERFILE_OK)
        st = failure(x, err);
    if (st == PERFILE_OK)
        st = end_tables(x, err);
    close_makers(x);
    if (st == PERFILE_OK)
        st = pf_export_end_input(&x->x, err);
    count_known(x);
    /* Distinct items are written once for each capture. */
    if (st == PERFILE_OK && !pf_profile_forget(&x->x.profile))
        st = pf_profile_fail(&x->x.profile, err);
    x->x.n_named = 0;
    x->kept = x->x.profile.budget.used;
    return st;
}

perfile_status pf_tables_open(perfile_emitter *e, perfile_error *err)
{
    pf_tables *x = (pf_tables *)(void *)e;
    const perfile_status st = pf_export_open(e, err);
    x->wanted = UINT32_MAX;
    return st;
}

perfile_status pf_tables_begin(perfile_emitter *e, perfile_error *err)
{
    return begin_capture((pf_tables *)(void *)e, err);
}

bool pf_tables_captured_at(const pf_tables *x, uint64_t *wall)
{
    enum { NS_PER_S = 1000000000 };
    char data[4096];
    struct stat sb;
    if (x->clock.has_wall) {
        *wall = x->clock.wall_ns;
        return true;
    }
    /* The same fallback as in perf's reports: the time of the file. */
    const char *name = pf_source_name(pf_stream_source(x->stream));
    bool found = stat(name, &sb) == 0;
    if (found && S_ISDIR(sb.st_mode)) { /* the main file of a directory */
        const int n = snprintf(data, sizeof data, "%s/data", name);
        found = n > 0 && (size_t)n < sizeof data && stat(data, &sb) == 0;
    }
    if (!found || !S_ISREG(sb.st_mode) || sb.st_mtime < 0)
        return false;
    *wall = (uint64_t)sb.st_mtime * NS_PER_S;
    return true;
}

void pf_tables_summary(const perfile_emitter *e, perfile_export_summary *out)
{
    const perfile_export_summary *mine = &((const pf_tables *)(const void *)e)->sum;
    pf_export_summary(e, out);
    out->stacks = mine->stacks;
    out->frames = mine->frames;
    out->named = mine->named;
    out->unmapped = mine->unmapped;
    out->events_apart = true;
}

perfile_status pf_tables_next(perfile_emitter *e, perfile_error *err)
{
    pf_tables *x = (pf_tables *)(void *)e;
    perfile_status st = pf_tables_end_input(x, err);
    if (st == PERFILE_OK)
        st = pf_export_next(e, err);
    return st == PERFILE_OK && e->stream ? begin_capture(x, err) : st;
}

void pf_tables_close(perfile_emitter *e)
{
    close_makers((pf_tables *)(void *)e);
    pf_export_close(e);
}
