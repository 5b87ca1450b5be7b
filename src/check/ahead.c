/* Checks samples in the threads that read the file, before the stage comes to them.
 *
 * A thread checks the samples and rounds at the start of a block until one breaks a rule, changes a
 * counter of odd records, or needs what only the stage knows.  What it kept (times, lookups,
 * counters) is merged into the stage when the stage reaches the block, provided that the times
 * continue from those that the stage has seen; the stage then skips the records.  In all other
 * cases the stage checks them itself: so findings keep their order, and messages are made in one
 * place only.  The result does not depend on the number of threads (tests/law/look.c).  The
 * interface is the pf_looker of core/stream.h: begin_block() and judge_run() run in threads, all
 * else in the thread of the stage. */
#include "check/ahead.h"

#include <string.h>

#include "base/alloc.h"
#include "check/world.h"

/* When this many more blocks were refused than taken, checking ahead is not worth it and stops. */
enum { MAX_REFUSED = 16 };

/* What threads copy from the stage when a block begins.  Only written while no thread works on a
 * block: between pf_check_ahead_settle() and pf_check_ahead_refresh(). */
typedef struct pf_check_ahead {
    pf_looker looker;
    perfile_session *session;
    pf_check_plan *plans;
    uint64_t generation, span_first, span_last;
    uint32_t n_events, n_cpus;
    bool has_ids, has_tracepoints, pipe;
    struct perfile_model *model; /* never called here: not NULL means that lookups are wanted */
    uint64_t n_taken, n_refused; /* blocks; of the stage alone */
} pf_check_ahead;

/* Clears what a block before left. cpu_time has PF_CHECK_CPUS entries, so only those that were set
 * are cleared. */
static void reset_times(pf_check_block *b)
{
    for (uint32_t i = 0; i < b->n_cpus; i++)
        b->cpu_time[b->cpus[i].cpu] = 0;
    b->n_cpus = 0;
    b->n_rounds = 0;
    b->spans[0] = (pf_check_span){.least = UINT64_MAX};
}

/* Sets the counters to 0 that samples and rounds add to, and empties the tables of lookups. */
static void reset_counts(pf_check *c)
{
    c->by_type[PERFILE_RECORD_SAMPLE] = 0;
    c->unaligned_sizes = c->too_short = c->shorter_than_swapped = 0;
    c->raw_samples = c->nameless_values = 0;
    c->first_id_offset = 0;
    c->first_sample = UINT64_MAX;
    c->last_sample = 0;
    c->last_pid = 0;
    c->n_seen = 0;
    c->has_last = false;
    c->flags = 0;
    memset(c->recent_pages, 0, sizeof c->recent_pages);
    memset(c->recent_pids, 0, sizeof c->recent_pids);
}

/* pf_looker.begin: prepares `notes`, a pf_check_block that may have served another block before. */
static void begin_block(void *user, void *notes)
{
    const pf_check_ahead *a = user;
    pf_check_block *b = notes;
    pf_check *c = &b->check;
    reset_times(b);
    reset_counts(c);
    b->left_to_stage = false;
    b->generation = a->generation;
    c->block = b;
    c->base.session = a->session;
    c->session = a->session;
    c->plans = a->plans;
    c->n_events = a->n_events;
    c->has_ids = a->has_ids;
    c->has_tracepoints = a->has_tracepoints;
    c->pipe = a->pipe;
    c->n_cpus = a->n_cpus;
    c->span_first = a->span_first;
    c->span_last = a->span_last;
    c->model = a->model;
    c->lookups = b->lookups;
    c->lookups_cap = PF_CHECK_BLOCK_LOOKUPS;
}

/* True if n more records cannot exceed a capacity: a record adds at most one time, one processor,
 * one round and two lookups. */
static bool has_room(const pf_check_block *b, size_t n)
{
    const pf_check_span *last = &b->spans[b->n_rounds];
    return last->first + last->n + n <= PF_CHECK_BLOCK_TIMES &&
           b->n_cpus + n <= PF_CHECK_BLOCK_CPUS && b->n_rounds + n <= PF_CHECK_BLOCK_ROUNDS &&
           b->check.n_seen + 2 * n <= PF_CHECK_BLOCK_LOOKUPS;
}

/* Keeps the time of the record that was checked.  False if it is older than the last of its
 * processor: the stage reports that. */
static bool add_time(pf_check_block *b, uint64_t offset)
{
    const uint64_t time = b->time;
    pf_check_span *span = &b->spans[b->n_rounds];
    if (b->cpu < PF_CHECK_CPUS) {
        uint64_t *last = &b->cpu_time[b->cpu];
        if (time < *last)
            return false;
        if (*last == 0) {
            b->cpus[b->n_cpus].cpu = b->cpu;
            b->cpus[b->n_cpus++].first = time;
        }
        *last = time;
    }
    if (span->n == 0)
        span->offset = offset;
    span->unsorted += time < span->most;
    span->most = time > span->most ? time : span->most;
    span->least = time < span->least ? time : span->least;
    b->times[span->first + span->n++] = time;
    return true;
}

/* A FINISHED_ROUND ends the span. */
static void add_round(pf_check_block *b)
{
    const pf_check_span *span = &b->spans[b->n_rounds++];
    b->spans[b->n_rounds] = (pf_check_span){.first = span->first + span->n, .least = UINT64_MAX};
}

/* Checks one record.  False: it is left to the stage, and the block is as it was before. */
static bool judge(pf_check_block *b, const perfile_record *r)
{
    pf_check *c = &b->check;
    const uint64_t first = c->first_sample, last = c->last_sample, raw = c->raw_samples;
    const uint64_t nameless = c->nameless_values;
    const uint32_t n_seen = c->n_seen;
    b->timed = b->is_round = false;
    if (r->type == PERFILE_RECORD_SAMPLE)
        pf_check_sample(c, r);
    else
        pf_check_record(c, r);
    const bool size_counted = c->unaligned_sizes | c->too_short | c->shorter_than_swapped;
    if (!b->left_to_stage && !size_counted && (!b->timed || add_time(b, r->offset))) {
        if (b->is_round)
            add_round(b);
        return true;
    }
    c->first_sample = first;
    c->last_sample = last;
    c->raw_samples = raw;
    c->nameless_values = nameless;
    c->n_seen = n_seen;
    c->unaligned_sizes = c->too_short = c->shorter_than_swapped = 0;
    return false;
}

/* pf_looker.run: returns how many records, from the first on, were checked and need not be read
 * again. */
static size_t judge_run(void *user, void *notes, const perfile_record *r, size_t n)
{
    pf_check_block *b = notes;
    size_t i = 0;
    (void)user;
    if (!has_room(b, n))
        return 0;
    while (i < n && judge(b, &r[i]))
        i++;
    return i;
}

/* True if no time of the block goes back behind those the stage has seen: per processor (V-212) and
 * across rounds (V-515).  Then the block breaks no rule of order. */
static bool times_continue(const pf_check *c, const pf_check_block *b)
{
    for (uint32_t i = 0; i < b->n_cpus; i++)
        if (b->cpus[i].first < c->cpu_time[b->cpus[i].cpu])
            return false;
    uint64_t max = c->max_time, round = c->round_time, floor = c->floor_time;
    for (uint32_t i = 0; i <= b->n_rounds; i++) {
        const pf_check_span *span = &b->spans[i];
        if (span->n && span->least < floor)
            return false;
        max = span->most > max ? span->most : max;
        floor = round; /* the same steps as pf_check_round() */
        round = max;
    }
    return true;
}

/* Returns how many records of a span are older than one before them, `max` being the latest time
 * before the span. span->unsorted has the answer for max = 0. */
static uint64_t count_unsorted(const pf_check_block *b, const pf_check_span *span, uint64_t max)
{
    const uint64_t *time = b->times + span->first;
    if (span->n == 0 || max <= time[0])
        return span->unsorted;
    if (max > span->most)
        return span->n;
    uint64_t n = 0;
    for (uint32_t i = 0; i < span->n; i++) {
        n += time[i] < max;
        max = time[i] > max ? time[i] : max;
    }
    return n;
}

/* Brings the stage to the state that it would have had after checking the times of the block. */
static void merge_times(pf_check *c, const pf_check_block *b)
{
    for (uint32_t i = 0; i <= b->n_rounds; i++) {
        const pf_check_span *span = &b->spans[i];
        if (i)
            pf_check_round(c);
        c->timed_records += span->n;
        c->unsorted += count_unsorted(b, span, c->max_time);
        c->max_time = span->most > c->max_time ? span->most : c->max_time;
        if (span->n && c->after_round == 0)
            c->after_round_offset = span->offset;
        c->after_round += span->n;
    }
    for (uint32_t i = 0; i < b->n_cpus; i++)
        c->cpu_time[b->cpus[i].cpu] = b->cpu_time[b->cpus[i].cpu];
}

/* Adds the block's lookups to those of the stage.  Blocks count records from 0 and have part 0; *l
 * says which they really are. */
static void merge_lookups(pf_check *c, const pf_check_block *b, const pf_looked *l)
{
    for (uint32_t i = 0; i < b->check.n_seen && c->model; i++) {
        pf_check_lookup lookup = b->lookups[i];
        lookup.sequence += l->sequence;
        lookup.part = l->passed.part;
        pf_check_add_lookup(c, &lookup);
    }
}

/* Merges a block into the stage.  False if that is not possible, and nothing was changed: the
 * session or the part is another, times go back, or memory is short. */
static bool merge_block(pf_check *c, const pf_looked *l)
{
    const pf_check_block *b = l->notes;
    const pf_check *judged = &b->check;
    if (b->generation != c->generation || l->passed.part != c->part || !times_continue(c, b))
        return false;
    if (!c->lookups && !(c->lookups = pf_alloc(PF_CHECK_LOOKUPS, sizeof *c->lookups)))
        return false;
    merge_times(c, b);
    merge_lookups(c, b, l);
    c->by_type[PERFILE_RECORD_SAMPLE] += l->passed.samples;
    c->by_type[PERFILE_RECORD_FINISHED_ROUND] += l->passed.rounds;
    if (l->passed.rounds)
        c->last_type = PERFILE_RECORD_FINISHED_ROUND;
    c->raw_samples += judged->raw_samples;
    c->nameless_values += judged->nameless_values;
    if (judged->first_id_offset &&
        (!c->first_id_offset || judged->first_id_offset < c->first_id_offset))
        c->first_id_offset = judged->first_id_offset;
    c->first_sample =
        judged->first_sample < c->first_sample ? judged->first_sample : c->first_sample;
    c->last_sample = judged->last_sample > c->last_sample ? judged->last_sample : c->last_sample;
    return true;
}

/* Allocates c->ahead.  False when memory is short: then the stage checks everything itself. */
static bool start_ahead(pf_check *c)
{
    c->ahead = pf_alloc(1, sizeof *c->ahead);
    if (!c->ahead)
        return false;
    c->ahead->looker = (pf_looker){begin_block, judge_run, sizeof(pf_check_block), c->ahead};
    pf_check_ahead_refresh(c);
    return true;
}

/* pf_stream_ops.pass: if the records that come next were checked in a thread, skips them and says
 * in *passed what they were. */
void pf_check_skip_judged(perfile_stream *s, perfile_passed *passed)
{
    pf_check *c = (pf_check *)(void *)s;
    perfile_stream *below = s->below;
    pf_looked l;
    if (!below->ops->looked || !c->begun || c->options.flags & PERFILE_CHECK_FEW_SAMPLES ||
        c->backward || perfile_session_generation(c->session) != c->generation)
        return;
    if (!c->ahead && !start_ahead(c))
        return;
    pf_check_ahead *a = c->ahead;
    if (a->n_refused > a->n_taken + MAX_REFUSED || !below->ops->looked(below, &a->looker, &l) ||
        l.passed.samples + l.passed.rounds == 0)
        return;
    if (!merge_block(c, &l)) {
        a->n_refused++;
        return;
    }
    a->n_taken++;
    below->ops->skip(below, l.passed.samples + l.passed.rounds,
                     l.passed.sample_bytes + l.passed.round_bytes);
    *passed = l.passed;
}

/* pf_session_will_change() returns when no thread reads the session. */
void pf_check_ahead_settle(pf_check *c)
{
    if (c->ahead)
        pf_session_will_change(c->session);
}

void pf_check_ahead_refresh(pf_check *c)
{
    pf_check_ahead *a = c->ahead;
    if (!a)
        return;
    a->session = c->base.session;
    a->plans = c->plans;
    a->generation = c->generation;
    a->span_first = c->span_first;
    a->span_last = c->span_last;
    a->n_events = c->n_events;
    a->n_cpus = c->n_cpus;
    a->has_ids = c->has_ids;
    a->has_tracepoints = c->has_tracepoints;
    a->pipe = c->pipe;
    a->model = c->model;
}

void pf_check_ahead_end(pf_check *c)
{
    pf_free(c->ahead);
}
