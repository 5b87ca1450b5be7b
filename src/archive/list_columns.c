/* What the columns of a chunk cost, and which fields they are.
 *
 * A payload says nothing about fields.  So the chunk is decoded, and of each column the first
 * record that has a value of it is walked: the fields that stand where this value stands name the
 * column.  Fields of samples are known from the events of the session, which the caller gives. */
#include <stdio.h>
#include <string.h>

#include "archive/list.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "perfile/field.h"
#include "schema/frame.h"

enum { NAME = 96, DEPTH = 8, WALKS_LEAST = 256 << 10, WALKS_RATIO = 64 };

/* The search for the fields of a record that stand at a value. */
typedef struct search {
    uint64_t from, end; /* the value */
    bool whole_list;    /* it is one of bytes: a list around it names it, not its items */
    const char *lists[DEPTH];
    unsigned depth;
    char name[NAME];
    size_t len;
} search;

/* Appends text to the name; what does not fit is left out. */
static void append(search *x, const char *text)
{
    const size_t n = strlen(text);
    if (n >= NAME - x->len)
        return;
    memcpy(x->name + x->len, text, n + 1);
    x->len += n;
}

/* The lists and structs around the field, then the field. */
static void append_path(search *x, const perfile_field *field)
{
    for (unsigned i = 0; i < x->depth && i < DEPTH; i++) {
        append(x, x->lists[i]);
        if (x->whole_list)
            return;
        append(x, ".");
    }
    append(x, field->name);
}

static void on_value(void *user, const perfile_field *field, const perfile_value *value)
{
    search *x = user;
    const uint64_t end = value->offset + value->width;
    const bool empty = x->from == x->end && value->offset == x->from;
    if (!empty && (value->width == 0 || end <= x->from || value->offset >= x->end))
        return;
    if (x->whole_list && x->depth && x->len)
        return; /* another item of the list */
    if (x->len && value->offset > x->from)
        append(x, ",");
    append_path(x, field);
    if (value->offset < x->from) {
        char plus[24];
        snprintf(plus, sizeof plus, "+%llu", (unsigned long long)(x->from - value->offset));
        append(x, plus);
    }
}

/* Lists, and structs whose fields have a name of their own in front. */
static bool is_named(const perfile_field *field)
{
    return field->type == PERFILE_STORED_LIST ||
           (field->type == PERFILE_STORED_STRUCT && !(field->flags & PERFILE_FIELD_FLAT));
}

static void on_begin(void *user, const perfile_field *field, const perfile_value *value)
{
    search *x = user;
    (void)value;
    if (!is_named(field))
        return;
    if (x->depth < DEPTH)
        x->lists[x->depth] = field->name;
    x->depth++;
}

static void on_end(void *user, const perfile_field *field)
{
    search *x = user;
    x->depth -= is_named(field);
}

/* The record at `offset` of the decoded chunk. */
static perfile_record record_at(const pf_buffer *bytes, size_t offset, bool swap,
                                const perfile_session *session)
{
    const uint8_t *p = bytes->ptr + offset;
    const pf_frame f = pf_frame_at(p, swap);
    return (perfile_record){.header = p,
                            .body = {p + PF_PERF_RECORD_HEADER, f.size - PF_PERF_RECORD_HEADER},
                            .type = f.type,
                            .misc = f.misc,
                            .family = PERFILE_FAMILY_PERF,
                            .flags = swap ? PERFILE_REC_SWAPPED : 0,
                            .offset = PERFILE_NO_OFFSET,
                            .session = session};
}

/* Finds the name of the value at l->at of a record; without `walk` its offset is the name. */
static void name_column(const pf_columns_listed *l, const perfile_record *r, bool walk,
                        perfile_archive_column *c, search *x)
{
    static const perfile_visitor visitor = {
        .size = sizeof visitor, .value = on_value, .begin = on_begin, .end = on_end};
    *x = (search){.from = l->at, .end = l->at + (uint64_t)l->len, .whole_list = l->width == 0};
    c->type = r->type;
    if (walk)
        (void)perfile_record_walk(r, PERFILE_WALK_PADDING, &visitor, x, NULL);
    if (x->len)
        return;
    x->depth = 0;
    if (walk)
        (void)perfile_record_walk_trailer(r, PERFILE_WALK_PADDING, &visitor, x, NULL);
    c->trailer = x->len > 0;
    if (!x->len)
        snprintf(x->name, sizeof x->name, "+%u", l->at);
}

static const char *encoding_of(const pf_columns_listed *l)
{
    static const char *const plain[] = {"constant", "plain",      "planes",
                                        "deltas",   "dictionary", "variable"};
    static const char *const deltas[] = {"constant deltas", "plain deltas",     "delta planes",
                                         "deltas",          "delta dictionary", "variable deltas"};
    if (l->width == 0)
        return l->by_dictionary ? "dictionary of bytes" : "bytes";
    if (l->how >= sizeof plain / sizeof plain[0])
        return "";
    return l->differences ? deltas[l->how] : plain[l->how];
}

/* Adds a column; its name goes behind the others, and becomes a pointer when all are there. */
static bool add_column(perfile_archive *a, const pf_columns_listed *l, const perfile_record *r,
                       bool walk, bool first)
{
    search x = {.len = 0};
    perfile_archive_column c = {.stored = l->stored,
                                .decoded = l->decoded,
                                .values = l->values,
                                .type = UINT32_MAX,
                                .width = l->width,
                                .encoding = first ? "" : encoding_of(l)};
    if (r)
        name_column(l, r, walk, &c, &x);
    else
        snprintf(x.name, sizeof x.name, "%s", first ? "headers" : "unused");
    return pf_buffer_append(&a->names, x.name, strlen(x.name) + 1) &&
           pf_buffer_append(&a->columns, &c, sizeof c);
}

/* Decodes a chunk to a->bytes, and lists its columns (pf_columns_listed) in a->listed. */
static perfile_status list(perfile_archive *a, const pf_chunk *c, perfile_error *err)
{
    perfile_bytes stored;
    pf_buffer_clear(&a->bytes);
    pf_buffer_clear(&a->listed);
    perfile_status st = pf_archive_payload(&a->table, c, &a->bytes, err);
    if (st == PERFILE_OK)
        st = pf_archive_stored(&a->table, c, &stored, err);
    return st == PERFILE_OK ? pf_columns_list(a->table.columns, stored, c->raw_len, &a->listed, err)
                            : st;
}

perfile_status perfile_archive_columns(perfile_archive *a, uint32_t position,
                                       const perfile_session *session,
                                       const perfile_archive_column **columns, uint32_t *n,
                                       perfile_error *err)
{
    const pf_chunk *c = position < a->table.n_chunks ? &a->table.chunks[position] : NULL;
    if (!c || c->codec != PF_CODEC_COLUMNS)
        return PERFILE_END;
    const bool big = c->flags & PF_CHUNK_FLAG_BIG_ENDIAN;
    perfile_status st = pf_archive_check_ratio(&a->table, a->decoded, err);
    if (st == PERFILE_OK)
        st = list(a, c, err);
    if (st != PERFILE_OK)
        return st;
    const pf_columns_listed *l = (const pf_columns_listed *)(const void *)a->listed.ptr;
    const size_t n_listed = a->listed.len / sizeof *l;
    pf_buffer_clear(&a->names);
    pf_buffer_clear(&a->columns);
    /* Each walk goes through a whole record: thousands of columns of a large one cost more than
     * their names are worth. */
    uint64_t walks = WALKS_LEAST + WALKS_RATIO * (uint64_t)c->raw_len;
    for (size_t i = 0; i < n_listed; i++) {
        perfile_record r = {.body.len = 0};
        if (l[i].placed)
            r = record_at(&a->bytes, l[i].record, big != (bool)PF_NATIVE_BIG, session);
        const bool walk = walks >= r.body.len;
        walks -= walk ? r.body.len : 0;
        if (!add_column(a, &l[i], l[i].placed ? &r : NULL, walk, i == 0))
            return pf_fail_nomem(err, "archive");
    }
    perfile_archive_column *all = (perfile_archive_column *)(void *)a->columns.ptr;
    const char *name = (const char *)a->names.ptr;
    for (size_t i = 0; i < n_listed; i++, name += strlen(name) + 1)
        all[i].field = name;
    *columns = all;
    *n = (uint32_t)n_listed;
    return PERFILE_OK;
}
