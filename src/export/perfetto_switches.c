/* The form `perfetto`: switches of threads, collected in addition to the tracks, sorted by CPU, and
 * written as the kernel's own events. */
#include "export/export.h"

#ifdef PERFILE_WITH_PERFETTO /* cmake/forms.cmake */

#include "base/alloc.h"
#include "base/error.h"
#include "export/perfetto.h"

#include <stdlib.h>
#include <string.h>

enum { SWITCHES_AT_ONCE = 64 }; /* per packet */

static bool add_exchange(pf_perfetto *p, const pf_exchange *one)
{
    void *list = p->exchanges;
    if (!pf_perfetto_reserve(p, &list, p->n_exchanges, &p->cap_exchanges, sizeof *one))
        return false;
    p->exchanges = list;
    p->exchanges[p->n_exchanges] = *one;
    p->exchanges[p->n_exchanges].sequence = p->n_exchanges;
    p->exchanges[p->n_exchanges].input = p->x.n_inputs;
    p->n_exchanges++;
    return true;
}

bool pf_perfetto_take_switch(pf_perfetto *p, const pf_profiled *sample)
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

/* Only uses the record for leaving a thread; the one for the next thread has the same content. */
bool pf_perfetto_note_switch(pf_perfetto *p, const pf_profiled *about)
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
                       /* as in the kernel: runnable, or asleep for some reason */
                       .prev_state = prev->what != PF_SWITCH_PREEMPTED};
    one.prev_comm = pf_profile_reader_comm(reader, prev->pid, prev->tid, said.time, &ok);
    one.next_comm = pf_profile_reader_comm(reader, next->pid, next->tid, said.time, &ok);
    return ok && add_exchange(p, &one);
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

/* Keeps only the exchanges of the best source of their capture. */
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

/* Adds an exchange for each slice of the label's thread: when it leaves the CPU, or with `comes`,
 * when it gets the CPU. */
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

/* Merges a thread that leaves a CPU and one that gets it at the same time into one exchange.  At
 * other times the CPU is assumed to be idle in between.  The exchanges are sorted; at equal times,
 * leaving comes first. */
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
                continue; /* another thread got the CPU already */
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

bool pf_perfetto_order_switches(pf_perfetto *p)
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

/* Several switches of a CPU, as messages. */
typedef struct switches {
    PfPerfetto__FtraceEvent events[SWITCHES_AT_ONCE], *list[SWITCHES_AT_ONCE];
    PfPerfetto__SchedSwitchFtraceEvent of[SWITCHES_AT_ONCE];
    size_t comms[SWITCHES_AT_ONCE][2]; /* offsets of the names in the texts of the packet */
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

/* Writes some switches of a CPU. */
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

perfile_status pf_perfetto_put_switches(pf_perfetto_writer *w, perfile_error *err)
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

#endif
