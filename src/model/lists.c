#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/state.h"

/* Steps through the changes of one kind of one number, in order of time. */
typedef struct span {
    const pf_change *at, *end;
} span;

static span changes_of(const perfile_model *m, uint32_t kind, uint32_t number)
{
    uint64_t key = pf_key(kind, number);
    size_t from = pf_history_lower(&m->history, key, 0);
    size_t to = pf_history_lower(&m->history, key + 1, 0);
    const pf_change *all = m->history.all;
    return all ? (span){all + from, all + to} : (span){NULL, NULL};
}

static int by_number(const void *a, const void *b)
{
    const pf_task *x = a;
    const pf_task *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

/* The life that goes from `start` (0: from the beginning) up to `next`. */
static void live(perfile_model *m, perfile_thread *t, uint64_t start, uint64_t next, span *names,
                 span *ends)
{
    t->end = PERFILE_NO_TIME;
    for (; ends->at < ends->end && ends->at->time < next; ends->at++) {
        if (ends->at->time < start || ends->at->pid != t->pid)
            continue;
        t->end = ends->at->time;
        if (t->ppid == PERFILE_NO_PID) {
            t->ppid = (uint32_t)(ends->at->value >> 32);
            t->ptid = (uint32_t)ends->at->value;
        }
    }
    while (names->at < names->end && names->at->time < start)
        names->at++;
    t->names = m->names + (names->at - m->history.all);
    for (; names->at < names->end && names->at->time < next; names->at++)
        t->n_names++;
    t->comm = perfile_model_comm(m, t->pid, t->tid, next - 1);
}

/* Whether something is known of the thread from before `first`. */
static bool lived_before(const perfile_thread *t, span names, span ends, uint64_t first)
{
    return (names.at < names.end && names.at->pid == t->pid && names.at->time < first) ||
           (ends.at < ends.end && ends.at->pid == t->pid && ends.at->time < first);
}

/* Appends the lives of `task`.  There is room: one, and one for each START. */
static void add_lives(perfile_model *m, pf_task task)
{
    span starts = changes_of(m, PF_START, task.tid);
    span names = changes_of(m, PF_NAME, task.tid);
    span ends = changes_of(m, PF_END, task.tid);
    perfile_thread fresh = {.pid = task.pid,
                            .tid = task.tid,
                            .ppid = PERFILE_NO_PID,
                            .ptid = PERFILE_NO_PID,
                            .start = PERFILE_NO_TIME};
    while (starts.at < starts.end && starts.at->pid != task.pid)
        starts.at++;
    uint64_t first = starts.at < starts.end ? starts.at->time : PERFILE_NO_TIME;
    if (first == PERFILE_NO_TIME || lived_before(&fresh, names, ends, first)) {
        perfile_thread *t = &m->threads[m->n_threads++];
        *t = fresh;
        live(m, t, 0, first, &names, &ends);
    }
    while (starts.at < starts.end) {
        const pf_change *s = starts.at++;
        while (starts.at < starts.end && (starts.at->pid != task.pid || starts.at->time == s->time))
            starts.at++;
        perfile_thread *t = &m->threads[m->n_threads++];
        *t = fresh;
        t->ppid = (uint32_t)(s->value >> 32);
        t->ptid = (uint32_t)s->value;
        t->start = s->time ? s->time : PERFILE_NO_TIME;
        live(m, t, s->time, starts.at < starts.end ? starts.at->time : PERFILE_NO_TIME, &names,
             &ends);
    }
}

static bool make_threads(perfile_model *m)
{
    if (!pf_history_settle(&m->history))
        return false;
    size_t n = m->history.n;
    pf_free(m->names);
    pf_free(m->threads);
    m->n_threads = 0;
    m->names = pf_alloc(n + 1, sizeof *m->names);
    m->threads = pf_alloc(m->tasks.n + n + 1, sizeof *m->threads);
    if (!m->names || !m->threads)
        return false;
    for (size_t i = 0; i < n; i++) {
        const pf_change *c = &m->history.all[i];
        if (c->key >> 32 == PF_NAME)
            m->names[i] = (perfile_thread_name){c->time, (const char *)(uintptr_t)c->value,
                                                c->flags & PF_EXEC};
    }
    if (m->tasks.n)
        qsort(m->tasks.at, m->tasks.n, sizeof *m->tasks.at, by_number);
    for (size_t i = 0; i < m->tasks.n; i++)
        add_lives(m, m->tasks.at[i]);
    return true;
}

/* Lives of main threads make processes; threads without one make one too.  Threads are sorted by
 * process; of those in [from, to), all of `pid`. */
static void add_processes(perfile_model *m, size_t from, size_t to)
{
    size_t first = m->n_processes;
    uint32_t pid = m->threads[from].pid;
    for (size_t i = from; i < to; i++) {
        const perfile_thread *t = &m->threads[i];
        if (t->tid == pid)
            m->processes[m->n_processes++] =
                (perfile_process){pid, t->ppid, t->start, t->end, t->comm, 0};
    }
    if (m->n_processes == first)
        m->processes[m->n_processes++] =
            (perfile_process){pid,
                              PERFILE_NO_PID,
                              PERFILE_NO_TIME,
                              PERFILE_NO_TIME,
                              perfile_model_comm(m, pid, pid, PERFILE_NO_TIME),
                              0};

    for (size_t i = from; i < to; i++) {
        uint64_t start = m->threads[i].start;
        if (start == PERFILE_NO_TIME)
            start = 0;
        size_t low = first + 1;
        size_t high = m->n_processes;
        while (low < high) {
            size_t mid = low + (high - low) / 2;
            if (m->processes[mid].start != PERFILE_NO_TIME && m->processes[mid].start <= start)
                low = mid + 1;
            else
                high = mid;
        }
        m->processes[low - 1].n_threads++;
    }
}

static bool make_processes(perfile_model *m)
{
    m->processes = pf_alloc(m->n_threads + 1, sizeof *m->processes);
    m->n_processes = 0;
    if (!m->processes)
        return false;
    for (size_t from = 0, to; from < m->n_threads; from = to) {
        for (to = from + 1; to < m->n_threads && m->threads[to].pid == m->threads[from].pid;)
            to++;
        add_processes(m, from, to);
    }
    return true;
}

static perfile_status need_threads(perfile_model *m, perfile_error *err)
{
    if (m->has_threads)
        return PERFILE_OK;
    if (!make_threads(m) || !make_processes(m)) {
        pf_model_forget(m);
        return pf_fail_nomem(err, "model");
    }
    m->has_threads = true;
    return PERFILE_OK;
}

perfile_status perfile_model_threads(perfile_model *m, const perfile_thread **threads, size_t *n,
                                     perfile_error *err)
{
    perfile_status st = need_threads(m, err);
    if (st == PERFILE_OK) {
        *threads = m->threads;
        *n = m->n_threads;
    }
    return st;
}

perfile_status perfile_model_processes(perfile_model *m, const perfile_process **processes,
                                       size_t *n, perfile_error *err)
{
    perfile_status st = need_threads(m, err);
    if (st == PERFILE_OK) {
        *processes = m->processes;
        *n = m->n_processes;
    }
    return st;
}

static uint64_t end_of(const perfile_model *m, const perfile_mapping *x)
{
    uint64_t end = PERFILE_NO_TIME;
    const pf_change *all = m->history.all;
    if (x->kind == PERFILE_MAPPING_SYMBOL) {
        size_t at = pf_history_lower(&m->gone, x->addr, x->start);
        return at < m->gone.n && m->gone.all[at].key == x->addr ? m->gone.all[at].time : end;
    }
    uint64_t image = pf_key(PF_IMAGE, x->pid);
    size_t at = pf_history_lower(&m->history, image, x->start + 1);
    if (at < m->history.n && all[at].key == image)
        end = all[at].time;
    uint64_t gone = pf_key(PF_END, x->pid);
    at = pf_history_lower(&m->history, gone, x->start);
    if (at < m->history.n && all[at].key == gone && all[at].time < end)
        end = all[at].time;
    return end;
}

static int by_place(const void *a, const void *b)
{
    const perfile_mapping *x = a;
    const perfile_mapping *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool make_mappings(perfile_model *m)
{
    if (!pf_history_settle(&m->history) || !pf_history_settle(&m->gone))
        return false;
    m->sorted = pf_alloc(m->mappings.n + 1, sizeof *m->sorted);
    if (!m->sorted)
        return false;
    for (size_t i = 0; i < m->mappings.n; i++) {
        perfile_mapping *x = &m->mappings.at[i];
        pf_model_name_build_id(m, x);
        x->end = end_of(m, x);
        m->sorted[i] = *x;
    }
    qsort(m->sorted, m->mappings.n, sizeof *m->sorted, by_place);
    return true;
}

perfile_status perfile_model_mappings(perfile_model *m, const perfile_mapping **mappings, size_t *n,
                                      perfile_error *err)
{
    if (!m->has_sorted && !make_mappings(m)) {
        pf_model_forget(m);
        return pf_fail_nomem(err, "model");
    }
    m->has_sorted = true;
    *mappings = m->sorted;
    *n = m->mappings.n;
    return PERFILE_OK;
}
