/* Rows of mappings, threads and comms, from the model at the end of the capture.
 *
 * A tid that is reused is another thread.  The model knows all threads before the first record
 * comes, so each sample is counted for the thread that had the tid at that time.  Threads that only
 * have samples get a row, too. */
#include <stddef.h>

#include "base/alloc.h"
#include "perfile/abi.h"
#include "perfile/model.h"
#include "tables/tables.h"
#include "model/command.h"

/* Samples of a thread. */
typedef struct counted {
    uint64_t samples;
    uint64_t first, last; /* times; first > last: none */
} counted;

/* A thread that the model does not know.  All members before `of` are the key. */
typedef struct stranger {
    uint32_t pid, tid;
    counted of;
} stranger;

typedef struct pf_threads_maker {
    const perfile_thread *known; /* from the model, sorted by pid, tid, start */
    size_t n_known;
    counted *counts;     /* of each */
    pf_intern strangers; /* charged to the profile's budget, like `counts` */
    size_t last;         /* index in `known` of the last sample's thread; n_known: none */
} pf_threads_maker;

/* Returns the model as non-const: requesting a list builds it, but does not change other
 * results. */
static perfile_model *model_of(const pf_tables *x)
{
    return (perfile_model *)(uintptr_t)x->model;
}

static bool begin(pf_tables *x)
{
    pf_threads_maker *m = pf_alloc(1, sizeof *m);
    pf_budget *budget = &x->x.profile.budget;
    x->threads = m;
    if (!m)
        return false;
    m->strangers = (pf_intern){.seed = pf_index_seed(m),
                               .budget = budget,
                               .width = sizeof(stranger),
                               .key = offsetof(stranger, of)};
    if (x->model && pf_model_threads(model_of(x), &m->known, &m->n_known, &x->failed) != PERFILE_OK)
        return false;
    m->last = m->n_known;
    m->counts = pf_budget_alloc(budget, m->n_known, sizeof *m->counts);
    for (size_t i = 0; m->counts && i < m->n_known; i++)
        m->counts[i].first = PERFILE_NO_TIME;
    return m->counts;
}

static void close_maker(pf_tables *x)
{
    pf_threads_maker *m = x->threads;
    if (!m)
        return;
    pf_budget_free(&x->x.profile.budget, m->counts, m->n_known, sizeof *m->counts);
    pf_intern_free(&m->strangers);
    pf_free(m);
    x->threads = NULL;
}

/* Counting samples. */

/* Returns < 0 if the thread sorts before (pid, tid), 0 if it has these ids and began by `time`, and
 * > 0 if it sorts after. */
static int compare(const perfile_thread *t, uint32_t pid, uint32_t tid, uint64_t time)
{
    if (t->pid != pid)
        return t->pid < pid ? -1 : 1;
    if (t->tid != tid)
        return t->tid < tid ? -1 : 1;
    return t->start == PERFILE_NO_TIME || t->start <= time ? 0 : 1;
}

/* Returns the index of the thread that had the ids at a time: the last one that began by then,
 * otherwise the first one.  Returns n_known if there is none. */
static size_t find(const pf_threads_maker *m, uint32_t pid, uint32_t tid, uint64_t time)
{
    size_t low = 0, high = m->n_known;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(&m->known[middle], pid, tid, time) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low && m->known[low - 1].pid == pid && m->known[low - 1].tid == tid)
        return low - 1;
    const bool later = low < m->n_known && m->known[low].pid == pid && m->known[low].tid == tid;
    return later ? low : m->n_known;
}

/* Returns true if the thread at index `at` had the ids at a time, and the next one had not. */
static bool still(const pf_threads_maker *m, size_t at, uint32_t pid, uint32_t tid, uint64_t time)
{
    return at < m->n_known && compare(&m->known[at], pid, tid, time) == 0 &&
           (at + 1 == m->n_known || compare(&m->known[at + 1], pid, tid, time) > 0);
}

static void count(counted *c, uint64_t time)
{
    c->samples++;
    if (time == PERFILE_NO_TIME)
        return;
    if (time < c->first)
        c->first = time;
    if (time > c->last)
        c->last = time;
}

/* Counts a sample.  Samples of an exited thread have no ids. */
static bool sample(pf_tables *x, const pf_profiled *s)
{
    pf_threads_maker *m = x->threads;
    const stranger key = {.pid = s->pid, .tid = s->tid};
    if (s->tid == PERFILE_NO_PID || !pf_table_wanted(x, PF_TABLE_threads))
        return true;
    if (!still(m, m->last, s->pid, s->tid, s->time))
        m->last = find(m, s->pid, s->tid, s->time);
    if (m->last < m->n_known) {
        count(&m->counts[m->last], s->time);
        return true;
    }
    const size_t before = m->strangers.n;
    const uint32_t number = pf_intern_add(&m->strangers, &key);
    if (number == PF_INTERN_NONE)
        return false;
    stranger *one = pf_intern_at(&m->strangers, number);
    if (m->strangers.n != before)
        one->of.first = PERFILE_NO_TIME;
    count(&one->of, s->time);
    return true;
}

/* Rows. */

/* Time 0 means before the recording. */
static void put_start(pf_table_column *c, uint64_t time)
{
    if (time)
        pf_put_time(c, time);
}

static bool put_thread(pf_tables *x, const perfile_thread *t, const counted *c)
{
    pf_put_capture(x, PF_COLUMN(x, threads, capture_id));
    pf_column_number(PF_COLUMN(x, threads, pid), t->pid);
    pf_column_number(PF_COLUMN(x, threads, tid), t->tid);
    if (t->ppid != PERFILE_NO_PID)
        pf_column_number(PF_COLUMN(x, threads, parent_pid), t->ppid);
    if (t->ptid != PERFILE_NO_PID)
        pf_column_number(PF_COLUMN(x, threads, parent_tid), t->ptid);
    pf_column_text(PF_COLUMN(x, threads, comm), t->comm);
    if (c->first <= c->last) {
        pf_put_time(PF_COLUMN(x, threads, first_time), c->first);
        pf_put_time(PF_COLUMN(x, threads, last_time), c->last);
    }
    put_start(PF_COLUMN(x, threads, fork_time), t->start);
    pf_put_time(PF_COLUMN(x, threads, exit_time), t->end);
    pf_column_number(PF_COLUMN(x, threads, samples), c->samples);
    return pf_table_row(x, &x->at[PF_TABLE_threads]);
}

static bool put_stranger(pf_tables *x, const stranger *one)
{
    const perfile_thread t = {
        .pid = one->pid,
        .tid = one->tid,
        .ppid = PERFILE_NO_PID,
        .ptid = PERFILE_NO_PID,
        .start = PERFILE_NO_TIME,
        .end = PERFILE_NO_TIME,
        .comm =
            x->model ? perfile_model_comm(x->model, one->pid, one->tid, PERFILE_NO_TIME) : NULL};
    return put_thread(x, &t, &one->of);
}

static bool put_comm(pf_tables *x, const perfile_thread *t, const perfile_thread_name *name)
{
    pf_put_capture(x, PF_COLUMN(x, comms, capture_id));
    pf_column_number(PF_COLUMN(x, comms, pid), t->pid);
    pf_column_number(PF_COLUMN(x, comms, tid), t->tid);
    put_start(PF_COLUMN(x, comms, time), name->time);
    pf_column_text(PF_COLUMN(x, comms, comm), name->name);
    pf_column_bool(PF_COLUMN(x, comms, exec), name->exec);
    return pf_table_row(x, &x->at[PF_TABLE_comms]);
}

static bool put_threads(pf_tables *x)
{
    const pf_threads_maker *m = x->threads;
    bool ok = true;
    for (size_t i = 0; i < m->n_known && ok; i++)
        ok = put_thread(x, &m->known[i], &m->counts[i]);
    for (uint32_t i = 0; i < m->strangers.n && ok; i++)
        ok = put_stranger(x, pf_intern_at(&m->strangers, i));
    return ok;
}

static bool put_comms(pf_tables *x)
{
    const pf_threads_maker *m = x->threads;
    bool ok = true;
    for (size_t i = 0; i < m->n_known && ok; i++)
        for (uint32_t k = 0; k < m->known[i].n_names && ok; k++)
            ok = put_comm(x, &m->known[i], &m->known[i].names[k]);
    return ok;
}

/* Mappings. */

static void put_protection(pf_table_column *c, const perfile_mapping *mapping)
{
    enum { READ = 1, WRITE = 2, EXEC = 4, SHARED = 1 };
    const char text[] = {mapping->prot & READ ? 'r' : '-', mapping->prot & WRITE ? 'w' : '-',
                         mapping->prot & EXEC ? 'x' : '-', mapping->flags & SHARED ? 's' : 'p', 0};
    if (mapping->has_prot)
        pf_column_text(c, text);
}

static bool put_mapping(pf_tables *x, const perfile_mapping *mapping)
{
    const char *path = pf_texts_keep(&x->x.profile.texts, perfile_mapping_dso(mapping));
    const perfile_bytes build_id = {mapping->build_id, mapping->build_id_size};
    if (!path)
        return false;
    pf_put_capture(x, PF_COLUMN(x, mappings, capture_id));
    pf_column_number(PF_COLUMN(x, mappings, pid), mapping->pid);
    pf_column_number(PF_COLUMN(x, mappings, start), mapping->addr);
    if (mapping->len <= UINT64_MAX - mapping->addr)
        pf_column_number(PF_COLUMN(x, mappings, end), mapping->addr + mapping->len);
    if (mapping->kind == PERFILE_MAPPING_FILE)
        pf_column_number(PF_COLUMN(x, mappings, file_offset), mapping->pgoff);
    put_protection(PF_COLUMN(x, mappings, protection), mapping);
    pf_column_number(PF_COLUMN(x, mappings, module_id), (uint64_t)pf_id_of_module(build_id, path));
    pf_column_same_text(PF_COLUMN(x, mappings, path), path);
    put_start(PF_COLUMN(x, mappings, from_time), mapping->start);
    pf_put_time(PF_COLUMN(x, mappings, to_time), mapping->end);
    return pf_table_row(x, &x->at[PF_TABLE_mappings]);
}

/* Makes the rows of mappings.  Their list is made now, when no other thread uses the model. */
static bool put_mappings(pf_tables *x)
{
    const perfile_mapping *all;
    size_t n;
    if (!x->model)
        return true;
    if (pf_model_mappings(model_of(x), &all, &n, &x->failed) != PERFILE_OK)
        return false;
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++)
        ok = put_mapping(x, &all[i]);
    return ok;
}

static bool end(pf_tables *x)
{
    return (!pf_table_wanted(x, PF_TABLE_mappings) || put_mappings(x)) &&
           (!pf_table_wanted(x, PF_TABLE_threads) || put_threads(x)) &&
           (!pf_table_wanted(x, PF_TABLE_comms) || put_comms(x));
}

const pf_table_maker pf_make_threads = {
    .begin = begin, .sample = sample, .end = end, .close = close_maker};
