/* The second pass of a conversion to perf.data: makes samples, in the order of the buffers.
 *
 * An interrupt is a TIME record and the records up to the next TIME.  Its samples are held until
 * its end, because the branches of a LAST_BRANCH are added to an earlier sample: the last one of
 * its own event that has none yet, or else the last one of any event.  Such candidates are on two
 * stacks: one for each event, and one for all.  The chosen candidate is always on top of the stack
 * of its event.  If the capture has no LAST_BRANCH records, nothing is held. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "perfmon/translate.h"

enum {
    HELD_MOST = INT32_MAX,   /* offsets in `branches` have 32 bits */
    SPAN_BYTES = 64 << 10,   /* bytes of records that are returned at once */
    FIXED_BYTES = 8 + 6 * 8, /* header, and IDENTIFIER to PERIOD */
    MOST_BYTES = FIXED_BYTES + 8 + PF_PERFMON_MOST_BRANCHES * 24 + 16,
    LOST_BYTES = 8 + 16 + 32,
    KERNEL = 1, /* cpumode */
    USER = 2,
    BRANCHES_AT = 12, /* offset in the body of a LAST_BRANCH */
    MISPREDICTED_BIT = 16
};

#define NONE UINT32_MAX /* no candidate */

/* A sample that is held until the end of its interrupt. */
typedef struct sample {
    uint64_t ip, period, weight, phys_addr;
    uint32_t pid;
    uint32_t event;      /* index in survey.events */
    uint32_t n_branches; /* stored at branches.ptr + at */
    uint32_t at;
    uint32_t below;     /* the next candidate of its event below this one, or NONE */
    uint32_t all_below; /* the next candidate of any event below … */
    uint32_t all_above; /* … and above it */
    uint16_t cpumode;
    bool of_pc;
    bool taken; /* it has the branches of a LAST_BRANCH */
} sample;

/* The candidates of an event.  There are none if the current interrupt is not `interrupt`. */
typedef struct stack {
    uint64_t interrupt;
    uint32_t top;
} stack;

struct pf_perfmon_making {
    pf_perfmon_survey survey;
    const pf_translation *t;
    perfile_stream *stream;
    const perfile_record *at, *end; /* of the batch */
    pf_buffer out;                  /* records to be returned */
    pf_buffer samples;              /* sample: those of the interrupt */
    pf_buffer branches;             /* branches of these samples */
    stack *stacks;                  /* of each event */
    uint64_t interrupt;             /* number of the current interrupt */
    uint32_t top;                   /* the top of all candidates */
    uint32_t part;
    uint64_t now; /* ns */
    uint64_t held_most;
    bool sorted; /* found by the survey; a FINISHED_ROUND ends the records */
    bool begun, over, ended;
};

static sample *sample_at(const pf_perfmon_making *m, uint32_t i)
{
    return (sample *)(void *)m->samples.ptr + i;
}

static uint32_t n_samples(const pf_perfmon_making *m)
{
    return (uint32_t)(m->samples.len / sizeof(sample));
}

/* Write words of the output, which is little-endian. */
static uint8_t *put_u64(uint8_t *at, uint64_t v)
{
    pf_store_u64(at, v, PF_NATIVE_BIG);
    return at + 8;
}

static uint8_t *put_2u32(uint8_t *at, uint32_t low, uint32_t high)
{
    return put_u64(at, low | (uint64_t)high << 32);
}

static uint8_t *put_header(uint8_t *at, uint32_t type, uint16_t misc, size_t size)
{
    return put_u64(at, type | (uint64_t)misc << 32 | (uint64_t)size << 48);
}

/* Returns the flags of a branch of perf: mispredicted, predicted (if the hardware reports it),
 * cycles. */
static uint64_t branch_flags(const pf_perfmon_survey *v, uint64_t info)
{
    const uint64_t mispred = info >> MISPREDICTED_BIT & 1;
    return mispred | (v->mispredicts && !mispred ? 2 : 0) | (info & UINT16_MAX) << 4;
}

static uint8_t *put_branches(const pf_perfmon_making *m, uint8_t *at, const sample *s)
{
    const uint8_t *from = s->n_branches ? m->branches.ptr + s->at : NULL;
    at = put_u64(at, s->n_branches);
    for (uint32_t i = 0; i < s->n_branches; i++, from += PF_PERFMON_BRANCH) {
        at = put_u64(at, pf_load_u64(from, pf_perfmon_swap()));
        at = put_u64(at, pf_load_u64(from + 8, pf_perfmon_swap()));
        at = put_u64(at, branch_flags(&m->survey, pf_load_u64(from + 16, pf_perfmon_swap())));
    }
    return at;
}

/* Appends the record of a sample to `out`, which has room for MOST_BYTES. */
static void put_sample(pf_perfmon_making *m, const sample *s)
{
    const pf_perfmon_event *e = &m->survey.events[s->event];
    uint8_t *const record = m->out.ptr + m->out.len;
    uint8_t *at = record + 8;
    at = put_u64(at, pf_perfmon_id(&m->survey, s->event, m->part));
    at = put_u64(at, s->ip);
    at = put_2u32(at, s->pid, s->pid);
    at = put_u64(at, m->now);
    at = put_2u32(at, m->survey.buffers[m->part].cpu, 0);
    at = put_u64(at, s->period);
    if (e->has_branches)
        at = put_branches(m, at, s);
    if (e->has_value)
        at = put_u64(at, s->weight);
    if (e->has_pc || e->has_branches)
        at = put_u64(at, s->phys_addr);
    put_header(record, PERFILE_RECORD_SAMPLE, s->cpumode, (size_t)(at - record));
    m->out.len += (size_t)(at - record);
}

/* Makes records of all held samples. */
static perfile_status end_interrupt(pf_perfmon_making *m, perfile_error *err)
{
    const uint32_t n = n_samples(m);
    for (uint32_t i = 0; i < n; i++) {
        if (!pf_buffer_reserve(&m->out, MOST_BYTES))
            return pf_fail_nomem(err, "perfmon");
        put_sample(m, sample_at(m, i));
    }
    pf_buffer_clear(&m->samples);
    pf_buffer_clear(&m->branches);
    m->interrupt++;
    m->top = NONE;
    return PERFILE_OK;
}

static uint64_t time_of(const pf_perfmon_making *m, int64_t ticks)
{
    return pf_ticks_to_ns(ticks, m->survey.shift, m->survey.mult);
}

/* Records before the first TIME have its time.  If there is no TIME, they have the time of 0 ticks.
 */
static void begin_part(pf_perfmon_making *m, uint32_t part)
{
    const pf_perfmon_buffer *b = &m->survey.buffers[part];
    m->part = part;
    m->now = time_of(m, b->has_time ? b->first_time : 0);
}

/* Ends a part.  If its buffer was full, adds a LOST record, because an unknown number of records
 * was lost. */
static perfile_status end_part(pf_perfmon_making *m, perfile_error *err)
{
    const pf_perfmon_survey *v = &m->survey;
    const pf_perfmon_buffer *b = &v->buffers[m->part];
    const uint32_t event = b->first_event ? pf_perfmon_event_at(v, b->first_event) : 0;
    const uint64_t id = pf_perfmon_id(v, event, m->part);
    perfile_status st = end_interrupt(m, err);
    if (st != PERFILE_OK || !b->full)
        return st;
    if (!pf_buffer_reserve(&m->out, LOST_BYTES))
        return pf_fail_nomem(err, "perfmon");
    uint8_t *at = put_header(m->out.ptr + m->out.len, PERFILE_RECORD_LOST, 0, LOST_BYTES);
    at = put_u64(at, id);
    at = put_u64(at, 1);
    at = put_2u32(at, PERFILE_NO_PID, PERFILE_NO_PID);
    at = put_u64(at, time_of(m, b->has_time ? b->last_time : 0));
    at = put_2u32(at, b->cpu, 0);
    put_u64(at, id);
    m->out.len += LOST_BYTES;
    return PERFILE_OK;
}

/* Puts a new sample on the stacks of candidates, if its event has branches. */
static void push(pf_perfmon_making *m, uint32_t i)
{
    sample *s = sample_at(m, i);
    stack *own = &m->stacks[s->event];
    s->below = own->interrupt == m->interrupt ? own->top : NONE;
    *own = (stack){m->interrupt, i};
    s->all_below = m->top;
    s->all_above = NONE;
    if (m->top != NONE)
        sample_at(m, m->top)->all_above = i;
    m->top = i;
}

/* Removes the candidate for the branches of an event from the stacks and returns it, or NONE if
 * there is none. */
static uint32_t pop(pf_perfmon_making *m, uint32_t event)
{
    const stack *own = &m->stacks[event];
    const uint32_t i = own->interrupt == m->interrupt && own->top != NONE ? own->top : m->top;
    if (i == NONE)
        return NONE;
    sample *s = sample_at(m, i);
    m->stacks[s->event].top = s->below;
    if (s->all_below != NONE)
        sample_at(m, s->all_below)->all_above = s->all_above;
    if (s->all_above != NONE)
        sample_at(m, s->all_above)->all_below = s->all_below;
    else
        m->top = s->all_below;
    s->taken = true;
    return i;
}

/* Adds a sample to those of the interrupt, or makes its record at once if no branches can be added
 * to it. */
static perfile_status add_sample(pf_perfmon_making *m, const sample *s, perfile_error *err)
{
    if (!m->survey.any_branches) {
        if (!pf_buffer_reserve(&m->out, MOST_BYTES))
            return pf_fail_nomem(err, "perfmon");
        put_sample(m, s);
        return PERFILE_OK;
    }
    if (m->samples.len + m->branches.len > m->held_most)
        return pf_fail(err, PERFILE_E_LIMIT, "held_bytes",
                       "an interrupt has more than %llu bytes of samples, the limit",
                       (unsigned long long)m->held_most);
    if (!pf_buffer_append(&m->samples, s, sizeof *s))
        return pf_fail_nomem(err, "perfmon");
    if (m->survey.events[s->event].has_branches && !s->taken)
        push(m, n_samples(m) - 1);
    return PERFILE_OK;
}

/* Returns the process number that represents an address space, from 1 on. */
static uint32_t process_of(const pf_perfmon_making *m, uint64_t aspace)
{
    return pf_ids_find(&m->survey.aspaces, pf_perfmon_aspace_key(&m->survey, aspace)) + 1;
}

static uint16_t cpumode_of(uint64_t pc)
{
    return pc >> 63 ? KERNEL : USER;
}

/* Adds the branches of a LAST_BRANCH to a sample of the interrupt, or makes a sample of them. */
static perfile_status add_branches(pf_perfmon_making *m, const perfile_record *r, uint32_t event,
                                   perfile_error *err)
{
    const bool swap = r->flags & PERFILE_REC_SWAPPED;
    const uint32_t n = pf_load_u32(r->body.ptr, swap);
    const uint64_t aspace = pf_load_u64(r->body.ptr + 4, swap);
    const uint32_t at = (uint32_t)m->branches.len;
    const uint32_t i = pop(m, event);
    if (!pf_buffer_append(&m->branches, r->body.ptr + BRANCHES_AT, (size_t)n * PF_PERFMON_BRANCH))
        return pf_fail_nomem(err, "perfmon");
    if (i == NONE) {
        const uint64_t to = n ? pf_load_u64(r->body.ptr + BRANCHES_AT + 8, swap) : 0;
        const sample own = {.ip = to,
                            .period = m->survey.events[event].rate,
                            .phys_addr = aspace,
                            .pid = process_of(m, aspace),
                            .event = event,
                            .n_branches = n,
                            .at = at,
                            .cpumode = n ? cpumode_of(to) : 0,
                            .taken = true};
        return add_sample(m, &own, err);
    }
    sample *s = sample_at(m, i);
    s->n_branches = n;
    s->at = at;
    if (!s->of_pc) {
        s->pid = process_of(m, aspace);
        s->phys_addr = aspace;
    } else {
        m->survey.losses.aspaces += s->phys_addr != aspace;
    }
    return PERFILE_OK;
}

static perfile_status add_record(pf_perfmon_making *m, const perfile_record *r, perfile_error *err)
{
    const unsigned type = perfile_record_stored_type(r);
    const bool swap = r->flags & PERFILE_REC_SWAPPED;
    if (type == PF_PERFMON_TIME) {
        perfile_status st = end_interrupt(m, err);
        if (st != PERFILE_OK)
            return st;
        const uint64_t before = m->now;
        m->now = time_of(m, pf_perfmon_time(r));
        if (m->sorted && m->now < before)
            return pf_perfmon_fail_changed(err);
        if (r->misc == 0)
            return PERFILE_OK;
    }
    const uint32_t event = pf_perfmon_event_at(&m->survey, r->misc);
    if (event >= m->survey.n_events)
        return pf_perfmon_fail_changed(err);
    sample s = {.event = event, .pid = PERFILE_NO_PID, .period = m->survey.events[event].rate};
    switch (type) {
    case PF_PERFMON_COUNT:
        s.period = pf_load_u64(r->body.ptr, swap);
        break;
    case PF_PERFMON_VALUE:
        s.period = 1;
        s.weight = pf_load_u64(r->body.ptr, swap);
        break;
    case PF_PERFMON_PC:
        s.phys_addr = pf_load_u64(r->body.ptr, swap);
        s.ip = pf_load_u64(r->body.ptr + 8, swap);
        s.pid = process_of(m, s.phys_addr);
        s.cpumode = cpumode_of(s.ip);
        s.of_pc = true;
        break;
    case PF_PERFMON_LAST_BRANCH:
        return add_branches(m, r, event, err);
    default:
        break;
    }
    return add_sample(m, &s, err);
}

/* Fetches the next batch, and ends the buffers before it.  After the last batch, sets m->over and
 * ends the last buffer. */
static perfile_status next_run(pf_perfmon_making *m, perfile_error *err)
{
    size_t n;
    perfile_status st = perfile_stream_next_run(m->stream, &m->at, &n, err);
    if (st != PERFILE_OK && st != PERFILE_END)
        return st;
    const uint32_t part = st == PERFILE_OK ? m->at->part : m->survey.n_buffers;
    m->over = st == PERFILE_END;
    m->end = m->over ? m->at : m->at + n;
    st = PERFILE_OK;
    while (m->part < part && st == PERFILE_OK) { /* also buffers without records */
        st = end_part(m, err);
        if (m->part + 1 < m->survey.n_buffers)
            begin_part(m, m->part + 1);
        else
            m->part++;
    }
    if (!m->over && m->at->family == PERFILE_FAMILY_DAMAGE)
        m->at = m->end; /* the first pass reported it */
    return st;
}

/* Ends the records with a FINISHED_ROUND.  If they are not sorted, the sort adds rounds. */
static perfile_status end_sorted(pf_perfmon_making *m, perfile_error *err)
{
    m->ended = true;
    if (!pf_buffer_reserve(&m->out, 8))
        return pf_fail_nomem(err, "perfmon");
    put_header(m->out.ptr + m->out.len, PERFILE_RECORD_FINISHED_ROUND, 0, 8);
    m->out.len += 8;
    return PERFILE_OK;
}

/* If the file changes between the two passes, they may find different records.  So the second pass
 * checks everything that depends on the first. */
perfile_status pf_perfmon_making_next(void *making, perfile_bytes *span, perfile_error *err)
{
    pf_perfmon_making *m = making;
    perfile_status st = PERFILE_OK;
    pf_buffer_clear(&m->out);
    if (!m->begun) {
        m->begun = true;
        begin_part(m, 0);
        st = pf_perfmon_front(&m->survey, &m->out, err);
    }
    while (st == PERFILE_OK && m->out.len < SPAN_BYTES && !(m->over && m->at == m->end))
        st = m->at == m->end ? next_run(m, err) : add_record(m, m->at++, err);
    if (st == PERFILE_OK && m->over && m->at == m->end && m->sorted && !m->ended)
        st = end_sorted(m, err);
    *span = (perfile_bytes){m->out.ptr, m->out.len};
    if (st != PERFILE_OK || m->out.len)
        return st;
    pf_perfmon_say_loss(m->t, m->survey.losses.aspaces, "address space",
                        "of branches left out: that of their sample stays");
    m->survey.losses.aspaces = 0;
    return PERFILE_END;
}

perfile_status pf_perfmon_making_new(pf_perfmon_survey *v, const pf_translation *t,
                                     pf_perfmon_making **making, perfile_error *err)
{
    pf_perfmon_making *m = pf_alloc(1, sizeof *m);
    if (!m)
        return pf_fail_nomem(err, "perfmon");
    m->stacks = pf_alloc(v->n_events, sizeof *m->stacks);
    perfile_status st = m->stacks ? PERFILE_OK : pf_fail_nomem(err, "perfmon");
    if (st == PERFILE_OK)
        st = t->pass(t->user, &m->stream, err);
    if (st != PERFILE_OK) {
        pf_free(m->stacks);
        pf_free(m);
        return st;
    }
    const uint64_t most = m->stream->limits.held_bytes;
    m->held_most = most < HELD_MOST ? most : HELD_MOST;
    m->interrupt = 1;
    m->top = NONE;
    m->survey = *v;
    m->sorted = pf_perfmon_is_sorted(v);
    m->t = t;
    *making = m;
    return PERFILE_OK;
}

void pf_perfmon_making_free(void *making)
{
    pf_perfmon_making *m = making;
    perfile_stream_close(m->stream);
    pf_perfmon_survey_free(&m->survey);
    pf_buffer_free(&m->out);
    pf_buffer_free(&m->samples);
    pf_buffer_free(&m->branches);
    pf_free(m->stacks);
    pf_free(m);
}
