/* Tracks of threads, for forms that show time: samples, other records, and when a thread was on a
 * CPU. */
#include "base/alloc.h"
#include "base/checked.h"
#include "export/export.h"
#include "schema/rows.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MS = 1000000 };

/* Layout of pf_moment.weight of a switch before sorting: PF_SWITCH_…, PF_SWITCHES_… and the
 * capture. */
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

/* Returns the kernel's name for idle on a CPU. */
static const char *idle_name(pf_exporter *x, uint32_t cpu, bool *ok)
{
    char name[24];
    snprintf(name, sizeof name, "swapper/%" PRIu32, cpu);
    const char *text = pf_profile_text(&x->profile, name);
    *ok = text;
    return text;
}

/* Widens the times of a label's track, and updates its name, which is the latest one.  Returns
 * false when out of memory or over the limit. */
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

/* Returns the label of a thread.  If labels have names, the name is `comm`, or with NULL the
 * thread's name in the capture. */
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

/* Adds a source of switches to the current capture. */
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

/* Returns true if a label is for the idle threads of all CPUs. */
static bool is_idle(const pf_label *label)
{
    return label->tid == 0 && label->cpu == PF_NO_LABEL;
}

/* Adds a switch of a thread.  Ignores switches on tracks of several threads: if labels do not
 * include the thread, and for idle on an unknown CPU. */
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

/* Returns the tracepoints of the current capture, NULL when out of memory.  They stay open to the
 * end, for the names of fields. */
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
        t->reader = (pf_switch_reader){.session = x->reader.session, .all = all};
    }
    memcpy(&all, t->tracepoints.ptr + t->tracepoints.len - sizeof all, sizeof all);
    return all;
}

/* Returns the payload of a sample as in pf_moment.said.  Payloads are only stored while at most
 * half of the memory limit is used, because samples without payloads are better than no samples. */
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
    return all ? pf_marks_payload(&t->said, p, all, sample->record,
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

bool pf_tracks_read_switch(pf_tracks *t, pf_exporter *x, const pf_profiled *about, pf_switch *out)
{
    return tracepoints_of(t, x) && pf_switches_read(&t->reader, about, out);
}

/* Adds the switches of a record: threads that left their CPU and threads that got one. */
static bool add_switches(pf_tracks *t, pf_exporter *x, const pf_profiled *record,
                         const pf_switch *said)
{
    pf_profiled about = *record;
    bool ok = true;
    about.event = NULL; /* switches of a thread belong to no event */
    /* Idle leaves a CPU, so the tracepoint is recorded for all threads of a CPU. */
    if (said->source == PF_SWITCHES_TRACED && !said->of[0].tid)
        ok = add_source(t, x, PF_SWITCHES_IDLE);
    for (unsigned i = 0; i < said->n && said->source && ok; i++) {
        const pf_switched *s = &said->of[i];
        about.pid = s->pid;
        about.tid = s->tid;
        ok = add_switch(t, x, &about, s->comm, said->source, s->what);
    }
    return ok;
}

bool pf_tracks_take(pf_tracks *t, pf_exporter *x, const pf_profiled *sample, uint32_t label)
{
    pf_switch said = {0};
    pf_profiled known = *sample;
    if (sample->record && !pf_tracks_read_switch(t, x, sample, &said))
        return false;
    if (said.n == 2 && sample->tid == PERFILE_NO_PID) {
        /* The kernel does not record the thread any more when it ends, but the tracepoint does. */
        known.tid = said.of[0].tid;
        label = label_of(x, &known, said.of[0].comm);
    } else if (is_idle(pf_profile_label_at(&x->profile, label))) {
        label = label_of(x, &known, NULL);
    }
    return add_sample(t, x, &known, label) && add_switches(t, x, &known, &said);
}

static bool is_switch(uint32_t type)
{
    return type == PERFILE_RECORD_SWITCH || type == PERFILE_RECORD_SWITCH_CPU_WIDE;
}

bool pf_tracks_switch(pf_tracks *t, pf_exporter *x, const pf_profiled *noted)
{
    pf_switch said;
    return !is_switch(noted->record->type) ||
           (pf_tracks_read_switch(t, x, noted, &said) && add_switches(t, x, noted, &said));
}

/* Returns true if a record is shown as a mark: tasks, kernel changes, data and losses.  Records of
 * earlier state have time 0 and are not shown; losses need no time. */
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

/* Entry of a table that finds tracks of the same thread: the key, and the first label with it. */
typedef struct same_thread {
    pf_label key;
    uint64_t label; /* label + 1; 0 if there is none yet */
} same_thread;

/* Returns the entry of a label without its event, and without its process if `any_process`. */
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

/* Offers the track of a label to other labels of the same thread that have no track. */
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

/* Decides where a label is shown: with another label of its thread, or on its own track if it is
 * the first. */
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

/* Decides where labels without samples are shown.  Labels with a known process come first, because
 * the others search among them. */
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

/* Merges the facts of one label's track into the track where it is shown. */
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
    pf_turns now = {0}, before;
    for (; *at < n; ++*at) {
        const pf_moment *i = &m[*at];
        const pf_switched s = {.cpu = i->stack, .what = (uint8_t)i->weight};
        if (pf_turns_step(&now, &s, i->time, 0, &before) == PF_TURN_ON) {
            *out = (pf_slice){before.since, i->time, before.cpu, s.what == PF_SWITCH_PREEMPTED};
            return true;
        }
    }
    if (now.is != PF_TURN_ON || !now.by_itself)
        return false;
    *out = (pf_slice){now.since, t->last, now.cpu, false};
    if (ended != PERFILE_NO_TIME && ended >= out->begin)
        out->end = ended;
    return true;
}

/* For each capture, keeps only the switches of its most complete source. */
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

/* Moves items to the label they are shown with.  Samples only move if all events of a thread share
 * a track. */
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
