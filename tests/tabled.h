/* Captures as tables, for tests: a consumer that checks each batch and keeps its rows as text.  To
 * be included behind cmocka.h. */
#ifndef TESTS_TABLED_H
#define TESTS_TABLED_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfile/perfile.h"
#include "tables/tables.h"

/* Rows of a table, each as `column=value` behind a byte 0x1f each: lists as [a,b], members with the
 * name of their structure in front, nulls as null. */
typedef struct tabled_table {
    char name[160]; /* "samples", "tracepoints/sched:sched_switch" */
    char **rows;
    size_t n, cap;
    bool ended;
} tabled_table;

typedef struct tabled {
    tabled_table at[64];
    size_t n;
    size_t begun;   /* captures */
    size_t batches; /* that were put */
} tabled;

typedef struct tabled_emitter {
    pf_tables x;
    tabled *to;
} tabled_emitter;

static inline void tabled_free(tabled *t)
{
    for (size_t i = 0; i < t->n; i++) {
        for (size_t k = 0; k < t->at[i].n; k++)
            free(t->at[i].rows[k]);
        free(t->at[i].rows);
    }
    *t = (tabled){0};
}

/* The table of that name; NULL: it has no rows. */
static inline const tabled_table *tabled_find(const tabled *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->at[i].name, name) == 0)
            return &t->at[i];
    return NULL;
}

static inline size_t tabled_rows(const tabled *t, const char *name)
{
    const tabled_table *table = tabled_find(t, name);
    return table ? table->n : 0;
}

/* The value of a column in a row, as text; valid until the fourth call from now. */
static inline const char *tabled_value(const tabled *t, const char *name, size_t row,
                                       const char *column)
{
    static char values[4][2048];
    static unsigned next;
    char key[160];
    const tabled_table *table = tabled_find(t, name);
    snprintf(key, sizeof key, "\x1f%s=", column);
    const char *at = table && row < table->n ? strstr(table->rows[row], key) : NULL;
    if (!at)
        return "(there is no such value)";
    at += strlen(key);
    char *value = values[next++ % 4];
    snprintf(value, sizeof values[0], "%.*s", (int)strcspn(at, "\x1f"), at);
    return value;
}

/* A text that grows. */
static inline void tabled_print(pf_buffer *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void tabled_print(pf_buffer *out, const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    assert_true(n >= 0 && (size_t)n < sizeof text);
    assert_true(pf_buffer_append(out, text, (size_t)n));
}

static inline uint64_t tabled_word(const pf_table_column *c, size_t i)
{
    uint64_t word = 0;
    const size_t width = pf_column_width(c->about->type);
    memcpy((uint8_t *)&word + (PF_NATIVE_BIG ? sizeof word - width : 0), c->data.ptr + i * width,
           width);
    return word;
}

/* An element of `data`. */
static inline void tabled_element(pf_buffer *out, const pf_table_column *c, size_t i)
{
    double real;
    uint64_t word;
    switch (c->about->type) {
    case PF_COLUMN_I32:
        tabled_print(out, "%" PRId32, (int32_t)(uint32_t)tabled_word(c, i));
        break;
    case PF_COLUMN_I64:
    case PF_COLUMN_WALL:
    case PF_COLUMN_I64S:
        tabled_print(out, "%" PRId64, (int64_t)tabled_word(c, i));
        break;
    case PF_COLUMN_U64:
        tabled_print(out, "%" PRIu64, tabled_word(c, i));
        break;
    case PF_COLUMN_F64:
        word = tabled_word(c, i);
        memcpy(&real, &word, sizeof real);
        tabled_print(out, "%.15g", real);
        break;
    case PF_COLUMN_TEXT:
    case PF_COLUMN_TEXTS: {
        const perfile_bytes text = pf_column_text_at(&c->texts, (uint32_t)tabled_word(c, i));
        assert_true(pf_buffer_append(out, text.ptr, text.len));
        break;
    }
    case PF_COLUMN_BOOL:
        tabled_print(out, "%s", c->data.ptr[i / 8] >> i % 8 & 1 ? "true" : "false");
        break;
    default:
        tabled_print(out, "{}");
        break;
    }
}

static inline int32_t tabled_offset(const pf_table_column *c, size_t i)
{
    int32_t at;
    if (!c->offsets.len) /* all are null */
        return 0;
    memcpy(&at, c->offsets.ptr + 4 * i, 4);
    return at;
}

/* Item `i` of a column. */
static inline void tabled_item(pf_buffer *out, const pf_table_column *c, size_t i)
{
    const pf_column_type type = c->about->type;
    if (pf_column_is_null(c, i)) {
        tabled_print(out, "null");
        return;
    }
    if (type != PF_COLUMN_TEXTS && type != PF_COLUMN_I64S) {
        tabled_element(out, c, i);
        return;
    }
    tabled_print(out, "[");
    for (int32_t k = tabled_offset(c, i); k < tabled_offset(c, i + 1); k++) {
        tabled_print(out, "%s", k > tabled_offset(c, i) ? "," : "");
        tabled_element(out, c, (size_t)k);
    }
    tabled_print(out, "]");
}

/* Row `row` of a batch as text, to be freed. */
static inline char *tabled_row(const pf_table_batch *b, size_t row)
{
    pf_buffer out = {0};
    const pf_table_column *parent = NULL;
    tabled_print(&out, "\x1f");
    for (size_t i = 0; i < b->about->n; i++) {
        const pf_table_column *c = &b->columns[i];
        const pf_column_type type = c->about->type;
        if (!c->about->is_member)
            parent = type == PF_COLUMN_GROUP || type == PF_COLUMN_LIST ? c : NULL;
        if (c->about->is_member)
            tabled_print(&out, "%s.", parent->about->name);
        tabled_print(&out, "%s=", c->about->name);
        if (type == PF_COLUMN_LIST) {
            tabled_print(
                &out, "%" PRId32,
                pf_column_is_null(c, row) ? -1 : tabled_offset(c, row + 1) - tabled_offset(c, row));
        } else if (c->about->is_member && parent->about->type == PF_COLUMN_LIST) {
            tabled_print(&out, "[");
            for (int32_t k = tabled_offset(parent, row); k < tabled_offset(parent, row + 1); k++) {
                tabled_print(&out, "%s", k > tabled_offset(parent, row) ? "," : "");
                tabled_item(&out, c, (size_t)k);
            }
            tabled_print(&out, "]");
        } else {
            tabled_item(&out, c, row);
        }
        tabled_print(&out, "\x1f");
    }
    assert_true(pf_buffer_append_u8(&out, 0));
    char *text = malloc(out.len);
    assert_non_null(text);
    memcpy(text, out.ptr, out.len);
    pf_buffer_free(&out);
    return text;
}

/* What holds of every column of a batch that is given on. */
static inline void tabled_check_column(const pf_table_column *c, size_t items)
{
    const pf_column_type type = c->about->type;
    const bool is_list =
        type == PF_COLUMN_TEXTS || type == PF_COLUMN_I64S || type == PF_COLUMN_LIST;
    size_t nulls = 0, elements = items;
    assert_int_equal(c->n, items);
    for (size_t i = 0; i < items; i++)
        nulls += pf_column_is_null(c, i);
    assert_int_equal(c->nulls, nulls);
    if (nulls && nulls < items)
        assert_int_equal(c->valid.len, (items + 7) / 8);
    if (nulls == items)
        return;
    if (is_list) {
        assert_int_equal(c->offsets.len, 4 * (items + 1));
        assert_int_equal(tabled_offset(c, 0), 0);
        for (size_t i = 0; i < items; i++) {
            const int32_t length = tabled_offset(c, i + 1) - tabled_offset(c, i);
            assert_true(length >= 0);
            assert_true(length == 0 || !pf_column_is_null(c, i));
        }
        elements = (size_t)tabled_offset(c, items);
    }
    assert_int_equal(c->data.len,
                     type == PF_COLUMN_BOOL ? (items + 7) / 8 : elements * pf_column_width(type));
    if (type == PF_COLUMN_TEXT || type == PF_COLUMN_TEXTS)
        for (size_t i = 0; i < elements; i++)
            assert_true(tabled_word(c, i) < c->texts.n || (!tabled_word(c, i) && nulls));
}

static inline void tabled_check_batch(const pf_table_batch *b)
{
    const pf_table_column *list = NULL;
    assert_false(b->no_memory);
    for (size_t i = 0; i < b->about->n; i++) {
        const pf_table_column *c = &b->columns[i];
        if (!c->about->is_member)
            list = c->about->type == PF_COLUMN_LIST ? c : NULL;
        const bool in_list = c->about->is_member && list;
        tabled_check_column(c, in_list ? (size_t)tabled_offset(list, list->n) : b->rows);
    }
}

static inline void tabled_name(const pf_table *table, char *name, size_t size)
{
    snprintf(name, size, "%s%s%s", pf_all_tables[table->number].name, table->event ? "/" : "",
             table->event ? table->event : "");
}

static inline perfile_status tabled_begin(void *user, perfile_error *err)
{
    tabled *t = user;
    (void)err;
    t->begun++;
    return PERFILE_OK;
}

static inline perfile_status tabled_put(void *user, pf_table *table, perfile_error *err)
{
    tabled *t = user;
    char name[sizeof t->at[0].name];
    size_t i = 0;
    (void)err;
    tabled_check_batch(table->batch);
    tabled_name(table, name, sizeof name);
    while (i < t->n && strcmp(t->at[i].name, name) != 0)
        i++;
    assert_true(i < sizeof t->at / sizeof t->at[0]);
    tabled_table *to = &t->at[i];
    if (i == t->n) {
        memcpy(to->name, name, sizeof name);
        t->n++;
    }
    for (size_t row = 0; row < table->batch->rows; row++) {
        if (to->n == to->cap) {
            to->cap = to->cap ? 2 * to->cap : 64;
            to->rows = realloc(to->rows, to->cap * sizeof *to->rows);
            assert_non_null(to->rows);
        }
        to->rows[to->n++] = tabled_row(table->batch, row);
    }
    t->batches++;
    pf_table_batch_clear(table->batch);
    return PERFILE_OK;
}

static inline perfile_status tabled_end(void *user, pf_table *table, perfile_error *err)
{
    tabled *t = user;
    char name[sizeof t->at[0].name];
    (void)err;
    assert_int_equal(table->batch->rows, 0);
    tabled_name(table, name, sizeof name);
    for (size_t i = 0; i < t->n; i++)
        t->at[i].ended |= strcmp(t->at[i].name, name) == 0;
    return PERFILE_OK;
}

static inline perfile_status tabled_finish(perfile_emitter *e, perfile_error *err)
{
    return pf_tables_end_input((pf_tables *)(void *)e, err);
}

static const pf_export_ops tabled_exports = {.put_run = pf_tables_put_run,
                                             .next = pf_tables_next,
                                             .summary = pf_export_summary,
                                             .take = pf_tables_take,
                                             .note = pf_tables_note,
                                             .own_frames = true};

static const pf_emit_ops tabled_form = {.name = "rows",
                                        .doc = "for tests",
                                        .size = sizeof(tabled_emitter),
                                        .open = pf_tables_open,
                                        .close = pf_tables_close,
                                        .begin = pf_tables_begin,
                                        .put = pf_tables_put,
                                        .finish = tabled_finish,
                                        .exports = &tabled_exports};

/* Opens an emitter of tables for `consumer`; NULL: *st says why not.  `wanted`: bits
 * 1 << PF_TABLE_…. */
static inline perfile_emitter *tabled_try(const pf_tables_consumer *consumer, void *user,
                                          perfile_stream *stream, const perfile_model *model,
                                          uint32_t wanted, const char *const *labels,
                                          perfile_status *st)
{
    static const perfile_export_options options = {.size = sizeof options};
    perfile_emitter *e;
    *st = pf_emitter_new(&tabled_form, NULL, &e, NULL);
    if (*st != PERFILE_OK)
        return NULL;
    pf_tables *x = (pf_tables *)(void *)e;
    e->stream = stream;
    e->session = perfile_stream_session(stream);
    e->container = perfile_stream_container(stream);
    e->model = model;
    e->n_threads = 1;
    e->exporting = &options;
    *st = e->ops->open(e, NULL);
    e->exporting = NULL;
    x->wanted = wanted;
    x->consumer = consumer;
    x->user = user;
    x->labels = labels;
    if (*st == PERFILE_OK)
        *st = perfile_emitter_begin(e, NULL);
    if (*st == PERFILE_OK)
        return e;
    perfile_emitter_close(e);
    return NULL;
}

/* The same, whose rows go to *to. */
static inline perfile_emitter *tabled_open(tabled *to, perfile_stream *stream,
                                           const perfile_model *model, uint32_t wanted,
                                           const char *const *labels)
{
    static const pf_tables_consumer consumer = {
        .begin = tabled_begin, .put = tabled_put, .end = tabled_end};
    perfile_status st;
    perfile_emitter *e = tabled_try(&consumer, to, stream, model, wanted, labels, &st);
    assert_int_equal(st, PERFILE_OK);
    return e;
}

/* Puts all records of a stream in. */
static inline void tabled_feed(perfile_emitter *e, perfile_stream *stream)
{
    const perfile_record *first;
    perfile_error err = {0};
    size_t n;
    perfile_status st;
    while ((st = perfile_stream_next_run(stream, &first, &n, &err)) == PERFILE_OK)
        assert_int_equal(perfile_emitter_put_run(e, first, n, &err), PERFILE_OK);
    assert_int_equal(st, PERFILE_END);
}

#endif
