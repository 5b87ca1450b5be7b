/* Captures with one thing changed at a named place, for tests of rules. */
#ifndef TESTS_CHECK_EDITS_H
#define TESTS_CHECK_EDITS_H

#include <stdio.h>

#include "builder.h"
#include "perfile/perfile.h"

enum {              /* what a place is named by */
       AT_FILE = 1, /* `nth`: offset in the file */
       AT_ATTR,     /* attr `nth`, `field` of it */
       AT_ENTRY,    /* the two words behind attr `nth`: place and size of its ids */
       AT_RECORD,   /* the nth record of type `number`, `field` of it */
       AT_FEATURE,  /* feature `number`, `field` of it */
       AT_TABLE,    /* the table entry of feature `number` */
       AT_END       /* the end of the file */
};
enum { OP_SET = 0, OP_OR, OP_ADD, OP_CUT, OP_APPEND, OP_SWAP16 };

typedef struct edit {
    unsigned kind; /* AT_…, 0: none */
    uint32_t number;
    unsigned nth;
    const char *field; /* NULL: the beginning; "name#2": the second of that name */
    unsigned plus;
    unsigned op;
    unsigned width;
    uint64_t value;
} edit;

/* What a walk looks for. */
typedef struct field_search {
    const char *name;
    size_t length;
    unsigned skip;
    bool found;
    uint64_t offset;
} field_search;

static void search_value(void *user, const perfile_field *f, const perfile_value *v)
{
    field_search *s = user;
    if (s->found || strlen(f->name) != s->length || memcmp(f->name, s->name, s->length) != 0)
        return;
    if (s->skip) {
        s->skip--;
        return;
    }
    s->found = true;
    s->offset = v->offset;
}

static void search_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

static const perfile_visitor search_visitor = {sizeof search_visitor, search_value, search_value,
                                               search_end};

static field_search search_for(const char *field)
{
    field_search s = {.name = field, .length = strcspn(field, "#")};
    if (field[s.length] == '#')
        s.skip = (unsigned)atoi(field + s.length + 1) - 1;
    return s;
}

static uint64_t found_at(const field_search *s)
{
    if (!s->found) {
        fprintf(stderr, "no field '%s'\n", s->name);
        abort();
    }
    return s->offset;
}

static uint64_t place_in_record(perfile_stream *s, const edit *e)
{
    const perfile_record *r;
    unsigned nth = e->nth;
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        if (r->type != e->number || r->family != PERFILE_FAMILY_PERF || nth--)
            continue;
        if (!e->field)
            return r->offset;
        field_search f = search_for(e->field);
        if (perfile_record_walk(r, PERFILE_WALK_ALL, &search_visitor, &f, NULL) == PERFILE_OK &&
            !f.found &&
            perfile_record_walk_trailer(r, PERFILE_WALK_ALL, &search_visitor, &f, NULL) < 0)
            abort();
        return r->offset + found_at(&f);
    }
    fprintf(stderr, "no record %u of type %u\n", e->nth, e->number);
    abort();
}

static uint64_t place_in_table(const perfile_container *c, uint32_t number)
{
    uint64_t at = c->data.offset + c->data.size;
    for (uint32_t i = 0; i < number; i++)
        at += 16 * (c->features[i / 64] >> i % 64 & 1);
    return at;
}

static uint64_t place_of(perfile_stream *s, const edit *e, uint64_t size)
{
    const perfile_session *session = perfile_stream_session(s);
    const perfile_container *c = perfile_stream_container(s);
    field_search f = search_for(e->field ? e->field : "");
    const perfile_event *event = perfile_session_event(session, e->nth);
    const perfile_feature *feature = perfile_session_feature(session, e->number);
    switch (e->kind) {
    case AT_FILE:
        return e->nth;
    case AT_ATTR:
        if (!e->field)
            return event->offset;
        if (perfile_attr_walk(event->stored, perfile_session_swapped(session), PERFILE_WALK_ALL,
                              &search_visitor, &f, NULL) != PERFILE_OK)
            abort();
        return event->offset + found_at(&f);
    case AT_ENTRY:
        return event->offset + c->attr_size - 16;
    case AT_RECORD:
        return place_in_record(s, e);
    case AT_FEATURE:
        if (!feature)
            abort();
        if (!e->field)
            return feature->offset;
        if (perfile_feature_walk(feature, PERFILE_WALK_ALL, &search_visitor, &f, NULL) !=
            PERFILE_OK)
            abort();
        return feature->offset + found_at(&f);
    case AT_TABLE:
        return place_in_table(c, e->number);
    default:
        return size;
    }
}

static void change_at(builder *b, const edit *e, uint64_t at)
{
    uint8_t word[8] = {0}, other[16];
    if (e->op == OP_CUT) {
        b->b.len = (size_t)at;
        return;
    }
    if (e->op == OP_APPEND) {
        build_zeros(b, e->value);
        return;
    }
    if (e->op == OP_SWAP16) {
        memcpy(other, b->b.ptr + at, 16);
        memmove(b->b.ptr + at, b->b.ptr + at + 16, 16);
        memcpy(b->b.ptr + at + 16, other, 16);
        return;
    }
    uint64_t v = 0;
    memcpy(word, b->b.ptr + at, e->width);
    for (unsigned i = 0; i < e->width; i++)
        v |= (uint64_t)word[i] << 8 * i;
    v = e->op == OP_OR ? v | e->value : e->op == OP_ADD ? v + e->value : e->value;
    for (unsigned i = 0; i < e->width; i++)
        b->b.ptr[at + i] = (uint8_t)(v >> 8 * i);
}

/* Changes the little-endian capture in `b` as `e` says. */
static inline void edit_capture(builder *b, const edit *e)
{
    perfile_source *source;
    perfile_stream *s;
    /* Place are found in the capture before this edit. */
    if (perfile_source_memory(built(b), "capture", &source, NULL) != PERFILE_OK ||
        perfile_open(source, NULL, &s, NULL) != PERFILE_OK)
        abort();
    uint64_t at = place_of(s, e, b->b.len) + e->plus;
    perfile_stream_close(s);
    if (e->op != OP_CUT && e->op != OP_APPEND && at + (e->width ? e->width : 32) > b->b.len)
        abort();
    change_at(b, e, at);
}

#endif
