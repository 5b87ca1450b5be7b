/* Rows of switches and slices: which thread was on which CPU.
 *
 * Each record that says who left a CPU, or who came, is a row of `switches`.  The time that a
 * thread was on a CPU is a row of `slices`, made when the thread leaves.  There is no row for a
 * time that began before the recording, or without a record of its end.  If several sources report
 * a switch, the first one makes the slice.
 *
 * Threads move between CPUs, and records of different CPUs are not in order of time.  So switches
 * wait until all earlier ones have been read; FINISHED_ROUND records tell when. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "perfile/abi.h"
#include "perfile/records.h"
#include "tables/tables.h"

/* Maximum number of waiting switches: beyond it the older half is processed. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { MOST_WAITING = 32 };
#else
enum { MOST_WAITING = 1 << 20 }; /* 48 MiB */
#endif

/* A switch of one thread, like pf_switched. */
typedef struct moment {
    uint64_t time, sequence; /* order among equal times */
    const char *comm;        /* in the profile's texts; NULL: not in the record */
    uint32_t pid, tid, cpu;
    uint8_t what, source; /* PF_SWITCH_…, PF_SWITCHES_… */
} moment;

/* A thread.  All members before `turns` are the key. */
typedef struct switching {
    uint32_t tid;
    uint32_t cpu; /* for the idle threads, one for each CPU; otherwise PF_NO_LABEL */
    pf_turns turns;
    const char *comm; /* its name when it came, in the profile's texts; NULL: unknown */
    uint32_t pid;     /* + 1; 0: unknown */
} switching;

/* A CPU.  The key is `cpu`. */
typedef struct processor {
    uint64_t cpu;
    uint32_t thread; /* number of its current thread + 1; 0: unknown */
} processor;

typedef struct pf_switches_maker {
    perfile_tracepoints *all;
    pf_switch_reader reader;
    pf_intern threads, processors; /* charged to the profile's budget */
    moment *waiting;               /* likewise */
    size_t n_waiting, waiting_cap;
    uint64_t n_moments;     /* so far */
    uint64_t last;          /* latest time so far */
    uint64_t last_of_round; /* value of `last` at the last FINISHED_ROUND */
} pf_switches_maker;

static bool begin(pf_tables *x)
{
    pf_switches_maker *m = pf_alloc(1, sizeof *m);
    const pf_intern empty = {.seed = pf_index_seed(m), .budget = &x->x.profile.budget};
    x->switches = m;
    if (!m)
        return false;
    m->threads = m->processors = empty;
    m->threads.width = sizeof(switching);
    m->threads.key = offsetof(switching, turns);
    m->processors.width = sizeof(processor);
    m->processors.key = offsetof(processor, thread);
    if (perfile_tracepoints_open(x->session, &m->all, &x->failed) != PERFILE_OK)
        return false;
    m->reader = (pf_switch_reader){.session = x->session, .all = m->all};
    return true;
}

static void close_maker(pf_tables *x)
{
    pf_switches_maker *m = x->switches;
    if (!m)
        return;
    perfile_tracepoints_close(m->all);
    pf_intern_free(&m->threads);
    pf_intern_free(&m->processors);
    pf_budget_free(&x->x.profile.budget, m->waiting, m->waiting_cap, sizeof *m->waiting);
    pf_free(m);
    x->switches = NULL;
}

static bool leaves(const pf_switched *s)
{
    return s->what == PF_SWITCH_OUT || s->what == PF_SWITCH_PREEMPTED;
}

/* Writes the name of a thread: from the record, otherwise from the model.  Sets *ok to false when
 * out of memory. */
static void put_comm(pf_tables *x, pf_table_column *c, const pf_switched *s, uint64_t time,
                     bool *ok)
{
    if (s->comm[0])
        pf_column_text(c, s->comm);
    else if (s->tid != PERFILE_NO_PID)
        pf_column_same_text(c, pf_profile_reader_comm(&x->x.reader, s->pid, s->tid, time, ok));
}

/* Switches. */

/* Writes the ids of a thread.  `named`: they are in the record itself, so that 0xffffffff means
 * -1. */
static void put_thread(pf_table_column *pid, pf_table_column *tid, const pf_switched *s, bool named)
{
    if (named || s->pid != PERFILE_NO_PID)
        pf_column_number(pid, s->pid);
    if (named || s->tid != PERFILE_NO_PID)
        pf_column_number(tid, s->tid);
}

/* Reads the other thread of a SWITCH_CPU_WIDE record. */
static bool find_other(const perfile_record *r, pf_switched *other)
{
    perfile_switch_cpu_wide wide;
    if (r->type != PERFILE_RECORD_SWITCH_CPU_WIDE ||
        perfile_switch_cpu_wide_decode(r, &wide, sizeof wide, NULL) != PERFILE_OK)
        return false;
    *other = (pf_switched){.pid = wide.next_prev_pid, .tid = wide.next_prev_tid};
    return true;
}

static bool put_switch(pf_tables *x, const pf_profiled *about, const pf_switch *said)
{
    const pf_switched *prev = NULL, *next = NULL;
    pf_switched other;
    bool ok = true;
    const bool wide = find_other(about->record, &other);
    uint32_t pid, tid;
    const bool has_task = perfile_record_task(about->record, &pid, &tid);
    if (said->n == 2) {
        prev = &said->of[0];
        next = &said->of[1];
    } else if (leaves(&said->of[0])) {
        prev = &said->of[0];
        next = wide ? &other : NULL;
    } else {
        next = &said->of[0];
        prev = wide ? &other : NULL;
    }
    pf_put_capture(x, PF_COLUMN(x, switches, capture_id));
    pf_put_time(PF_COLUMN(x, switches, time), said->time);
    pf_put_cpu(PF_COLUMN(x, switches, cpu), about->cpu);
    if (prev) {
        put_thread(PF_COLUMN(x, switches, prev_pid), PF_COLUMN(x, switches, prev_tid), prev,
                   has_task || prev == &other);
        put_comm(x, PF_COLUMN(x, switches, prev_comm), prev, said->time, &ok);
    }
    if (next) {
        put_thread(PF_COLUMN(x, switches, next_pid), PF_COLUMN(x, switches, next_tid), next,
                   said->n == 1 && (has_task || next == &other));
        put_comm(x, PF_COLUMN(x, switches, next_comm), next, said->time, &ok);
    }
    if (prev && prev != &other)
        pf_column_bool(PF_COLUMN(x, switches, preempted), prev->what == PF_SWITCH_PREEMPTED);
    pf_column_same_text(PF_COLUMN(x, switches, source), said->n == 2 ? "sched_switch" : "switch");
    return ok && pf_table_row(x, &x->at[PF_TABLE_switches]);
}

/* Slices. */

/* Makes the row of a thread that leaves its CPU. */
static bool put_slice(pf_tables *x, const switching *thread, const pf_turns *on, const moment *left)
{
    const char *comm = thread->comm;
    bool ok = true;
    pf_put_capture(x, PF_COLUMN(x, slices, capture_id));
    pf_put_cpu(PF_COLUMN(x, slices, cpu), on->cpu);
    if (thread->pid)
        pf_column_number(PF_COLUMN(x, slices, pid), thread->pid - 1);
    pf_column_number(PF_COLUMN(x, slices, tid), thread->tid);
    if (!comm && thread->pid)
        comm = pf_profile_reader_comm(&x->x.reader, thread->pid - 1, thread->tid, on->since, &ok);
    pf_column_same_text(PF_COLUMN(x, slices, comm), comm);
    pf_put_time(PF_COLUMN(x, slices, start), on->since);
    pf_put_number(PF_COLUMN(x, slices, duration), left->time - on->since);
    pf_column_same_text(PF_COLUMN(x, slices, end_reason),
                        left->what == PF_SWITCH_PREEMPTED ? "preempted" : "wait");
    return ok && pf_table_row(x, &x->at[PF_TABLE_slices]);
}

/* Sets the current thread of a CPU.  If another thread was there and no record reported its
 * departure, its end time is unknown.  Returns false when out of memory. */
static bool set_processor(pf_switches_maker *m, uint32_t cpu, uint32_t thread, bool comes)
{
    const processor key = {.cpu = cpu};
    if (cpu == PF_NO_LABEL)
        return true;
    const uint32_t number = pf_intern_add(&m->processors, &key);
    if (number == PF_INTERN_NONE)
        return false;
    processor *p = pf_intern_at(&m->processors, number);
    if (p->thread && p->thread != thread + 1) {
        switching *former = pf_intern_at(&m->threads, p->thread - 1);
        if (former->turns.is == PF_TURN_ON)
            former->turns = (pf_turns){0};
    }
    p->thread = comes ? thread + 1 : 0;
    return true;
}

/* Stores name and process of a thread that came.  Returns false when out of memory. */
static bool came(pf_tables *x, switching *thread, const moment *m)
{
    bool ok = true;
    thread->pid = m->pid == PERFILE_NO_PID ? 0 : m->pid + 1;
    thread->comm = m->comm;
    if (!m->comm && thread->pid)
        thread->comm = pf_profile_reader_comm(&x->x.reader, m->pid, m->tid, m->time, &ok);
    return ok;
}

/* Processes a switch, in order of time. */
static bool take(pf_tables *x, const moment *now)
{
    pf_switches_maker *m = x->switches;
    const switching key = {.tid = now->tid, .cpu = now->tid ? PF_NO_LABEL : now->cpu};
    const pf_switched s = {.pid = now->pid, .tid = now->tid, .cpu = now->cpu, .what = now->what};
    pf_turns before;
    if (now->tid == PERFILE_NO_PID || (!now->tid && now->cpu == PF_NO_LABEL))
        return true;
    const uint32_t number = pf_intern_add(&m->threads, &key);
    if (number == PF_INTERN_NONE)
        return false;
    switching *thread = pf_intern_at(&m->threads, number);
    const int ended = pf_turns_step(&thread->turns, &s, now->time, now->source, &before);
    if (ended < 0)
        return true;
    if (!leaves(&s))
        return came(x, thread, now) && set_processor(m, now->cpu, number, true);
    if (now->pid != PERFILE_NO_PID)
        thread->pid = now->pid + 1;
    if (ended == PF_TURN_ON && now->time >= before.since && !put_slice(x, thread, &before, now))
        return false;
    return set_processor(m, now->cpu, number, false);
}

static int by_time(const void *a, const void *b)
{
    const moment *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* Processes the switches up to a time, and at least the first `least`, in order of time. */
static bool take_until(pf_tables *x, uint64_t time, size_t least)
{
    pf_switches_maker *m = x->switches;
    bool ok = true;
    size_t n = 0;
    if (!m->n_waiting)
        return true;
    qsort(m->waiting, m->n_waiting, sizeof *m->waiting, by_time);
    for (; n < m->n_waiting && ok && (n < least || m->waiting[n].time <= time); n++)
        ok = take(x, &m->waiting[n]);
    m->n_waiting -= n;
    memmove(m->waiting, m->waiting + n, m->n_waiting * sizeof *m->waiting);
    return ok;
}

/* Adds a switch to the waiting ones. */
static bool add_moment(pf_tables *x, const pf_switched *s, const pf_switch *said)
{
    pf_switches_maker *m = x->switches;
    const char *comm = s->comm[0] ? pf_profile_text(&x->x.profile, s->comm) : NULL;
    if (s->comm[0] && !comm)
        return false;
    if (m->n_waiting == MOST_WAITING && !take_until(x, 0, MOST_WAITING / 2))
        return false;
    if (m->n_waiting == m->waiting_cap) {
        const size_t cap = m->waiting_cap ? 2 * m->waiting_cap : 32;
        moment *grown =
            pf_budget_realloc(&x->x.profile.budget, m->waiting, m->waiting_cap, cap, sizeof *grown);
        if (!grown)
            return false;
        m->waiting = grown;
        m->waiting_cap = cap;
    }
    m->waiting[m->n_waiting++] = (moment){.time = said->time,
                                          .sequence = m->n_moments++,
                                          .comm = comm,
                                          .pid = s->pid,
                                          .tid = s->tid,
                                          .cpu = s->cpu,
                                          .what = s->what,
                                          .source = said->source};
    if (said->time > m->last)
        m->last = said->time;
    return true;
}

/* Processes the switches before the round that ends, which are all known. */
static bool end_round(pf_tables *x)
{
    pf_switches_maker *m = x->switches;
    const bool ok = take_until(x, m->last_of_round, 0);
    m->last_of_round = m->last;
    return ok;
}

static bool read_switch(pf_tables *x, const pf_profiled *about)
{
    pf_switch said;
    bool ok = pf_switches_read(&x->switches->reader, about, &said);
    if (!ok || !said.n || said.of[0].what == PF_SWITCH_WOKEN)
        return ok;
    if (pf_table_wanted(x, PF_TABLE_switches))
        ok = put_switch(x, about, &said);
    /* A sampled tracepoint does not tell how long a thread was on its CPU. */
    if (said.source && pf_table_wanted(x, PF_TABLE_slices))
        for (unsigned i = 0; i < said.n && ok; i++)
            ok = add_moment(x, &said.of[i], &said);
    return ok;
}

static bool sample(pf_tables *x, const pf_profiled *s)
{
    const bool traced = s->event && s->event->attr->type == PERFILE_TYPE_TRACEPOINT;
    return !traced || read_switch(x, s);
}

static bool note(pf_tables *x, const pf_profiled *about)
{
    const uint32_t type = about->record->type;
    if (type == PERFILE_RECORD_FINISHED_ROUND)
        return end_round(x);
    return (type != PERFILE_RECORD_SWITCH && type != PERFILE_RECORD_SWITCH_CPU_WIDE) ||
           read_switch(x, about);
}

static bool end(pf_tables *x)
{
    return take_until(x, UINT64_MAX, 0);
}

const pf_table_maker pf_make_switches = {
    .begin = begin, .sample = sample, .note = note, .end = end, .close = close_maker};
