/* What the forms that show time share: values of counters, what other records say, and tracks of
 * threads. */
#include "base/alloc.h"
#include "base/checked.h"
#include "base/cursor.h"
#include "export/export.h"
#include "perfile/session.h"
#include "schema/rows.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counter values (pf_counters).  An event has a counter for each thread and processor that it
 * was opened for, of which the id of the value tells the processor. */

/* A value as it stands in a record. */
typedef struct stored {
    uint64_t value, id;
    bool has_id;
    size_t position; /* in its group */
} stored;

/* The name of a counter; NULL if there is no memory or the limit is exceeded. */
static const char *name_of(pf_counters *c, pf_profile *p, const pf_profiled *about, const stored *v)
{
    const perfile_session *s = about->record->session;
    const perfile_event *event =
        v->has_id && s ? perfile_session_event_by_id(s, v->id) : about->event;
    perfile_instance instance;
    char more[64] = "";
    if (v->has_id && s && perfile_session_instance(s, v->id, &instance, sizeof instance) &&
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

/* The values of the STAT records since the round before are of this time. */
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

/* The totals at the end of a recording have no round of their own. */
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

/* Records as JSON members (pf_marks).  Shown are the fields at the top of a record that are
 * numbers, text or a build id; lists and data are not. */

/* A walk that writes members. */
typedef struct describing {
    pf_marks *m;
    pf_profile *p;
    pf_mark_kind kind;
    unsigned depth; /* of lists and structs */
    bool ok;
} describing;

static void pf_marks_init(pf_marks *m, pf_profile *p)
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

static void pf_marks_free(pf_marks *m)
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

/* A text of a capture, cut and cleaned as all names are. */
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

/* Masks and addresses are texts, for JSON's numbers are not exact up to 2^64. */
static bool append_number(pf_marks *m, const perfile_field *field, uint64_t n)
{
    char text[32];
    const bool negative = field->type == PERFILE_STORED_S32 || field->type == PERFILE_STORED_S64;
    if (perfile_kind_base(field->kind) == PERFILE_BASE_HEX)
        snprintf(text, sizeof text, "\"0x%" PRIx64 "\"", n);
    else if (negative)
        snprintf(text, sizeof text, "%" PRId64, (int64_t)n);
    else
        snprintf(text, sizeof text, "%" PRIu64, n);
    return append(m, text);
}

/* Numbers as a text, with commas between them. */
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

/* Texts as one, with commas between them, cut as all names are. */
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

/* The key of a field: `type`, `period` and `cause` are those of the mark itself. */
const char *pf_marks_key(const perfile_field *field)
{
    static const char *const taken[][2] = {
        {"type", "kind"}, {"period", "own_period"}, {"cause", "own_cause"}};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(field->name, taken[i][0]) == 0)
            return taken[i][1];
    return field->name;
}

/* The time is that of the mark. */
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

/* A field of a payload; members of structs are not shown. */
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

/* The number in `said` of a mark. */
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
    return kind->event ? kind->event : perfile_record_type_name((uint32_t)kind->type);
}

/* The number in `said` of what a record says.  PF_INTERN_NONE if there is no memory or the limit is
 * exceeded.  A record that cannot be read says what stands before the damage. */
static uint32_t pf_marks_describe(pf_marks *m, pf_profile *p, const perfile_record *r)
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

/* The number in `said` of what the payload of a sample says, + 1; 0: it has none that is described.
 * PF_INTERN_NONE likewise. */
static uint32_t describe_payload(pf_marks *m, pf_profile *p, perfile_tracepoints *all,
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

/* Tracks of threads. */

enum { MS = 1000000 };

/* pf_moment.weight of a switch before sorting: PF_SWITCH_…, PF_SWITCHES_… and the capture. */
enum { SOURCE_SHIFT = 8, INPUT_SHIFT = 16 };

void pf_tracks_init(pf_tracks *t, pf_profile *p)
{
    pf_marks_init(&t->said, p);
    t->first = UINT64_MAX;
}

void pf_tracks_free(pf_tracks *t)
{
    pf_timeline_free(&t->samples);
    pf_timeline_free(&t->marks);
    pf_timeline_free(&t->switches);
    pf_marks_free(&t->said);
    perfile_tracepoints **all = (perfile_tracepoints **)(void *)t->tracepoints.ptr;
    for (size_t i = 0; i < t->tracepoints.len / sizeof *all; i++)
        perfile_tracepoints_close(all[i]);
    pf_buffer_free(&t->tracepoints);
    pf_free(t->at);
    pf_free(t->sources);
}

/* Makes room for all labels. */
static bool grow(pf_tracks *t, pf_profile *p)
{
    if (p->labels.n > t->cap) {
        const size_t cap = p->labels.n + p->labels.n / 2 + 16;
        pf_track *at = pf_budget_realloc(&p->budget, t->at, t->cap, cap, sizeof *at);
        if (!at)
            return false;
        t->at = at;
        t->cap = cap;
    }
    for (; t->n < p->labels.n; t->n++)
        t->at[t->n] = (pf_track){.first = UINT64_MAX,
                                 .began = PERFILE_NO_TIME,
                                 .ended = PERFILE_NO_TIME,
                                 .shown = (uint32_t)t->n};
    return true;
}

static void widen(uint64_t *first, uint64_t *last, uint64_t time)
{
    *first = time < *first ? time : *first;
    *last = time > *last ? time : *last;
}

/* The name of idle on a processor, as the kernel has it. */
static const char *idle_name(pf_exporter *x, uint32_t cpu, bool *ok)
{
    char name[24];
    snprintf(name, sizeof name, "swapper/%" PRIu32, cpu);
    const char *text = pf_profile_text(&x->profile, name);
    *ok = text;
    return text;
}

/* Something on the track of a label happened at a time.  The name is that of the latest. */
static bool pf_tracks_touch(pf_tracks *t, pf_exporter *x, const pf_profiled *about, uint32_t label)
{
    bool ok = label != PF_INTERN_NONE && grow(t, &x->profile);
    if (!ok)
        return false;
    pf_track *track = &t->at[label];
    if (about->time != PERFILE_NO_TIME) {
        widen(&track->first, &track->last, about->time);
        widen(&t->first, &t->last, about->time);
    }
    if (about->tid == PERFILE_NO_PID || (track->comm && about->time < track->named))
        return true;
    const pf_label *l = pf_profile_label_at(&x->profile, label);
    const char *comm =
        l->tid == 0 && l->cpu != PF_NO_LABEL
            ? idle_name(x, l->cpu, &ok)
            : pf_profile_reader_comm(&x->reader, about->pid, about->tid, about->time, &ok);
    if (comm) {
        track->comm = comm;
        track->named = about->time;
    }
    return ok;
}

/* The label of a thread, under the name `comm` if labels have names; comm NULL: that which the
 * capture has for it. */
static uint32_t label_of(pf_exporter *x, const pf_profiled *about, const char *comm)
{
    pf_profile *p = &x->profile;
    const uint32_t number = pf_export_label(x, about);
    if (number == PF_INTERN_NONE)
        return number;
    pf_label label = *pf_profile_label_at(p, number);
    if (label.tid == 0)
        label.cpu = about->cpu;
    if (label.comm && comm && comm[0] && !(label.comm = pf_profile_text(p, comm)))
        return PF_INTERN_NONE;
    return pf_profile_label(p, &label);
}

/* Adds to what is known of the switches of the present capture. */
static bool add_source(pf_tracks *t, pf_exporter *x, unsigned source)
{
    const size_t n = x->n_inputs + (size_t)1;
    if (n > t->n_sources) {
        uint8_t *grown =
            pf_budget_realloc(&x->profile.budget, t->sources, t->n_sources, n, sizeof *grown);
        if (!grown)
            return false;
        memset(grown + t->n_sources, 0, n - t->n_sources);
        t->sources = grown;
        t->n_sources = n;
    }
    t->sources[x->n_inputs] |= (uint8_t)source;
    return true;
}

unsigned pf_tracks_source(const pf_tracks *t, size_t input, bool *whole)
{
    const unsigned has = input < t->n_sources ? t->sources[input] : 0;
    *whole = has & (PF_SWITCHES_WIDE | PF_SWITCHES_IDLE);
    if (has & PF_SWITCHES_WIDE)
        return PF_SWITCHES_WIDE;
    if (has & PF_SWITCHES_TASK && !*whole)
        return PF_SWITCHES_TASK;
    return has & PF_SWITCHES_TRACED;
}

/* True if a label is of the idle threads of all processors. */
static bool is_idle(const pf_label *label)
{
    return label->tid == 0 && label->cpu == PF_NO_LABEL;
}

/* A switch of a thread.  It says nothing where a track is of several threads: where labels do not
 * have the thread, and of idle on a processor that is not known. */
static bool add_switch(pf_tracks *t, pf_exporter *x, const pf_profiled *about, const char *comm,
                       unsigned source, unsigned what)
{
    const uint32_t number = label_of(x, about, comm);
    const pf_moment m = {.time = about->time,
                         .weight =
                             what | source << SOURCE_SHIFT | (uint64_t)x->n_inputs << INPUT_SHIFT,
                         .label = number,
                         .stack = about->cpu};
    if (number == PF_INTERN_NONE)
        return false;
    const pf_label *label = pf_profile_label_at(&x->profile, number);
    if (label->tid == PF_NO_LABEL || is_idle(label))
        return true;
    return add_source(t, x, source) && pf_timeline_add(&t->switches, &x->profile, &m) &&
           pf_tracks_touch(t, x, about, number);
}

/* The thread of a sample of sched:sched_switch leaves its processor to another one, of which the
 * process is not said. */
static bool take_switch(pf_tracks *t, pf_exporter *x, const pf_profiled *sample,
                        const pf_sched_switch *s)
{
    pf_profiled about = *sample;
    if (sample->time == PERFILE_NO_TIME)
        return true;
    about.event = NULL;
    const unsigned left = s->prev_state ? PF_SWITCH_OUT : PF_SWITCH_PREEMPTED;
    if (!add_switch(t, x, &about, s->prev.comm, PF_SWITCHES_TRACED, left) ||
        (!s->prev.tid && !add_source(t, x, PF_SWITCHES_IDLE)))
        return false;
    about.pid = s->next.tid ? PERFILE_NO_PID : 0; /* 0 is idle */
    about.tid = s->next.tid;
    return add_switch(t, x, &about, s->next.comm, PF_SWITCHES_TRACED, PF_SWITCH_NEXT);
}

/* The tracepoints of the present capture; NULL if there is no memory.  They are kept to the end,
 * for the names of fields. */
static perfile_tracepoints *tracepoints_of(pf_tracks *t, const pf_exporter *x)
{
    perfile_tracepoints *all;
    if (t->n_inputs != x->n_inputs) {
        if (perfile_tracepoints_open(x->reader.session, &all, NULL) != PERFILE_OK)
            return NULL;
        if (!pf_buffer_append(&t->tracepoints, &all, sizeof all)) {
            perfile_tracepoints_close(all);
            return NULL;
        }
        t->n_inputs = x->n_inputs;
    }
    memcpy(&all, t->tracepoints.ptr + t->tracepoints.len - sizeof all, sizeof all);
    return all;
}

/* What the payload of a sample says, as in pf_moment.said.  Payloads are kept as long as all that
 * is kept takes half of the memory that there may be: samples without theirs are better than none.
 */
static uint32_t payload_of(pf_tracks *t, pf_exporter *x, const pf_profiled *sample, uint32_t label)
{
    pf_profile *p = &x->profile;
    const perfile_event *e = sample->event;
    if (!e || !sample->record || e->attr->type != PERFILE_TYPE_TRACEPOINT)
        return 0;
    if (p->budget.used > p->budget.limit / 2) {
        x->sum.payloads_left_out++;
        return 0;
    }
    perfile_tracepoints *all = tracepoints_of(t, x);
    return all ? describe_payload(&t->said, p, all, sample->record,
                                  pf_profile_label_at(p, label)->event)
               : PF_INTERN_NONE;
}

static bool add_sample(pf_tracks *t, pf_exporter *x, const pf_profiled *sample, uint32_t label)
{
    pf_moment m = {
        .time = sample->time, .weight = sample->period, .label = label, .stack = sample->stack};
    if (label != PF_INTERN_NONE && (m.said = payload_of(t, x, sample, label)) == PF_INTERN_NONE)
        return false;
    if (label == PF_INTERN_NONE || !pf_timeline_add(&t->samples, &x->profile, &m) ||
        !pf_tracks_touch(t, x, sample, label))
        return false;
    t->at[label].sampled = true;
    return true;
}

bool pf_tracks_take(pf_tracks *t, pf_exporter *x, const pf_profiled *sample, uint32_t label)
{
    pf_sched_switch s;
    pf_profiled known = *sample;
    const bool switched =
        pf_is_sched_switch(sample->event) && pf_sched_switch_read(sample->record, sample->tid, &s);
    if (switched && sample->tid == PERFILE_NO_PID) {
        /* The kernel does not say any more what thread it is that ends: the tracepoint does. */
        known.tid = s.prev.tid;
        label = label_of(x, &known, s.prev.comm);
    } else if (is_idle(pf_profile_label_at(&x->profile, label))) {
        label = label_of(x, &known, NULL);
    }
    return add_sample(t, x, &known, label) &&
           (!switched || !pf_takes_all_switches(sample->event) || take_switch(t, x, &known, &s));
}

static bool is_switch(uint32_t type)
{
    return type == PERFILE_RECORD_SWITCH || type == PERFILE_RECORD_SWITCH_CPU_WIDE;
}

bool pf_tracks_switch(pf_tracks *t, pf_exporter *x, const pf_profiled *noted)
{
    const perfile_record *r = noted->record;
    const unsigned source = r->type == PERFILE_RECORD_SWITCH ? PF_SWITCHES_TASK : PF_SWITCHES_WIDE;
    pf_profiled about = *noted;
    if (!is_switch(r->type))
        return true;
    about.event = NULL; /* what happens to a thread is of no event */
    unsigned what = PF_SWITCH_IN;
    if (r->misc & PERFILE_MISC_SWITCH_OUT)
        what = r->misc & PERFILE_MISC_SWITCH_OUT_PREEMPT ? PF_SWITCH_PREEMPTED : PF_SWITCH_OUT;
    return about.time == PERFILE_NO_TIME || add_switch(t, x, &about, NULL, source, what);
}

/* True if a record is shown: what is measured, missing, or happens.  What existed before (time 0)
 * did not happen then; losses need no time. */
static bool is_mark(const pf_profiled *about)
{
    const unsigned role = pf_role_of(about->record);
    if (!pf_row_of(about->record))
        return false;
    if (role == PF_ROLE_LOSS)
        return true;
    return (role == PF_ROLE_TASK || role == PF_ROLE_KERNEL || role == PF_ROLE_DATA) &&
           about->time != PERFILE_NO_TIME && about->time != 0 &&
           about->record->type != PERFILE_RECORD_CALLCHAIN_DEFERRED;
}

bool pf_tracks_note(pf_tracks *t, pf_exporter *x, const pf_profiled *noted)
{
    const perfile_record *r = noted->record;
    pf_profiled about = *noted;
    about.event = NULL;
    if (is_switch(r->type))
        return pf_tracks_switch(t, x, noted);
    if (!is_mark(&about))
        return true;
    const uint32_t said = pf_marks_describe(&t->said, &x->profile, r);
    if (said == PF_INTERN_NONE)
        return false;
    if (pf_role_of(r) == PF_ROLE_TASK && t->said.tid != PERFILE_NO_PID) {
        about.pid = t->said.pid;
        about.tid = t->said.tid;
    }
    const uint32_t label = label_of(x, &about, NULL);
    const pf_moment m = {.time = about.time, .label = label, .said = said};
    if (label == PF_INTERN_NONE || !pf_timeline_add(&t->marks, &x->profile, &m) ||
        !pf_tracks_touch(t, x, &about, label))
        return false;
    pf_track *track = &t->at[label];
    if (r->type == PERFILE_RECORD_FORK && about.time < track->began)
        track->began = about.time;
    if (r->type == PERFILE_RECORD_EXIT &&
        (track->ended == PERFILE_NO_TIME || about.time > track->ended))
        track->ended = about.time;
    return true;
}

/* A label by which tracks of the same thread are found: the key of a table, and the first label
 * that has it. */
typedef struct same_thread {
    pf_label key;
    uint64_t label; /* + 1; 0: none yet */
} same_thread;

/* The entry of a label without its event, and without its process if `any_process`. */
static same_thread *entry_of(const pf_tracks *t, pf_intern *table, pf_label key, bool any_process)
{
    key.event = NULL;
    key.pid = any_process ? PF_NO_LABEL : key.pid;
    if (t->by_thread) {
        key.comm = NULL;
        key.cpu = key.tid ? PF_NO_LABEL : key.cpu;
    }
    const uint32_t number = pf_intern_add(table, &key);
    return number == PF_INTERN_NONE ? NULL : pf_intern_at(table, number);
}

/* Makes the track of a label known to those of the same thread that have none. */
static bool offer(pf_tracks *t, pf_intern *table, const pf_profile *p, uint32_t label)
{
    for (unsigned any = 0; any < 2; any++) {
        same_thread *e = entry_of(t, table, *pf_profile_label_at(p, label), any);
        if (!e)
            return false;
        if (!e->label)
            e->label = label + UINT64_C(1);
        if (!any)
            t->at[label].thread = (uint32_t)(e->label - 1);
    }
    return true;
}

/* Decides where a label is shown: with another one of its thread, or as the first of it. */
static bool place_one(pf_tracks *t, pf_profile *p, pf_intern *table, uint32_t label)
{
    const same_thread *e = entry_of(t, table, *pf_profile_label_at(p, label), false);
    if (!e)
        return false;
    if (!e->label)
        return offer(t, table, p, label);
    t->at[label].shown = t->at[label].thread = (uint32_t)(e->label - 1);
    return true;
}

/* Decides where all that is no sample is shown: first what has a known process, because what has
 * none looks for that. */
static bool place(pf_tracks *t, pf_profile *p, pf_intern *table)
{
    bool ok = true;
    for (uint32_t i = 0; i < t->n && ok; i++)
        if (t->at[i].sampled)
            ok =
                t->by_thread || t->joins_events ? place_one(t, p, table, i) : offer(t, table, p, i);
    for (unsigned unknown = 0; unknown < 2; unknown++)
        for (uint32_t i = 0; i < t->n && ok; i++) {
            const bool is_unknown = pf_profile_label_at(p, i)->pid == PF_NO_LABEL;
            if (!t->at[i].sampled && is_unknown == unknown)
                ok = place_one(t, p, table, i);
        }
    return ok;
}

/* The track of one label tells what it knows to that where it is shown. */
static void join(pf_track *to, const pf_track *from)
{
    if (from->first <= from->last) {
        widen(&to->first, &to->last, from->first);
        widen(&to->first, &to->last, from->last);
    }
    if (from->comm && (!to->comm || from->named > to->named)) {
        to->comm = from->comm;
        to->named = from->named;
    }
    to->began = from->began < to->began ? from->began : to->began;
    if (from->ended != PERFILE_NO_TIME && (to->ended == PERFILE_NO_TIME || from->ended > to->ended))
        to->ended = from->ended;
}

bool pf_tracks_slice(const pf_tracks *t, uint32_t label, size_t *at, pf_slice *out)
{
    const pf_moment *m = t->switches.at + t->switches.begins[label];
    const size_t n = t->switches.begins[label + 1] - t->switches.begins[label];
    const uint64_t ended = t->at[label].ended;
    size_t i = *at;
    bool seen = false; /* it came by its own record */
    while (i < n && m[i].weight < PF_SWITCH_IN)
        i++;
    if (i == n)
        return false;
    *out = (pf_slice){m[i].time, t->last, m[i].stack, false};
    for (; i < n && m[i].weight >= PF_SWITCH_IN; i++)
        seen |= m[i].weight == PF_SWITCH_IN;
    if (i < n) {
        out->end = m[i].time;
        out->preempted = m[i].weight == PF_SWITCH_PREEMPTED;
    } else if (ended != PERFILE_NO_TIME && ended >= out->begin) {
        out->end = ended;
    }
    *at = i;
    return i < n || seen;
}

/* Keeps of each capture the switches that say most. */
static void keep_best_switches(pf_tracks *t)
{
    pf_timeline *of = &t->switches;
    size_t kept = 0;
    for (size_t i = 0; i < of->n; i++) {
        bool whole;
        pf_moment m = of->at[i];
        const unsigned best = pf_tracks_source(t, (size_t)(m.weight >> INPUT_SHIFT), &whole);
        const unsigned mask = (1U << SOURCE_SHIFT) - 1;
        if ((m.weight >> SOURCE_SHIFT & mask) != best || (whole && t->only_tasks))
            continue;
        m.weight &= mask;
        of->at[kept++] = m;
    }
    of->n = kept;
}

/* Samples stay where they are, unless those of all events of a thread are shown as one. */
static void relabel(const pf_tracks *t, pf_timeline *of)
{
    for (size_t i = 0; i < of->n; i++) {
        if (of != &t->samples || t->joins_events)
            of->at[i].label = t->at[of->at[i].label].shown;
        t->at[of->at[i].label].used |= of != &t->switches;
    }
}

perfile_status pf_tracks_sort(pf_tracks *t, pf_profile *p, perfile_error *err)
{
    pf_intern table = {.seed = pf_index_seed(t),
                       .budget = &p->budget,
                       .width = sizeof(same_thread),
                       .key = sizeof(pf_label)};
    perfile_status st = grow(t, p) && place(t, p, &table) ? PERFILE_OK : pf_profile_fail(p, err);
    pf_intern_free(&table);
    if (st != PERFILE_OK)
        return st;
    for (size_t i = 0; i < t->n; i++)
        if (t->at[i].shown != i)
            join(&t->at[t->at[i].shown], &t->at[i]);
    keep_best_switches(t);
    pf_timeline *const lines[] = {&t->samples, &t->marks, &t->switches};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0] && st == PERFILE_OK; i++) {
        relabel(t, lines[i]);
        st = pf_timeline_sort(lines[i], p, err);
    }
    for (uint32_t i = 0; i < t->n && st == PERFILE_OK; i++) {
        size_t at = 0;
        pf_slice slice;
        t->at[i].used |= pf_tracks_slice(t, i, &at, &slice);
    }
    return st;
}

uint64_t pf_tracks_time(const pf_tracks *t, uint64_t time, uint64_t *untimed)
{
    const bool any = t->first <= t->last;
    if (time != PERFILE_NO_TIME)
        return time - t->first;
    uint64_t at = any ? t->last - t->first : 0;
    if (pf_add_u64(at, (*untimed + any) * MS, &at))
        at = UINT64_MAX;
    ++*untimed;
    return at;
}

/* Threads with their names. */

perfile_status pf_name_threads(const pf_tracks *t, pf_profile *p, pf_intern *threads,
                               perfile_error *err)
{
    *threads = (pf_intern){.seed = pf_index_seed(threads),
                           .budget = &p->budget,
                           .width = sizeof(pf_named_thread),
                           .key = offsetof(pf_named_thread, comm)};
    for (uint32_t i = 0; i < t->n; i++) {
        const pf_label *label = pf_profile_label_at(p, i);
        const pf_track *track = &t->at[i];
        const pf_named_thread key = {
            .pid = label->pid, .tid = label->tid, .cpu = label->tid ? PF_NO_LABEL : label->cpu};
        if (label->pid == PF_NO_LABEL || label->tid == PF_NO_LABEL)
            continue;
        const uint32_t number = pf_intern_add(threads, &key);
        if (number == PF_INTERN_NONE)
            return pf_profile_fail(p, err);
        pf_named_thread *one = pf_intern_at(threads, number);
        if (track->comm && (!one->comm || track->named >= one->named)) {
            one->comm = track->comm;
            one->named = track->named;
        }
    }
    return PERFILE_OK;
}

/* Reading sched:sched_switch.
 *
 * Its fields have stood at the same places since 2.6.31 (kernel: include/trace/events/sched.h):
 * 8 bytes that all tracepoints have, then prev_comm[16], prev_pid, prev_prio, prev_state (a long),
 * next_comm[16], next_pid, next_prio.  The size tells machines of 32 bits from those of 64.  That
 * prev_pid is the thread of the sample is checked, so that data laid out otherwise say nothing. */

enum { COMMON_BYTES = 8, COMM_BYTES = 16, BYTES_32 = 60, BYTES_64 = 64 };

bool pf_is_sched_switch(const perfile_event *event)
{
    static const char name[] = "sched:sched_switch";
    const size_t n = sizeof name - 1;
    return event && strncmp(event->name, name, n) == 0 &&
           (!event->name[n] || event->name[n] == ':');
}

bool pf_takes_all_switches(const perfile_event *event)
{
    return !event->attr->is_freq && event->attr->sample_period == 1;
}

static void read_switched(pf_cursor *c, pf_switched *out)
{
    const perfile_bytes comm = pf_cur_span(c, COMM_BYTES);
    if (comm.len == COMM_BYTES)
        memcpy(out->comm, comm.ptr, COMM_BYTES);
    out->tid = pf_cur_u32(c);
    out->prio = (int32_t)pf_cur_u32(c);
}

bool pf_sched_switch_read(const perfile_record *sample, uint32_t tid, pf_sched_switch *out)
{
    perfile_sample s;
    if (perfile_sample_decode(sample, &s, sizeof s, NULL) != PERFILE_OK ||
        !(s.present & PERFILE_SAMPLE_RAW) || s.raw.len < BYTES_32)
        return false;
    *out = (pf_sched_switch){0};
    pf_cursor c = pf_cur(s.raw, sample->flags & PERFILE_REC_SWAPPED);
    (void)pf_cur_span(&c, COMMON_BYTES);
    read_switched(&c, &out->prev);
    out->prev_state = s.raw.len >= BYTES_64 ? (int64_t)pf_cur_u64(&c) : (int32_t)pf_cur_u32(&c);
    read_switched(&c, &out->next);
    return !c.bad && (tid == PERFILE_NO_PID || tid == out->prev.tid);
}
