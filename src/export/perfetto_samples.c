/* The form `perfetto`: packets of samples, and of tracepoint payloads.
 *
 * Each event has its own packet sequence, because defaults (the sampled event) and interned data
 * (stacks, frames, mappings, names) belong to a sequence.  An item is written in its own packet
 * before the first packet that refers to it.  Its id is its number in the profile, plus 1 if that
 * may be 0. */
#include "export/export.h"

#ifdef PERFILE_WITH_PERFETTO /* cmake/forms.cmake */

#include "base/alloc.h"
#include "base/error.h"
#include "export/perfetto.h"

#include <stdlib.h>
#include <string.h>

/* Returns true once per sequence for each item: it must be written. */
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

/* Writes a mapping for frames with no known mapping.  Trace Processor before version 53 drops the
 * samples of frames without a mapping. */
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

/* Writes a name, the same as in all forms: [module+0x1234] if no function is known. */
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

/* Writes a stack other than the empty one: its frames, outermost first. */
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

/* Returns the Profiling.CpuMode of the innermost frame. */
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

/* Returns the track of a thread, computed from its numbers.  Returns 0 if they are not known; its
 * events then belong to no thread. */
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

/* Writes the payload of a tracepoint: an instant on the track of the thread, with the fields as a
 * JSON object in an annotation. */
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

/* Returns the PerfEvents.Counter of an event; 0 if there is none. */
static uint32_t counter_of(const pf_timebase *base)
{
    static const uint8_t hardware[] = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19},
                         software[] = {1, 3, 2, 4, 5, 6, 7, 8, 9, 20};
    const uint8_t *const numbers = base->type == PERFILE_TYPE_HARDWARE ? hardware : software;
    const bool has = base->type == PERFILE_TYPE_HARDWARE || base->type == PERFILE_TYPE_SOFTWARE;
    return has && base->config < sizeof hardware ? numbers[base->config] : 0;
}

/* Begins the sequence of an event: which event is sampled, and how often. */
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

/* A label and its event. */
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

perfile_status pf_perfetto_put_samples(pf_perfetto_writer *w, perfile_error *err)
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

#endif
