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
#include "emit/sched_switch.h"

static perfile_status open(perfile_emitter *e, perfile_error *err)
{
    pf_perfetto *p = (pf_perfetto *)(void *)e;
    perfile_status st = pf_export_open(e, err);
    pf_tracks_init(&p->tracks, &p->x.profile);
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
    p->n_exchanges++;
    p->traced |= one->traced;
    return true;
}

static bool take_switch(pf_perfetto *p, const pf_profiled *sample)
{
    pf_sched_switch s;
    if (sample->time == PERFILE_NO_TIME || sample->cpu == PF_NO_LABEL ||
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
                             .traced = true};
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
    return pf_tracks_add(&p->tracks, x, sample, label) &&
           (!pf_is_sched_switch(sample->event) || take_switch(p, sample));
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
    if (about->record->type == PERFILE_RECORD_SWITCH_CPU_WIDE)
        return note_switch(p, about);
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
    if (p->n_exchanges)
        qsort(p->exchanges, p->n_exchanges, sizeof *p->exchanges, by_processor);
    return pf_perfetto_write(p, err);
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
