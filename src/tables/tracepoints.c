/* Rows of tracepoints: a table for each tracepoint.  Its columns are those of format/tables.def,
 * followed by the fields of the payload.
 *
 * The columns of a table are determined at its first sample, from the capture's description of the
 * tracepoint.  Payloads that describe themselves (EventHeader of user_events) may have other fields
 * later: fields of the same name are written.  Rows wait for the ids of their stacks, as rows of
 * samples do, and all tables together have a bounded size. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/byte_order.h"
#include "perfile/abi.h"
#include "perfile/tracepoint.h"
#include "tables/tables.h"
#include "trace/command.h"

enum {
    MOST_TABLES = 512, /* each may have an open file; further tracepoints have no rows */
    N_FIXED = PF_END_tracepoints - PF_BEGIN_tracepoints - 1,
    NAME_BYTES = 160, /* of a field name with its prefixes and NUL */
    ROW_BYTES = 16,   /* estimated size of a pending value; limit for all tables: */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    MOST_BYTES = 16 << 10
#else
    MOST_BYTES = 64 << 20
#endif
};

#define NO_FIELD UINT32_MAX

/* The field of a column. */
typedef struct column_field {
    const char *name; /* of the field */
    uint32_t at;      /* its index in the description; NO_FIELD: none */
} column_field;

/* The table of a tracepoint. */
typedef struct pf_tracepoint_table {
    pf_table table;
    pf_table_about about;
    pf_column_about *columns;      /* of `about` */
    char (*names)[NAME_BYTES];     /* of columns that are named differently from their field */
    const perfile_tracepoint *now; /* the description that `fields` refers to; NULL: none */
    column_field *fields;          /* for each column after the fixed ones */
    pf_buffer stacks;              /* uint32_t: the stack of each row */
    size_t charged;                /* bytes charged to the profile's budget */
} pf_tracepoint_table;

typedef struct pf_tracepoints_maker {
    perfile_tracepoints *all;
    pf_index by_source; /* address of the tracepoint, or of an event without one, to index … */
    pf_index by_name;   /* … and address of the name (a text of the profile) to index in … */
    pf_buffer tables;   /* pf_tracepoint_table * */
    pf_buffer scratch;  /* for building a text */
    size_t bytes;       /* estimated size of all pending rows */
} pf_tracepoints_maker;

static size_t n_tables(const pf_tracepoints_maker *m)
{
    return m->tables.len / sizeof(pf_tracepoint_table *);
}

static pf_tracepoint_table *table_at(const pf_tracepoints_maker *m, size_t i)
{
    return ((pf_tracepoint_table *const *)(const void *)m->tables.ptr)[i];
}

static bool begin(pf_tables *x)
{
    if (!(x->wanted >> PF_TABLE_tracepoints & 1))
        return true;
    pf_tracepoints_maker *m = pf_alloc(1, sizeof *m);
    x->tracepoints = m;
    if (!m)
        return false;
    const pf_index empty = {.seed = pf_index_seed(m), .budget = &x->x.profile.budget};
    m->by_source = m->by_name = empty;
    return perfile_tracepoints_open(x->session, &m->all, &x->failed) == PERFILE_OK;
}

static void free_table(pf_tables *x, pf_tracepoint_table *t)
{
    pf_table_drop(x, &t->table);
    pf_buffer_free(&t->stacks);
    pf_free(t->columns);
    pf_free(t->names);
    pf_free(t->fields);
    pf_budget_refund(&x->x.profile.budget, t->charged);
    pf_free(t);
}

static void close_maker(pf_tables *x)
{
    pf_tracepoints_maker *m = x->tracepoints;
    if (!m)
        return;
    for (size_t i = 0; i < n_tables(m); i++)
        free_table(x, table_at(m, i));
    pf_buffer_free(&m->tables);
    pf_buffer_free(&m->scratch);
    pf_index_free(&m->by_source);
    pf_index_free(&m->by_name);
    perfile_tracepoints_close(m->all);
    pf_free(m);
    x->tracepoints = NULL;
}

/* Columns. */

/* Returns the column type of a field in *type.  Returns false if it has none. */
static bool type_of(const perfile_tracepoint_field *f, pf_column_type *type)
{
    switch (f->field.type) {
    case PERFILE_STORED_U8:
    case PERFILE_STORED_U16:
    case PERFILE_STORED_U32:
    case PERFILE_STORED_S32:
    case PERFILE_STORED_S64:
        *type = PF_COLUMN_I64;
        return true;
    case PERFILE_STORED_U64:
        *type = PF_COLUMN_U64;
        return true;
    case PERFILE_STORED_TEXT:
    case PERFILE_STORED_BLOB: /* hex digits */
        *type = PF_COLUMN_TEXT;
        return true;
    case PERFILE_STORED_WORDS:
        *type = PF_COLUMN_I64S;
        return true;
    case PERFILE_STORED_STRINGS:
        *type = PF_COLUMN_TEXTS;
        return true;
    default: /* structs and lists of structs: only the fields in structs have values */
        return false;
    }
}

/* Returns true if the field has a column. common_type has none, because it is the same in all rows
 * of a table. */
static bool has_column(const perfile_tracepoint_field *f)
{
    pf_column_type type;
    const perfile_bytes name = {(const uint8_t *)f->field.name, strlen(f->field.name)};
    return type_of(f, &type) && name.len && pf_utf8_valid(name) &&
           strcmp(f->field.name, "common_type") != 0;
}

/* Returns true if a column before `n` has the name.  Some engines ignore the case of letters. */
static bool is_taken(const pf_tracepoint_table *t, size_t n, const char *name)
{
    size_t i = 0;
    while (i < n && strcasecmp(t->columns[i].name, name) != 0)
        i++;
    return i < n;
}

/* Finds an unused name for column `n`: the field's, prefixed with field_ as often as necessary.
 * Returns false if it becomes too long. */
static bool find_name(pf_tracepoint_table *t, size_t n, const char *field)
{
    char *made = t->names[n - N_FIXED];
    const size_t length = strlen(field) + 1;
    if (length > NAME_BYTES)
        return false;
    size_t at = NAME_BYTES - length;
    t->columns[n].name = field;
    memcpy(made + at, field, length);
    while (is_taken(t, n, t->columns[n].name)) {
        if (at < 6)
            return false;
        at -= 6;
        memcpy(made + at, "field_", 6);
        t->columns[n].name = made + at;
    }
    return true;
}

/* Describes the columns. */
static void describe(pf_tracepoint_table *t, const perfile_tracepoint *of)
{
    const pf_table_about *fixed = &pf_all_tables[PF_TABLE_tracepoints];
    memcpy(t->columns, fixed->columns, N_FIXED * sizeof *t->columns);
    t->about = *fixed;
    t->about.columns = t->columns;
    for (uint32_t i = 0; of && i < of->n_fields; i++) {
        const perfile_tracepoint_field *f = &of->fields[i];
        pf_column_about *c = &t->columns[t->about.n];
        if (!has_column(f))
            continue;
        *c = (pf_column_about){.unit = "", .source = "payload", .doc = f->declared};
        type_of(f, &c->type);
        t->fields[t->about.n - N_FIXED] = (column_field){f->field.name, i};
        if (find_name(t, t->about.n, f->field.name))
            t->about.n++;
    }
    t->now = of;
}

/* Allocates a table for at most `n` fields.  Returns NULL when out of memory or over the limit. */
static pf_tracepoint_table *new_table(pf_tables *x, size_t n)
{
    pf_tracepoint_table *t = pf_alloc(1, sizeof *t);
    const size_t bytes = sizeof *t + (N_FIXED + n) * (sizeof *t->columns + sizeof(pf_table_column) +
                                                      sizeof *t->fields + sizeof *t->names);
    if (!t)
        return NULL;
    if (pf_budget_charge(&x->x.profile.budget, bytes))
        t->charged = bytes;
    t->columns = pf_alloc(N_FIXED + n, sizeof *t->columns);
    t->fields = pf_alloc(n + 1, sizeof *t->fields);
    t->names = pf_alloc(n + 1, sizeof *t->names);
    if (t->charged && t->columns && t->fields && t->names)
        return t;
    free_table(x, t);
    return NULL;
}

/* Marks the stack id as filled in when the table is completed. */
static void mark_late(pf_tracepoint_table *t)
{
    t->table.batch->columns[PF_AT(tracepoints, stack_id)].by_hand = true;
}

static bool add_table(pf_tables *x, const char *name, const perfile_tracepoint *of)
{
    pf_tracepoints_maker *m = x->tracepoints;
    pf_tracepoint_table *t = new_table(x, of ? of->n_fields : 0);
    if (!t)
        return false;
    describe(t, of);
    t->table = (pf_table){.about = &t->about, .number = PF_TABLE_tracepoints, .event = name};
    if (!pf_index_put(&m->by_name, (uintptr_t)name, (uint32_t)n_tables(m)) ||
        !pf_table_open(x, &t->table) || !pf_buffer_append(&m->tables, &t, sizeof(t))) {
        free_table(x, t);
        return false;
    }
    mark_late(t);
    return true;
}

/* The data that determine a table: the event of a sample, its description (NULL: none), and its
 * payload. */
typedef struct traced {
    const perfile_event *event;
    const perfile_tracepoint *of;
    perfile_bytes payload;
} traced;

/* Returns the name in a payload that describes itself; empty if it does not. */
static perfile_bytes own_name(const traced *s)
{
    perfile_value v;
    const int at = perfile_tracepoint_field_find(s->of, "event_name");
    const bool named = at >= 0 && s->of->fields[at].flags & PERFILE_TRACEPOINT_SELF &&
                       s->of->fields[at].field.type == PERFILE_STORED_TEXT &&
                       perfile_tracepoint_value(s->of, s->payload, (uint32_t)at, &v) == PERFILE_OK;
    return named ? v.u.bytes : (perfile_bytes){0};
}

/* Returns the name of a table: SYSTEM:NAME, followed by :EVENT for a payload that describes itself;
 * otherwise the name of the event.  Returns NULL when out of memory. */
static const char *name_of(pf_tables *x, const traced *s)
{
    char name[512];
    if (!s->of || !s->of->system[0])
        return pf_profile_text(&x->x.profile, s->event->name);
    const perfile_bytes own = own_name(s);
    const int length = own.len < sizeof name ? (int)own.len : (int)sizeof name;
    const int n = snprintf(name, sizeof name, "%s:%s%s%.*s", s->of->system, s->of->name,
                           length ? ":" : "", length, length ? (const char *)own.ptr : "");
    return pf_profile_text(&x->x.profile, n > 0 && (size_t)n < sizeof name ? name : s->event->name);
}

/* Finds or makes the table of a sample.  *out is NULL if there are too many.  Returns false when
 * out of memory or over the limit. */
static bool find_table(pf_tables *x, const traced *s, pf_tracepoint_table **out)
{
    pf_tracepoints_maker *m = x->tracepoints;
    const uint64_t source = s->of ? (uintptr_t)s->of : (uintptr_t)s->event;
    uint32_t at = pf_index_get(&m->by_source, source);
    *out = NULL;
    if (at == PF_INDEX_NONE) {
        const char *name = name_of(x, s);
        if (!name)
            return false;
        at = pf_index_get(&m->by_name, (uintptr_t)name);
        if (at == PF_INDEX_NONE) {
            at = (uint32_t)n_tables(m);
            if (at == MOST_TABLES)
                return true;
            if (!add_table(x, name, s->of))
                return false;
        }
        if (!pf_index_put(&m->by_source, source, at))
            return false;
    }
    *out = table_at(m, at);
    return true;
}

/* Matches the columns to the fields of another description by name and type. */
static void match_fields(pf_tracepoint_table *t, const perfile_tracepoint *of)
{
    for (size_t i = N_FIXED; i < t->about.n; i++) {
        column_field *f = &t->fields[i - N_FIXED];
        pf_column_type type;
        const int at = of ? perfile_tracepoint_field_find(of, f->name) : -1;
        const bool fits = at >= 0 && type_of(&of->fields[at], &type) && type == t->columns[i].type;
        f->at = fits ? (uint32_t)at : NO_FIELD;
    }
    t->now = of;
}

/* Values. */

static void put_hex(pf_tracepoints_maker *m, pf_table_column *c, perfile_bytes bytes)
{
    pf_buffer *text = &m->scratch;
    pf_buffer_clear(text);
    if (!pf_buffer_reserve(text, 2 * bytes.len + PF_VALUE_ROOM)) {
        c->batch->no_memory = true;
        return;
    }
    text->len = (size_t)(pf_put_bytes(text->ptr, bytes) - text->ptr);
    pf_column_bytes(c, (perfile_bytes){text->ptr, text->len});
}

/* Signed items below 64 bits have 32 bits. */
static void put_words(pf_table_column *c, const perfile_words *words, bool sign)
{
    for (size_t i = 0; i < words->n; i++) {
        const uint64_t word = perfile_word(words, i);
        pf_column_element(c, sign ? (uint64_t)(int64_t)(int32_t)(uint32_t)word : word);
    }
    pf_column_list_end(c, words->n);
}

static void put_strings(pf_tracepoints_maker *m, pf_table_column *c, perfile_strings strings)
{
    perfile_bytes one;
    size_t n = 0;
    for (; perfile_strings_next(&strings, &one) == PERFILE_OK; n++) {
        pf_buffer_clear(&m->scratch);
        if (!pf_buffer_append(&m->scratch, one.ptr, one.len) ||
            !pf_buffer_append_u8(&m->scratch, 0)) {
            c->batch->no_memory = true;
            return;
        }
        pf_column_element_text(c, (const char *)m->scratch.ptr);
    }
    pf_column_list_end(c, n);
}

static void put_value(pf_tracepoints_maker *m, pf_table_column *c, const perfile_field *field,
                      const perfile_value *v)
{
    switch (field->type) {
    case PERFILE_STORED_TEXT:
        pf_column_bytes(c, v->u.bytes);
        break;
    case PERFILE_STORED_BLOB:
        put_hex(m, c, v->u.bytes);
        break;
    case PERFILE_STORED_WORDS:
        put_words(c, &v->u.words, field->element == PERFILE_STORED_S32);
        break;
    case PERFILE_STORED_STRINGS:
        put_strings(m, c, v->u.strings);
        break;
    default:
        pf_column_number(c, v->number);
        break;
    }
}

static void put_fields(pf_tracepoints_maker *m, pf_tracepoint_table *t, perfile_bytes payload)
{
    for (size_t i = N_FIXED; i < t->about.n; i++) {
        perfile_value v;
        const uint32_t field = t->fields[i - N_FIXED].at;
        if (field != NO_FIELD && perfile_tracepoint_value(t->now, payload, field, &v) == PERFILE_OK)
            put_value(m, &t->table.batch->columns[i], &t->now->fields[field].field, &v);
    }
}

static bool put_fixed(pf_tables *x, pf_table_column *c, const pf_profiled *s)
{
    bool ok = true;
    pf_put_capture(x, &c[PF_AT(tracepoints, capture_id)]);
    pf_column_number(&c[PF_AT(tracepoints, record)], s->record->sequence);
    pf_put_time(&c[PF_AT(tracepoints, time)], s->time);
    pf_put_wall(x, &c[PF_AT(tracepoints, wall)], s->time);
    pf_put_cpu(&c[PF_AT(tracepoints, cpu)], s->cpu);
    if (s->event->attr->sample_type & PERFILE_SAMPLE_TID) {
        pf_put_task(&c[PF_AT(tracepoints, pid)], &c[PF_AT(tracepoints, tid)], s, true);
        pf_column_same_text(&c[PF_AT(tracepoints, comm)],
                            pf_profile_reader_comm(&x->x.reader, s->pid, s->tid, s->time, &ok));
    }
    return ok;
}

/* Completing. */

/* Fills in the ids of the stacks, which pf_stacks_update() has seen, and passes the rows on. */
static bool complete_table(pf_tables *x, pf_tracepoint_table *t)
{
    pf_table_column *c = &t->table.batch->columns[PF_AT(tracepoints, stack_id)];
    const uint32_t *stacks = (const void *)t->stacks.ptr;
    for (size_t i = 0; i < t->table.batch->rows; i++) {
        int64_t id;
        if (stacks[i] == PF_EMPTY_STACK) {
            pf_column_null(c);
            continue;
        }
        if (!pf_stacks_stack(x, stacks[i], &id))
            return false;
        pf_column_number(c, (uint64_t)id);
    }
    pf_buffer_clear(&t->stacks);
    if (!pf_table_flush(x, &t->table))
        return false;
    mark_late(t);
    return true;
}

bool pf_tracepoints_complete(pf_tables *x)
{
    pf_tracepoints_maker *m = x->tracepoints;
    bool ok = true;
    for (size_t i = 0; m && i < n_tables(m) && ok; i++)
        ok = complete_table(x, table_at(m, i));
    if (m)
        m->bytes = 0;
    return ok;
}

/* Completes all tables and frees their memory, because there may be many tables. */
static bool complete_all(pf_tables *x)
{
    pf_tracepoints_maker *m = x->tracepoints;
    bool ok = pf_stacks_update(x) && pf_tracepoints_complete(x);
    for (size_t i = 0; i < n_tables(m) && ok; i++) {
        pf_tracepoint_table *t = table_at(m, i);
        pf_table_batch_free(t->table.batch);
        pf_buffer_free(&t->stacks);
        ok = pf_table_open(x, &t->table);
        if (ok)
            mark_late(t);
    }
    return ok;
}

static bool put_row(pf_tables *x, pf_tracepoint_table *t, const pf_profiled *s,
                    perfile_bytes payload)
{
    pf_tracepoints_maker *m = x->tracepoints;
    if (!put_fixed(x, t->table.batch->columns, s) ||
        !pf_buffer_append(&t->stacks, &s->stack, sizeof s->stack))
        return false;
    put_fields(m, t, payload);
    pf_table_batch_row(t->table.batch);
    m->bytes += ROW_BYTES * t->about.n + 4 * payload.len;
    if (m->bytes > MOST_BYTES)
        return complete_all(x);
    return !pf_table_is_full(&t->table) || (pf_stacks_update(x) && complete_table(x, t));
}

/* Finds description and payload of a sample.  A sample without a payload may still have a
 * description.  Returns false when out of memory. */
static bool find_payload(pf_tracepoints_maker *m, const pf_profiled *s, traced *out)
{
    *out = (traced){.event = s->event};
    perfile_status st = perfile_tracepoint_of(m->all, s->record, &out->of, &out->payload, NULL);
    if (st == PERFILE_OK)
        return true;
    out->payload = (perfile_bytes){0};
    if (st != PERFILE_E_NOMEM)
        st = pf_tracepoint_find(m->all, s->event->attr->config, &out->of, NULL);
    if (st != PERFILE_OK)
        out->of = NULL;
    return st != PERFILE_E_NOMEM;
}

static bool sample(pf_tables *x, const pf_profiled *s)
{
    pf_tracepoints_maker *m = x->tracepoints;
    traced found;
    pf_tracepoint_table *t;
    if (!m || !s->event || s->event->attr->type != PERFILE_TYPE_TRACEPOINT)
        return true;
    if (!find_payload(m, s, &found) || !find_table(x, &found, &t))
        return false;
    if (t && found.of != t->now)
        match_fields(t, found.of);
    return !t || put_row(x, t, s, found.payload);
}

/* Ends the tables one after the other, to limit the number of open files. */
static bool end(pf_tables *x)
{
    pf_tracepoints_maker *m = x->tracepoints;
    bool ok = true;
    for (size_t i = 0; m && i < n_tables(m) && ok; i++)
        ok = complete_table(x, table_at(m, i)) && pf_table_end(x, &table_at(m, i)->table);
    return ok;
}

const pf_table_maker pf_make_tracepoints = {
    .begin = begin, .sample = sample, .end = end, .close = close_maker};
