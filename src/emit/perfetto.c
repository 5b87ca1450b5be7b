/* The form `perfetto`: a trace of Perfetto, with samples, threads and switches.
 *
 * Its documents: protos/perfetto/trace/ of google/perfetto.  Times are those of the session's
 * clock, as if it were CLOCK_BOOTTIME, which is what Perfetto takes times for: nothing has to be
 * converted, and what has no clock of its own (switches) is on the same one. */
#include "emit/perfetto.h"

#ifdef PERFILE_WITH_PERFETTO /* cmake/forms.cmake */

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "emit/tracks.h"

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
    pf_sched_switch s;
    if (!pf_is_sched_switch(sample->event) || !pf_takes_all_switches(sample->event) ||
        sample->time == PERFILE_NO_TIME || sample->cpu == PF_NO_LABEL ||
        !pf_sched_switch_read(sample->record, sample->tid, &s))
        return true;
    const pf_exchange one = {.time = sample->time,
                             .prev_comm = pf_profile_text(&p->x.profile, s.prev.comm),
                             .next_comm = pf_profile_text(&p->x.profile, s.next.comm),
                             .prev_state = s.prev_state,
                             .cpu = sample->cpu,
                             .prev_tid = s.prev.tid,
                             .next_tid = s.next.tid,
                             .prev_prio = s.prev.prio,
                             .next_prio = s.next.prio,
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
    perfile_switch_cpu_wide s;
    bool ok = true;
    if (about->time == PERFILE_NO_TIME || about->cpu == PF_NO_LABEL ||
        !(about->record->misc & PERFILE_MISC_SWITCH_OUT) ||
        perfile_switch_cpu_wide_decode(about->record, &s, sizeof s, NULL) != PERFILE_OK)
        return true;
    pf_profile_reader *reader = &p->x.reader;
    pf_exchange one = {.time = about->time,
                       .cpu = about->cpu,
                       .source = PF_SWITCHES_WIDE,
                       .prev_tid = about->tid,
                       .next_tid = s.next_prev_tid,
                       /* As the kernel has them: runnable, or asleep for some reason. */
                       .prev_state = !(about->record->misc & PERFILE_MISC_SWITCH_OUT_PREEMPT)};
    one.prev_comm = pf_profile_reader_comm(reader, about->pid, about->tid, about->time, &ok);
    one.next_comm =
        pf_profile_reader_comm(reader, s.next_prev_pid, s.next_prev_tid, about->time, &ok);
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
