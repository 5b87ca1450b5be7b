/* Finds the places at which each damage of format/faults.def can be made.
 *
 * The capture is in memory and its stream gives views of it, so a part of the capture is at the
 * offset at which its pointer is in that memory.  Parts that are elsewhere (decompressed records)
 * have no place in the file and are skipped.
 *
 * Records, features and attrs are walked with the tables of format/: which damage a field can get
 * follows from its kind, so a new record type gets its damages without a change here.  Places of
 * the header and of sections come from perfile_container. */
#include "faults/faults.h"

#include <string.h>

#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "perfile/container.h"
#include "perfile/event.h"
#include "perfile/field.h"
#include "perfile/stream.h"

/* Offsets in the header of a file, and the sizes of entries. */
enum {
    AT_SIZE = 8,
    AT_ENTRY_SIZE = 16,
    AT_ATTRS = 24,
    AT_DATA = 40,
    AT_BITMAP = 72,
    HEADER = 104,
    PIPE_HEADER = 16,
    SECTION = 16,
    RECORD = 8,
    AT_MISC = 4,
    AT_RECORD_SIZE = 6
};

enum { FAR = 1 << 20 }; /* how far after the end of the file a place outside of it is */

#define UNKNOWN_TYPE 0x7f77U
#define LARGEST_SIZE 0xfff8U
#define NO_CPU       0x00fffff0U
#define NO_ABI       77U
#define NO_ID        0x7a7a000000000000U

/* Groups. */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3U;
    return (hash ^ '.') * 0x100000001b3U;
}

/* Returns the group, which is added if it is new; NULL when out of memory or if there are too
 * many. */
static pf_group *group_of(pf_faults *f, uint32_t fault, const char *what, const char *field)
{
    uint64_t hash = hash_text(0xcbf29ce484222325U, pf_fault_at(fault)->name);
    hash = hash_text(hash_text(hash, what), field);
    size_t slot = hash % PF_GROUP_SLOTS;
    for (; f->slots[slot]; slot = (slot + 1) % PF_GROUP_SLOTS) {
        pf_group *g = &f->groups[f->slots[slot] - 1];
        if (g->fault == fault && strcmp(g->what, what) == 0 && strcmp(g->field, field) == 0)
            return g;
    }
    if (f->n == PF_MOST_GROUPS)
        return NULL;
    pf_group *more = pf_array_more(f->groups, f->n, &f->cap, sizeof *more);
    if (!more) {
        f->no_memory = true;
        return NULL;
    }
    f->groups = more;
    f->groups[f->n] =
        (pf_group){.fault = fault, .what = what, .field = field, .random = {f->seed ^ hash}};
    f->slots[slot] = (uint16_t)(f->n + 1);
    return &f->groups[f->n++];
}

/* Adds a place.  Of all places of a group each has the same chance to be kept. */
static void add(pf_faults *f, uint32_t fault, const char *what, const char *field, pf_place place)
{
    if (place.offset > f->bytes.len || place.width > f->bytes.len - place.offset)
        return;
    pf_group *g = group_of(f, fault, what, field);
    if (!g)
        return;
    const uint64_t n = g->seen++;
    if (n < PF_PLACES_KEPT) {
        g->at[n] = place;
        return;
    }
    const uint64_t chosen = pf_random_below(&g->random, g->seen);
    if (chosen < PF_PLACES_KEPT)
        g->at[chosen] = place;
}

/* Sets *offset to the position of `n` bytes in the capture.  Returns false if they are not in it.
 */
static bool offset_of(const pf_faults *f, const uint8_t *at, uint64_t n, uint64_t *offset)
{
    const uintptr_t first = (uintptr_t)f->bytes.ptr, here = (uintptr_t)at;
    if (!at || here < first || here - first > f->bytes.len || n > f->bytes.len - (here - first))
        return false;
    *offset = here - first;
    return true;
}

/* Fields. */

/* The record, attr or feature that is walked. */
typedef struct walk {
    pf_faults *f;
    const char *what;
    uint64_t base; /* its offset in the capture */
    uint64_t index;
    uint32_t type;
    bool is_record, is_sample, is_attr;
} walk;

static void add_field(const walk *w, uint32_t fault, const perfile_field *field,
                      const perfile_value *v, uint8_t change, uint64_t value)
{
    add(w->f, fault, w->what, field->name,
        (pf_place){.offset = w->base + v->offset,
                   .width = v->width,
                   .value = value,
                   .index = w->index,
                   .type = w->type,
                   .change = change});
}

/* Returns a number of `width` bytes that is larger than every input, but not all ones, which has a
 * meaning of its own. */
static uint64_t large(uint64_t width)
{
    return width == 8   ? 0x00fffffffffffff0U
           : width == 4 ? 0x7ffffff0U
           : width == 2 ? 0xfff0U
                        : 0xf0U;
}

static void add_string(const walk *w, const perfile_field *field, const perfile_value *v)
{
    const uint64_t text = v->u.bytes.len;
    if (v->width <= text)
        return;
    perfile_value end = *v;
    end.offset += text;
    end.width -= text;
    add_field(w, PF_FAULT_STRING_NO_END, field, &end, PF_CHANGE_FILL, 0);
}

/* Adds the damages that a number can get because of its kind. */
static void add_number(const walk *w, const perfile_field *field, const perfile_value *v)
{
    switch (field->kind) {
    case PERFILE_KIND_COUNT:
        add_field(w, PF_FAULT_COUNT_TOO_LARGE, field, v, PF_CHANGE_SET, large(v->width));
        break;
    case PERFILE_KIND_SIZE:
        if (!w->is_attr)
            add_field(w, PF_FAULT_LENGTH_TOO_LARGE, field, v, PF_CHANGE_SET, large(v->width));
        break;
    case PERFILE_KIND_EVENT_ID:
        if (v->width == 8)
            add_field(w, PF_FAULT_UNKNOWN_ID, field, v, PF_CHANGE_SET, NO_ID + w->index % 4096);
        break;
    case PERFILE_KIND_TIME:
        if (v->width == 8 && v->number > 1)
            add_field(w, PF_FAULT_TIME_BACK, field, v, PF_CHANGE_SET, 1);
        break;
    case PERFILE_KIND_CPU:
        if (v->width == 4)
            add_field(w, PF_FAULT_CPU_UNKNOWN, field, v, PF_CHANGE_SET, NO_CPU);
        break;
    case PERFILE_KIND_PERIOD:
        if (w->is_sample && v->number)
            add_field(w, PF_FAULT_PERIOD_0, field, v, PF_CHANGE_SET, 0);
        break;
    case PERFILE_KIND_REGS_ABI:
        add_field(w, PF_FAULT_REGS_ABI, field, v, PF_CHANGE_SET, NO_ABI);
        break;
    case PERFILE_KIND_RANGE:
        if (w->is_record && strcmp(field->name, "len") == 0)
            add_field(w, PF_FAULT_MAPPING_EMPTY, field, v, PF_CHANGE_SET, 0);
        break;
    case PERFILE_KIND_SAMPLE_TYPE:
    case PERFILE_KIND_READ_FORMAT:
        if (v->width == 8)
            add_field(w, PF_FAULT_ATTR_BIT, field, v, PF_CHANGE_SET, v->number | 1ULL << 45);
        break;
    default:
        break;
    }
    if (w->is_record)
        add_field(w, PF_FAULT_BIT_FLIPPED, field, v, PF_CHANGE_FLIP, 0);
}

static void on_value(void *user, const perfile_field *field, const perfile_value *v)
{
    const walk *w = user;
    if (v->width == 0 || field->flags & (PERFILE_FIELD_CALC | PERFILE_FIELD_PAD))
        return;
    if (field->type == PERFILE_STORED_TEXT)
        add_string(w, field, v);
    else if ((field->type <= PERFILE_STORED_S32 || field->type == PERFILE_STORED_S64) &&
             v->width <= 8)
        add_number(w, field, v);
}

static void on_begin(void *user, const perfile_field *field, const perfile_value *v)
{
    (void)user;
    (void)field;
    (void)v;
}

static void on_end(void *user, const perfile_field *field)
{
    (void)user;
    (void)field;
}

static const perfile_visitor visitor = {
    .size = sizeof visitor, .value = on_value, .begin = on_begin, .end = on_end};

/* Records. */

static const char *record_name(const perfile_record *r)
{
    const char *name = perfile_record_type_name(r->type);
    return name ? name : "unknown";
}

static void walk_feature_record(const walk *of_record, const perfile_record *r)
{
    perfile_feature feature;
    walk w = *of_record;
    if (perfile_record_feature(r, &feature, NULL) != PERFILE_OK ||
        !offset_of(w.f, feature.payload.ptr, feature.payload.len, &w.base))
        return;
    const char *name = perfile_feature_name(feature.number);
    w.what = name ? name : "unknown-feature";
    /* A walk that fails has shown the fields before the one that cannot be read. */
    (void)perfile_feature_walk(&feature, PERFILE_WALK_ALL, &visitor, &w, NULL);
}

static void walk_record(pf_faults *f, const perfile_record *r, uint64_t offset)
{
    walk w = {.f = f,
              .what = record_name(r),
              .base = offset,
              .index = r->sequence,
              .type = r->type,
              .is_record = true,
              .is_sample = r->type == PERFILE_RECORD_SAMPLE};
    if (r->type == PERFILE_RECORD_HEADER_FEATURE)
        walk_feature_record(&w, r);
    /* The attr in this record is walked with the events. */
    if (r->type == PERFILE_RECORD_HEADER_ATTR)
        return;
    (void)perfile_record_walk(r, PERFILE_WALK_ALL, &visitor, &w, NULL);
    (void)perfile_record_walk(r, PERFILE_WALK_TRAILER, &visitor, &w, NULL);
}

/* The record before the current one. */
typedef struct previous {
    uint64_t offset, size;
    uint32_t type;
} previous;

/* Adds the damages of the record as a whole and of its header. */
static void add_record(pf_faults *f, const perfile_record *r, uint64_t offset, uint64_t size,
                       const previous *before)
{
    const char *what = record_name(r);
    const pf_place whole = {.offset = offset, .width = size, .index = r->sequence, .type = r->type};
    pf_place p = whole;
    p.change = PF_CHANGE_CUT;
    add(f, PF_FAULT_RECORD_CUT, what, "record", p);
    p.change = PF_CHANGE_DOUBLE;
    add(f, PF_FAULT_RECORD_DOUBLED, what, "record", p);
    if (before->type == r->type && before->size && before->offset + before->size == offset) {
        p = (pf_place){.offset = before->offset,
                       .width = before->size,
                       .value = size,
                       .index = r->sequence - 1,
                       .type = r->type,
                       .change = PF_CHANGE_SWAP};
        add(f, PF_FAULT_RECORDS_SWAPPED, what, "record", p);
    }
    p = whole;
    p.change = PF_CHANGE_SET;
    p.width = 4;
    p.value = 0;
    add(f, PF_FAULT_RECORD_TYPE_0, what, "type", p);
    p.value = UNKNOWN_TYPE;
    add(f, PF_FAULT_RECORD_UNKNOWN, what, "type", p);
    p.offset = offset + AT_MISC;
    p.width = 2;
    p.value = 0x3ffe;
    add(f, PF_FAULT_MISC_UNKNOWN, what, "misc", p);
    p.offset = offset + AT_RECORD_SIZE;
    p.value = 0;
    add(f, PF_FAULT_RECORD_SIZE_0, what, "size", p);
    p.value = RECORD / 2;
    add(f, PF_FAULT_RECORD_TOO_SMALL, what, "size", p);
    p.value = LARGEST_SIZE;
    if (f->bytes.len - offset < LARGEST_SIZE)
        add(f, PF_FAULT_RECORD_TOO_LARGE, what, "size", p);
    const uint64_t stored = RECORD + r->body.len;
    if (stored > RECORD + 4 && stored < LARGEST_SIZE) {
        p.value = stored - 4;
        add(f, PF_FAULT_RECORD_UNALIGNED, what, "size", p);
        p.value = RECORD;
        add(f, PF_FAULT_RECORD_SHORT, what, "size", p);
    }
    if (r->flags & PERFILE_REC_ENVELOPE && r->body.len > 8) {
        p = whole;
        p.change = PF_CHANGE_FLIP;
        p.offset = offset + RECORD;
        p.width = r->body.len;
        add(f, PF_FAULT_ZSTD_BROKEN, what, "data", p);
    }
}

static perfile_status read_records(pf_faults *f, perfile_stream *s, perfile_error *err)
{
    previous before = {0};
    const perfile_record *r;
    perfile_status st;
    while ((st = perfile_stream_next(s, &r, err)) == PERFILE_OK) {
        uint64_t offset;
        const uint64_t size = RECORD + r->body.len + r->extra.len;
        if (r->family != PERFILE_FAMILY_PERF || r->flags & PERFILE_REC_INNER)
            continue;
        if (!offset_of(f, r->header, size, &offset)) {
            before = (previous){0};
            continue;
        }
        add_record(f, r, offset, size, &before);
        walk_record(f, r, offset);
        before = (previous){offset, size, r->type};
    }
    return st == PERFILE_END || st != PERFILE_E_NOMEM ? PERFILE_OK : st;
}

/* Events and features. */

static void walk_event(pf_faults *f, const perfile_event *e, bool swapped)
{
    walk w = {.f = f, .what = "attr", .index = e->index, .type = UINT32_MAX, .is_attr = true};
    if (!offset_of(f, e->stored.ptr, e->stored.len, &w.base))
        return;
    (void)perfile_attr_walk(e->stored, swapped, PERFILE_WALK_ALL, &visitor, &w, NULL);
    pf_place p = {.offset = w.base + 4,
                  .width = 4,
                  .value = 0xfff8,
                  .index = e->index,
                  .type = UINT32_MAX,
                  .change = PF_CHANGE_SET};
    add(f, PF_FAULT_ATTR_TOO_LONG, "attr", "size", p);
}

/* Gives an event the first id of the first event. */
static void share_id(pf_faults *f, const perfile_event *first, const perfile_event *e)
{
    uint64_t offset;
    if (!first || first == e || first->ids.n == 0 || e->ids.n == 0 || e->ids.width != 8 ||
        !offset_of(f, e->ids.ptr, 8, &offset))
        return;
    add(f, PF_FAULT_ID_SHARED, "attr", "ids",
        (pf_place){.offset = offset,
                   .width = 8,
                   .value = perfile_word(&first->ids, 0),
                   .index = e->index,
                   .type = UINT32_MAX,
                   .change = PF_CHANGE_SET});
}

static void read_facts(pf_faults *f, const perfile_stream *s)
{
    const perfile_session *session = perfile_stream_session(s);
    const bool swapped = perfile_session_swapped(session);
    const bool is_file = perfile_stream_container(s)->has_sections;
    const uint32_t n = perfile_session_n_events(session);
    for (uint32_t i = 0; i < n; i++) {
        const perfile_event *e = perfile_session_event(session, i);
        walk_event(f, e, swapped);
        share_id(f, perfile_session_event(session, 0), e);
    }
    const perfile_feature *feature;
    for (uint32_t i = 0; is_file && (feature = perfile_session_feature_at(session, i)); i++) {
        const char *name = perfile_feature_name(feature->number);
        walk w = {.f = f,
                  .what = name ? name : "unknown-feature",
                  .index = feature->number,
                  .type = UINT32_MAX};
        if (feature->payload.len > 1 &&
            offset_of(f, feature->payload.ptr, feature->payload.len, &w.base)) {
            (void)perfile_feature_walk(feature, PERFILE_WALK_ALL, &visitor, &w, NULL);
            add(f, PF_FAULT_FEATURE_CUT, w.what, "section",
                (pf_place){.offset = w.base,
                           .width = feature->payload.len,
                           .index = feature->number,
                           .type = UINT32_MAX,
                           .change = PF_CHANGE_CUT});
        }
    }
}

/* The header and its tables. */

static void set(pf_faults *f, uint32_t fault, const char *what, const char *field, uint64_t offset,
                uint64_t value, uint64_t index)
{
    add(f, fault, what, field,
        (pf_place){.offset = offset,
                   .width = 8,
                   .value = value,
                   .index = index,
                   .type = UINT32_MAX,
                   .change = PF_CHANGE_SET});
}

static void cut(pf_faults *f, uint32_t fault, const char *field, uint64_t offset, uint64_t width)
{
    add(f, fault, "file", field,
        (pf_place){.offset = offset,
                   .width = width,
                   .index = UINT64_MAX,
                   .type = UINT32_MAX,
                   .change = PF_CHANGE_CUT});
}

/* Adds the damages of the table of features.  Its entries are in the order of their numbers. */
static void add_features(pf_faults *f, const perfile_container *c)
{
    const uint64_t table = c->data.offset + c->data.size, outside = f->bytes.len + FAR;
    uint64_t at = table;
    for (uint32_t number = 0; number < 256; number++) {
        if (!(c->features[number / 64] >> number % 64 & 1))
            continue;
        const char *name = perfile_feature_name(number);
        const char *what = name ? name : "unknown-feature";
        set(f, PF_FAULT_FEATURE_OUTSIDE, what, "offset", at, outside, number);
        set(f, PF_FAULT_FEATURE_TOO_LARGE, what, "size", at + 8, outside, number);
        set(f, PF_FAULT_SECTION_OVERLAP, what, "offset", at, c->data.offset, number);
        at += SECTION;
    }
    if (at > table)
        cut(f, PF_FAULT_TABLE_CUT, "features", table, at - table);
    set(f, PF_FAULT_FEATURE_UNKNOWN, "header", "features", AT_BITMAP, c->features[0] | 1ULL << 60,
        UINT64_MAX);
}

static void add_sections(pf_faults *f, const perfile_container *c)
{
    const uint64_t outside = f->bytes.len + FAR;
    const uint64_t none = UINT64_MAX;
    set(f, PF_FAULT_ENTRY_SIZE, "header", "attr_size", AT_ENTRY_SIZE, 24, none);
    set(f, PF_FAULT_ATTRS_CUT, "header", "attrs.size", AT_ATTRS + 8, c->attrs.size - 8, none);
    set(f, PF_FAULT_SECTION_OUTSIDE, "header", "attrs.offset", AT_ATTRS, outside, none);
    set(f, PF_FAULT_SECTION_OUTSIDE, "header", "data.offset", AT_DATA, outside, none);
    set(f, PF_FAULT_SECTION_TOO_LARGE, "header", "attrs.size", AT_ATTRS + 8,
        c->attr_size ? outside / c->attr_size * c->attr_size : outside, none);
    set(f, PF_FAULT_SECTION_TOO_LARGE, "header", "data.size", AT_DATA + 8, outside, none);
    set(f, PF_FAULT_SECTION_OVERLAP, "header", "attrs.offset", AT_ATTRS, c->data.offset, none);
    set(f, PF_FAULT_SECTION_OVERLAP, "header", "data.offset", AT_DATA, c->attrs.offset, none);
    set(f, PF_FAULT_DATA_EMPTY, "header", "data.size", AT_DATA + 8, 0, none);
    const uint64_t entries = c->attr_size >= SECTION ? c->attrs.size / c->attr_size : 0;
    for (uint64_t i = 0; i < entries && i < f->bytes.len / SECTION; i++)
        set(f, PF_FAULT_IDS_OUTSIDE, "attr", "ids.offset",
            c->attrs.offset + (i + 1) * c->attr_size - SECTION, outside, i);
}

static void read_container(pf_faults *f, const perfile_container *c)
{
    const uint64_t header = c->has_sections ? HEADER : PIPE_HEADER;
    add(f, PF_FAULT_UNKNOWN_MAGIC, "header", "magic",
        (pf_place){.offset = 0,
                   .width = 8,
                   .index = UINT64_MAX,
                   .type = UINT32_MAX,
                   .change = PF_CHANGE_FLIP});
    set(f, PF_FAULT_HEADER_SIZE, "header", "size", AT_SIZE, header - 4, UINT64_MAX);
    cut(f, PF_FAULT_HEADER_CUT, "header", 0, header);
    add(f, PF_FAULT_BYTES_APPENDED, "file", "end",
        (pf_place){.offset = f->bytes.len,
                   .value = 24,
                   .index = UINT64_MAX,
                   .type = UINT32_MAX,
                   .change = PF_CHANGE_APPEND});
    if (!c->has_sections)
        return;
    add_sections(f, c);
    add_features(f, c);
}

perfile_status pf_fault_places(pf_faults *f, perfile_error *err)
{
    perfile_stream *s;
    perfile_error ours;
    perfile_status st = pf_fault_stream(f->bytes, &s, &ours);
    if (st != PERFILE_OK) {
        if (err)
            *err = ours;
        return st == PERFILE_E_NOMEM ? st : PERFILE_OK;
    }
    f->swap = perfile_session_swapped(perfile_stream_session(s));
    read_container(f, perfile_stream_container(s));
    st = read_records(f, s, err);
    if (st == PERFILE_OK)
        read_facts(f, s);
    perfile_stream_close(s);
    return f->no_memory ? pf_fail_nomem(err, "faults") : st;
}
