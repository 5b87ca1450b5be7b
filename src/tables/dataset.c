/* The form `parquet`: each table of each capture is a Parquet file, in a folder for each table; or
 * one table is written as a single file.
 *
 *     OUT/samples/host=HOST/date=YYYY-MM-DD/CAPTURE_ID.parquet
 *     OUT/tracepoints/event=sched:sched_switch/host=HOST/date=YYYY-MM-DD/CAPTURE_ID.parquet
 *
 * Engines prune by host and date, and exporting a capture again replaces its own files.  A batch
 * becomes a row group.  Workers encode and compress batches; the caller's thread writes them in
 * order. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/out.h"
#include "io/workers.h"
#include "parquet/parquet.h"
#include "perfile/text.h"
#include "tables/tables.h"
#include "base/command.h"

#ifdef PERFILE_WITH_TABLES

enum {
    MOST_NAME = 200,      /* longest value in a folder name, and … */
    PART = MOST_NAME + 32 /* … longest folder name */
};

/* The file of a table. */
typedef struct output {
    pf_parquet *file;
    perfile_sink *sink; /* NULL: nothing was written yet */
    bool own;           /* the sink is for this file only */
    pf_table_batch *spare[2];
    size_t n_spare;
} output;

/* A row group in preparation. */
typedef struct group {
    output *to;
    pf_table_batch *batch;
    pf_buffer bytes;
    pf_parquet_group about;
    perfile_status status;
    perfile_error error;
} group;

typedef struct dataset {
    pf_tables tables;
    bool one_file;  /* one table is written to the sink itself */
    output *single; /* with `one_file`: the file, shared by all captures */
    pf_workers *workers;
    pf_parquet_encoder **encoders; /* one for each thread */
    unsigned n_encoders;
    group *groups;
    unsigned n_groups;
    pf_buffer bytes;      /* head and footer */
    char place[2 * PART]; /* "host=HOST/date=DATE/" of the current capture */
} dataset;

/* Encoding of groups, in any thread. */

static void encode(void *user, unsigned slot, unsigned thread)
{
    dataset *d = user;
    group *g = &d->groups[slot];
    pf_buffer_clear(&g->bytes);
    g->status = pf_parquet_encode(d->encoders[thread], g->batch, &g->bytes, &g->about, &g->error);
}

/* Code for the caller's thread. */

static perfile_status write_buffer(perfile_sink *sink, const pf_buffer *b, perfile_error *err)
{
    return perfile_sink_write(sink, (perfile_bytes){b->ptr, b->len}, err);
}

/* Writes an encoded group after the previous ones, and keeps its batch for reuse. */
static perfile_status write_group(group *g, perfile_error *err)
{
    output *o = g->to;
    perfile_status st = g->status;
    if (st != PERFILE_OK)
        *err = g->error;
    else
        st = write_buffer(o->sink, &g->bytes, err);
    if (st == PERFILE_OK)
        st = pf_parquet_append(o->file, &g->about, err);
    pf_table_batch_clear(g->batch);
    if (o->n_spare < sizeof o->spare / sizeof o->spare[0])
        o->spare[o->n_spare++] = g->batch;
    else
        pf_table_batch_free(g->batch);
    g->batch = NULL;
    return st;
}

/* Waits for the oldest group and writes it.  Returns PERFILE_END if there is none. */
static perfile_status write_oldest(dataset *d, perfile_error *err)
{
    unsigned slot;
    return pf_workers_take(d->workers, &slot) ? write_group(&d->groups[slot], err) : PERFILE_END;
}

/* Writes a value for a folder name: letters, digits and `-._:+@` stay, other bytes become %XX as in
 * Hive.  Returns the number of bytes needed, of which at most `size` - 1 are written. */
static size_t escape(char *out, size_t size, perfile_bytes value)
{
    static const char plain[] = "-._:+@";
    size_t n = 0;
    for (size_t i = 0; i < value.len; i++) {
        const char c = (char)value.ptr[i];
        const bool stays = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                           (c >= 'A' && c <= 'Z') || c == '_' || (c && strchr(plain, c));
        if (n + 4 <= size)
            snprintf(out + n, 4, stays ? "%c" : "%%%02X", (unsigned char)c);
        n += stays ? 1 : 3;
    }
    return n;
}

/* Formats "KEY=VALUE/".  The middle of a value that is too long is replaced by the CRC-32 of the
 * whole. */
static void name_part(char part[PART], const char *key, const char *value)
{
    enum { SHORT = 64 };
    uint8_t room[SHORT];
    char text[MOST_NAME + 8];
    if (!value || !*value)
        value = "__HIVE_DEFAULT_PARTITION__";
    perfile_bytes bytes = {(const uint8_t *)value, strlen(value)};
    if (escape(text, sizeof text, bytes) > MOST_NAME)
        bytes = pf_shortened(bytes, SHORT, room);
    text[escape(text, sizeof text, bytes)] = '\0';
    snprintf(part, PART, "%.16s=%s/", key, text);
}

/* Sets the folders of the current capture. */
static void place_capture(dataset *d)
{
    const pf_tables *x = &d->tables;
    uint64_t wall;
    char date[16] = "", host[PART], day[PART];
    d->place[0] = '\0';
    if (x->x.options.flags & PERFILE_EXPORT_ONE_FOLDER)
        return;
    if (pf_tables_captured_at(x, &wall)) {
        const time_t seconds = (time_t)(wall / 1000000000);
        struct tm utc;
        if (gmtime_r(&seconds, &utc))
            strftime(date, sizeof date, "%Y-%m-%d", &utc);
    }
    name_part(host, "host", perfile_session_fact(x->session, PERFILE_FACT_HOSTNAME));
    name_part(day, "date", date);
    snprintf(d->place, sizeof d->place, "%s%s", host, day);
}

static perfile_status open_sink(dataset *d, const pf_table *table, output *o, perfile_error *err)
{
    char path[4 * PART] = "", event[PART] = "";
    perfile_sink *sink = d->tables.x.base.sink;
    pf_buffer_clear(&d->bytes);
    if (!pf_parquet_head(&d->bytes))
        return pf_fail_nomem(err, "parquet");
    if (d->one_file) {
        o->sink = sink;
        return write_buffer(sink, &d->bytes, err);
    }
    if (table->event)
        name_part(event, "event", table->event);
    snprintf(path, sizeof path, "%s/%s%s%s.parquet", pf_all_tables[table->number].name, event,
             d->place, d->tables.id);
    perfile_status st = pf_sink_folder_file(sink, path, &o->sink, err);
    o->own = st == PERFILE_OK;
    return st == PERFILE_OK ? write_buffer(o->sink, &d->bytes, err) : st;
}

static void free_output(output *o)
{
    if (!o)
        return;
    if (o->own)
        perfile_sink_close(o->sink);
    while (o->n_spare)
        pf_table_batch_free(o->spare[--o->n_spare]);
    pf_parquet_free(o->file);
    pf_free(o);
}

/* Opens the output of a table if it has none yet. */
static perfile_status output_of(dataset *d, pf_table *table, perfile_error *err)
{
    char version[16];
    output *o = table->to;
    if (!o && d->one_file)
        table->to = o = d->single;
    if (o)
        return PERFILE_OK;
    o = pf_alloc(1, sizeof *o);
    if (!o)
        return pf_fail_nomem(err, "parquet");
    table->to = o;
    if (d->one_file)
        d->single = o;
    snprintf(version, sizeof version, "%d", PF_TABLES_VERSION);
    o->file = pf_parquet_new(table->about);
    if (!o->file || !pf_parquet_note(o->file, "perfile.schema", version) ||
        !pf_parquet_note(o->file, "perfile.table", pf_all_tables[table->number].name))
        return pf_fail_nomem(err, "parquet");
    return open_sink(d, table, o, err);
}

/* Gives a table an empty batch after its batch was submitted. */
static bool refill(pf_table *table)
{
    output *o = table->to;
    table->batch = o->n_spare ? o->spare[--o->n_spare] : pf_table_batch_new(table->about);
    return table->batch;
}

/* pf_tables_consumer.put */
static perfile_status put(void *user, pf_table *table, perfile_error *err)
{
    dataset *d = user;
    perfile_status st = output_of(d, table, err);
    if (st == PERFILE_OK && pf_workers_full(d->workers))
        st = write_oldest(d, err);
    if (st != PERFILE_OK)
        return st;
    group *g = &d->groups[pf_workers_slot(d->workers)];
    g->to = table->to;
    g->batch = table->batch;
    table->batch = NULL;
    pf_workers_submit(d->workers);
    if (d->n_encoders == 1) /* there is no other thread to do it */
        st = write_oldest(d, err);
    return st == PERFILE_OK && !refill(table) ? pf_fail_nomem(err, "parquet") : st;
}

static perfile_status write_footer(dataset *d, output *o, perfile_error *err)
{
    pf_buffer_clear(&d->bytes);
    perfile_status st = pf_parquet_footer(o->file, &d->bytes, err);
    if (st == PERFILE_OK)
        st = write_buffer(o->sink, &d->bytes, err);
    return st == PERFILE_OK && o->own ? perfile_sink_finish(o->sink, err) : st;
}

static perfile_status write_all(dataset *d, perfile_error *err)
{
    perfile_status st;
    while ((st = write_oldest(d, err)) == PERFILE_OK)
        ;
    return st == PERFILE_END ? PERFILE_OK : st;
}

/* pf_tables_consumer.end */
static perfile_status end(void *user, pf_table *table, perfile_error *err)
{
    dataset *d = user;
    perfile_status st = write_all(d, err);
    if (st == PERFILE_OK)
        st = output_of(d, table, err);
    if (d->one_file)
        return st;
    if (st == PERFILE_OK)
        st = write_footer(d, table->to, err);
    free_output(table->to);
    table->to = NULL;
    return st;
}

/* A capture without a date of its own gets the date of its file, which copying may change.  So
 * files that were exported with another date are replaced. */
static perfile_status replace_old(dataset *d, perfile_error *err)
{
    static const char *const folders[] = {"*", "tracepoints/event=*"};
    const char *slash = strchr(d->place, '/');
    const int n = slash ? (int)(slash - d->place) : 0; /* "host=HOST" */
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && n && st == PERFILE_OK; i++) {
        char pattern[4 * PART];
        snprintf(pattern, sizeof pattern, "%s/%.*s/date=*/%s.parquet", folders[i], n, d->place,
                 d->tables.id);
        st = pf_sink_folder_replaces(d->tables.x.base.sink, pattern, err);
    }
    return st;
}

/* pf_tables_consumer.begin */
static perfile_status begin(void *user, perfile_error *err)
{
    dataset *d = user;
    place_capture(d);
    return d->one_file || d->tables.clock.has_wall ? PERFILE_OK : replace_old(d, err);
}

/* Drops the groups that were not written, after a failure. */
static void discard(dataset *d)
{
    unsigned slot;
    while (d->workers && pf_workers_take(d->workers, &slot)) {
        pf_table_batch_free(d->groups[slot].batch);
        d->groups[slot].batch = NULL;
    }
}

/* pf_tables_consumer.drop */
static void drop(void *user, pf_table *table)
{
    dataset *d = user;
    discard(d);
    if (!d->one_file)
        free_output(table->to);
    table->to = NULL;
}

/* The form. */

static perfile_status no_table(const char *name, size_t n, perfile_error *err)
{
    const char *known[PF_N_TABLES];
    char word[64], meant[128];
    for (size_t i = 0; i < PF_N_TABLES; i++)
        known[i] = pf_all_tables[i].name;
    snprintf(word, sizeof word, "%.*s", n < sizeof word ? (int)n : (int)sizeof word - 1, name);
    const bool found = pf_suggest(word, known, PF_N_TABLES, meant, sizeof meant);
    return pf_fail(err, PERFILE_E_USAGE, "export.tables", "there is no table '%s'%s%s%s", word,
                   found ? "; did you mean " : "", found ? meant : "", found ? "?" : "");
}

/* Parses the list of tables to bits 1 << PF_TABLE_…. */
static perfile_status read_tables(const char *list, uint32_t *wanted, perfile_error *err)
{
    *wanted = 0;
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        const size_t n = strcspn(p, ",");
        const size_t table = pf_table_named(p, n);
        if (table == PF_N_TABLES)
            return no_table(p, n, err);
        *wanted |= UINT32_C(1) << table;
    }
    if (!list)
        *wanted = (UINT32_C(1) << PF_N_TABLES) - 1;
    return PERFILE_OK;
}

/* Checks that the options fit the sink. */
static perfile_status choose(dataset *d, perfile_error *err)
{
    pf_tables *x = &d->tables;
    perfile_status st = read_tables(x->x.options.tables, &x->wanted, err);
    if (st != PERFILE_OK)
        return st;
    d->one_file = !pf_sink_is_folder(x->x.base.sink);
    if (d->one_file && (x->wanted & (x->wanted - 1) || x->wanted >> PF_TABLE_tracepoints & 1))
        return pf_fail(err, PERFILE_E_USAGE, "export.tables",
                       "several tables need a directory; one file has one of them, but for "
                       "tracepoints");
    x->wide = x->x.options.flags & PERFILE_EXPORT_WIDE;
    x->labels = x->x.options.labels;
    x->with_lines = x->x.options.flags & PERFILE_EXPORT_LINES;
    x->x.options.flags &= ~(uint32_t)PERFILE_EXPORT_LINES; /* looked up with the rows of frames */
    return PERFILE_OK;
}

static perfile_status start_workers(dataset *d, perfile_error *err)
{
    const unsigned threads = d->tables.x.base.n_threads;
    d->n_groups = threads > 1 ? threads + 1 : 1;
    d->groups = pf_alloc(d->n_groups, sizeof *d->groups);
    d->encoders = pf_alloc(threads, sizeof *d->encoders);
    bool ok = d->groups && d->encoders;
    for (; ok && d->n_encoders < threads; d->n_encoders += ok) {
        d->encoders[d->n_encoders] = pf_parquet_encoder_new(PF_PARQUET_LEVEL);
        ok = d->encoders[d->n_encoders];
    }
    return ok ? pf_workers_new(threads, d->n_groups, encode, d, &d->workers, err)
              : pf_fail_nomem(err, "parquet");
}

static perfile_status dataset_open(perfile_emitter *e, perfile_error *err)
{
    static const pf_tables_consumer consumer = {
        .begin = begin, .put = put, .end = end, .drop = drop};
    dataset *d = (dataset *)(void *)e;
    perfile_status st = pf_tables_open(e, err);
    d->tables.consumer = &consumer;
    d->tables.user = d;
    if (st == PERFILE_OK)
        st = choose(d, err);
    return st == PERFILE_OK ? start_workers(d, err) : st;
}

static void dataset_close(perfile_emitter *e)
{
    dataset *d = (dataset *)(void *)e;
    discard(d);
    pf_workers_free(d->workers);
    for (unsigned i = 0; d->groups && i < d->n_groups; i++) {
        pf_buffer_free(&d->groups[i].bytes);
        pf_parquet_group_free(&d->groups[i].about);
    }
    pf_tables_close(e);
    free_output(d->single);
    for (unsigned i = 0; i < d->n_encoders; i++)
        pf_parquet_encoder_free(d->encoders[i]);
    pf_free(d->encoders);
    pf_free(d->groups);
    pf_buffer_free(&d->bytes);
}

static perfile_status dataset_finish(perfile_emitter *e, perfile_error *err)
{
    dataset *d = (dataset *)(void *)e;
    perfile_status st = pf_tables_end_input(&d->tables, err);
    return st == PERFILE_OK && d->single ? write_footer(d, d->single, err) : st;
}

static const pf_export_ops exports = {.put_run = pf_tables_put_run,
                                      .next = pf_tables_next,
                                      .summary = pf_tables_summary,
                                      .take = pf_tables_take,
                                      .note = pf_tables_note,
                                      .by_time = true,
                                      .binary = true,
                                      .folder = true,
                                      .lines = true,
                                      .own_frames = true};

const pf_emit_ops pf_emit_parquet = {
    .name = "parquet",
    .doc = "tables for DuckDB, ClickHouse, Spark, pandas …, as a directory of Parquet files",
    .size = sizeof(dataset),
    .open = dataset_open,
    .close = dataset_close,
    .begin = pf_tables_begin,
    .put = pf_tables_put,
    .finish = dataset_finish,
    .exports = &exports};

#endif
