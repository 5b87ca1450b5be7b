/* The form `chrome`: trace events in JSON, as chrome://tracing and Perfetto read them.
 *
 * Specification: Trace Event Format.  Complete events ("X") are slices of a thread on a CPU;
 * counters ("C") are the values of READ and STAT records and of samples.  Samples are instants
 * ("i") with their stack (`sf`), not sample events ("P"): the specification allows a stack in both,
 * but current viewers only show the former.  `stackFrames` has each stack with its caller as
 * parent.  Threads are identified by pid and tid, so the idle thread of CPU N is thread N of
 * process 0.  Times are µs from the first one, with ns as decimals. */
#include "base/error.h"
#include "export/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct chrome {
    pf_exporter x;
    pf_tracks tracks;
    pf_counters counters;
    pf_shown shown;
    pf_buffer name;
    bool any; /* an event was written */
} chrome;

static perfile_status chrome_open(perfile_emitter *e, perfile_error *err)
{
    chrome *c = (chrome *)(void *)e;
    perfile_status st = pf_export_open(e, err);
    pf_tracks_init(&c->tracks, &c->x.profile);
    pf_shown_init(&c->shown, &c->x.profile);
    c->tracks.by_thread = true;
    return st;
}

static void chrome_close(perfile_emitter *e)
{
    chrome *c = (chrome *)(void *)e;
    pf_tracks_free(&c->tracks);
    pf_counters_free(&c->counters);
    pf_shown_free(&c->shown);
    pf_buffer_free(&c->name);
    pf_export_close(e);
}

static bool chrome_take(pf_exporter *x, const pf_profiled *sample, uint32_t label)
{
    chrome *c = (chrome *)(void *)x;
    const bool reads = sample->event && sample->event->attr->sample_type & PERFILE_SAMPLE_READ;
    return pf_tracks_take(&c->tracks, x, sample, label) &&
           (!reads || pf_counters_add(&c->counters, &x->profile, sample));
}

static bool note(pf_exporter *x, const pf_profiled *about)
{
    chrome *c = (chrome *)(void *)x;
    return pf_counters_add(&c->counters, &x->profile, about) &&
           pf_tracks_note(&c->tracks, x, about);
}

static void put(chrome *c, const char *text)
{
    pf_export_put_text(&c->x, text);
}

/* Writes a name of a capture as a JSON string. */
static void put_name(chrome *c, const char *name)
{
    pf_export_put_name(&c->x, &c->name, name);
}

/* The same, of at most `most` bytes. */
static void put_within(chrome *c, const char *name, size_t most)
{
    pf_buffer_clear(&c->name);
    if (pf_name_text(name, most, &c->name) && pf_buffer_append_u8(&c->name, 0))
        pf_export_put_string(&c->x, (const char *)c->name.ptr);
    else
        c->x.base.no_memory = true;
}

static void put_us(chrome *c, const char *key, uint64_t ns)
{
    put(c, key);
    pf_export_put_number(&c->x, ns / 1000);
    put(c, ".");
    uint8_t *at = pf_emit_room(&c->x.base, 3);
    if (at)
        pf_emit_filled(&c->x.base, pf_put_dec_fixed(at, ns % 1000, 3));
}

/* Begins an event of a thread.  Unknown threads and processes are -1.  `cpu` is only used for
 * idle. */
static void begin(chrome *c, char phase, uint32_t pid, uint32_t tid, uint32_t cpu)
{
    char text[80];
    tid = tid ? tid : cpu;
    snprintf(text, sizeof text, "%s{\"ph\":\"%c\",\"pid\":%" PRId32 ",\"tid\":%" PRId32,
             c->any ? ",\n" : "\n", phase, (int32_t)pid, (int32_t)tid);
    c->any = true;
    put(c, text);
}

static void put_metadata(chrome *c, const pf_named_thread *t, const char *what, const char *name)
{
    begin(c, 'M', t->pid, t->tid, t->cpu);
    put(c, ",\"name\":\"");
    put(c, what);
    put(c, "\",\"args\":{\"name\":");
    put_name(c, name);
    put(c, "}}");
}

static perfile_status put_names(chrome *c, perfile_error *err)
{
    pf_intern threads;
    perfile_status st = pf_name_threads(&c->tracks, &c->x.profile, &threads, err);
    bool named_idle = false;
    for (uint32_t i = 0; i < threads.n && st == PERFILE_OK; i++) {
        const pf_named_thread *t = pf_intern_at(&threads, i);
        if (t->comm && t->pid == t->tid && (t->tid || !named_idle))
            put_metadata(c, t, "process_name", t->tid ? t->comm : "swapper");
        named_idle |= t->tid == 0;
        if (t->comm)
            put_metadata(c, t, "thread_name", t->comm);
        st = pf_export_write_some(&c->x, err);
    }
    pf_intern_free(&threads);
    return st;
}

static void put_cpu(chrome *c, uint32_t cpu)
{
    if (cpu == PF_NO_LABEL)
        return;
    put(c, ",\"cpu\":");
    pf_export_put_number(&c->x, cpu);
}

static void put_sample(chrome *c, const pf_label *l, const pf_moment *m, uint64_t time)
{
    const bool weighs = c->x.options.flags & PERFILE_EXPORT_PERIODS;
    begin(c, 'i', l->pid, l->tid, l->cpu);
    put_us(c, ",\"s\":\"t\",\"ts\":", time);
    put(c, ",\"cat\":\"sample\",\"name\":");
    put_name(c, l->event ? l->event : "sample");
    if (m->stack != PF_EMPTY_STACK) {
        put(c, ",\"sf\":\"");
        pf_export_put_number(&c->x, m->stack);
        put(c, "\"");
    }
    put(c, ",\"args\":{\"weight\":");
    pf_export_put_number(&c->x, weighs ? m->weight : 1);
    put_cpu(c, l->cpu);
    if (l->comm) {
        put(c, ",\"comm\":");
        put_name(c, l->comm);
    }
    const char *payload = m->said ? pf_marks_at(&c->tracks.said, m->said - 1)->text : "";
    if (*payload) { /* `,"prev_pid":7,…` */
        put(c, ",\"tracepoint\":{");
        put(c, payload + 1);
        put(c, "}");
    }
    put(c, "}}");
}

static void put_slice(chrome *c, const pf_label *l, const pf_slice *s)
{
    begin(c, 'X', l->pid, l->tid, l->cpu);
    put_us(c, ",\"ts\":", s->begin - c->tracks.first);
    put_us(c, ",\"dur\":", s->end - s->begin);
    put(c, ",\"cat\":\"sched\",\"name\":\"on cpu\",\"args\":{\"thread\":");
    pf_export_put_number(&c->x, l->tid);
    put_cpu(c, s->cpu);
    put(c, "}}");
}

static void put_mark(chrome *c, const pf_label *l, const pf_mark *mark, uint64_t time)
{
    const char *name = pf_marks_name(&mark->kind); /* no marks of samples here */
    begin(c, 'i', l->pid, l->tid, l->cpu);
    put_us(c, ",\"s\":\"t\",\"ts\":", time);
    put(c, ",\"cat\":\"record\",\"name\":\"");
    put(c, name);
    put(c, "\",\"args\":{\"type\":\"");
    put(c, name);
    put(c, "\"");
    put(c, mark->text);
    put(c, "}}");
}

/* Writes everything on the track of one label. */
static perfile_status put_track(chrome *c, uint32_t label, perfile_error *err)
{
    const pf_tracks *t = &c->tracks;
    const pf_label *l = pf_profile_label_at(&c->x.profile, label);
    uint64_t untimed = 0;
    size_t at = 0;
    pf_slice slice;
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK && pf_tracks_slice(t, label, &at, &slice)) {
        put_slice(c, l, &slice);
        st = pf_export_write_some(&c->x, err);
    }
    for (size_t i = t->marks.begins[label]; i < t->marks.begins[label + 1] && st == PERFILE_OK;
         i++) {
        const pf_moment *m = &t->marks.at[i];
        put_mark(c, l, pf_marks_at(&t->said, m->said), pf_tracks_time(t, m->time, &untimed));
        st = pf_export_write_some(&c->x, err);
    }
    untimed = 0;
    for (size_t i = t->samples.begins[label]; i < t->samples.begins[label + 1] && st == PERFILE_OK;
         i++) {
        const pf_moment *m = &t->samples.at[i];
        put_sample(c, l, m, pf_tracks_time(t, m->time, &untimed));
        st = pf_export_write_some(&c->x, err);
    }
    return st;
}

static perfile_status put_counters(chrome *c, perfile_error *err)
{
    const pf_tracks *t = &c->tracks;
    uint64_t untimed = 0;
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < c->counters.n && st == PERFILE_OK; i++) {
        const pf_counter *one = &c->counters.at[i];
        const bool relative =
            one->since_start || (one->time != PERFILE_NO_TIME && one->time < t->first);
        begin(c, 'C', one->pid, one->pid, 0);
        put_us(c, ",\"ts\":", relative ? one->time : pf_tracks_time(t, one->time, &untimed));
        put(c, ",\"name\":");
        pf_export_put_string(&c->x, one->name);
        put(c, ",\"args\":{\"value\":");
        pf_export_put_number(&c->x, one->value);
        put(c, "}}");
        st = pf_export_write_some(&c->x, err);
    }
    return st;
}

/* Returns the bytes of the names of all stack frames, if none were longer than `most`. */
static uint64_t names_bytes(const void *user, size_t most)
{
    const chrome *c = user;
    const pf_profile *p = &c->x.profile;
    uint64_t sum = 0;
    for (uint32_t i = PF_EMPTY_STACK + 1; i < p->stacks.n; i++) {
        const uint32_t frame = pf_profile_stack_at(p, i)->frame;
        const pf_object *object = pf_profile_object_at(p, pf_profile_frame_at(p, frame)->object);
        const size_t of_object = most < PF_NAME_MOST ? most : PF_NAME_MOST;
        sum += strnlen(pf_shown_at(&c->shown, c->shown.positions[frame])->name, most) +
               (object ? strnlen(object->name, of_object) : 0);
    }
    return sum;
}

static perfile_status put_stacks(chrome *c, perfile_error *err)
{
    const pf_profile *p = &c->x.profile;
    const size_t most = pf_export_names_most(&c->x, names_bytes, c);
    perfile_status st = PERFILE_OK;
    put(c, "\n],\n\"stackFrames\":{");
    for (uint32_t i = PF_EMPTY_STACK + 1; i < p->stacks.n && st == PERFILE_OK; i++) {
        const pf_call_stack *stack = pf_profile_stack_at(p, i);
        const pf_call_frame *frame = pf_profile_frame_at(p, stack->frame);
        const pf_object *object = pf_profile_object_at(p, frame->object);
        put(c, i > PF_EMPTY_STACK + 1 ? ",\n\"" : "\n\"");
        pf_export_put_number(&c->x, i);
        put(c, "\":{\"name\":");
        put_within(c, pf_shown_at(&c->shown, c->shown.positions[stack->frame])->name, most);
        put(c, ",\"category\":");
        put_within(c, object ? object->name : "[unknown]",
                   most < PF_NAME_MOST ? most : PF_NAME_MOST);
        if (stack->parent != PF_EMPTY_STACK) {
            put(c, ",\"parent\":\"");
            pf_export_put_number(&c->x, stack->parent);
            put(c, "\"");
        }
        put(c, "}");
        st = pf_export_write_some(&c->x, err);
    }
    put(c, "\n}}\n");
    return st;
}

/* Writes the origin of the capture, which is not part of the events. */
static void put_facts(chrome *c)
{
    static const struct {
        const char *key;
        unsigned fact;
    } facts[] = {{",\"hostname\":", PERFILE_FACT_HOSTNAME},
                 {",\"os\":", PERFILE_FACT_OSRELEASE},
                 {",\"arch\":", PERFILE_FACT_ARCH},
                 {",\"tool\":", PERFILE_FACT_TOOL},
                 {",\"command\":", PERFILE_FACT_CMDLINE}};
    put(c, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"exporter\":\"perfile\"");
    put(c, ",\"title\":");
    pf_export_put_title(&c->x, &c->name);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        if (!c->x.facts[facts[i].fact])
            continue;
        put(c, facts[i].key);
        put_name(c, c->x.facts[facts[i].fact]);
    }
    put(c, "},\n\"traceEvents\":[");
}

static perfile_status chrome_finish(perfile_emitter *e, perfile_error *err)
{
    chrome *c = (chrome *)(void *)e;
    perfile_status st = pf_export_end_input(&c->x, err);
    if (st == PERFILE_OK)
        st = pf_tracks_sort(&c->tracks, &c->x.profile, err);
    if (st == PERFILE_OK)
        st = pf_shown_make(&c->shown, &c->x, err);
    if (st != PERFILE_OK)
        return st;
    pf_counters_sort(&c->counters);
    put_facts(c);
    st = put_names(c, err);
    for (uint32_t i = 0; i < c->tracks.n && st == PERFILE_OK; i++)
        st = put_track(c, i, err);
    if (st == PERFILE_OK)
        st = put_counters(c, err);
    return st == PERFILE_OK ? put_stacks(c, err) : st;
}

static const pf_export_ops chrome_exports = {
    .put_run = pf_export_put_run,
    .next = pf_export_next,
    .summary = pf_export_summary,
    .take = chrome_take,
    .note = note,
    .by_time = true,
    .per = {PERFILE_PER_COMM, PERFILE_PER_PID, PERFILE_PER_TID, PERFILE_PER_EVENT, PERFILE_PER_CPU},
    .all_keys = true,
};

const pf_emit_ops pf_emit_chrome = {
    .name = "chrome",
    .doc = "trace events in JSON, for chrome://tracing and Perfetto",
    .size = sizeof(chrome),
    .open = chrome_open,
    .close = chrome_close,
    .begin = pf_export_begin,
    .put = pf_export_put,
    .finish = chrome_finish,
    .exports = &chrome_exports,
};
