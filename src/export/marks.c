/* Code shared by forms that show time: values of counters, and the content of records as JSON
 * members. */
#include "base/alloc.h"
#include "base/checked.h"
#include "base/cursor.h"
#include "export/export.h"
#include "perfile/session.h"
#include "schema/rows.h"
#include "core/command.h"
#include "schema/command.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counter values (pf_counters).  An event has one counter for each thread and CPU that it was
 * opened for; the id of a value identifies the CPU. */

/* A value as stored in a record. */
typedef struct stored {
    uint64_t value, id;
    bool has_id;
    size_t position; /* index in its group */
} stored;

/* Returns the name of a counter; NULL when out of memory or over the limit. */
static const char *name_of(pf_counters *c, pf_profile *p, const pf_profiled *about, const stored *v)
{
    const perfile_session *s = about->record->session;
    const perfile_event *event =
        v->has_id && s ? perfile_session_event_by_id(s, v->id) : about->event;
    pf_instance instance;
    char more[64] = "";
    if (v->has_id && s && pf_session_instance(s, v->id, &instance, sizeof instance) &&
        instance.cpu < UINT32_MAX)
        snprintf(more, sizeof more, " cpu %" PRIu64, instance.cpu);
    else if (about->record->type == PERFILE_RECORD_STAT && about->cpu < UINT32_MAX)
        snprintf(more, sizeof more, " cpu %" PRIu32, about->cpu);
    if (!v->has_id && v->position)
        snprintf(more, sizeof more, " #%zu", v->position);
    if (about->tid != about->pid)
        snprintf(more + strlen(more), sizeof more - strlen(more), " tid %" PRId32,
                 (int32_t)about->tid);
    pf_buffer_clear(&c->name);
    if (!pf_name_text(event ? event->name : "counter", PF_NAME_MOST, &c->name) ||
        !pf_buffer_append(&c->name, more, strlen(more) + 1))
        return NULL;
    return pf_profile_text(p, (const char *)c->name.ptr);
}

static bool add(pf_counters *c, pf_profile *p, const pf_profiled *about, const stored *v)
{
    if (c->n == c->cap) {
        const size_t cap = c->cap ? 2 * c->cap : 256;
        pf_counter *at = pf_budget_realloc(&p->budget, c->at, c->cap, cap, sizeof *at);
        if (!at)
            return false;
        c->at = at;
        c->cap = cap;
    }
    c->at[c->n] = (pf_counter){.time = about->time,
                               .value = v->value,
                               .sequence = c->n,
                               .name = name_of(c, p, about, v),
                               .pid = about->pid};
    c->at[c->n].since_start = about->record->type == PERFILE_RECORD_STAT;
    return c->at[c->n++].name;
}

static bool add_values(pf_counters *c, pf_profile *p, const pf_profiled *about,
                       const perfile_read_values *values)
{
    perfile_read_entry entry;
    stored v = {values->value, values->id, values->has_id, 0};
    bool ok = true;
    if (values->has_value)
        return add(c, p, about, &v);
    if (!values->has_cntr)
        return true;
    perfile_list list = values->cntr;
    for (; ok && perfile_read_entry_next(&list, &entry, sizeof entry) == PERFILE_OK; v.position++) {
        v.value = entry.value;
        v.id = entry.id;
        v.has_id = entry.has_id;
        ok = add(c, p, about, &v);
    }
    return ok;
}

static bool add_stat(pf_counters *c, pf_profile *p, const pf_profiled *about)
{
    perfile_stat stat;
    pf_profiled of = *about;
    if (perfile_stat_decode(about->record, &stat, sizeof stat, NULL) != PERFILE_OK)
        return true;
    const stored v = {stat.val, stat.id, true, 0};
    of.time = PERFILE_NO_TIME;
    of.cpu = stat.cpu;
    of.pid = of.tid = PERFILE_NO_PID;
    return add(c, p, &of, &v);
}

/* Sets the time of all values from STAT records since the last round. */
static void set_round(pf_counters *c, uint64_t time)
{
    for (size_t i = c->n_timed; i < c->n; i++)
        if (c->at[i].since_start)
            c->at[i].time = time;
    c->n_timed = c->n;
    c->round = time;
}

bool pf_counters_add(pf_counters *c, pf_profile *p, const pf_profiled *about)
{
    const perfile_record *r = about->record;
    union {
        perfile_sample sample;
        perfile_read read;
        perfile_stat_round round;
    } v;
    switch (r->type) {
    case PERFILE_RECORD_SAMPLE:
        if (perfile_sample_decode(r, &v.sample, sizeof v.sample, NULL) != PERFILE_OK ||
            !(v.sample.present & PERFILE_SAMPLE_READ))
            return true;
        return add_values(c, p, about, &v.sample.values);
    case PERFILE_RECORD_READ:
        return perfile_read_decode(r, &v.read, sizeof v.read, NULL) != PERFILE_OK ||
               add_values(c, p, about, &v.read.values);
    case PERFILE_RECORD_STAT:
        return add_stat(c, p, about);
    case PERFILE_RECORD_STAT_ROUND:
        if (perfile_stat_round_decode(r, &v.round, sizeof v.round, NULL) == PERFILE_OK)
            set_round(c, v.round.time);
        return true;
    default:
        return true;
    }
}

static int by_time(const void *a, const void *b)
{
    const pf_counter *x = a, *y = b;
    if (x->since_start != y->since_start)
        return x->since_start ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* The totals at the end of a recording have no round; they get the time of the last one. */
void pf_counters_sort(pf_counters *c)
{
    set_round(c, c->round);
    if (c->n)
        qsort(c->at, c->n, sizeof *c->at, by_time);
}

void pf_counters_free(pf_counters *c)
{
    pf_free(c->at);
    pf_buffer_free(&c->name);
}

/* Records as JSON members (pf_marks).  Only top-level fields that are numbers, text or a build id
 * are shown, no lists and no data. */

/* The state of a walk that writes members. */
typedef struct describing {
    pf_marks *m;
    pf_profile *p;
    pf_mark_kind kind;
    unsigned depth; /* nesting of lists and structs */
    bool ok;
} describing;

void pf_marks_init(pf_marks *m, pf_profile *p)
{
    const uint64_t seed = pf_index_seed(m);
    m->said = (pf_intern){
        .seed = seed, .budget = &p->budget, .width = sizeof(pf_mark), .key = sizeof(pf_mark)};
    m->kinds = (pf_intern){.seed = seed,
                           .budget = &p->budget,
                           .width = sizeof(pf_mark_kind),
                           .key = sizeof(pf_mark_kind)};
    m->fields = (pf_intern){.seed = seed,
                            .budget = &p->budget,
                            .width = sizeof(pf_mark_field),
                            .key = offsetof(pf_mark_field, field)};
}

void pf_marks_free(pf_marks *m)
{
    pf_intern_free(&m->said);
    pf_intern_free(&m->kinds);
    pf_intern_free(&m->fields);
    pf_buffer_free(&m->text);
    pf_buffer_free(&m->clean);
}

static bool append(pf_marks *m, const char *text)
{
    return pf_buffer_append(&m->text, text, strlen(text));
}

/* Appends a text of a capture, shortened and cleaned like all names. */
static bool append_text(pf_marks *m, perfile_bytes bytes)
{
    uint8_t room[PF_NAME_MOST];
    char text[PF_NAME_MOST + 1];
    bytes = pf_shortened(bytes, sizeof room, room);
    if (bytes.len)
        memcpy(text, bytes.ptr, bytes.len);
    text[bytes.len] = '\0';
    pf_buffer_clear(&m->clean);
    return pf_name_text(text, PF_NAME_MOST, &m->clean) && pf_buffer_append_u8(&m->clean, 0) &&
           pf_export_quote(&m->text, (const char *)m->clean.ptr);
}

static bool append_hex(pf_marks *m, perfile_bytes bytes)
{
    bool ok = append(m, "\"");
    for (size_t i = 0; i < bytes.len && ok; i++) {
        char digits[3];
        snprintf(digits, sizeof digits, "%02x", bytes.ptr[i]);
        ok = append(m, digits);
    }
    return ok && append(m, "\"");
}

/* Appends a number.  Masks and addresses become texts, because JSON numbers are not exact up to
 * 2^64. */
static bool append_number(pf_marks *m, const perfile_field *field, uint64_t n)
{
    char text[32];
    const bool negative = field->type == PERFILE_STORED_S32 || field->type == PERFILE_STORED_S64;
    if (pf_kind_base(field->kind) == PERFILE_BASE_HEX)
        snprintf(text, sizeof text, "\"0x%" PRIx64 "\"", n);
    else if (negative)
        snprintf(text, sizeof text, "%" PRId64, (int64_t)n);
    else
        snprintf(text, sizeof text, "%" PRIu64, n);
    return append(m, text);
}

/* Appends numbers as one text, separated by commas. */
static bool append_words(pf_marks *m, const perfile_words *words)
{
    char text[32];
    bool ok = append(m, "\"");
    for (size_t i = 0; i < words->n && ok; i++) {
        snprintf(text, sizeof text, "%s%" PRIu64, i ? "," : "", perfile_word(words, i));
        ok = append(m, text);
    }
    return ok && append(m, "\"");
}

/* Appends texts as one, separated by commas and shortened like all names. */
static bool append_strings(pf_marks *m, perfile_strings strings)
{
    perfile_bytes text;
    pf_buffer_clear(&m->clean);
    while (m->clean.len < PF_NAME_MOST && perfile_strings_next(&strings, &text) == PERFILE_OK) {
        uint8_t room[PF_NAME_MOST];
        char one[PF_NAME_MOST + 3];
        const char *between = m->clean.len ? ", " : "";
        const size_t n = strlen(between);
        text = pf_shortened(text, sizeof room, room);
        memcpy(one, between, n);
        if (text.len)
            memcpy(one + n, text.ptr, text.len);
        one[n + text.len] = '\0';
        if (!pf_name_text(one, PF_NAME_MOST, &m->clean))
            return false;
    }
    return pf_buffer_append_u8(&m->clean, 0) &&
           pf_export_quote(&m->text, (const char *)m->clean.ptr);
}

static bool append_value(pf_marks *m, const perfile_field *field, const perfile_value *value)
{
    if (field->type == PERFILE_STORED_TEXT)
        return append_text(m, value->u.bytes);
    if (field->type == PERFILE_STORED_BLOB)
        return append_hex(m, value->u.bytes);
    if (field->type == PERFILE_STORED_WORDS)
        return append_words(m, &value->u.words);
    if (field->type == PERFILE_STORED_STRINGS)
        return append_strings(m, value->u.strings);
    return append_number(m, field, value->number);
}

/* Returns the key of a field.  `type`, `period` and `cause` are reserved for the mark itself. */
const char *pf_marks_key(const perfile_field *field)
{
    static const char *const taken[][2] = {
        {"type", "kind"}, {"period", "own_period"}, {"cause", "own_cause"}};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(field->name, taken[i][0]) == 0)
            return taken[i][1];
    return field->name;
}

/* Returns true if a field is shown.  The time is not, because the mark has it. */
static bool is_shown(const perfile_field *field)
{
    if (field->type == PERFILE_STORED_BLOB)
        return field->kind == PERFILE_KIND_BUILD_ID;
    return field->type != PERFILE_STORED_WORDS && field->type != PERFILE_STORED_STRINGS &&
           field->kind != PERFILE_KIND_COUNT && field->kind != PERFILE_KIND_TIME;
}

/* Appends a field as a member. */
static void add_member(describing *d, const perfile_field *field, const perfile_value *value)
{
    const pf_mark_field key = {.kind = d->kind, .key = pf_profile_text(d->p, pf_marks_key(field))};
    const uint32_t number = d->ok && key.key ? pf_intern_add(&d->m->fields, &key) : PF_INTERN_NONE;
    if (number != PF_INTERN_NONE) {
        pf_mark_field *known = pf_intern_at(&d->m->fields, number);
        known->field = known->field ? known->field : field;
    }
    d->ok = number != PF_INTERN_NONE && append(d->m, ",\"") && append(d->m, key.key) &&
            append(d->m, "\":") && append_value(d->m, field, value);
}

static void visit(void *user, const perfile_field *field, const perfile_value *value)
{
    describing *d = user;
    if (d->depth || !is_shown(field))
        return;
    if (field->kind == PERFILE_KIND_PID && strcmp(field->name, "pid") == 0)
        d->m->pid = (uint32_t)value->number;
    if (field->kind == PERFILE_KIND_TID && strcmp(field->name, "tid") == 0)
        d->m->tid = (uint32_t)value->number;
    add_member(d, field, value);
}

/* Appends a field of a payload, except members of structs. */
static void visit_payload(void *user, const perfile_field *field, const perfile_value *value)
{
    if (!((describing *)user)->depth)
        add_member(user, field, value);
}

static void begin(void *user, const perfile_field *field, const perfile_value *value)
{
    (void)field;
    (void)value;
    ((describing *)user)->depth++;
}

static void end(void *user, const perfile_field *field)
{
    (void)field;
    ((describing *)user)->depth--;
}

/* Returns the index of a mark in `said`. */
static uint32_t add_mark(pf_marks *m, pf_profile *p, pf_mark_kind kind, const char *text)
{
    const pf_mark mark = {kind, pf_profile_text(p, text)};
    return mark.text && pf_intern_add(&m->kinds, &kind) != PF_INTERN_NONE
               ? pf_intern_add(&m->said, &mark)
               : PF_INTERN_NONE;
}

uint32_t pf_marks_event(pf_marks *m, pf_profile *p, const char *event, const char *text)
{
    return add_mark(m, p, (pf_mark_kind){PERFILE_RECORD_SAMPLE, event}, text);
}

const char *pf_marks_name(const pf_mark_kind *kind)
{
    return kind->event ? kind->event : pf_record_type_name((uint32_t)kind->type);
}

uint32_t pf_marks_describe(pf_marks *m, pf_profile *p, const perfile_record *r)
{
    static const perfile_visitor visitor = {
        .size = sizeof visitor, .value = visit, .begin = begin, .end = end};
    describing d = {.m = m, .p = p, .kind = {.type = r->type}, .ok = true};
    pf_buffer_clear(&m->text);
    m->pid = m->tid = PERFILE_NO_PID;
    (void)!perfile_record_walk(r, PERFILE_WALK_ALL, &visitor, &d, NULL);
    if (!d.ok || !pf_buffer_append_u8(&m->text, 0))
        return PF_INTERN_NONE;
    return add_mark(m, p, d.kind, (const char *)m->text.ptr);
}

uint32_t pf_marks_payload(pf_marks *m, pf_profile *p, perfile_tracepoints *all,
                          const perfile_record *r, const char *event)
{
    static const perfile_visitor visitor = {
        .size = sizeof visitor, .value = visit_payload, .begin = begin, .end = end};
    describing d = {.m = m, .p = p, .kind = {PERFILE_RECORD_SAMPLE, event}, .ok = true};
    pf_buffer_clear(&m->text);
    perfile_status st = perfile_tracepoint_walk(all, r, &visitor, &d, NULL);
    if (st == PERFILE_END)
        return 0;
    if (st != PERFILE_OK || !d.ok || !pf_buffer_append_u8(&m->text, 0))
        return PF_INTERN_NONE;
    const uint32_t said = add_mark(m, p, d.kind, (const char *)m->text.ptr);
    return said == PF_INTERN_NONE ? said : said + 1;
}
