/* Samples that are judged in the threads that read the file.
 *
 * A block of samples is judged as far as no rule is broken; the stage takes over what was kept of
 * it when it comes to the block, if the times go on from what it knows.  Else, and from the first
 * record on that breaks a rule, the stage judges itself: findings have their order, and messages
 * are made in one place only. */
#include "check/ahead.h"

#include <string.h>

#include "base/alloc.h"
#include "check/world.h"

enum { REFUSED_MORE = 16 /* blocks than were taken: then nobody looks any more */ };

/* What the threads go by.  Changes while none is at work. */
typedef struct pf_check_ahead {
    pf_looker looker;
    perfile_session *session;
    pf_check_plan *plans;
    uint64_t generation, span_first, span_last;
    uint32_t n_events, n_cpus;
    bool has_ids, has_tracepoints, pipe;
    struct perfile_model *model; /* only whether there is one */
    uint64_t taken, refused;     /* blocks */
} pf_check_ahead;

static void begin_times(pf_check_block *b)
{
    for (uint32_t i = 0; i < b->n_cpus; i++)
        b->cpu_time[b->cpus[i].cpu] = 0;
    b->n_cpus = 0;
    b->n_rounds = 0;
    b->spans[0] = (pf_check_span){.least = UINT64_MAX};
}

/* The counters that samples and rounds add to, from 0 on. */
static void begin_counts(pf_check *c)
{
    c->by_type[PERFILE_RECORD_SAMPLE] = 0;
    c->odd_sizes = c->too_short = c->swapped_beyond = c->raw_samples = 0;
    c->first_id_at = 0;
    c->first_sample = UINT64_MAX;
    c->last_sample = 0;
    c->last_pid = 0;
    c->n_seen = 0;
    c->has_last = false;
    c->flags = 0;
    memset(c->seen_pages, 0, sizeof c->seen_pages);
    memset(c->seen_pids, 0, sizeof c->seen_pids);
}

static void begin(void *user, void *notes)
{
    const pf_check_ahead *a = user;
    pf_check_block *b = notes;
    pf_check *c = &b->check;
    begin_times(b);
    begin_counts(c);
    b->unclean = false;
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
    c->seen = b->seen;
    c->most_seen = PF_CHECK_BLOCK_SEEN;
}

/* Whether there is room for what n more records may leave. */
static bool has_room(const pf_check_block *b, size_t n)
{
    const pf_check_span *last = &b->spans[b->n_rounds];
    return last->first + last->n + n <= PF_CHECK_BLOCK_TIMES &&
           b->n_cpus + n <= PF_CHECK_BLOCK_CPUS && b->n_rounds + n <= PF_CHECK_BLOCK_ROUNDS &&
           b->check.n_seen + 2 * n <= PF_CHECK_BLOCK_SEEN;
}

/* The time of a record goes on from those before; false when it goes back on its processor. */
static bool keep_time(pf_check_block *b, uint64_t offset)
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

static void keep_round(pf_check_block *b)
{
    const pf_check_span *span = &b->spans[b->n_rounds++];
    b->spans[b->n_rounds] = (pf_check_span){.first = span->first + span->n, .least = UINT64_MAX};
}

/* False: nothing of the record was kept. */
static bool judge(pf_check_block *b, const perfile_record *r)
{
    pf_check *c = &b->check;
    const uint64_t first = c->first_sample, last = c->last_sample, raw = c->raw_samples;
    const uint32_t n_seen = c->n_seen;
    b->timed = b->is_round = false;
    if (r->type == PERFILE_RECORD_SAMPLE)
        pf_check_sample(c, r);
    else
        pf_check_record(c, r);
    const bool counted = c->odd_sizes | c->too_short | c->swapped_beyond;
    if (!b->unclean && !counted && (!b->timed || keep_time(b, r->offset))) {
        if (b->is_round)
            keep_round(b);
        return true;
    }
    c->first_sample = first;
    c->last_sample = last;
    c->raw_samples = raw;
    c->n_seen = n_seen;
    c->odd_sizes = c->too_short = c->swapped_beyond = 0;
    return false;
}

static size_t run(void *user, void *notes, const perfile_record *r, size_t n)
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

/* Whether the times of the block go on from those that the stage has seen. */
static bool goes_on(const pf_check *c, const pf_check_block *b)
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
        floor = round; /* as pf_check_round() does */
        round = max;
    }
    return true;
}

/* How many times of a span are earlier than one before, when `max` was the latest before it. */
static uint64_t unsorted(const pf_check_block *b, const pf_check_span *span, uint64_t max)
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

static void take_times(pf_check *c, const pf_check_block *b)
{
    for (uint32_t i = 0; i <= b->n_rounds; i++) {
        const pf_check_span *span = &b->spans[i];
        if (i)
            pf_check_round(c);
        c->timed_records += span->n;
        c->unsorted += unsorted(b, span, c->max_time);
        c->max_time = span->most > c->max_time ? span->most : c->max_time;
        if (span->n && c->after_round == 0)
            c->after_round_offset = span->offset;
        c->after_round += span->n;
    }
    for (uint32_t i = 0; i < b->n_cpus; i++)
        c->cpu_time[b->cpus[i].cpu] = b->cpu_time[b->cpus[i].cpu];
}

static void take_places(pf_check *c, const pf_check_block *b, const pf_looked *l)
{
    for (uint32_t i = 0; i < b->check.n_seen && c->model; i++) {
        pf_check_seen seen = b->seen[i];
        seen.sequence += l->sequence;
        seen.part = l->passed.part;
        pf_check_note(c, &seen);
    }
}

static bool take(pf_check *c, const pf_looked *l)
{
    const pf_check_block *b = l->notes;
    const pf_check *mine = &b->check;
    if (b->generation != c->generation || l->passed.part != c->part || !goes_on(c, b))
        return false;
    if (!c->seen && !(c->seen = pf_alloc(PF_CHECK_PLACES, sizeof *c->seen)))
        return false;
    take_times(c, b);
    take_places(c, b, l);
    c->by_type[PERFILE_RECORD_SAMPLE] += l->passed.samples;
    c->by_type[PERFILE_RECORD_FINISHED_ROUND] += l->passed.rounds;
    if (l->passed.rounds)
        c->last_type = PERFILE_RECORD_FINISHED_ROUND;
    c->raw_samples += mine->raw_samples;
    if (mine->first_id_at && (!c->first_id_at || mine->first_id_at < c->first_id_at))
        c->first_id_at = mine->first_id_at;
    c->first_sample = mine->first_sample < c->first_sample ? mine->first_sample : c->first_sample;
    c->last_sample = mine->last_sample > c->last_sample ? mine->last_sample : c->last_sample;
    return true;
}

static bool start(pf_check *c)
{
    c->ahead = pf_alloc(1, sizeof *c->ahead);
    if (!c->ahead)
        return false;
    c->ahead->looker = (pf_looker){begin, run, sizeof(pf_check_block), c->ahead};
    pf_check_ahead_refresh(c);
    return true;
}

void pf_check_pass(perfile_stream *s, perfile_passed *passed)
{
    pf_check *c = (pf_check *)(void *)s;
    perfile_stream *below = s->below;
    pf_looked l;
    if (!below->ops->looked || !c->begun || c->options.flags & PERFILE_CHECK_FEW_SAMPLES ||
        c->backward || perfile_session_generation(c->session) != c->generation)
        return;
    if (!c->ahead && !start(c))
        return;
    pf_check_ahead *a = c->ahead;
    if (a->refused > a->taken + REFUSED_MORE || !below->ops->looked(below, &a->looker, &l) ||
        l.passed.samples + l.passed.rounds == 0)
        return;
    if (!take(c, &l)) {
        a->refused++;
        return;
    }
    a->taken++;
    below->ops->skip(below, l.passed.samples + l.passed.rounds,
                     l.passed.sample_bytes + l.passed.round_bytes);
    *passed = l.passed;
}

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
