/* The form `perfetto`: a trace of Perfetto, with samples, threads, switches and tracepoint
 * payloads.
 *
 * Specification: protos/perfetto/trace/ of google/perfetto.  Times are from the session's clock,
 * written as if it were CLOCK_BOOTTIME, Perfetto's default.  So nothing must be converted, and
 * switches, which have no clock of their own, use the same one. */
#include "export/export.h"

#ifdef PERFILE_WITH_PERFETTO /* cmake/forms.cmake */

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "export/perfetto.h"

#include <string.h>

enum {
    CLEARED = 1,
    NEEDS_STATE = 2 /* sequence_flags */
};

perfile_status pf_perfetto_put(pf_perfetto_writer *w, pf_perfetto_packet *one, perfile_error *err)
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

char *pf_perfetto_clean(const char *name, size_t most, pf_buffer *out)
{
    pf_buffer_clear(out);
    return pf_name_text(name, most, out) && pf_buffer_append_u8(out, 0) ? (char *)out->ptr : NULL;
}

void pf_perfetto_set_time(const pf_perfetto_writer *w, pf_perfetto_packet *one, uint64_t time,
                          uint64_t *untimed)
{
    const pf_tracks *t = &w->p->tracks;
    const uint64_t first = t->first <= t->last ? t->first : 0;
    one->has_timestamp = true;
    if (pf_add_u64(first, pf_tracks_time(t, time, untimed), &one->timestamp))
        one->timestamp = UINT64_MAX;
}

/* Writes when the trace begins: by its own clock, and by wall time if that is known. */
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

/* Writes a thread.  The main thread gives the process its name, and is also a thread. */
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
    bool idle = false; /* in Perfetto all idle threads are one thread */
    for (uint32_t i = 0; i < threads.n && st == PERFILE_OK; i++) {
        const pf_named_thread *one = pf_intern_at(&threads, i);
        if (one->tid || !idle)
            st = put_member(w, one, err);
        idle |= one->tid == 0;
    }
    pf_intern_free(&threads);
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

/* Allocates the marks of what each sequence has. */
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

/* Writes everything, sorted. */
static perfile_status pf_perfetto_write(pf_perfetto *p, perfile_error *err)
{
    pf_perfetto_writer w = {.p = p, .sequence = PF_PERFETTO_OTHERS, .first = true};
    perfile_status st = open_marks(&w) ? put_clock(&w, err) : pf_profile_fail(&p->x.profile, err);
    if (st == PERFILE_OK)
        st = put_tree(&w, err);
    if (st == PERFILE_OK)
        st = pf_perfetto_put_switches(&w, err);
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

/* Collecting. */

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

bool pf_perfetto_reserve(pf_perfetto *p, void **list, size_t n, size_t *cap, size_t width)
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

/* Stores the event of a new label. */
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
    return pf_tracks_take(&p->tracks, x, sample, label) && pf_perfetto_take_switch(p, sample);
}

/* Returns how many records or samples are missing by this record; 0 if it is about something
 * else. */
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
               (type == PERFILE_RECORD_SWITCH || pf_perfetto_note_switch(p, about));
    const pf_loss one = {about->time, lost(about->record), about->cpu};
    void *list = p->losses;
    if (!one.count)
        return true;
    if (!pf_perfetto_reserve(p, &list, p->n_losses, &p->cap_losses, sizeof one))
        return false;
    p->losses = list;
    p->losses[p->n_losses++] = one;
    return true;
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
    return pf_perfetto_order_switches(p) ? pf_perfetto_write(p, err)
                                         : pf_profile_fail(&p->x.profile, err);
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
