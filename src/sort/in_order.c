/* perfile_sort() on a stream that is sorted already: a merge, or a stage on a sorted stream.
 *
 * Records are passed on in their order; none is held back.  They are copied into the run of this
 * stage, because they get new sequence numbers and new FINISHED_ROUNDs: the output must be the same
 * as if the same records were sorted from a file, and a stage below may have dropped some.  Each
 * run is made from at most one run of the stream below, so that records that must be first or alone
 * in their run stay so. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sort/sort.h"
#include "schema/rows.h"

enum { STEP = 4 << 20 /* bytes between two calls of options.progress */ };

typedef struct in_order {
    perfile_stream base;
    perfile_sort_options options;
    perfile_sort_summary result;
    pf_totals totals;
    pf_time_clock clock;
    uint64_t previous;    /* key of the previous record */
    uint64_t sequence;    /* sequence of the next record */
    uint64_t round_bytes; /* bytes of records since the last FINISHED_ROUND */
    uint64_t round_most;  /* … and when the next one is due */
    bool rounds;          /* records are of a family that has FINISHED_ROUND */
    bool timed;           /* there was a record with a time since the last FINISHED_ROUND */
    bool in_fragments;    /* the last record was a fragment: no round may follow it */
    bool fragments_ended; /* … and it was the last one of its record */
    uint64_t last_fragment, new_last_fragment; /* its sequence in the stream below, and here */
    const perfile_record *at, *end;            /* rest of the run below, not passed on yet */
    const perfile_record *extra_of; /* record below that run[0] was copied from; NULL: none */
    uint64_t done, total;           /* arguments of options.progress, in bytes */
    uint64_t reported;              /* `done` when progress was called last */
} in_order;

static in_order *stage_of(perfile_stream *s)
{
    return (in_order *)(void *)s;
}

/* Returns true for records that are not passed on, and counts them: FINISHED_ROUNDs, because new
 * ones are made, and compressed records, because their content follows as records. */
static bool is_left_out(in_order *x, const perfile_record *r)
{
    bool round = r->type == PERFILE_RECORD_FINISHED_ROUND && r->family == PERFILE_FAMILY_PERF;
    bool envelope = r->flags & PERFILE_REC_ENVELOPE && !pf_is_fragment(r);
    x->result.rounds_dropped += round;
    x->result.envelopes += envelope;
    return round || envelope;
}

/* Returns true if `r` was joined from the fragments before it. */
static bool is_joined(const in_order *x, const perfile_record *r)
{
    return x->in_fragments && r->flags & PERFILE_REC_INNER && r->envelope == x->last_fragment;
}

static bool round_is_due(const in_order *x)
{
    return x->timed && x->rounds && !x->in_fragments && x->round_bytes >= x->round_most;
}

/* Makes a FINISHED_ROUND the only record of the run. */
static void make_round(in_order *x)
{
    x->base.run[0] = pf_round_record(x->base.session, x->sequence++);
    x->base.n_run = 1;
    x->result.rounds++;
    x->round_bytes = 0;
    x->timed = false;
}

/* Adds a record to summary and totals. */
static void count(in_order *x, const perfile_record *r)
{
    const uint64_t key = pf_time_key(&x->clock, r);
    const uint64_t size = perfile_record_size(r);
    const pf_family *family = pf_family_of(r->family);
    x->rounds = family && family->rounds;
    pf_sort_note(&x->totals, r);
    x->result.out_of_order += key && key < x->previous;
    x->previous = key ? key : x->previous;
    x->timed |= key != 0;
    x->result.records++;
    x->result.samples += r->type == PERFILE_RECORD_SAMPLE && r->family == PERFILE_FAMILY_PERF;
    x->round_bytes += size;
    x->done += size + r->extra.len;
}

/* Copies record `r` of the run below to the next slot of this run.  A joined record refers to its
 * last fragment by `envelope`, so it gets the new sequence of that fragment.  Other inner records
 * become plain ones, because their envelopes are left out. */
static void copy_record(in_order *x, const perfile_record *r)
{
    perfile_record *out = &x->base.run[x->base.n_run++];
    *out = *r;
    out->sequence = x->sequence++;
    if (is_joined(x, r)) {
        out->envelope = x->new_last_fragment;
        x->in_fragments = false;
        return;
    }
    out->flags &= (uint8_t) ~(unsigned)PERFILE_REC_INNER;
    out->envelope = PERFILE_NO_SEQUENCE;
    x->in_fragments = pf_is_joined_fragment(r);
    if (x->in_fragments) {
        x->fragments_ended = pf_is_last_fragment(r);
        x->last_fragment = r->sequence;
        x->new_last_fragment = out->sequence;
    }
    count(x, r);
}

/* Copies the rest of the run below, but stops where a FINISHED_ROUND is due.  If one is due before
 * the first record, it becomes the run. */
static void copy_run(in_order *x)
{
    const perfile_record *first = x->at;
    x->extra_of = first;
    while (x->at < x->end) {
        const perfile_record *r = x->at;
        if (is_left_out(x, r)) {
            x->at++;
            continue;
        }
        if (x->in_fragments && x->fragments_ended && !is_joined(x, r))
            x->in_fragments = false; /* no record was made of these fragments */
        if (!(x->timed && x->rounds) && x->round_bytes >= x->round_most)
            x->round_bytes = 0; /* no round: it would tell nothing about records without a time */
        if (round_is_due(x)) {
            if (x->base.n_run == 0)
                make_round(x);
            break;
        }
        copy_record(x, r);
        x->at++;
    }
    /* The batch of the run below describes this run too if nothing was left out or added. */
    size_t n = (size_t)(x->at - first);
    if (n == x->base.n_run && x->at == x->end)
        x->base.framed = pf_stream_batch(x->base.below, first, n);
}

/* Calls options.progress every STEP bytes. */
static void progress(in_order *x)
{
    if (x->options.progress && x->done >= x->reported + STEP) {
        x->reported = x->done;
        x->options.progress(x->options.user, x->done < x->total ? x->done : x->total, x->total);
    }
}

/* pf_stream_ops.fill. */
static perfile_status fill(perfile_stream *s, perfile_error *err)
{
    in_order *x = stage_of(s);
    while (s->n_run == 0) {
        size_t n;
        if (x->at < x->end) {
            copy_run(x);
            continue;
        }
        progress(x);
        perfile_status st = perfile_stream_next_run(s->below, &x->at, &n, err);
        x->end = st == PERFILE_OK ? x->at + n : x->at;
        if (st == PERFILE_END && x->timed && x->rounds) {
            make_round(x);
            return PERFILE_OK;
        }
        if (st != PERFILE_OK)
            return st;
        if (x->at->family == PERFILE_FAMILY_DAMAGE) {
            s->run[0] = *x->at++;
            s->n_run = 1;
        }
    }
    return PERFILE_OK;
}

/* pf_stream_ops.extra: reads the payload from the stream below. */
static perfile_status extra(perfile_stream *s, const perfile_record *r, perfile_bytes *chunk,
                            perfile_error *err)
{
    const in_order *x = stage_of(s);
    if (r != &s->run[0] || !x->extra_of)
        return pf_fail(err, PERFILE_E_USAGE, "record.extra", "the stream is not at this record");
    return perfile_stream_extra(s->below, x->extra_of, chunk, err);
}

static void close_stage(perfile_stream *s)
{
    perfile_stream_close(s->below);
    pf_free(s);
}

static const pf_stream_ops in_order_ops = {.fill = fill, .extra = extra, .close = close_stage};

perfile_status pf_sort_in_order(perfile_stream *below, const perfile_sort_options *options,
                                perfile_stream **stream, perfile_error *err)
{
    in_order *x = pf_alloc(1, sizeof *x);
    if (!x)
        return pf_fail_nomem(err, "sort");
    pf_stream_on(&x->base, &in_order_ops, below);
    x->options = *options;
    x->round_most = options->flags & PERFILE_SORT_ONE_ROUND ? UINT64_MAX : PF_ROUND_BYTES;
    x->timed = options->flags & PERFILE_SORT_ONE_ROUND;
    x->totals.first_sample = UINT64_MAX;
    x->last_fragment = PERFILE_NO_SEQUENCE;
    x->total = pf_container_bytes(perfile_stream_container(below));
    *stream = &x->base;
    return PERFILE_OK;
}

bool pf_sort_in_order_result(const perfile_stream *s, perfile_sort_summary *out)
{
    if (!s || s->ops != &in_order_ops)
        return false;
    const in_order *x = (const in_order *)(const void *)s;
    *out = x->result;
    pf_sort_set_totals(&x->totals, out);
    return true;
}
