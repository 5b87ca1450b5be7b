/* The form `perfetto`: a trace of Perfetto, with samples, threads, switches and payloads of
 * tracepoints.
 *
 * Its documents: protos/perfetto/trace/ of google/perfetto.  Times are those of the session's
 * clock, as if it were CLOCK_BOOTTIME, which is what Perfetto takes times for: nothing has to be
 * converted, and what has no clock of its own (switches) is on the same one. */
#include "export/export.h"

#ifdef PERFILE_WITH_PERFETTO /* cmake/forms.cmake */

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "perfetto.pb-c.h"

#include <stdlib.h>
#include <string.h>

/* A processor went from one thread to another. */
typedef struct pf_exchange {
    uint64_t time, sequence;
    const char *prev_comm, *next_comm; /* of the profile's texts; NULL: not known */
    int64_t prev_state;
    uint32_t cpu, prev_tid, next_tid;
    int32_t prev_prio, next_prio;
    bool traced;    /* by sched:sched_switch, which knows priorities */
    uint8_t source; /* PF_SWITCHES_… */
    uint32_t input; /* pf_exporter.n_inputs of the capture */
} pf_exchange;

/* Records that the kernel could not write. */
typedef struct pf_loss {
    uint64_t time, count;
    uint32_t cpu;
} pf_loss;

/* An event.  The key is its name. */
typedef struct pf_timebase {
    const char *name; /* of the profile's texts, or NULL */
    uint64_t config, period;
    uint32_t type;
    bool is_freq;
} pf_timebase;

typedef struct pf_perfetto {
    pf_exporter x;
    pf_tracks tracks;
    pf_shown shown;
    pf_intern timebases; /* pf_timebase */
    pf_exchange *exchanges;
    size_t n_exchanges, cap_exchanges;
    pf_loss *losses;
    size_t n_losses, cap_losses;
    size_t n_labels; /* those whose event is in `timebases` */
} pf_perfetto;

/* Packets of the form `perfetto`: what those who write them share. */

enum {
    PF_PERFETTO_OTHERS = 1,      /* trusted_packet_sequence_id of what is of no event */
    PF_PERFETTO_FIRST_EVENT = 2, /* of the first event */
    PF_PERFETTO_REALTIME = 1,    /* clock_id */
    PF_PERFETTO_BOOTTIME = 6
};

typedef PfPerfetto__TracePacket pf_perfetto_packet;

typedef struct pf_perfetto_writer {
    pf_perfetto *p;
    uint32_t sequence; /* of the packets that are being written */
    bool first;        /* the next packet is the first of it */
    /* The sequence in which each of them was written last. */
    uint32_t *stacks, *frames, *names, *objects;
    pf_buffer ids, text, other;
} pf_perfetto_writer;

/* All packets but those of samples. */

enum {
    CLEARED = 1,
    NEEDS_STATE = 2,      /* sequence_flags */
    SWITCHES_AT_ONCE = 64 /* in a packet */
};

/* Writes a packet of the present sequence. */
static perfile_status pf_perfetto_put(pf_perfetto_writer *w, pf_perfetto_packet *one,
                                      perfile_error *err)
{
    pf_perfetto_packet *packets[1] = {one};
    PfPerfetto__Trace part = PF_PERFETTO__TRACE__INIT;
    perfile_emitter *e = &w->p->x.base;
    part.n_packet = 1;
    part.packet = packets;
    one->has_trusted_packet_sequence_id = one->has_sequence_flags = true;
    one->trusted_packet_sequence_id = w->sequence;
    one->sequence_flags = w->first ? CLEARED | NEEDS_STATE : NEEDS_STATE;
    if (w->first)
        one->has_first_packet_on_sequence = one->first_packet_on_sequence = true;
    w->first = false;
    const size_t n = pf_perfetto__trace__get_packed_size(&part);
    uint8_t *room = pf_emit_room(e, n + 1);
    if (!room)
        return pf_fail_nomem(err, "export");
    pf_emit_filled(e, room + pf_perfetto__trace__pack(&part, room));
    return pf_export_write_some(&w->p->x, err);
}

/* A name of a capture as UTF-8 in `out`; NULL if there is no memory. */
static char *pf_perfetto_clean(const char *name, size_t most, pf_buffer *out)
{
    pf_buffer_clear(out);
    return pf_name_text(name, most, out) && pf_buffer_append_u8(out, 0) ? (char *)out->ptr : NULL;
}

/* The time of a packet; *untimed as for pf_tracks_time(). */
static void pf_perfetto_set_time(const pf_perfetto_writer *w, pf_perfetto_packet *one,
                                 uint64_t time, uint64_t *untimed)
{
    const pf_tracks *t = &w->p->tracks;
    const uint64_t first = t->first <= t->last ? t->first : 0;
    one->has_timestamp = true;
    if (pf_add_u64(first, pf_tracks_time(t, time, untimed), &one->timestamp))
        one->timestamp = UINT64_MAX;
}

/* Samples.
 *
 * Each event has a packet sequence of its own, because defaults, which say what is sampled, and
 * interned data (stacks, frames, mappings, names) are those of a sequence.  An item is written in a
 * packet of its own before the first that refers to it.  Its number is that of the profile,
 * plus 1 where that may be 0. */

/* True, once in each sequence: a thing has to be written. */
static bool is_new(const pf_perfetto_writer *w, uint32_t *last, uint32_t thing)
{
    const bool is = last[thing] != w->sequence;
    last[thing] = w->sequence;
    return is;
}

static perfile_status put_interned(pf_perfetto_writer *w, PfPerfetto__InternedData *data,
                                   perfile_error *err)
{
    pf_perfetto_packet one = PF_PERFETTO__TRACE_PACKET__INIT;
    one.interned_data = data;
    return pf_perfetto_put(w, &one, err);
}

static PfPerfetto__InternedString interned(uint32_t iid, const void *bytes, size_t n)
{
    PfPerfetto__InternedString s = PF_PERFETTO__INTERNED_STRING__INIT;
    s.has_iid = s.has_str = true;
    s.iid = iid;
    s.str.len = n;
    memcpy(&s.str.data, &bytes, sizeof bytes); /* the library does not write to it */
    return s;
}

static perfile_status put_object(pf_perfetto_writer *w, uint32_t number, perfile_error *err)
{
    const pf_object *object = pf_profile_object_at(&w->p->x.profile, number);
    const perfile_mapping *m = &object->first;
    const char *path = pf_perfetto_clean(object->name, PF_NAME_MOST, &w->text);
    if (!path)
        return pf_fail_nomem(err, "export");
    PfPerfetto__InternedData data = PF_PERFETTO__INTERNED_DATA__INIT;
    PfPerfetto__InternedString build =
                                   interned(number + 1, object->build_id, object->build_id_size),
                               name = interned(number + 1, path, strlen(path));
    PfPerfetto__InternedString *builds[1] = {&build}, *names[1] = {&name};
    PfPerfetto__Mapping mapping = PF_PERFETTO__MAPPING__INIT, *mappings[1] = {&mapping};
    uint64_t path_ids[1] = {number + UINT64_C(1)};
    mapping.has_iid = mapping.has_start = mapping.has_end = true;
    mapping.has_exact_offset = mapping.has_start_offset = true;
    mapping.iid = number + UINT64_C(1);
    mapping.has_build_id = object->build_id_size;
    mapping.build_id = number + UINT64_C(1);
    mapping.start = m->addr;
    mapping.end = m->len < UINT64_MAX - m->addr ? m->addr + m->len : UINT64_MAX;
    mapping.exact_offset = object->by_address ? 0 : m->pgoff;
    mapping.n_path_string_ids = 1;
    mapping.path_string_ids = path_ids;
    data.n_mappings = data.n_mapping_paths = 1;
    data.n_build_ids = object->build_id_size != 0;
    data.build_ids = builds;
    data.mapping_paths = names;
    data.mappings = mappings;
    return put_interned(w, &data, err);
}

/* The mapping of frames that nothing mapped is known for.  Trace Processor before version 53 drops
 * the samples of frames without a mapping. */
static perfile_status put_unknown_object(pf_perfetto_writer *w, uint32_t number, perfile_error *err)
{
    static const char unknown[] = "[unknown]";
    PfPerfetto__InternedData data = PF_PERFETTO__INTERNED_DATA__INIT;
    PfPerfetto__InternedString name = interned(number + 1, unknown, sizeof unknown - 1);
    PfPerfetto__InternedString *names[1] = {&name};
    PfPerfetto__Mapping mapping = PF_PERFETTO__MAPPING__INIT, *mappings[1] = {&mapping};
    uint64_t path_ids[1] = {number + UINT64_C(1)};
    mapping.has_iid = mapping.has_start = mapping.has_end = true;
    mapping.iid = number + UINT64_C(1);
    mapping.end = UINT64_MAX;
    mapping.n_path_string_ids = 1;
    mapping.path_string_ids = path_ids;
    data.n_mappings = data.n_mapping_paths = 1;
    data.mapping_paths = names;
    data.mappings = mappings;
    return put_interned(w, &data, err);
}

/* Names are those of all forms, [module+0x1234] where no function is known. */
static perfile_status put_name(pf_perfetto_writer *w, uint32_t number, perfile_error *err)
{
    const char *text = pf_shown_at(&w->p->shown, number)->name;
    PfPerfetto__InternedData data = PF_PERFETTO__INTERNED_DATA__INIT;
    PfPerfetto__InternedString name = interned(number + 1, text, strlen(text)), *names[1] = {&name};
    data.n_function_names = 1;
    data.function_names = names;
    return put_interned(w, &data, err);
}

static perfile_status put_frame(pf_perfetto_writer *w, uint32_t number, perfile_error *err)
{
    const pf_call_frame *frame = pf_profile_frame_at(&w->p->x.profile, number);
    const pf_object *object = pf_profile_object_at(&w->p->x.profile, frame->object);
    const uint64_t base = object && object->by_address ? object->first.addr : 0;
    const uint32_t name = w->p->shown.positions[number];
    const uint32_t n_objects = (uint32_t)w->p->x.profile.objects.n;
    const uint32_t mapped = object ? frame->object : n_objects;
    perfile_status st = PERFILE_OK;
    if (is_new(w, w->objects, mapped))
        st = object ? put_object(w, mapped, err) : put_unknown_object(w, mapped, err);
    if (st == PERFILE_OK && is_new(w, w->names, name))
        st = put_name(w, name, err);
    if (st != PERFILE_OK)
        return st;
    PfPerfetto__InternedData data = PF_PERFETTO__INTERNED_DATA__INIT;
    PfPerfetto__Frame one = PF_PERFETTO__FRAME__INIT, *frames[1] = {&one};
    one.has_iid = one.has_function_name_id = one.has_rel_pc = true;
    one.iid = number + UINT64_C(1);
    one.function_name_id = name + UINT64_C(1);
    one.has_mapping_id = true;
    one.mapping_id = mapped + UINT64_C(1);
    one.rel_pc = frame->offset >= base ? frame->offset - base : frame->offset;
    data.n_frames = 1;
    data.frames = frames;
    return put_interned(w, &data, err);
}

/* A stack, whose number is not 0; its frames, outermost first. */
static perfile_status put_stack(pf_perfetto_writer *w, uint32_t number, perfile_error *err)
{
    const pf_profile *p = &w->p->x.profile;
    perfile_status st = PERFILE_OK;
    pf_buffer_clear(&w->ids);
    for (uint32_t s = number; s != PF_EMPTY_STACK && st == PERFILE_OK;
         s = pf_profile_stack_at(p, s)->parent) {
        const uint32_t frame = pf_profile_stack_at(p, s)->frame;
        const uint64_t id = frame + UINT64_C(1);
        if (is_new(w, w->frames, frame))
            st = put_frame(w, frame, err);
        if (st == PERFILE_OK && !pf_buffer_append(&w->ids, &id, sizeof id))
            st = pf_fail_nomem(err, "export");
    }
    if (st != PERFILE_OK)
        return st;
    PfPerfetto__InternedData data = PF_PERFETTO__INTERNED_DATA__INIT;
    PfPerfetto__Callstack one = PF_PERFETTO__CALLSTACK__INIT, *stacks[1] = {&one};
    uint64_t *ids = (uint64_t *)(void *)w->ids.ptr;
    one.n_frame_ids = w->ids.len / sizeof *ids;
    one.frame_ids = ids;
    for (size_t i = 0; i < one.n_frame_ids / 2; i++) {
        const uint64_t id = ids[i];
        ids[i] = ids[one.n_frame_ids - 1 - i];
        ids[one.n_frame_ids - 1 - i] = id;
    }
    one.has_iid = true;
    one.iid = number;
    data.n_callstacks = 1;
    data.callstacks = stacks;
    return put_interned(w, &data, err);
}

/* Profiling.CpuMode of the innermost frame. */
static uint32_t mode_of(const pf_profile *p, uint32_t stack)
{
    static const uint8_t modes[] = {[PF_CODE_USER] = 2,
                                    [PF_CODE_JIT] = 2,
                                    [PF_CODE_KERNEL] = 1,
                                    [PF_CODE_HYPERVISOR] = 3,
                                    [PF_CODE_GUEST] = 4};
    if (stack == PF_EMPTY_STACK)
        return 0;
    const uint32_t code = pf_profile_frame_at(p, pf_profile_stack_at(p, stack)->frame)->code;
    return code < sizeof modes ? modes[code] : 0;
}

/* The track of a thread, by its numbers; 0: they are not known, and its events are of no thread. */
static uint64_t track_of(const pf_label *l)
{
    if (l->pid == PF_NO_LABEL || l->tid == PF_NO_LABEL)
        return 0;
    return ((uint64_t)l->pid << 32 | l->tid) + 1;
}

static perfile_status put_thread_track(pf_perfetto_writer *w, const pf_label *l, perfile_error *err)
{
    pf_perfetto_packet one = PF_PERFETTO__TRACE_PACKET__INIT;
    PfPerfetto__TrackDescriptor track = PF_PERFETTO__TRACK_DESCRIPTOR__INIT;
    PfPerfetto__ThreadDescriptor thread = PF_PERFETTO__THREAD_DESCRIPTOR__INIT;
    thread.has_pid = thread.has_tid = track.has_uuid = true;
    thread.pid = (int32_t)l->pid;
    thread.tid = (int32_t)l->tid;
    track.uuid = track_of(l);
    track.thread = &thread;
    one.track_descriptor = &track;
    return pf_perfetto_put(w, &one, err);
}

/* The payload of a tracepoint: an instant on the track of the thread, with the fields as an object
 * of JSON in an annotation. */
static perfile_status put_instant(pf_perfetto_writer *w, const pf_label *l, const pf_moment *m,
                                  uint64_t timestamp, perfile_error *err)
{
    enum { INSTANT = 3 };
    char tracepoint[] = "tracepoint", *categories[1] = {tracepoint};
    const char *payload = pf_marks_at(&w->p->tracks.said, m->said - 1)->text;
    pf_perfetto_packet one = PF_PERFETTO__TRACE_PACKET__INIT;
    PfPerfetto__TrackEvent event = PF_PERFETTO__TRACK_EVENT__INIT;
    PfPerfetto__DebugAnnotation fields = PF_PERFETTO__DEBUG_ANNOTATION__INIT;
    PfPerfetto__DebugAnnotation *annotations[1] = {&fields};
    event.name = pf_perfetto_clean(l->event ? l->event : "?", PF_NAME_MOST, &w->text);
    pf_buffer_clear(&w->other);
    if (!event.name || !pf_buffer_append(&w->other, "{", 1) ||
        !pf_buffer_append(&w->other, payload + (*payload == ','),
                          strlen(payload) - (*payload == ',')) ||
        !pf_buffer_append(&w->other, "}", 2))
        return pf_fail_nomem(err, "export");
    fields.name = tracepoint;
    fields.legacy_json_value = (char *)w->other.ptr;
    event.n_debug_annotations = event.n_categories = 1;
    event.debug_annotations = annotations;
    event.categories = categories;
    event.has_type = event.has_track_uuid = one.has_timestamp = true;
    event.type = INSTANT;
    event.track_uuid = track_of(l);
    one.timestamp = timestamp;
    one.track_event = &event;
    return pf_perfetto_put(w, &one, err);
}

static perfile_status put_samples(pf_perfetto_writer *w, uint32_t label, uint64_t *untimed,
                                  perfile_error *err)
{
    const pf_profile *p = &w->p->x.profile;
    const pf_timeline *line = &w->p->tracks.samples;
    const pf_label *l = pf_profile_label_at(p, label);
    perfile_status st = PERFILE_OK;
    bool has_track = !track_of(l);
    for (size_t i = line->begins[label]; i < line->begins[label + 1] && st == PERFILE_OK; i++) {
        const pf_moment *m = &line->at[i];
        pf_perfetto_packet one = PF_PERFETTO__TRACE_PACKET__INIT;
        PfPerfetto__PerfSample sample = PF_PERFETTO__PERF_SAMPLE__INIT;
        sample.has_cpu = l->cpu != PF_NO_LABEL;
        sample.cpu = l->cpu;
        sample.has_pid = l->pid != PF_NO_LABEL;
        sample.pid = l->pid;
        sample.has_tid = l->tid != PF_NO_LABEL;
        sample.tid = l->tid;
        sample.has_cpu_mode = true;
        sample.cpu_mode = mode_of(p, m->stack);
        sample.has_callstack_iid = m->stack != PF_EMPTY_STACK;
        sample.callstack_iid = m->stack;
        if (sample.has_callstack_iid && is_new(w, w->stacks, m->stack))
            st = put_stack(w, m->stack, err);
        pf_perfetto_set_time(w, &one, m->time, untimed);
        one.perf_sample = &sample;
        st = st == PERFILE_OK ? pf_perfetto_put(w, &one, err) : st;
        if (st == PERFILE_OK && m->said && !has_track)
            st = put_thread_track(w, l, err);
        has_track |= m->said != 0;
        if (st == PERFILE_OK && m->said)
            st = put_instant(w, l, m, one.timestamp, err);
    }
    return st;
}

/* PerfEvents.Counter of an event; 0: there is none. */
static uint32_t counter_of(const pf_timebase *base)
{
    static const uint8_t hardware[] = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19},
                         software[] = {1, 3, 2, 4, 5, 6, 7, 8, 9, 20};
    const uint8_t *const numbers = base->type == PERFILE_TYPE_HARDWARE ? hardware : software;
    const bool has = base->type == PERFILE_TYPE_HARDWARE || base->type == PERFILE_TYPE_SOFTWARE;
    return has && base->config < sizeof hardware ? numbers[base->config] : 0;
}

/* Begins the sequence of an event: what is sampled, and how often. */
static perfile_status put_defaults(pf_perfetto_writer *w, const pf_timebase *base,
                                   perfile_error *err)
{
    pf_perfetto_packet one = PF_PERFETTO__TRACE_PACKET__INIT;
    PfPerfetto__TracePacketDefaults defaults = PF_PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
    PfPerfetto__PerfSampleDefaults sampled = PF_PERFETTO__PERF_SAMPLE_DEFAULTS__INIT;
    PfPerfetto__Timebase time = PF_PERFETTO__TIMEBASE__INIT;
    PfPerfetto__Tracepoint point = PF_PERFETTO__TRACEPOINT__INIT;
    PfPerfetto__RawEvent raw = PF_PERFETTO__RAW_EVENT__INIT;
    time.name = pf_perfetto_clean(base->name ? base->name : "?", PF_NAME_MOST, &w->text);
    if (!time.name)
        return pf_fail_nomem(err, "export");
    time.has_frequency = base->is_freq;
    time.has_period = !base->is_freq;
    time.frequency = time.period = base->period;
    time.counter = counter_of(base);
    time.has_counter = time.counter != 0;
    point.name = time.name;
    raw.has_type = raw.has_config = true;
    raw.type = base->type;
    raw.config = base->config;
    if (base->type == PERFILE_TYPE_TRACEPOINT)
        time.tracepoint = &point;
    else if (!time.has_counter)
        time.raw_event = &raw;
    sampled.timebase = &time;
    defaults.perf_sample_defaults = &sampled;
    defaults.has_timestamp_clock_id = true;
    defaults.timestamp_clock_id = PF_PERFETTO_BOOTTIME;
    one.trace_packet_defaults = &defaults;
    return pf_perfetto_put(w, &one, err);
}

/* A label, by its event. */
typedef struct of_event {
    uint32_t event, label;
} of_event;

static int by_event(const void *a, const void *b)
{
    const of_event *x = a, *y = b;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    return (x->label > y->label) - (x->label < y->label);
}

/* Writes all samples, with what they refer to. */
static perfile_status pf_perfetto_put_samples(pf_perfetto_writer *w, perfile_error *err)
{
    pf_perfetto *p = w->p;
    const size_t n = p->tracks.n;
    uint64_t untimed = 0;
    perfile_status st = PERFILE_OK;
    of_event *labels = pf_budget_alloc(&p->x.profile.budget, n + 1, sizeof *labels);
    size_t n_sampled = 0;
    for (uint32_t i = 0; i < n && labels; i++) {
        const pf_timebase key = {.name = pf_profile_label_at(&p->x.profile, i)->event};
        if (p->tracks.at[i].sampled)
            labels[n_sampled++] = (of_event){pf_intern_add(&p->timebases, &key), i};
    }
    if (!labels)
        return pf_profile_fail(&p->x.profile, err);
    qsort(labels, n_sampled, sizeof *labels, by_event);
    for (size_t i = 0; i < n_sampled && st == PERFILE_OK; i++) {
        if (!i || labels[i].event != labels[i - 1].event) {
            w->sequence = PF_PERFETTO_FIRST_EVENT + labels[i].event;
            w->first = true;
            st = put_defaults(w, pf_intern_at(&p->timebases, labels[i].event), err);
        }
        if (st == PERFILE_OK)
            st = put_samples(w, labels[i].label, &untimed, err);
    }
    pf_free(labels);
    return st;
}

/* When the trace begins: by its own clock, and by that of the wall, if that is known. */
static perfile_status put_clock(pf_perfetto_writer *w, perfile_error *err)
{
    const pf_exporter *x = &w->p->x;
    const pf_tracks *t = &w->p->tracks;
    pf_perfetto_packet one = PF_PERFETTO__TRACE_PACKET__INIT;
    PfPerfetto__ClockSnapshot snapshot = PF_PERFETTO__CLOCK_SNAPSHOT__INIT;
    PfPerfetto__ClockSnapshot__Clock own = PF_PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT, wall = own;
    PfPerfetto__ClockSnapshot__Clock *clocks[2] = {&own, &wall};
    own.has_clock_id = own.has_timestamp = wall.has_clock_id = wall.has_timestamp = true;
    own.clock_id = PF_PERFETTO_BOOTTIME;
    own.timestamp = x->wall_time ? x->wall_at : t->first <= t->last ? t->first : 0;
    wall.clock_id = PF_PERFETTO_REALTIME;
    wall.timestamp = x->wall_time;
    snapshot.n_clocks = x->wall_time ? 2 : 1;
    snapshot.clocks = clocks;
    snapshot.has_primary_trace_clock = true;
    snapshot.primary_trace_clock = PF_PERFETTO_BOOTTIME;
    one.clock_snapshot = &snapshot;
    return pf_perfetto_put(w, &one, err);
}

/* The main thread gives the process its name, and is a thread as well. */
static perfile_status put_member(pf_perfetto_writer *w, const pf_named_thread *one,
                                 perfile_error *err)
{
    const char *comm = one->comm && !one->tid ? "swapper" : one->comm;
    char *name = comm ? pf_perfetto_clean(comm, PF_NAME_MOST, &w->text) : NULL;
    pf_perfetto_packet part = PF_PERFETTO__TRACE_PACKET__INIT;
    PfPerfetto__ProcessTree tree = PF_PERFETTO__PROCESS_TREE__INIT;
    PfPerfetto__ProcessTree__Process process = PF_PERFETTO__PROCESS_TREE__PROCESS__INIT;
    PfPerfetto__ProcessTree__Thread thread = PF_PERFETTO__PROCESS_TREE__THREAD__INIT;
    PfPerfetto__ProcessTree__Process *processes[1] = {&process};
    PfPerfetto__ProcessTree__Thread *threads[1] = {&thread};
    char *names[1] = {name};
    if (comm && !name)
        return pf_fail_nomem(err, "export");
    process.has_pid = thread.has_tid = thread.has_tgid = true;
    process.pid = (int32_t)one->pid;
    process.n_cmdline = name ? 1 : 0;
    process.cmdline = names;
    thread.tid = (int32_t)one->tid;
    thread.tgid = (int32_t)one->pid;
    thread.name = name;
    tree.n_processes = one->pid == one->tid;
    tree.processes = processes;
    tree.n_threads = 1;
    tree.threads = threads;
    part.process_tree = &tree;
    return pf_perfetto_put(w, &part, err);
}

static perfile_status put_tree(pf_perfetto_writer *w, perfile_error *err)
{
    pf_intern threads;
    perfile_status st = pf_name_threads(&w->p->tracks, &w->p->x.profile, &threads, err);
    bool idle = false; /* in Perfetto all of it is one thread */
    for (uint32_t i = 0; i < threads.n && st == PERFILE_OK; i++) {
        const pf_named_thread *one = pf_intern_at(&threads, i);
        if (one->tid || !idle)
            st = put_member(w, one, err);
        idle |= one->tid == 0;
    }
    pf_intern_free(&threads);
    return st;
}

/* Several switches of a processor, as messages. */
typedef struct switches {
    PfPerfetto__FtraceEvent events[SWITCHES_AT_ONCE], *list[SWITCHES_AT_ONCE];
    PfPerfetto__SchedSwitchFtraceEvent of[SWITCHES_AT_ONCE];
    size_t comms[SWITCHES_AT_ONCE][2]; /* where the names begin in the texts of the packet */
    size_t n;
} switches;

/* Appends the name of a thread to the texts of a packet. */
static bool append_comm(pf_perfetto_writer *w, const char *comm, size_t *at)
{
    const char *text = comm ? pf_perfetto_clean(comm, PF_NAME_MOST, &w->text) : "";
    *at = w->other.len;
    return text && pf_buffer_append(&w->other, text, strlen(text) + 1);
}

static bool add_switch(pf_perfetto_writer *w, switches *to, const pf_exchange *x)
{
    const size_t k = to->n++;
    PfPerfetto__SchedSwitchFtraceEvent *s = &to->of[k];
    PfPerfetto__FtraceEvent *event = &to->events[k];
    *s = (PfPerfetto__SchedSwitchFtraceEvent)PF_PERFETTO__SCHED_SWITCH_FTRACE_EVENT__INIT;
    s->has_prev_pid = s->has_next_pid = s->has_prev_state = true;
    s->prev_pid = (int32_t)x->prev_tid;
    s->next_pid = (int32_t)x->next_tid;
    s->prev_state = x->prev_state;
    s->has_prev_prio = s->has_next_prio = x->traced;
    s->prev_prio = x->prev_prio;
    s->next_prio = x->next_prio;
    *event = (PfPerfetto__FtraceEvent)PF_PERFETTO__FTRACE_EVENT__INIT;
    event->has_timestamp = event->has_pid = true;
    event->timestamp = x->time;
    event->pid = x->prev_tid;
    event->sched_switch = s;
    to->list[k] = event;
    return append_comm(w, x->prev_comm, &to->comms[k][0]) &&
           append_comm(w, x->next_comm, &to->comms[k][1]);
}

/* Writes some switches of a processor. */
static perfile_status put_switches(pf_perfetto_writer *w, switches *some, uint32_t cpu,
                                   perfile_error *err)
{
    PfPerfetto__FtraceEventBundle bundle = PF_PERFETTO__FTRACE_EVENT_BUNDLE__INIT;
    pf_perfetto_packet one = PF_PERFETTO__TRACE_PACKET__INIT;
    for (size_t i = 0; i < some->n; i++) { /* the texts do not move any more */
        some->of[i].prev_comm = (char *)w->other.ptr + some->comms[i][0];
        some->of[i].next_comm = (char *)w->other.ptr + some->comms[i][1];
    }
    bundle.has_cpu = true;
    bundle.cpu = cpu;
    bundle.n_event = some->n;
    bundle.event = some->list;
    one.ftrace_events = &bundle;
    return pf_perfetto_put(w, &one, err);
}

static perfile_status put_all_switches(pf_perfetto_writer *w, perfile_error *err)
{
    const pf_exchange *x = w->p->exchanges;
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < w->p->n_exchanges && st == PERFILE_OK;) {
        const uint32_t cpu = x[i].cpu;
        switches some;
        some.n = 0;
        pf_buffer_clear(&w->other);
        for (; i < w->p->n_exchanges && x[i].cpu == cpu && some.n < SWITCHES_AT_ONCE; i++)
            if (!add_switch(w, &some, &x[i]))
                return pf_fail_nomem(err, "export");
        st = put_switches(w, &some, cpu, err);
    }
    return st;
}

static perfile_status put_losses(pf_perfetto_writer *w, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    uint64_t untimed = 0;
    for (size_t i = 0; i < w->p->n_losses && st == PERFILE_OK; i++) {
        const pf_loss *loss = &w->p->losses[i];
        pf_perfetto_packet one = PF_PERFETTO__TRACE_PACKET__INIT;
        PfPerfetto__PerfSample sample = PF_PERFETTO__PERF_SAMPLE__INIT;
        sample.has_cpu = loss->cpu != PF_NO_LABEL;
        sample.cpu = loss->cpu;
        sample.has_kernel_records_lost = true;
        sample.kernel_records_lost = loss->count;
        pf_perfetto_set_time(w, &one, loss->time, &untimed);
        one.perf_sample = &sample;
        st = pf_perfetto_put(w, &one, err);
    }
    return st;
}

/* Marks of what the present sequence has. */
static bool open_marks(pf_perfetto_writer *w)
{
    const pf_perfetto *p = w->p;
    pf_budget *budget = &w->p->x.profile.budget;
    const struct {
        uint32_t **last;
        size_t n;
    } all[] = {{&w->stacks, p->x.profile.stacks.n},
               {&w->frames, p->x.profile.frames.n},
               {&w->names, p->shown.names.n},
               {&w->objects, p->x.profile.objects.n}};
    bool ok = true;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && ok; i++) {
        *all[i].last = pf_budget_alloc(budget, all[i].n + 1, sizeof **all[i].last);
        ok = *all[i].last;
    }
    return ok;
}

/* Writes all of it, sorted. */
static perfile_status pf_perfetto_write(pf_perfetto *p, perfile_error *err)
{
    pf_perfetto_writer w = {.p = p, .sequence = PF_PERFETTO_OTHERS, .first = true};
    perfile_status st = open_marks(&w) ? put_clock(&w, err) : pf_profile_fail(&p->x.profile, err);
    if (st == PERFILE_OK)
        st = put_tree(&w, err);
    if (st == PERFILE_OK)
        st = put_all_switches(&w, err);
    if (st == PERFILE_OK)
        st = put_losses(&w, err);
    if (st == PERFILE_OK)
        st = pf_perfetto_put_samples(&w, err);
    uint32_t *const marks[] = {w.stacks, w.frames, w.names, w.objects};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        pf_free(marks[i]);
    pf_buffer_free(&w.ids);
    pf_buffer_free(&w.text);
    pf_buffer_free(&w.other);
    return st;
}

/* Gathering. */

static perfile_status open(perfile_emitter *e, perfile_error *err)
{
    pf_perfetto *p = (pf_perfetto *)(void *)e;
    perfile_status st = pf_export_open(e, err);
    pf_tracks_init(&p->tracks, &p->x.profile);
    p->tracks.by_thread = p->tracks.only_tasks = true;
    pf_shown_init(&p->shown, &p->x.profile);
    p->timebases = (pf_intern){.seed = pf_index_seed(p),
                               .budget = &p->x.profile.budget,
                               .width = sizeof(pf_timebase),
                               .key = sizeof(const char *)};
    return st;
}

static void close(perfile_emitter *e)
{
    pf_perfetto *p = (pf_perfetto *)(void *)e;
    pf_tracks_free(&p->tracks);
    pf_shown_free(&p->shown);
    pf_intern_free(&p->timebases);
    pf_free(p->exchanges);
    pf_free(p->losses);
    pf_export_close(e);
}

/* Makes room for one more item of a list.  False if there is no memory or the limit is exceeded. */
static bool reserve(pf_perfetto *p, void **list, size_t n, size_t *cap, size_t width)
{
    if (n < *cap)
        return true;
    const size_t more = *cap ? 2 * *cap : 256;
    void *at = pf_budget_realloc(&p->x.profile.budget, *list, *cap, more, width);
    if (at) {
        *list = at;
        *cap = more;
    }
    return at;
}

static bool add_exchange(pf_perfetto *p, const pf_exchange *one)
{
    void *list = p->exchanges;
    if (!reserve(p, &list, p->n_exchanges, &p->cap_exchanges, sizeof *one))
        return false;
    p->exchanges = list;
    p->exchanges[p->n_exchanges] = *one;
    p->exchanges[p->n_exchanges].sequence = p->n_exchanges;
    p->exchanges[p->n_exchanges].input = p->x.n_inputs;
    p->n_exchanges++;
    return true;
}

static bool take_switch(pf_perfetto *p, const pf_profiled *sample)
{
    pf_switch said;
    const pf_switched *prev = &said.of[0], *next = &said.of[1];
    if (!pf_tracks_read_switch(&p->tracks, &p->x, sample, &said))
        return false;
    if (said.source != PF_SWITCHES_TRACED || sample->cpu == PF_NO_LABEL)
        return true;
    const pf_exchange one = {.time = said.time,
                             .prev_comm = pf_profile_text(&p->x.profile, prev->comm),
                             .next_comm = pf_profile_text(&p->x.profile, next->comm),
                             .prev_state = prev->state,
                             .cpu = sample->cpu,
                             .prev_tid = prev->tid,
                             .next_tid = next->tid,
                             .prev_prio = prev->prio,
                             .next_prio = next->prio,
                             .traced = true,
                             .source = PF_SWITCHES_TRACED};
    return one.prev_comm && one.next_comm && add_exchange(p, &one);
}

/* Keeps what the event of a new label is. */
static bool add_timebase(pf_perfetto *p, const pf_profiled *sample, uint32_t label)
{
    const char *name = pf_profile_label_at(&p->x.profile, label)->event;
    const pf_timebase key = {.name = name};
    const size_t n = p->timebases.n;
    const uint32_t number = pf_intern_add(&p->timebases, &key);
    if (number == PF_INTERN_NONE)
        return false;
    if (p->timebases.n > n && sample->event) {
        const perfile_attr *attr = sample->event->attr;
        pf_timebase *base = pf_intern_at(&p->timebases, number);
        base->type = attr->type;
        base->config = attr->config;
        base->period = attr->sample_period;
        base->is_freq = attr->is_freq;
    }
    return true;
}

static bool take(pf_exporter *x, const pf_profiled *sample, uint32_t label)
{
    pf_perfetto *p = (pf_perfetto *)(void *)x;
    if (label >= p->n_labels) {
        p->n_labels = label + (size_t)1;
        if (!add_timebase(p, sample, label))
            return false;
    }
    return pf_tracks_take(&p->tracks, x, sample, label) && take_switch(p, sample);
}

/* A record of a processor that leaves a thread; that of the next thread says the same again. */
static bool note_switch(pf_perfetto *p, const pf_profiled *about)
{
    pf_switch said;
    const pf_switched *prev = &said.of[0], *next = &said.next;
    bool ok = pf_tracks_read_switch(&p->tracks, &p->x, about, &said);
    if (!ok || said.source != PF_SWITCHES_WIDE || said.next.tid == PERFILE_NO_PID ||
        about->cpu == PF_NO_LABEL)
        return ok;
    pf_profile_reader *reader = &p->x.reader;
    pf_exchange one = {.time = said.time,
                       .cpu = about->cpu,
                       .source = PF_SWITCHES_WIDE,
                       .prev_tid = prev->tid,
                       .next_tid = next->tid,
                       /* As the kernel has them: runnable, or asleep for some reason. */
                       .prev_state = prev->what != PF_SWITCH_PREEMPTED};
    one.prev_comm = pf_profile_reader_comm(reader, prev->pid, prev->tid, said.time, &ok);
    one.next_comm = pf_profile_reader_comm(reader, next->pid, next->tid, said.time, &ok);
    return ok && add_exchange(p, &one);
}

/* How many records or samples a record says are missing; 0: it is about something else. */
static uint64_t lost(const perfile_record *r)
{
    perfile_lost records;
    perfile_lost_samples samples;
    if (r->type == PERFILE_RECORD_LOST &&
        perfile_lost_decode(r, &records, sizeof records, NULL) == PERFILE_OK)
        return records.lost;
    if (r->type == PERFILE_RECORD_LOST_SAMPLES &&
        perfile_lost_samples_decode(r, &samples, sizeof samples, NULL) == PERFILE_OK)
        return samples.lost;
    return 0;
}

static bool note(pf_exporter *x, const pf_profiled *about)
{
    pf_perfetto *p = (pf_perfetto *)(void *)x;
    const uint32_t type = about->record->type;
    if (type == PERFILE_RECORD_SWITCH || type == PERFILE_RECORD_SWITCH_CPU_WIDE)
        return pf_tracks_switch(&p->tracks, x, about) &&
               (type == PERFILE_RECORD_SWITCH || note_switch(p, about));
    const pf_loss one = {about->time, lost(about->record), about->cpu};
    void *list = p->losses;
    if (!one.count)
        return true;
    if (!reserve(p, &list, p->n_losses, &p->cap_losses, sizeof one))
        return false;
    p->losses = list;
    p->losses[p->n_losses++] = one;
    return true;
}

static int by_processor(const void *a, const void *b)
{
    const pf_exchange *x = a, *y = b;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* Keeps the exchanges of the source that counts for their capture. */
static void keep_exchanges(pf_perfetto *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->n_exchanges; i++) {
        bool whole;
        if (p->exchanges[i].source == pf_tracks_source(&p->tracks, p->exchanges[i].input, &whole) &&
            whole)
            p->exchanges[kept++] = p->exchanges[i];
    }
    p->n_exchanges = kept;
}

/* Adds that the thread of a label leaves its processors, or with `comes` that it comes to them. */
static bool add_stretches(pf_perfetto *p, uint32_t label, bool comes)
{
    const char *comm = p->tracks.at[label].comm;
    const uint32_t tid = pf_profile_label_at(&p->x.profile, label)->tid;
    size_t at = 0;
    pf_slice slice;
    bool ok = true;
    while (ok && pf_tracks_slice(&p->tracks, label, &at, &slice)) {
        pf_exchange one = {.cpu = slice.cpu, .source = PF_SWITCHES_TASK};
        if (slice.cpu == PF_NO_LABEL || slice.begin == slice.end)
            continue;
        if (comes) {
            one.time = slice.begin;
            one.next_tid = tid;
            one.next_comm = comm;
        } else {
            one.time = slice.end;
            one.prev_tid = tid;
            one.prev_comm = comm;
            one.prev_state = !slice.preempted;
        }
        ok = add_exchange(p, &one);
    }
    return ok;
}

/* Makes one exchange of a thread that leaves a processor and of the one that comes to it at the
 * same time.  Between others the processor is idle, as far as the capture knows.  They are in
 * order, of equal times those that leave first. */
static void join_stretches(pf_perfetto *p, const char *idle)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->n_exchanges; i++) {
        pf_exchange x = p->exchanges[i];
        pf_exchange *last = kept ? &p->exchanges[kept - 1] : NULL;
        if (last && (last->source != PF_SWITCHES_TASK || last->cpu != x.cpu))
            last = NULL;
        const uint32_t present = last ? last->next_tid : 0;
        if (x.source == PF_SWITCHES_TASK && x.prev_tid) {
            if (x.prev_tid != present)
                continue; /* another one has come already */
            x.next_comm = idle;
        } else if (x.source == PF_SWITCHES_TASK && last && !present && last->time == x.time) {
            last->next_tid = x.next_tid;
            last->next_comm = x.next_comm;
            continue;
        } else if (x.source == PF_SWITCHES_TASK) {
            x.prev_tid = present;
            x.prev_comm = present ? last->next_comm : idle;
        }
        p->exchanges[kept++] = x;
    }
    p->n_exchanges = kept;
}

/* Puts the switches of all captures in order. */
static bool order_exchanges(pf_perfetto *p)
{
    const char *idle = pf_profile_text(&p->x.profile, "swapper");
    keep_exchanges(p);
    bool ok = idle;
    for (unsigned comes = 0; comes < 2; comes++)
        for (uint32_t i = 0; i < p->tracks.n && ok; i++)
            ok = add_stretches(p, i, comes);
    if (p->n_exchanges)
        qsort(p->exchanges, p->n_exchanges, sizeof *p->exchanges, by_processor);
    if (ok)
        join_stretches(p, idle);
    return ok;
}

static perfile_status finish(perfile_emitter *e, perfile_error *err)
{
    pf_perfetto *p = (pf_perfetto *)(void *)e;
    perfile_status st = pf_export_end_input(&p->x, err);
    if (st == PERFILE_OK)
        st = pf_tracks_sort(&p->tracks, &p->x.profile, err);
    if (st == PERFILE_OK)
        st = pf_shown_make(&p->shown, &p->x, err);
    if (st != PERFILE_OK)
        return st;
    return order_exchanges(p) ? pf_perfetto_write(p, err) : pf_profile_fail(&p->x.profile, err);
}

static const pf_export_ops exports = {
    .put_run = pf_export_put_run,
    .next = pf_export_next,
    .summary = pf_export_summary,
    .take = take,
    .note = note,
    .by_time = true,
    .per = {PERFILE_PER_COMM, PERFILE_PER_PID, PERFILE_PER_TID, PERFILE_PER_EVENT, PERFILE_PER_CPU},
    .all_keys = true,
    .binary = true};

const pf_emit_ops pf_emit_perfetto = {
    .name = "perfetto",
    .doc = "a trace for Perfetto: samples, threads and switches over time",
    .size = sizeof(pf_perfetto),
    .open = open,
    .close = close,
    .begin = pf_export_begin,
    .put = pf_export_put,
    .finish = finish,
    .exports = &exports,
};

#endif
