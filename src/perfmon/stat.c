/* The second pass of a conversion to the form of `perf stat record`: makes one STAT for each event
 * and CPU.
 *
 * A COUNT holds the count since the previous COUNT of the event, so several of them are added.  The
 * time enabled and running of perf is the time between the first and the last TIME of the buffer.
 * It is 0, "not counted", if the buffer has no COUNT of the event. */
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "perfile/encode.h"
#include "perfmon/translate.h"

enum {
    SPAN_BYTES = 64 << 10, /* bytes of records that are returned at once */
    RECORD_BYTES = 64,     /* a STAT or a STAT_ROUND is smaller */
    FINAL = 1              /* perfile_stat_round.type */
};

static const perfile_encode_options little = {.size = sizeof little,
                                              .byte_order = PERFILE_BYTE_ORDER_LITTLE};

/* The count of an event on a CPU. */
typedef struct total {
    uint64_t sum;
    bool counted; /* there was a COUNT */
} total;

struct pf_perfmon_counting {
    pf_perfmon_survey survey;
    const pf_translation *t;
    perfile_stream *stream;
    total *totals; /* that of event e and buffer b is at e * n_buffers + b */
    uint64_t n_totals;
    uint64_t next;  /* index of the total that becomes the next STAT */
    uint64_t added; /* COUNT records after the first of their event and CPU */
    pf_buffer out;  /* records to be returned */
    bool begun, over;
};

static perfile_status add_count(pf_perfmon_counting *c, const perfile_record *r, perfile_error *err)
{
    const pf_perfmon_survey *v = &c->survey;
    if (perfile_record_stored_type(r) != PF_PERFMON_COUNT)
        return PERFILE_OK; /* a TIME: the survey found no other type */
    const uint32_t event = pf_perfmon_event_at(v, r->misc);
    if (event >= v->n_events)
        return pf_perfmon_fail_changed(err);
    total *sum = &c->totals[(uint64_t)event * v->n_buffers + r->part];
    c->added += sum->counted;
    sum->counted = true;
    if (!pf_add_u64(sum->sum, pf_load_u64(r->body.ptr, r->flags & PERFILE_REC_SWAPPED), &sum->sum))
        return PERFILE_OK;
    return pf_fail(err, PERFILE_E_UNSUPPORTED, "perfmon.count",
                   "the counts of event 0x%x add up to more than 64 bits", r->misc);
}

/* Reads the capture to its end.  The survey has already reported its damage. */
static perfile_status read_counts(pf_perfmon_counting *c, perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    perfile_status st;
    while ((st = perfile_stream_next_run(c->stream, &first, &n, err)) == PERFILE_OK)
        for (size_t i = 0; i < n && first[i].family != PERFILE_FAMILY_DAMAGE; i++)
            if ((st = add_count(c, &first[i], err)) != PERFILE_OK)
                return st;
    return st == PERFILE_END ? PERFILE_OK : st;
}

static uint64_t ns_of(const pf_perfmon_survey *v, int64_t ticks)
{
    return pf_ticks_to_ns(ticks, v->shift, v->mult);
}

/* Returns the time from the first to the last TIME of a buffer in ns; 0 if time went back. */
static uint64_t duration(const pf_perfmon_survey *v, const pf_perfmon_buffer *b)
{
    const uint64_t first = b->has_time ? ns_of(v, b->first_time) : 0;
    const uint64_t last = b->has_time ? ns_of(v, b->last_time) : 0;
    return last > first ? last - first : 0;
}

/* Returns the duration of the recording in ns: from the first time of all CPUs to the last. */
static uint64_t wall_time(const pf_perfmon_survey *v)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (uint32_t i = 0; i < v->n_buffers; i++) {
        const pf_perfmon_buffer *b = &v->buffers[i];
        if (b->has_time && ns_of(v, b->first_time) < first)
            first = ns_of(v, b->first_time);
        if (b->has_time && ns_of(v, b->last_time) > last)
            last = ns_of(v, b->last_time);
    }
    return last > first ? last - first : 0;
}

static perfile_status put_total(pf_perfmon_counting *c, uint64_t i, perfile_error *err)
{
    const pf_perfmon_survey *v = &c->survey;
    const pf_perfmon_buffer *b = &v->buffers[i % v->n_buffers];
    const uint64_t ns = c->totals[i].counted ? duration(v, b) : 0;
    const perfile_stat stat = {
        .id = 1 + i, .cpu = b->cpu, .val = c->totals[i].sum, .ena = ns, .run = ns};
    size_t len;
    perfile_status st = perfile_stat_encode(&stat, sizeof stat, &little, c->out.ptr + c->out.len,
                                            RECORD_BYTES, &len, err);
    if (st == PERFILE_OK)
        c->out.len += len;
    return st;
}

static perfile_status put_end(pf_perfmon_counting *c, perfile_error *err)
{
    const perfile_stat_round round = {.type = FINAL, .time = wall_time(&c->survey)};
    size_t len;
    perfile_status st = perfile_stat_round_encode(&round, sizeof round, &little,
                                                  c->out.ptr + c->out.len, RECORD_BYTES, &len, err);
    if (st != PERFILE_OK)
        return st;
    c->out.len += len;
    c->over = true;
    pf_perfmon_say_loss(c->t, c->added, "COUNT record",
                        "added to the one before it: only sums are left");
    return PERFILE_OK;
}

perfile_status pf_perfmon_counting_next(void *counting, perfile_bytes *span, perfile_error *err)
{
    pf_perfmon_counting *c = counting;
    perfile_status st = PERFILE_OK;
    pf_buffer_clear(&c->out);
    if (c->over)
        return PERFILE_END;
    if (!c->begun) {
        c->begun = true;
        st = read_counts(c, err);
        if (st == PERFILE_OK)
            st = pf_perfmon_front(&c->survey, &c->out, err);
    }
    if (st == PERFILE_OK && !pf_buffer_reserve(&c->out, SPAN_BYTES + RECORD_BYTES))
        st = pf_fail_nomem(err, "perfmon");
    const size_t full = c->out.len + SPAN_BYTES - RECORD_BYTES;
    while (st == PERFILE_OK && c->next < c->n_totals && c->out.len < full)
        st = put_total(c, c->next++, err);
    if (st == PERFILE_OK && c->next == c->n_totals)
        st = put_end(c, err);
    *span = (perfile_bytes){c->out.ptr, c->out.len};
    return st;
}

perfile_status pf_perfmon_counting_new(pf_perfmon_survey *v, const pf_translation *t,
                                       pf_perfmon_counting **counting, perfile_error *err)
{
    const uint64_t n = (uint64_t)v->n_events * v->n_buffers;
    pf_perfmon_counting *c = pf_alloc(1, sizeof *c);
    if (!c)
        return pf_fail_nomem(err, "perfmon");
    c->totals = n <= SIZE_MAX ? pf_alloc((size_t)n, sizeof *c->totals) : NULL;
    perfile_status st = c->totals ? PERFILE_OK : pf_fail_nomem(err, "perfmon");
    if (st == PERFILE_OK)
        st = t->pass(t->user, &c->stream, err);
    if (st != PERFILE_OK) {
        pf_free(c->totals);
        pf_free(c);
        return st;
    }
    c->survey = *v;
    c->n_totals = n;
    c->t = t;
    *counting = c;
    return PERFILE_OK;
}

void pf_perfmon_counting_free(void *counting)
{
    pf_perfmon_counting *c = counting;
    perfile_stream_close(c->stream);
    pf_perfmon_survey_free(&c->survey);
    pf_buffer_free(&c->out);
    pf_free(c->totals);
    pf_free(c);
}
