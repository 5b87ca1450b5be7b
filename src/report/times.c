/* Adding up times on CPUs and off them (see times.h).
 *
 * Each thread has a state (pf_turns) and the length of its last time off a CPU.  That time is
 * counted when the thread leaves its CPU again, because only then a record of its own has its
 * process and name.  Each CPU has its current thread.  If another thread leaves the CPU, records
 * were lost, and the time of the current thread is unknown. */
#include "report/times.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "perfile/event.h"
#include "perfile/profile.h"
#include "perfile/record.h"

/* A thread.  All members before `turns` are the key. */
typedef struct timed_thread {
    uint32_t tid;
    uint32_t cpu; /* for idle threads, one for each CPU; otherwise PF_NO_LABEL */
    pf_turns turns;
    uint64_t off, waited; /* before it came to its CPU */
    const char *comm;     /* at its last switch, in the profile's texts; or NULL */
    uint32_t pid;         /* + 1; 0: unknown */
} timed_thread;

/* The key is `cpu`. */
typedef struct processor {
    uint64_t cpu;
    uint32_t thread; /* current thread, + 1; 0: unknown */
} processor;

/* All members before `times` are the key. */
typedef struct preemption {
    uint64_t row;
    const char *by; /* in the profile's texts */
    uint64_t times;
} preemption;

static pf_intern table(pf_profile *p, size_t width, size_t key)
{
    return (pf_intern){.seed = p->texts.seed, .budget = &p->budget, .width = width, .key = key};
}

perfile_status pf_times_begin(pf_times *t, pf_profile *p, const perfile_session *session,
                              const perfile_model *model, const uint8_t *per, perfile_error *err)
{
    const char *keys = (const char *)per;
    if (!t->profile) {
        t->profile = p;
        t->rows = table(p, sizeof(pf_times_row), sizeof(pf_label));
        t->preemptions = table(p, sizeof(preemption), offsetof(preemption, times));
        t->by_comm = strchr(keys, PERFILE_PER_COMM);
        t->by_pid = strchr(keys, PERFILE_PER_PID);
        t->by_tid = strchr(keys, PERFILE_PER_TID);
        t->by_cpu = strchr(keys, PERFILE_PER_CPU);
    }
    t->model = model;
    t->threads = table(p, sizeof(timed_thread), offsetof(timed_thread, turns));
    t->processors = table(p, sizeof(processor), offsetof(processor, thread));
    const perfile_status st = perfile_tracepoints_open(session, &t->all, err);
    t->reader = (pf_switch_reader){.session = session, .all = t->all};
    return st;
}

void pf_times_end(pf_times *t)
{
    perfile_tracepoints_close(t->all);
    pf_intern_free(&t->threads);
    pf_intern_free(&t->processors);
    t->all = NULL;
}

void pf_times_free(pf_times *t)
{
    if (!t->profile)
        return;
    pf_times_end(t);
    pf_intern_free(&t->rows);
    pf_intern_free(&t->preemptions);
}

void pf_times_finish(pf_times *t)
{
    for (uint32_t i = 0; i < t->preemptions.n; i++) {
        const preemption *p = pf_intern_at(&t->preemptions, i);
        pf_times_row *row = pf_intern_at(&t->rows, (uint32_t)p->row);
        const bool more =
            p->times > row->by_times || (p->times == row->by_times && strcmp(p->by, row->by) < 0);
        if (more) {
            row->by = p->by;
            row->by_times = p->times;
        }
    }
}

/* Returns the name of a thread: from the record, from the model, or made of its number.  Returns
 * NULL when out of memory. */
static const char *name_of(const pf_times *t, const pf_switched *s, uint32_t pid, uint64_t time)
{
    char number[16];
    const char *name = s->comm[0] ? s->comm : NULL;
    if (!name && t->model)
        name = perfile_model_comm(t->model, pid, s->tid, time);
    if (!name) {
        snprintf(number, sizeof number, ":%" PRId32, (int32_t)s->tid);
        name = number;
    }
    return pf_profile_text(t->profile, name);
}

/* Stores name and process of a thread as far as a record has them.  Returns false when out of
 * memory. */
static bool note_thread(const pf_times *t, timed_thread *thread, const pf_switched *s,
                        uint64_t time)
{
    if (s->pid != PERFILE_NO_PID)
        thread->pid = s->pid + 1;
    if (thread->comm && s->comm[0] && strcmp(thread->comm, s->comm) == 0)
        return true;
    thread->comm = name_of(t, s, thread->pid - 1, time);
    return thread->comm;
}

/* Returns the row of a thread that was on a CPU, NULL when out of memory. */
static pf_times_row *row_of(pf_times *t, const timed_thread *thread, uint32_t cpu, uint64_t *number)
{
    const pf_label label = {.comm = t->by_comm ? thread->comm : NULL,
                            .pid = t->by_pid ? thread->pid - 1 : PF_NO_LABEL,
                            .tid = t->by_tid ? thread->tid : PF_NO_LABEL,
                            .cpu = t->by_cpu ? cpu : PF_NO_LABEL};
    const uint32_t n = pf_intern_add(&t->rows, &label);
    *number = n;
    return n == PF_INTERN_NONE ? NULL : pf_intern_at(&t->rows, n);
}

static uint64_t between(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* Counts an idle thread that leaves its CPU. */
static bool count_idle(pf_times *t, const timed_thread *idle, uint64_t time, uint32_t cpu)
{
    uint64_t number;
    pf_sum_add(&t->idle, time);
    if (!t->by_cpu || t->by_comm || t->by_pid || t->by_tid)
        return true;
    pf_times_row *row = row_of(t, idle, cpu, &number);
    if (row)
        pf_sum_add(&row->idle, time);
    return row;
}

/* Counts the thread that replaced a preempted one. */
static bool count_preemption(pf_times *t, uint64_t row, const pf_switch *said)
{
    const pf_switched *by = said->n == 2 ? &said->of[1] : &said->next;
    if (by->tid == PERFILE_NO_PID)
        return true;
    const preemption key = {.row = row, .by = name_of(t, by, by->pid, said->time)};
    const uint32_t number = key.by ? pf_intern_add(&t->preemptions, &key) : PF_INTERN_NONE;
    if (number == PF_INTERN_NONE)
        return false;
    ((preemption *)pf_intern_at(&t->preemptions, number))->times++;
    return true;
}

/* Counts a thread that leaves its CPU: the time on it, and the time off before. */
static bool count(pf_times *t, timed_thread *thread, const pf_turns *before, const pf_switch *said)
{
    uint64_t number;
    const pf_switched *s = &said->of[0];
    const uint64_t on = before->is == PF_TURN_ON ? between(before->since, said->time) : 0;
    if (!thread->tid)
        return count_idle(t, thread, on, s->cpu);
    pf_times_row *row = row_of(t, thread, s->cpu, &number);
    if (!row)
        return false;
    row->switches++;
    pf_sum_add(&row->on, on);
    pf_sum_add(&row->off, thread->off);
    pf_sum_add(&row->waiting, thread->waited);
    if (thread->waited > row->longest)
        row->longest = thread->waited;
    if (s->what != PF_SWITCH_PREEMPTED)
        return true;
    row->preempted++;
    return count_preemption(t, number, said);
}

/* Sets the current thread of a CPU.  If another thread was there and no record reported its
 * departure, the state of that thread is reset.  Returns false when out of memory. */
static bool set_processor(pf_times *t, uint32_t cpu, uint32_t thread, bool comes)
{
    const processor key = {.cpu = cpu};
    if (cpu == PF_NO_LABEL)
        return true;
    const uint32_t number = pf_intern_add(&t->processors, &key);
    if (number == PF_INTERN_NONE)
        return false;
    processor *p = pf_intern_at(&t->processors, number);
    if (p->thread && p->thread != thread + 1) {
        timed_thread *former = pf_intern_at(&t->threads, p->thread - 1);
        if (former->turns.is == PF_TURN_ON)
            former->turns = (pf_turns){0};
    }
    p->thread = comes ? thread + 1 : 0;
    return true;
}

/* Handles the switch of one thread. */
static bool take(pf_times *t, const pf_switch *said, unsigned which, bool selected)
{
    const pf_switched *s = &said->of[which];
    pf_turns before;
    const timed_thread key = {.tid = s->tid, .cpu = s->tid ? PF_NO_LABEL : s->cpu};
    if (s->tid == PERFILE_NO_PID || (!s->tid && s->cpu == PF_NO_LABEL))
        return true;
    const uint32_t number = pf_intern_add(&t->threads, &key);
    timed_thread *thread = number == PF_INTERN_NONE ? NULL : pf_intern_at(&t->threads, number);
    if (!thread)
        return false;
    const bool comes = s->what == PF_SWITCH_IN || s->what == PF_SWITCH_NEXT;
    const int ended = pf_turns_step(&thread->turns, s, said->time, said->source, &before);
    if (ended < 0)
        return true;
    if (!note_thread(t, thread, s, said->time))
        return false;
    if (comes) {
        thread->off = ended == PF_TURN_OFF ? between(before.since, said->time) : 0;
        thread->waited = before.waits ? between(before.woken, said->time) : 0;
    } else {
        if (selected && !count(t, thread, &before, said))
            return false;
        thread->off = thread->waited = 0;
    }
    return set_processor(t, s->cpu, number, comes);
}

perfile_status pf_times_put(pf_times *t, const perfile_record *r, perfile_error *err)
{
    pf_switch said;
    pf_profiled about;
    if (!pf_switches_about(r, &about))
        return PERFILE_OK;
    bool ok = pf_switches_read(&t->reader, &about, &said);
    const bool selected = !(r->flags & PERFILE_REC_UNSELECTED);
    for (unsigned i = 0; ok && i < said.n; i++)
        if (said.source || said.of[i].what == PF_SWITCH_WOKEN)
            ok = take(t, &said, i, selected);
    return ok ? PERFILE_OK : pf_profile_fail(t->profile, err);
}
