/* Usual samples of several inputs as bytes, for who writes them.
 *
 * A sorting stage hands out samples as spans (sort/span.c).  An input has such a span at hand, or a
 * run of records; of both the next sample is copied to the output, with the id that it has there,
 * as long as nothing but the id changes.  What is anything else goes the way of records, in front
 * of which all that was merged has gone out: where the next round is due depends on the bytes of
 * the records alone. */
#include "base/copy.h"
#include "base/byte_order.h"
#include "merge/heap.h"
#include "merge/usual.h"
#include "stage/time_key.h"
#include "schema/frame.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { OUT_BYTES = 2048, SPAN_RECORDS = 8 };
#else
enum {
    OUT_BYTES = 256 << 10,
    SPAN_RECORDS = 1024 /* of an input: some of them stay in the second-level cache together */
};
#endif

/* The sample at in->span.bytes, as far as it can be taken; size 0: it cannot. */
static inline pf_frame frame_of(const pf_merge_input *in, bool swap)
{
    const perfile_bytes left = in->span.bytes;
    const pf_frame none = {0};
    if (left.len < PF_PERF_RECORD_HEADER)
        return none;
    const pf_frame f = pf_frame_at(left.ptr, swap);
    const bool fits = f.type == PERFILE_RECORD_SAMPLE && f.size >= in->span_least &&
                      f.size <= left.len && f.size < PF_MERGE_LARGE;
    return fits ? f : none;
}

/* The key of the sample that is next in the span of an input. */
static inline uint64_t key_of(const pf_merge_input *in, bool swap)
{
    return pf_merge_key(in, pf_load_u64(in->span.bytes.ptr + in->span_time, swap));
}

/* What is at hand is handed out: to the next span, whose first sample is one that can be taken. */
static bool read_span(const pf_merge *x, pf_merge_input *in)
{
    const bool swap = perfile_session_swapped(x->base.session);
    const pf_stream_ops *ops = in->stream->ops;
    if (!ops->span || in->id_slot < 0 || in->records_only || in->next < in->end)
        return false;
    const pf_sample_span all = ops->span(in->stream, SPAN_RECORDS);
    const pf_time_place place = pf_time_place_of(in->session);
    if (all.n == 0 || place.need == SIZE_MAX)
        return false;
    in->span = all;
    in->span_begin = all.bytes.ptr;
    in->span_time = PF_PERF_RECORD_HEADER + place.at;
    in->span_least = PF_PERF_RECORD_HEADER + (place.need > in->least ? place.need : in->least);
    if (frame_of(in, swap).size == 0) {
        /* Of large samples, or samples that say less, there are more. */
        in->records_only = true;
        in->span.n = 0;
        return false;
    }
    in->key = key_of(in, swap);
    in->in_pieces = false;
    return true;
}

void pf_merge_leave_span(pf_merge_input *in)
{
    const uint64_t bytes = (uint64_t)(in->span.bytes.ptr - in->span_begin);
    if (in->span_taken)
        in->stream->ops->skip(in->stream, in->span_taken, bytes);
    in->span.n = in->span_taken = 0;
}

/* The first of the heap goes on behind a sample of its span; false: it has to be read on. */
static bool go_on(pf_merge *x, pf_merge_input *in, size_t size, bool swap)
{
    in->span.bytes.ptr += size;
    in->span.bytes.len -= size;
    in->span_taken++;
    if (--in->span.n) {
        in->key = key_of(in, swap);
    } else {
        pf_merge_leave_span(in);
        if (!read_span(x, in)) {
            x->dry = in;
            if (--x->n_heap)
                pf_merge_sift(x, x->heap[x->n_heap]);
            return false;
        }
    }
    pf_merge_sift(x, (pf_merge_head){in->key, (int32_t)in->at, in->at});
    return true;
}

/* One sample to the output; its bytes, 0: it goes another way. */
static inline size_t put(pf_merge_input *in, const uint8_t *from, size_t size, uint8_t *to,
                         bool swap)
{
    const size_t at = PF_PERF_RECORD_HEADER + 8 * (size_t)in->id_slot;
    const uint64_t id = pf_load_u64(from + at, swap);
    uint64_t new_id;
    if (!pf_merge_known_id(in, id, &new_id))
        return 0;
    pf_copy_small(to, from, size);
    if (new_id != id)
        pf_store_u64(to + at, new_id, swap);
    return size;
}

/* The same of an input that has records at hand. */
static size_t put_record(pf_merge_input *in, uint8_t *to, bool swap)
{
    const perfile_record *r = in->next;
    const size_t size = perfile_record_size(r);
    const bool usual = in->id_slot >= 0 && !in->in_pieces && pf_merge_is_usual(r) &&
                       r->body.len >= in->least && size < PF_MERGE_LARGE &&
                       r->body.ptr == r->header + PF_PERF_RECORD_HEADER &&
                       (bool)(r->flags & PERFILE_REC_SWAPPED) == swap;
    return usual ? put(in, r->header, size, to, swap) : 0;
}

/* Reads on what has nothing at hand, if that is a span. */
static bool settle(pf_merge *x)
{
    pf_merge_input *in = x->dry;
    if (!in)
        return true;
    if (!read_span(x, in))
        return false;
    x->dry = NULL;
    pf_merge_push(x, in);
    return true;
}

/* A run of records ends where an input has no more at hand, a span where all have spans. */
static bool take(pf_merge *x, pf_merge_input *in, uint8_t *to, bool swap, size_t *size)
{
    if (in->span.n) {
        const pf_frame f = frame_of(in, swap);
        *size = f.size ? put(in, in->span.bytes.ptr, f.size, to, swap) : 0;
        return *size && go_on(x, in, *size, swap);
    }
    *size = put_record(in, to, swap);
    return *size && (pf_merge_go_on(x, in) || settle(x));
}

bool pf_merge_make_span(pf_merge *x)
{
    const bool swap = perfile_session_swapped(x->base.session);
    const uint64_t left = PF_ROUND_BYTES - x->since_round;
    const uint64_t most = x->rounds && left < OUT_BYTES ? left : OUT_BYTES;
    if (x->since_round >= PF_ROUND_BYTES || x->given.n || x->damages.len ||
        !pf_buffer_reserve(&x->merged, OUT_BYTES + PF_MERGE_LARGE) || !settle(x))
        return x->given.n != 0;
    uint8_t *const begin = x->merged.ptr;
    size_t bytes = 0;
    bool more = true;
    while (more && x->n_heap && bytes < most) {
        pf_merge_input *in = &x->inputs[x->heap[0].input];
        size_t size;
        if (in->key == 0) /* it has no time, by which a round is due */
            break;
        bytes += pf_merge_few(x, begin + bytes, most - bytes);
        if (bytes >= most)
            break;
        in = &x->inputs[x->heap[0].input];
        more = take(x, in, begin + bytes, swap, &size);
        if (size == 0)
            break;
        bytes += size;
        x->given.n++;
        in->result.records++;
        in->result.samples++;
    }
    x->given.bytes = (perfile_bytes){begin, bytes};
    return x->given.n != 0;
}

pf_sample_span pf_merge_span(perfile_stream *s, uint64_t most)
{
    pf_merge *x = (pf_merge *)(void *)s;
    const pf_sample_span none = {0};
    return pf_merge_make_span(x) && x->given.n <= most ? x->given : none;
}

static void account(pf_merge *x, uint64_t n, uint64_t bytes)
{
    x->given.bytes.ptr += bytes;
    x->given.bytes.len -= (size_t)bytes;
    x->given.n -= n;
    x->sequence += n;
    x->result.records += n;
    x->result.samples += n;
    x->since_round += bytes;
    x->timed = true;
}

void pf_merge_skip(perfile_stream *s, uint64_t records, uint64_t bytes)
{
    account((pf_merge *)(void *)s, records, bytes);
}

void pf_merge_give_span(pf_merge *x)
{
    const bool swap = perfile_session_swapped(x->base.session);
    uint64_t bytes = 0;
    uint32_t n = 0;
    for (; n < x->given.n && n < PERFILE_RUN_RECORDS; n++) {
        const uint8_t *at = x->given.bytes.ptr + bytes;
        const pf_frame f = pf_frame_at(at, swap);
        x->base.run[n] = (perfile_record){
            .header = at,
            .body = {at + PF_PERF_RECORD_HEADER, f.size - (size_t)PF_PERF_RECORD_HEADER},
            .type = f.type,
            .misc = f.misc,
            .flags = swap ? PERFILE_REC_SWAPPED : 0,
            .sequence = x->sequence + n,
            .envelope = PERFILE_NO_SEQUENCE,
            .session = x->base.session};
        bytes += f.size;
    }
    x->usual = 0;
    x->base.n_run = n;
    account(x, n, bytes);
}
