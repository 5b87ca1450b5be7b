/* The form `speedscope`: JSON for the viewer of that name, with a profile for each thread and
 * event.
 *
 * `shared.frames` has each function once, and each unnamed location of an object; with lines, each
 * source line.  A sample is a list of indexes into it, outermost first; samples are in order of
 * time.  A sample weighs ns if its event is a clock, or cycles at a fixed frequency.  Then an empty
 * stack fills the time between two samples when the thread was on no CPU, as far as switches show.
 * Otherwise a sample weighs 1.  The options PERFILE_EXPORT_SAMPLES and _PERIODS override this.
 *
 * The viewer opens the first profile and lists them in their order, so the ones with most samples
 * come first.  An event with several threads has one more profile for all of them, in which each
 * stack appears once, below a frame for its thread. */
#include "base/alloc.h"
#include "base/error.h"
#include "export/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A label that has samples. */
typedef struct scope_thread {
    const char *event;
    uint64_t samples;
    uint64_t each; /* weight of a sample; 0: its period */
    bool ns;       /* weights are ns */
    uint32_t label;
    uint32_t group;                /* the first label of the same event */
    uint32_t sums_begin, sums_end; /* its sums in the profile */
} scope_thread;

/* A profile of the output, for one thread or for all threads of an event. */
typedef struct scope_part {
    uint64_t samples;
    size_t first, n; /* range in speedscope.threads */
} scope_part;

typedef struct speedscope {
    pf_exporter x;
    pf_tracks tracks;
    pf_shown shown;
    pf_buffer name;
    pf_buffer path;        /* indexes of the stack that is being written */
    scope_thread *threads; /* grouped by event */
    size_t n_threads;
    scope_part *parts;
    size_t n_parts;
    uint32_t *thread_frames; /* by label: the frame of its thread */
} speedscope;

static perfile_status scope_open(perfile_emitter *e, perfile_error *err)
{
    speedscope *s = (speedscope *)(void *)e;
    perfile_status st = pf_export_open(e, err);
    pf_tracks_init(&s->tracks, &s->x.profile);
    pf_shown_init(&s->shown, &s->x.profile);
    s->shown.by_line = s->x.options.flags & PERFILE_EXPORT_LINES;
    return st;
}

static void scope_close(perfile_emitter *e)
{
    speedscope *s = (speedscope *)(void *)e;
    pf_tracks_free(&s->tracks);
    pf_shown_free(&s->shown);
    pf_buffer_free(&s->name);
    pf_buffer_free(&s->path);
    pf_free(s->threads);
    pf_free(s->parts);
    pf_free(s->thread_frames);
    pf_export_close(e);
}

static bool scope_take(pf_exporter *x, const pf_profiled *sample, uint32_t label)
{
    return pf_tracks_take(&((speedscope *)(void *)x)->tracks, x, sample, label);
}

static bool scope_note(pf_exporter *x, const pf_profiled *about)
{
    return pf_tracks_switch(&((speedscope *)(void *)x)->tracks, x, about);
}

static void put_text(speedscope *s, const char *text)
{
    pf_export_put_text(&s->x, text);
}

/* Determining the threads, and the profiles made of them. */

/* Adds up the samples of a label, and decides their weight.  `groups` maps each event to its first
 * label.  Returns false when out of memory. */
static bool add_thread(speedscope *s, uint32_t number, pf_index *groups)
{
    pf_profile *p = &s->x.profile;
    const pf_timeline *line = &s->tracks.samples;
    const char *event = pf_profile_label_at(p, number)->event;
    const uint64_t interval = pf_export_event_of(&s->x, event).interval;
    const uint32_t flags = s->x.options.flags;
    uint64_t period = 0;
    scope_thread t = {.label = number, .event = event, .sums_begin = (uint32_t)p->sums.n};
    for (size_t i = line->begins[number]; i < line->begins[number + 1]; i++) {
        t.samples++;
        pf_sum_add(&period, line->at[i].weight);
        if (!pf_profile_count(p, number, line->at[i].stack, line->at[i].weight))
            return false;
    }
    t.sums_end = (uint32_t)p->sums.n;
    if (flags & PERFILE_EXPORT_SAMPLES) {
        t.each = 1;
    } else if (flags & PERFILE_EXPORT_PERIODS || (pf_export_is_clock(event) && period)) {
        t.ns = pf_export_is_clock(event);
    } else {
        t.each = interval ? interval : 1;
        t.ns = interval;
    }
    t.group = pf_index_get(groups, (uintptr_t)event);
    if (t.group == PF_INDEX_NONE) {
        t.group = number;
        if (!pf_index_put(groups, (uintptr_t)event, number))
            return false;
    }
    if (t.samples)
        s->threads[s->n_threads++] = t;
    return true;
}

static int by_event(const void *a, const void *b)
{
    const scope_thread *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->label > y->label) - (x->label < y->label);
}

/* Sorts by most samples; the profile of all threads comes before the one of a single thread. */
static int by_samples(const void *a, const void *b)
{
    const scope_part *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static perfile_status find_parts(speedscope *s, perfile_error *err)
{
    pf_profile *p = &s->x.profile;
    const size_t n = s->tracks.n;
    s->threads = pf_budget_alloc(&p->budget, n + 1, sizeof *s->threads);
    s->parts = pf_budget_alloc(&p->budget, 2 * n + 1, sizeof *s->parts);
    bool ok = s->threads && s->parts;
    pf_index groups = {.seed = pf_index_seed(s), .budget = &p->budget};
    for (uint32_t i = 0; i < n && ok; i++)
        ok = add_thread(s, i, &groups);
    pf_index_free(&groups);
    if (!ok)
        return pf_profile_fail(p, err);
    qsort(s->threads, s->n_threads, sizeof *s->threads, by_event);
    for (size_t first = 0, i; first < s->n_threads; first = i) {
        scope_part all = {.first = first};
        for (i = first; i < s->n_threads && s->threads[i].event == s->threads[first].event; i++) {
            s->parts[s->n_parts++] = (scope_part){s->threads[i].samples, i, 1};
            all.samples += s->threads[i].samples;
        }
        all.n = i - first;
        if (all.n > 1)
            s->parts[s->n_parts++] = all;
    }
    qsort(s->parts, s->n_parts, sizeof *s->parts, by_samples);
    return PERFILE_OK;
}

/* Texts. */

/* Makes the name of a thread, "work 123/124", followed by its event. */
static bool name_label(speedscope *s, const pf_label *label, const char *event)
{
    char numbers[64] = "";
    pf_buffer_clear(&s->name);
    if (label->pid != PF_NO_LABEL && label->tid != PF_NO_LABEL)
        snprintf(numbers, sizeof numbers, " %" PRIu32 "/%" PRIu32, label->pid, label->tid);
    else if (label->pid != PF_NO_LABEL || label->tid != PF_NO_LABEL)
        snprintf(numbers, sizeof numbers, " %" PRIu32,
                 label->pid != PF_NO_LABEL ? label->pid : label->tid);
    if (label->cpu != PF_NO_LABEL)
        snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), " [%" PRIu32 "]",
                 label->cpu);
    const bool no_name = !label->comm && !numbers[0];
    const char *comm = label->comm ? label->comm : no_name ? "all" : NULL;
    return (!comm || pf_name_text(comm, PF_NAME_MOST, &s->name)) &&
           pf_buffer_append(&s->name, numbers, strlen(numbers)) &&
           (!event ||
            (pf_buffer_append_u8(&s->name, ' ') && pf_name_text(event, PF_NAME_MOST, &s->name))) &&
           pf_buffer_append_u8(&s->name, 0);
}

static perfile_status put_label(speedscope *s, const pf_label *label, const char *event,
                                perfile_error *err)
{
    if (!name_label(s, label, event))
        return pf_fail_nomem(err, "export");
    pf_export_put_string(&s->x, (const char *)s->name.ptr);
    return PERFILE_OK;
}

/* Writes a frame for each thread, if there are profiles of all threads. */
static perfile_status put_thread_frames(speedscope *s, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    uint32_t next = (uint32_t)s->shown.names.n;
    s->thread_frames =
        pf_budget_alloc(&s->x.profile.budget, s->tracks.n + 1, sizeof *s->thread_frames);
    if (!s->thread_frames)
        return pf_profile_fail(&s->x.profile, err);
    for (size_t i = 0; i < s->n_threads && s->n_parts > s->n_threads && st == PERFILE_OK; i++) {
        /* Threads are numbered in the order of their first label. */
        const uint32_t thread = s->tracks.at[s->threads[i].label].thread;
        if (s->thread_frames[thread])
            continue;
        s->thread_frames[thread] = next++;
        put_text(s, next > 1 ? ",\n{\"name\":" : "\n{\"name\":");
        st = put_label(s, pf_profile_label_at(&s->x.profile, thread), NULL, err);
        put_text(s, "}");
        if (st == PERFILE_OK)
            st = pf_export_write_some(&s->x, err);
    }
    return st;
}

static perfile_status put_frames(speedscope *s, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    put_text(s, "\"shared\":{\"frames\":[");
    for (uint32_t i = 0; i < s->shown.names.n && st == PERFILE_OK; i++) {
        const pf_shown_name *frame = pf_shown_at(&s->shown, i);
        const pf_object *object = pf_profile_object_at(&s->x.profile, frame->object);
        put_text(s, i ? ",\n{\"name\":" : "\n{\"name\":");
        pf_export_put_string(&s->x, frame->name);
        if (frame->file || object) {
            put_text(s, ",\"file\":");
            pf_export_put_name(&s->x, &s->name, frame->file ? frame->file : object->name);
        }
        if (frame->line) {
            put_text(s, ",\"line\":");
            pf_export_put_number(&s->x, frame->line);
        }
        put_text(s, "}");
        st = pf_export_write_some(&s->x, err);
    }
    if (st == PERFILE_OK)
        st = put_thread_frames(s, err);
    put_text(s, "\n]},\n");
    return st;
}

/* Samples. */

/* Writes a stack as indexes into shared.frames, below `thread` unless it is NULL. */
static void put_stack(speedscope *s, uint32_t stack, const uint32_t *thread)
{
    const pf_profile *p = &s->x.profile;
    uint32_t key = 0, inner = PF_EMPTY_STACK;
    s->path.len = 0;
    for (; stack != PF_EMPTY_STACK; stack = pf_profile_stack_at(p, stack)->parent) {
        key = pf_line_key(p, stack, inner, key);
        inner = stack;
        const uint32_t position = pf_shown_position(&s->shown, key);
        if (!pf_buffer_append(&s->path, &position, sizeof position))
            s->x.base.no_memory = true;
    }
    if (thread && !pf_buffer_append(&s->path, thread, sizeof *thread))
        s->x.base.no_memory = true;
    put_text(s, "[");
    for (size_t i = s->path.len / sizeof(uint32_t); i-- > 0;) {
        pf_export_put_number(&s->x, ((const uint32_t *)(const void *)s->path.ptr)[i]);
        put_text(s, i ? "," : "");
    }
    put_text(s, "]");
}

/* Iterates over the samples of a profile.  This is done several times, because stacks and weights
 * are separate lists. */
typedef struct scope_walk {
    speedscope *s;
    const scope_part *part;
    size_t thread; /* of the part; index in speedscope.threads */
    size_t at;     /* index of its moments, or of its sums for all threads */
    /* One thread: its slices on a CPU, the current and the next one. */
    size_t slice_at;
    pf_slice slice, next;
    bool has_slice, has_next;
} scope_walk;

/* A sample, or time between samples. */
typedef struct scope_item {
    uint32_t stack;
    const uint32_t *thread; /* frame below the stack; NULL: none */
    uint64_t weight;
} scope_item;

static bool next_slice(scope_walk *w, pf_slice *out)
{
    const pf_tracks *t = &w->s->tracks;
    const uint32_t label = t->at[w->s->threads[w->part->first].label].thread;
    return pf_tracks_slice(t, label, &w->slice_at, out);
}

static scope_walk walk_of(speedscope *s, const scope_part *part)
{
    const scope_thread *t = &s->threads[part->first];
    scope_walk w = {.s = s, .part = part, .thread = part->first};
    w.at = part->n > 1 ? t->sums_begin : s->tracks.samples.begins[t->label];
    const uint32_t counts = PERFILE_EXPORT_SAMPLES | PERFILE_EXPORT_PERIODS;
    if (part->n == 1 && t->ns && !(s->x.options.flags & counts)) {
        w.has_slice = next_slice(&w, &w.slice);
        w.has_next = w.has_slice && next_slice(&w, &w.next);
    }
    return w;
}

/* Returns the time that the thread was on no CPU between the previous sample and the one at
 * `time`. */
static uint64_t gap_before(scope_walk *w, uint64_t time, bool is_first)
{
    uint64_t gap = 0;
    while (w->has_next && time != PERFILE_NO_TIME && w->next.begin <= time) {
        if (!is_first && w->next.begin > w->slice.end)
            gap += w->next.begin - w->slice.end;
        w->slice = w->next;
        w->has_next = next_slice(w, &w->next);
    }
    return gap;
}

/* Returns the next sample of all threads. */
static bool next_of_all(scope_walk *w, scope_item *out)
{
    const speedscope *s = w->s;
    const scope_thread *t = &s->threads[w->thread];
    while (w->at == t->sums_end) {
        if (++w->thread == w->part->first + w->part->n)
            return false;
        t = &s->threads[w->thread];
        w->at = t->sums_begin;
    }
    const pf_sum *sum = pf_profile_sum_at(&s->x.profile, (uint32_t)w->at++);
    *out = (scope_item){.stack = sum->stack,
                        .thread = &s->thread_frames[s->tracks.at[t->label].thread],
                        .weight = sum->period};
    if (t->each)
        out->weight = sum->samples <= UINT64_MAX / t->each ? sum->samples * t->each : UINT64_MAX;
    return true;
}

static bool next_item(scope_walk *w, scope_item *out)
{
    const scope_thread *t = &w->s->threads[w->thread];
    const pf_timeline *line = &w->s->tracks.samples;
    if (w->part->n > 1)
        return next_of_all(w, out);
    if (w->at == line->begins[t->label + 1])
        return false;
    const pf_moment *m = &line->at[w->at];
    const uint64_t gap = gap_before(w, m->time, w->at == line->begins[t->label]);
    *out = (scope_item){.stack = gap ? PF_EMPTY_STACK : m->stack,
                        .weight = gap       ? gap
                                  : t->each ? t->each
                                            : m->weight};
    w->at += !gap;
    return true;
}

/* Writes a profile. */
static perfile_status put_part(speedscope *s, const scope_part *part, perfile_error *err)
{
    static const pf_label all = {.pid = PF_NO_LABEL, .tid = PF_NO_LABEL, .cpu = PF_NO_LABEL};
    const scope_thread *t = &s->threads[part->first];
    const pf_label *label = part->n > 1 ? &all : pf_profile_label_at(&s->x.profile, t->label);
    uint64_t sum = 0;
    scope_item item;
    unsigned n = 0;
    put_text(s, "{\"type\":\"sampled\",\"name\":");
    perfile_status st = put_label(s, label, t->event, err);
    for (scope_walk w = walk_of(s, part); next_item(&w, &item);)
        pf_sum_add(&sum, item.weight);
    put_text(s, t->ns ? ",\"unit\":\"nanoseconds\"" : ",\"unit\":\"none\"");
    put_text(s, ",\"startValue\":0,\"endValue\":");
    pf_export_put_number(&s->x, sum);
    put_text(s, ",\n\"samples\":[");
    for (scope_walk w = walk_of(s, part); st == PERFILE_OK && next_item(&w, &item);) {
        put_text(s, n++ ? "," : "");
        put_stack(s, item.stack, item.thread);
        st = pf_export_write_some(&s->x, err);
    }
    put_text(s, "],\n\"weights\":[");
    n = 0;
    for (scope_walk w = walk_of(s, part); st == PERFILE_OK && next_item(&w, &item);) {
        put_text(s, n++ ? "," : "");
        pf_export_put_number(&s->x, item.weight);
        st = pf_export_write_some(&s->x, err);
    }
    put_text(s, "]}");
    return st;
}

static perfile_status put_all(speedscope *s, perfile_error *err)
{
    put_text(s, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                "\"exporter\":\"perfile\",\"name\":");
    pf_export_put_title(&s->x, &s->name);
    put_text(s, ",\"activeProfileIndex\":0,\n");
    perfile_status st = put_frames(s, err);
    put_text(s, "\"profiles\":[");
    for (size_t i = 0; i < s->n_parts && st == PERFILE_OK; i++) {
        put_text(s, i ? ",\n" : "\n");
        st = put_part(s, &s->parts[i], err);
    }
    put_text(s, "\n]}\n");
    return st;
}

static perfile_status scope_finish(perfile_emitter *e, perfile_error *err)
{
    speedscope *s = (speedscope *)(void *)e;
    perfile_status st = pf_export_end_input(&s->x, err);
    if (st == PERFILE_OK)
        st = pf_tracks_sort(&s->tracks, &s->x.profile, err);
    if (st == PERFILE_OK)
        st = pf_shown_make(&s->shown, &s->x, err);
    if (st == PERFILE_OK)
        st = find_parts(s, err);
    return st == PERFILE_OK ? put_all(s, err) : st;
}

static const pf_export_ops scope_exports = {
    .put_run = pf_export_put_run,
    .next = pf_export_next,
    .summary = pf_export_summary,
    .take = scope_take,
    .note = scope_note,
    .per = {PERFILE_PER_COMM, PERFILE_PER_PID, PERFILE_PER_TID, PERFILE_PER_EVENT},
    .by_name = true,
    .joins = true,
    .lines = true,
};

const pf_emit_ops pf_emit_speedscope = {
    .name = "speedscope",
    .doc = "JSON for the viewer speedscope, a profile for each thread",
    .size = sizeof(speedscope),
    .open = scope_open,
    .close = scope_close,
    .begin = pf_export_begin,
    .put = pf_export_put,
    .finish = scope_finish,
    .exports = &scope_exports,
};
