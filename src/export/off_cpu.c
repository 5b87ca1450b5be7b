/* Stacks at which threads left their CPU, weighted by how long they were off CPU.
 *
 * The sample at which a thread leaves is stored as recorded.  When the thread returns, the sample
 * goes to the reader of the profile, with event "offcpu-time" and the time off CPU as period.
 * There it may still wait for its user callchain, which comes when the thread is back in user
 * code. */
#include "export/export.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "perfile/abi.h"

/* A thread.  The key is `tid`. */
typedef struct away {
    uint64_t tid;
    pf_turns turns;
    perfile_record sample; /* at which it left, stored in `bytes`; header NULL if none */
    uint8_t *bytes;        /* grows */
    size_t cap;
} away;

/* The event of these samples, with the same name as in perf's own off-CPU recordings, in ns. */
enum { BPF_OUTPUT = 10 };
static const perfile_attr off_cpu_attr = {.type = PERFILE_TYPE_SOFTWARE, .config = BPF_OUTPUT};
static const perfile_event off_cpu_event = {.name = "offcpu-time", .attr = &off_cpu_attr};

perfile_status pf_off_cpu_begin(pf_exporter *x, perfile_error *err)
{
    pf_off_cpu *o = &x->off_cpu;
    o->threads = (pf_intern){.seed = pf_index_seed(o),
                             .budget = &x->profile.budget,
                             .width = sizeof(away),
                             .key = offsetof(away, turns)};
    const perfile_status st = perfile_tracepoints_open(x->reader.session, &o->all, err);
    o->reader = (pf_switch_reader){.session = x->reader.session, .all = o->all};
    x->reader.as = &off_cpu_event;
    return st;
}

void pf_off_cpu_end(pf_exporter *x)
{
    pf_off_cpu *o = &x->off_cpu;
    for (uint32_t i = 0; i < o->threads.n; i++) {
        away *a = pf_intern_at(&o->threads, i);
        pf_budget_free(&x->profile.budget, a->bytes, a->cap, 1);
    }
    pf_intern_free(&o->threads);
    perfile_tracepoints_close(o->all);
    *o = (pf_off_cpu){0};
}

/* Returns the thread with this number, NULL when out of memory. */
static away *thread_of(pf_off_cpu *o, uint32_t tid)
{
    const uint64_t key = tid;
    const uint32_t number = pf_intern_add(&o->threads, &key);
    return number == PF_INTERN_NONE ? NULL : pf_intern_at(&o->threads, number);
}

/* Stores a copy of the sample at which a thread leaves.  Returns false when out of memory. */
static bool keep(pf_exporter *x, away *a, const perfile_record *r)
{
    const size_t head = (size_t)(r->body.ptr - r->header), n = head + r->body.len;
    if (n > a->cap) {
        uint8_t *grown = pf_budget_realloc(&x->profile.budget, a->bytes, a->cap, n, 1);
        if (!grown)
            return false;
        a->bytes = grown;
        a->cap = n;
    }
    memcpy(a->bytes, r->header, n);
    a->sample = *r;
    a->sample.header = a->bytes;
    a->sample.body.ptr = a->bytes + head;
    return true;
}

/* Counts the sample of a thread that returned after `ns`. */
static perfile_status show(pf_exporter *x, away *a, uint64_t ns, perfile_error *err)
{
    perfile_record sample = a->sample;
    a->sample.header = NULL;
    sample.time = ns; /* see pf_profile_reader.as */
    return sample.header ? pf_profile_reader_put(&x->reader, &sample, err) : PERFILE_OK;
}

/* Handles what one thread did. */
static perfile_status take(pf_exporter *x, const pf_switch *said, const pf_switched *s,
                           perfile_error *err)
{
    pf_turns before;
    away *a = thread_of(&x->off_cpu, s->tid);
    if (!a)
        return pf_profile_fail(&x->profile, err);
    const int ended = pf_turns_step(&a->turns, s, said->time, said->source, &before);
    if (ended == PF_TURN_OFF && said->time >= before.since)
        return show(x, a, said->time - before.since, err);
    if (ended >= 0 && a->turns.is == PF_TURN_ON)
        a->sample.header = NULL; /* the time off CPU is not known */
    return PERFILE_OK;
}

perfile_status pf_off_cpu_put(pf_exporter *x, const perfile_record *r, perfile_error *err)
{
    pf_switch said;
    pf_profiled about;
    if (r->type == PERFILE_RECORD_CALLCHAIN_DEFERRED)
        return pf_profile_reader_put(&x->reader, r, err);
    if (!pf_switches_about(r, &about))
        return PERFILE_OK;
    if (!pf_switches_read(&x->off_cpu.reader, &about, &said))
        return pf_profile_fail(&x->profile, err);
    perfile_status st = PERFILE_OK;
    for (unsigned i = 0; i < said.n && said.source && st == PERFILE_OK; i++)
        if (said.of[i].tid && said.of[i].tid != PERFILE_NO_PID)
            st = take(x, &said, &said.of[i], err);
    const bool leaves = pf_switches_leaves(&about, &said);
    const uint32_t tid = said.source ? said.of[0].tid : about.tid;
    if (st != PERFILE_OK || !leaves || !tid || tid == PERFILE_NO_PID)
        return st;
    away *a = thread_of(&x->off_cpu, tid);
    if (a && r->flags & PERFILE_REC_UNSELECTED)
        a->sample.header = NULL;
    else if (!a || !keep(x, a, r))
        return pf_profile_fail(&x->profile, err);
    return PERFILE_OK;
}
