/* Lists of threads, processes and mappings, made from the collected changes on request.
 *
 * Several threads may use a tid one after the other.  Each START change begins a new *life* of the
 * tid; what happened before the first START makes one more life at the front.  Names and ends are
 * assigned to lives by time.  Lives of the main thread make processes in the same way.
 *
 * All steps are linear or n log n in the number of changes: a capture cannot make a list expensive
 * by reusing one tid under many pids (see make_order()). */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/state.h"
#include "model/command.h"

/* A range of positions in m->order: changes of one kind and thread, in order of time.  `at`
 * advances as they are used. */
typedef struct change_range {
    size_t at, end;
} change_range;

/* Returns the change at position `place` of m->order. */
static const pf_change *change_at(const perfile_model *m, size_t place)
{
    return &m->history.all[m->order[place]];
}

/* Returns the first position in m->order at or after the changes of `key` and process `pid`.  `pid`
 * is 64 bits wide, so that it can be the largest pid plus one. */
static size_t lower_bound_of(const perfile_model *m, uint64_t key, uint64_t pid)
{
    size_t low = 0, high = m->n_order;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const pf_change *c = change_at(m, mid);
        if (c->key < key || (c->key == key && c->pid < pid))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Returns all changes of one kind of one thread. */
static change_range changes_of(const perfile_model *m, uint32_t kind, pf_task task)
{
    uint64_t key = pf_key(kind, task.tid);
    return (change_range){lower_bound_of(m, key, task.pid),
                          lower_bound_of(m, key, (uint64_t)task.pid + 1)};
}

/* A change as make_order() sorts it: by process, then by position in the history. */
typedef struct pid_and_position {
    uint32_t pid, place;
} pid_and_position;

/* qsort() order of pid_and_position.  Positions within a process are in order of time. */
static int compare_by_pid(const void *a, const void *b)
{
    const pid_and_position *x = a;
    const pid_and_position *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Writes to m->order[from .. to) the positions of changes of one key, grouped by process. */
static void order_key(perfile_model *m, size_t from, size_t to, pid_and_position *scratch)
{
    bool mixed = false; /* more than one process, which is rare: mostly nothing is sorted */
    for (size_t i = from; i < to; i++) {
        scratch[i - from] = (pid_and_position){m->history.all[i].pid, (uint32_t)i};
        mixed |= i > from && scratch[i - from].pid != scratch[i - from - 1].pid;
    }
    if (mixed)
        qsort(scratch, to - from, sizeof *scratch, compare_by_pid);
    for (size_t i = from; i < to; i++)
        m->order[i] = scratch[i - from].place;
}

/* Makes m->order: all changes by (key, pid, time).  One tid may have belonged to threads of many
 * processes.  Without this order, each of these threads would search the changes of all of them,
 * which takes quadratic time. */
static bool make_order(perfile_model *m)
{
    const pf_change *all = m->history.all;
    size_t n = m->history.n, longest = 0;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && all[to].key == all[from].key;)
            to++;
        longest = to - from > longest ? to - from : longest;
    }
    pid_and_position *scratch = pf_alloc(longest + 1, sizeof *scratch);
    m->order = pf_alloc(n + 1, sizeof *m->order);
    m->n_order = n;
    if (scratch && m->order)
        for (size_t from = 0, to; from < n; from = to) {
            for (to = from + 1; to < n && all[to].key == all[from].key;)
                to++;
            order_key(m, from, to, scratch);
        }
    bool ok = scratch && m->order;
    pf_free(scratch);
    return ok;
}

/* qsort() order: by process, then by thread. */
static int compare_tasks(const void *a, const void *b)
{
    const pf_task *x = a;
    const pf_task *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Fills *t, a life from time `start` (0: the beginning) to `next`, when the next life of that tid
 * begins: its end, names and last name.  Advances `names` and `ends` past it. */
static void fill_life(perfile_model *m, perfile_thread *t, uint64_t start, uint64_t next,
                      change_range *names, change_range *ends)
{
    t->end = PERFILE_NO_TIME;
    for (; ends->at < ends->end && change_at(m, ends->at)->time < next; ends->at++) {
        const pf_change *c = change_at(m, ends->at);
        if (c->time < start)
            continue;
        t->end = c->time;
        if (t->ppid == PERFILE_NO_PID) { /* no FORK was seen, but EXIT names the parent, too */
            t->ppid = (uint32_t)(c->value >> 32);
            t->ptid = (uint32_t)c->value;
        }
    }
    while (names->at < names->end && change_at(m, names->at)->time < start)
        names->at++;
    t->names = m->names + names->at;
    for (; names->at < names->end && change_at(m, names->at)->time < next; names->at++)
        t->n_names++;
    t->comm = perfile_model_comm(m, t->pid, t->tid, next - 1); /* at the end of the life */
}

/* Returns true if a name or an end of the thread is before time `first`. */
static bool has_earlier_life(const perfile_model *m, change_range names, change_range ends,
                             uint64_t first)
{
    return (names.at < names.end && change_at(m, names.at)->time < first) ||
           (ends.at < ends.end && change_at(m, ends.at)->time < first);
}

/* Appends all lives of `task` to m->threads, which has room for one life per START plus one. */
static void add_lives(perfile_model *m, pf_task task)
{
    change_range starts = changes_of(m, PF_CHANGE_START, task);
    change_range names = changes_of(m, PF_CHANGE_NAME, task);
    change_range ends = changes_of(m, PF_CHANGE_END, task);
    perfile_thread fresh = {.pid = task.pid,
                            .tid = task.tid,
                            .ppid = PERFILE_NO_PID,
                            .ptid = PERFILE_NO_PID,
                            .start = PERFILE_NO_TIME};
    uint64_t first = starts.at < starts.end ? change_at(m, starts.at)->time : PERFILE_NO_TIME;
    if (first == PERFILE_NO_TIME || has_earlier_life(m, names, ends, first)) {
        perfile_thread *t = &m->threads[m->n_threads++];
        *t = fresh;
        fill_life(m, t, 0, first, &names, &ends);
    }
    while (starts.at < starts.end) {
        const pf_change *s = change_at(m, starts.at++);
        /* Several FORKs at the same time are one start. */
        while (starts.at < starts.end && change_at(m, starts.at)->time == s->time)
            starts.at++;
        perfile_thread *t = &m->threads[m->n_threads++];
        *t = fresh;
        t->ppid = (uint32_t)(s->value >> 32);
        t->ptid = (uint32_t)s->value;
        t->start = s->time ? s->time : PERFILE_NO_TIME;
        fill_life(m, t, s->time,
                  starts.at < starts.end ? change_at(m, starts.at)->time : PERFILE_NO_TIME, &names,
                  &ends);
    }
}

/* Fills m->names (one per change, so that positions agree) and m->threads. */
static bool fill_threads(perfile_model *m)
{
    size_t starts = 0;
    for (size_t i = 0; i < m->history.n; i++) {
        const pf_change *c = change_at(m, i);
        starts += c->key >> 32 == PF_CHANGE_START;
        if (c->key >> 32 == PF_CHANGE_NAME)
            m->names[i] = (perfile_thread_name){.time = c->time,
                                                .name = (const char *)(uintptr_t)c->value,
                                                .exec = c->flags & PF_CHANGE_EXEC};
    }
    m->threads = pf_alloc(m->tasks.n + starts + 1, sizeof *m->threads);
    if (!m->threads)
        return false;
    if (m->tasks.n)
        qsort(m->tasks.at, m->tasks.n, sizeof *m->tasks.at, compare_tasks);
    for (size_t i = 0; i < m->tasks.n; i++)
        add_lives(m, m->tasks.at[i]);
    return true;
}

/* Sorts the history and makes the list of threads. */
static bool make_threads(perfile_model *m)
{
    if (!pf_history_sort(&m->history))
        return false;
    pf_free(m->names);
    pf_free(m->threads);
    m->threads = NULL;
    m->n_threads = 0;
    m->names = pf_alloc(m->history.n + 1, sizeof *m->names);
    /* m->order has 32-bit positions. */
    bool ok = m->names && m->history.n < UINT32_MAX && make_order(m) && fill_threads(m);
    pf_free(m->order);
    m->order = NULL;
    return ok;
}

/* Makes processes of the threads [from, to), which are sorted and have the same pid: one per life
 * of the main thread, or one if there is no main thread.  Then counts each thread in the process
 * that had begun last when the thread started. */
static void add_processes(perfile_model *m, size_t from, size_t to)
{
    size_t first = m->n_processes;
    uint32_t pid = m->threads[from].pid;
    for (size_t i = from; i < to; i++) {
        const perfile_thread *t = &m->threads[i];
        if (t->tid == pid)
            m->processes[m->n_processes++] = (perfile_process){
                .pid = pid, .ppid = t->ppid, .start = t->start, .end = t->end, .comm = t->comm};
    }
    if (m->n_processes == first)
        m->processes[m->n_processes++] =
            (perfile_process){.pid = pid,
                              .ppid = PERFILE_NO_PID,
                              .start = PERFILE_NO_TIME,
                              .end = PERFILE_NO_TIME,
                              .comm = perfile_model_comm(m, pid, pid, PERFILE_NO_TIME)};

    /* The last process that started at or before the thread; the first one has no lower bound. */
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

/* Makes the list of processes from the list of threads. */
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

/* Makes both lists unless they exist. */
static perfile_status need_threads(perfile_model *m, perfile_error *err)
{
    if (m->has_threads)
        return PERFILE_OK;
    if (!make_threads(m) || !make_processes(m)) {
        pf_model_drop_lists(m);
        return pf_model_fail(m, err);
    }
    m->has_threads = true;
    return PERFILE_OK;
}

perfile_status pf_model_threads(perfile_model *m, const perfile_thread **threads, size_t *n,
                                perfile_error *err)
{
    perfile_status st = need_threads(m, err);
    if (st == PERFILE_OK) {
        *threads = m->threads;
        *n = m->n_threads;
    }
    return st;
}

perfile_status pf_model_processes(perfile_model *m, const perfile_process **processes, size_t *n,
                                  perfile_error *err)
{
    perfile_status st = need_threads(m, err);
    if (st == PERFILE_OK) {
        *processes = m->processes;
        *n = m->n_processes;
    }
    return st;
}

/* Returns the time at which a mapping ended.  For a KSYMBOL this is when it was unregistered; for
 * others when its process started another program or ended, whichever comes first.  Returns
 * PERFILE_NO_TIME if nothing of this was seen. */
static uint64_t end_of_mapping(const perfile_model *m, const perfile_mapping *x)
{
    uint64_t end = PERFILE_NO_TIME;
    const pf_change *all = m->history.all;
    if (x->kind == PERFILE_MAPPING_SYMBOL) {
        /* The first removal at that address at or after the symbol's start. */
        size_t at = pf_history_lower_bound(&m->removed_symbols, x->addr, x->start);
        return at < m->removed_symbols.n && m->removed_symbols.all[at].key == x->addr
                   ? m->removed_symbols.all[at].time
                   : end;
    }
    /* start + 1, because the exec that the mapping belongs to may have the same time. */
    uint64_t image = pf_key(PF_CHANGE_IMAGE, x->pid);
    size_t at = pf_history_lower_bound(&m->history, image, x->start + 1);
    if (at < m->history.n && all[at].key == image)
        end = all[at].time;
    uint64_t exited = pf_key(PF_CHANGE_END, x->pid);
    at = pf_history_lower_bound(&m->history, exited, x->start);
    if (at < m->history.n && all[at].key == exited && all[at].time < end)
        end = all[at].time;
    return end;
}

/* qsort() order of the list: by process, address, time, then length and name. */
static int compare_mappings(const void *a, const void *b)
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
    if (!pf_history_sort(&m->history) || !pf_history_sort(&m->removed_symbols))
        return false;
    m->sorted = pf_alloc(m->mappings.n + 1, sizeof *m->sorted);
    if (!m->sorted)
        return false;
    for (size_t i = 0; i < m->mappings.n; i++) {
        perfile_mapping *x = &m->mappings.at[i];
        x->end = end_of_mapping(m, x);
        m->sorted[i] = *x;
    }
    qsort(m->sorted, m->mappings.n, sizeof *m->sorted, compare_mappings);
    return true;
}

perfile_status pf_model_mappings(perfile_model *m, const perfile_mapping **mappings, size_t *n,
                                 perfile_error *err)
{
    if (!m->has_sorted && !make_mappings(m)) {
        pf_model_drop_lists(m);
        return pf_model_fail(m, err);
    }
    m->has_sorted = true;
    *mappings = m->sorted;
    *n = m->mappings.n;
    return PERFILE_OK;
}

perfile_status perfile_model_list(perfile_model *m, uint32_t list, const void **items, size_t *n,
                                  perfile_error *err)
{
    const perfile_thread *threads = NULL;
    const perfile_process *processes = NULL;
    const perfile_mapping *mappings = NULL;
    perfile_status st;
    switch (list) {
    case PERFILE_MODEL_THREADS:
        st = pf_model_threads(m, &threads, n, err);
        break;
    case PERFILE_MODEL_PROCESSES:
        st = pf_model_processes(m, &processes, n, err);
        break;
    case PERFILE_MODEL_MAPPINGS:
        st = pf_model_mappings(m, &mappings, n, err);
        break;
    default:
        return pf_fail(err, PERFILE_E_USAGE, "model.list", "there is no list %u", (unsigned)list);
    }
    if (st == PERFILE_OK)
        *items = threads ? (const void *)threads : processes ? (const void *)processes : mappings;
    return st;
}
