/* Writing the form `perfetto` (see perfetto.h): packets, and all of them but the samples. */
#include "emit/perfetto.h"

#ifdef PERFILE_WITH_PERFETTO /* cmake/forms.cmake */

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "emit/tracks.h"

enum {
    CLEARED = 1,
    NEEDS_STATE = 2,      /* sequence_flags */
    SWITCHES_AT_ONCE = 64 /* in a packet */
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

perfile_status pf_perfetto_write(pf_perfetto *p, perfile_error *err)
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

#endif
