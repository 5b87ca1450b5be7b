/* perfile_table_stream(): rows of a table, made when a consumer of Arrow arrays asks for them.
 *
 * The row makers (src/tables) receive records and push out full batches.  Here the direction is
 * reversed: get_next() feeds runs of records until a batch of the requested table comes out.  The
 * batches are in a queue, because one run, or the end of the capture, can make several. */
#ifndef PERFILE_WITHOUT_EXPORTS /* else: see the end of this file */

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/shorten.h"
#include "io/source.h"
#include "io/workers.h"
#include "perfile/arrow.h"
#include "perfile/damage.h"
#include "perfile/filter.h"
#include "perfile/text.h"
#include "arrow/arrow.h"
#include "tables/tables.h"

/* The private_data of an ArrowArrayStream. */
typedef struct reading {
    perfile_stream *stream;   /* owns the source and the model; NULL once all was read */
    perfile_emitter *emitter; /* a pf_tables; NULL once all was read */
    uint32_t number;          /* PF_TABLE_… that was requested */
    char *event;              /* event of a table of tracepoints, NULL for other tables */
    bool chosen;              /* only some columns are requested */
    pf_buffer names;          /* their names, each with its NUL */
    bool known;               /* the table was opened, and `shape` is complete */
    pf_arrow_shape shape;
    pf_buffer ready;      /* pf_table_batch *: batches in the order in which they were made */
    pf_nearest similar;   /* other tracepoints that are similar to `event` */
    perfile_error failed; /* the error that ended the stream; its status is 0 if there was none */
    char message[512];    /* message of the last call that failed */
} reading;

static pf_tables *tables_of(const reading *x)
{
    return (pf_tables *)(void *)x->emitter;
}

/* Closes everything that is not needed after the last record. */
static void stop_reading(reading *x)
{
    perfile_emitter_close(x->emitter);
    perfile_stream_close(x->stream);
    x->emitter = NULL;
    x->stream = NULL;
}

static void close_reading(reading *x)
{
    if (!x)
        return;
    stop_reading(x);
    while (x->ready.len) {
        pf_table_batch_free(*(pf_table_batch **)(void *)x->ready.ptr);
        pf_buffer_consume_front(&x->ready, sizeof(pf_table_batch *));
    }
    pf_buffer_free(&x->ready);
    pf_arrow_shape_free(&x->shape);
    pf_free(x->event);
    pf_buffer_free(&x->names);
    pf_free(x);
}

/* Names of tables and columns. */

/* Fails with PERFILE_E_USAGE for an unknown name, with similar names in the message. */
static perfile_status unknown(const pf_nearest *similar, const char *where, const char *what,
                              perfile_error *err)
{
    char names[128];
    pf_nearest_put(similar, names, sizeof names);
    return pf_fail(err, PERFILE_E_USAGE, where, "%s '%s'%s%s%s", what, similar->wanted,
                   names[0] ? "; did you mean " : "", names, names[0] ? "?" : "");
}

/* Parses the name of a table. */
static perfile_status find_table(reading *x, const char *name, perfile_error *err)
{
    static const char prefix[] = "tracepoints/event=";
    const size_t n = sizeof prefix - 1;
    if (strncmp(name, prefix, n) == 0 && name[n]) {
        x->number = PF_TABLE_tracepoints;
        x->event = pf_alloc(strlen(name + n) + 1, 1);
        if (!x->event)
            return pf_fail_nomem(err, "table");
        strcpy(x->event, name + n);
        pf_nearest_begin(&x->similar, x->event);
        return PERFILE_OK;
    }
    x->number = (uint32_t)pf_table_named(name, strlen(name));
    if (x->number == PF_TABLE_tracepoints)
        return pf_fail(err, PERFILE_E_USAGE, "table",
                       "each tracepoint has a table of its own: tracepoints/event=SYSTEM:NAME");
    if (x->number < PF_N_TABLES)
        return PERFILE_OK;
    pf_nearest_begin(&x->similar, name);
    for (size_t i = 0; i < PF_N_TABLES; i++)
        pf_nearest_offer(&x->similar, pf_all_tables[i].name);
    return unknown(&x->similar, "table", "unknown table", err);
}

/* Stores the names of the requested columns until the table is known. */
static perfile_status keep_names(reading *x, const perfile_table_options *o, perfile_error *err)
{
    x->chosen = o->columns;
    if (!o->columns != !o->n_columns)
        return pf_fail(err, PERFILE_E_USAGE, "options.columns", "%zu names of columns%s",
                       o->n_columns, o->columns ? "" : ", but no list of them");
    for (size_t i = 0; i < o->n_columns; i++) {
        if (!o->columns[i])
            return pf_fail(err, PERFILE_E_USAGE, "options.columns", "name %zu is NULL", i);
        if (!pf_buffer_append(&x->names, o->columns[i], strlen(o->columns[i]) + 1))
            return pf_fail_nomem(err, "table");
    }
    return PERFILE_OK;
}

/* Returns the position of a column that is not a member, or about->n if there is none. */
static size_t column_named(const pf_table_about *about, const char *name)
{
    size_t i = 0;
    while (i < about->n &&
           (about->columns[i].is_member || strcmp(about->columns[i].name, name) != 0))
        i++;
    return i;
}

static perfile_status no_column(const pf_table_about *about, const char *name, perfile_error *err)
{
    pf_nearest similar;
    pf_nearest_begin(&similar, name);
    for (size_t i = 0; i < about->n; i++)
        if (!about->columns[i].is_member)
            pf_nearest_offer(&similar, about->columns[i].name);
    return unknown(&similar, "options.columns", "unknown column", err);
}

/* Fills in the positions of the requested columns; `at` has room for all. */
static perfile_status find_columns(const reading *x, const pf_table_about *about, size_t *at,
                                   size_t *n, perfile_error *err)
{
    const char *name = (const char *)x->names.ptr, *end = x->chosen ? name + x->names.len : name;
    *n = 0;
    for (size_t i = 0; !x->chosen && i < about->n; i++)
        if (!about->columns[i].is_member)
            at[(*n)++] = i;
    for (; name < end; name += strlen(name) + 1) {
        const size_t column = column_named(about, name);
        if (column == about->n)
            return no_column(about, name, err);
        for (size_t i = 0; i < *n; i++)
            if (at[i] == column)
                return pf_fail(err, PERFILE_E_USAGE, "options.columns",
                               "column '%s' is asked for twice", name);
        at[(*n)++] = column;
    }
    return PERFILE_OK;
}

/* Makes the shape of the table. */
static perfile_status know_table(reading *x, const pf_table_about *about, perfile_error *err)
{
    size_t n;
    size_t *at = pf_alloc(about->n, sizeof *at);
    if (!at)
        return pf_fail_nomem(err, "table");
    perfile_status st = find_columns(x, about, at, &n, err);
    if (st == PERFILE_OK && !pf_arrow_shape_make(&x->shape, about, at, n))
        st = pf_fail_nomem(err, "table");
    x->known = st == PERFILE_OK;
    pf_free(at);
    return st;
}

/* The consumer of the row makers (tables/tables.h). */

static bool is_wanted(const reading *x, const pf_table *table)
{
    return table->number == x->number &&
           (!x->event || (table->event && strcmp(table->event, x->event) == 0));
}

/* Switches off all columns that are not requested, with their members. */
static perfile_status on_open(void *user, pf_table *table, perfile_error *err)
{
    reading *x = user;
    const bool wanted = is_wanted(x, table);
    perfile_status st = PERFILE_OK;
    if (wanted && !x->known)
        st = know_table(x, table->about, err);
    else if (x->event && table->event)
        pf_nearest_offer(&x->similar, table->event);
    for (size_t i = 0; st == PERFILE_OK && i < table->batch->n; i++)
        table->batch->columns[i].wanted = wanted && pf_arrow_shape_has(&x->shape, i);
    return st;
}

static perfile_status on_put(void *user, pf_table *table, perfile_error *err)
{
    reading *x = user;
    if (!is_wanted(x, table)) {
        pf_table_batch_clear(table->batch);
        return PERFILE_OK;
    }
    pf_table_batch *full = table->batch, *next = pf_table_batch_again(full);
    if (!next || !pf_table_batch_complete(full) ||
        !pf_buffer_append(&x->ready, &full, sizeof(pf_table_batch *))) {
        pf_table_batch_free(next);
        return pf_fail_nomem(err, "table");
    }
    pf_table_batch_forget(full); /* texts found by their address may be freed soon */
    table->batch = next;
    return PERFILE_OK;
}

static const pf_tables_consumer consumer = {.open = on_open, .put = on_put};

/* Writes nothing. */
static perfile_status finish(perfile_emitter *e, perfile_error *err)
{
    return pf_tables_end_input((pf_tables *)(void *)e, err);
}

static const pf_export_ops exports = {.put_run = pf_tables_put_run,
                                      .next = pf_tables_next,
                                      .summary = pf_export_summary,
                                      .take = pf_tables_take,
                                      .note = pf_tables_note,
                                      .by_time = true,
                                      .own_frames = true};

static const pf_emit_ops rows = {.name = "rows",
                                 .doc = "batches of rows in memory",
                                 .size = sizeof(pf_tables),
                                 .open = pf_tables_open,
                                 .close = pf_tables_close,
                                 .begin = pf_tables_begin,
                                 .put = pf_tables_put,
                                 .finish = finish,
                                 .exports = &exports};

/* Reading. */

static bool keep_failure(reading *x, perfile_status st, const perfile_error *err)
{
    if (st == PERFILE_OK)
        return true;
    x->failed = *err;
    x->failed.status = st;
    return false;
}

/* The capture has ended, or cannot be read any further: the makers push out their last rows. */
static void end_input(reading *x)
{
    perfile_error err;
    const perfile_status st = finish(x->emitter, &err);
    if (x->failed.status == PERFILE_OK)
        keep_failure(x, st, &err);
    stop_reading(x);
}

/* Feeds the next records. */
static void read_some(reading *x)
{
    const perfile_record *first;
    size_t n;
    perfile_error err;
    perfile_status st = perfile_stream_next_run(x->stream, &first, &n, &err);
    if (st != PERFILE_OK) {
        keep_failure(x, st == PERFILE_END ? PERFILE_OK : st, &err);
        end_input(x);
    } else if (!keep_failure(x, exports.put_run(x->emitter, first, n, &err), &err)) {
        stop_reading(x);
    }
}

/* Functions of the ArrowArrayStream. */

static int errno_of(const perfile_error *err)
{
    switch (err->status) {
    case PERFILE_E_NOMEM:
        return ENOMEM;
    case PERFILE_E_IO:
        return err->sys ? err->sys : EIO;
    case PERFILE_E_UNSUPPORTED:
        return ENOTSUP;
    case PERFILE_E_LIMIT:
        return EFBIG;
    default:
        return EINVAL;
    }
}

/* Stores the message for get_last_error(), as UTF-8.  Returns the errno. */
static int fail(reading *x, const perfile_error *err)
{
    const perfile_bytes text = {(const uint8_t *)err->message, strlen(err->message)};
    perfile_printable(text, x->message, sizeof x->message);
    return errno_of(err);
}

static int fail_nomem(reading *x)
{
    perfile_error err;
    pf_fail_nomem(&err, "table");
    return fail(x, &err);
}

static int get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    reading *x = s->private_data;
    return pf_arrow_schema(&x->shape, out) ? 0 : fail_nomem(x);
}

static int get_next(struct ArrowArrayStream *s, struct ArrowArray *out)
{
    reading *x = s->private_data;
    pf_table_batch *batch;
    while (!x->ready.len && x->stream)
        read_some(x);
    if (x->ready.len) {
        memcpy(&batch, x->ready.ptr, sizeof(pf_table_batch *));
        if (!pf_arrow_array(&x->shape, batch, out))
            return fail_nomem(x); /* the batch stays in the queue for the next call */
        pf_buffer_consume_front(&x->ready, sizeof(pf_table_batch *));
        return 0;
    }
    if (x->failed.status != PERFILE_OK)
        return fail(x, &x->failed);
    *out = (struct ArrowArray){0};
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *s)
{
    return ((reading *)s->private_data)->message;
}

static void release(struct ArrowArrayStream *s)
{
    close_reading(s->private_data);
    s->private_data = NULL;
    s->release = NULL;
}

/* Opening. */

/* Makes the emitter, and begins. */
static perfile_status begin(reading *x, const perfile_table_options *o, const perfile_model *model,
                            perfile_error *err)
{
    const perfile_export_options exporting = {
        .size = sizeof exporting, .flags = PERFILE_EXPORT_NO_LABELS, .symbols = o->symbols};
    perfile_status st = pf_emitter_new(&rows, NULL, &x->emitter, err);
    if (st != PERFILE_OK)
        return st;
    perfile_emitter *e = x->emitter;
    e->stream = x->stream;
    e->session = perfile_stream_session(x->stream);
    e->container = perfile_stream_container(x->stream);
    e->model = model;
    e->n_threads = o->threads > 1 ? pf_workers_threads(o->threads) : 1;
    e->exporting = &exporting;
    st = pf_tables_open(e, err);
    e->exporting = NULL;
    pf_tables *t = tables_of(x);
    t->x.options.symbols = NULL; /* they are open, and the caller's struct need not live longer */
    t->consumer = &consumer;
    t->user = x;
    t->wanted = UINT32_C(1) << x->number;
    if (x->number == PF_TABLE_stacks) /* stacks get rows as samples need them */
        t->wanted |= UINT32_C(1) << PF_TABLE_samples;
    t->wide = o->flags & PERFILE_TABLE_WIDE;
    return st == PERFILE_OK ? pf_tables_begin(e, err) : st;
}

/* Reads until the table is known: the columns of a tracepoint are known at its first sample. */
static perfile_status wait_for_table(reading *x, perfile_error *err)
{
    while (!x->known && x->stream)
        read_some(x);
    if (x->known)
        return PERFILE_OK;
    if (x->failed.status == PERFILE_OK)
        return unknown(&x->similar, "table", "no sample is of a tracepoint", err);
    if (err)
        *err = x->failed;
    return x->failed.status;
}

static perfile_status open_capture(reading *x, perfile_source *source,
                                   const perfile_table_options *o, perfile_error *err)
{
    perfile_open_options how;
    const perfile_model *model;
    perfile_status st = pf_options_copy(&how, o->how, "options", err);
    if (st != PERFILE_OK)
        return st;
    how.deliver |= PERFILE_DELIVER_DAMAGE;
    perfile_open_filtered_options open = {
        .size = sizeof open, .how = &how, .model = true, .translate = true};
    pf_source_hold(source); /* closing the stream after a failure leaves it to the caller */
    st = perfile_open_filtered(source, o->filter, &open, &x->stream, &model, err);
    if (st != PERFILE_OK) {
        perfile_source_close(source);
        return st;
    }
    st = begin(x, o, model, err);
    return st == PERFILE_OK ? wait_for_table(x, err) : st;
}

perfile_status perfile_table_stream(perfile_source *source, const char *table,
                                    const perfile_table_options *options,
                                    struct ArrowArrayStream *out, perfile_error *err)
{
    perfile_table_options o;
    reading *x = pf_alloc(1, sizeof *x);
    perfile_status st =
        x ? pf_options_copy(&o, options, "options", err) : pf_fail_nomem(err, "table");
    if (st == PERFILE_OK)
        st = find_table(x, table, err);
    if (st == PERFILE_OK)
        st = keep_names(x, &o, err);
    if (st == PERFILE_OK && !x->event) /* errors are reported before the capture is read */
        st = know_table(x, &pf_all_tables[x->number], err);
    if (st == PERFILE_OK)
        st = open_capture(x, source, &o, err);
    if (st != PERFILE_OK) {
        close_reading(x);
        return st;
    }
    pf_source_settle(source, st); /* it belongs to the stream */
    *out = (struct ArrowArrayStream){.get_schema = get_schema,
                                     .get_next = get_next,
                                     .get_last_error = get_last_error,
                                     .release = release,
                                     .private_data = x};
    return PERFILE_OK;
}

#else /* a build with the CMake option PERFILE_EXPORTS off has no row makers */

#include "base/error.h"
#include "perfile/arrow.h"

perfile_status perfile_table_stream(perfile_source *source, const char *table,
                                    const perfile_table_options *options,
                                    struct ArrowArrayStream *out, perfile_error *err)
{
    (void)source, (void)table, (void)options, (void)out;
    return pf_fail(err, PERFILE_E_UNSUPPORTED, "table", "this library was built without exports");
}

#endif
