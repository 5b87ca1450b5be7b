/* Fast path for samples as bytes: merges spans of samples for a caller that writes them and needs
 * no records.
 *
 * A sorting stage can hand out its samples as a span of bytes (sort/span.c). Each input has a span
 * at hand, or a run of records. The earliest sample of all is copied to x->merged and its id
 * replaced, as long as nothing but the id changes. Anything else goes through the records path,
 * after what was merged here has gone out. Rounds come out at the same positions as on that path,
 * because they depend on the bytes of the records alone. */
#include "base/copy.h"
#include "base/byte_order.h"
#include "merge/heap.h"
#include "merge/usual.h"
#include "stage/time_key.h"
#include "schema/frame.h"

/* Small when fuzzing, so that short inputs reach the ends of buffers. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { OUT_BYTES = 2048, SPAN_RECORDS = 8 };
#else
enum {
    OUT_BYTES = 256 << 10,
    SPAN_RECORDS = 1024 /* of an input: the spans of several inputs fit the second-level cache */
};
#endif

/* Returns the header of the sample at in->span.bytes. size 0: it is not a complete sample, or too
 * large to be copied. */
static inline pf_frame frame_of(const pf_merge_input *in, bool swap)
{
    const perfile_bytes left = in->span.bytes;
    const pf_frame none = {0};
    if (left.len < PF_PERF_RECORD_HEADER)
        return none;
    const pf_frame f = pf_frame_at(left.ptr, swap);
    const bool fits = f.type == PERFILE_RECORD_SAMPLE && f.size >= in->span_min_size &&
                      f.size <= left.len && f.size < PF_MERGE_LARGE;
    return fits ? f : none;
}

/* Sort key, in the clock of the output, of the next sample of the span. */
static inline uint64_t key_of(const pf_merge_input *in, bool swap)
{
    return pf_merge_key(in, pf_load_u64(in->span.bytes.ptr + in->span_time, swap));
}

/* Fetches the next span of an input whose run is used up. False: there is none, or its samples
 * cannot be merged as bytes. */
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
    in->span_min_size =
        PF_PERF_RECORD_HEADER + (place.need > in->min_body ? place.need : in->min_body);
    if (frame_of(in, swap).size == 0) {
        /* Samples of one input are alike: the next spans would be unusable, too. */
        in->records_only = true;
        in->span.n = 0;
        return false;
    }
    in->key = key_of(in, swap);
    in->in_fragments = false;
    return true;
}

/* The stream below is told how much was used; the rest comes again, as records. */
void pf_merge_close_span(pf_merge_input *in)
{
    const uint64_t bytes = (uint64_t)(in->span.bytes.ptr - in->span_begin);
    if (in->span_taken)
        in->stream->ops->skip(in->stream, in->span_taken, bytes);
    in->span.n = in->span_taken = 0;
}

/* Moves the first input of the heap behind a sample of `size` bytes of its span. False: the span
 * is used up and no other follows; the input is x->exhausted. */
static bool advance_span(pf_merge *x, pf_merge_input *in, size_t size, bool swap)
{
    in->span.bytes.ptr += size;
    in->span.bytes.len -= size;
    in->span_taken++;
    if (--in->span.n) {
        in->key = key_of(in, swap);
    } else {
        pf_merge_close_span(in);
        if (!read_span(x, in)) {
            x->exhausted = in;
            if (--x->n_heap)
                pf_merge_replace_first(x, x->heap[x->n_heap]);
            return false;
        }
    }
    pf_merge_replace_first(x, (pf_merge_head){in->key, (int32_t)in->at, in->at});
    return true;
}

/* Copies a sample with its new id to `to`. Returns its size; 0: its id is unknown, record.c
 * decides. */
static inline size_t copy_sample(pf_merge_input *in, const uint8_t *from, size_t size, uint8_t *to,
                                 bool swap)
{
    const size_t at = PF_PERF_RECORD_HEADER + 8 * (size_t)in->id_slot;
    const uint64_t id = pf_load_u64(from + at, swap);
    uint64_t new_id;
    if (!pf_merge_find_cached_id(in, id, &new_id))
        return 0;
    pf_copy_small(to, from, size);
    if (new_id != id)
        pf_store_u64(to + at, new_id, swap);
    return size;
}

/* copy_sample() for an input that has records at hand. 0: the record is not a short plain sample
 * whose body follows its header. */
static size_t copy_record(pf_merge_input *in, uint8_t *to, bool swap)
{
    const perfile_record *r = in->next;
    const size_t size = perfile_record_size(r);
    const bool usual = in->id_slot >= 0 && !in->in_fragments && pf_merge_is_plain_sample(r) &&
                       r->body.len >= in->min_body && size < PF_MERGE_LARGE &&
                       r->body.ptr == r->header + PF_PERF_RECORD_HEADER &&
                       (bool)(r->flags & PERFILE_REC_SWAPPED) == swap;
    return usual ? copy_sample(in, r->header, size, to, swap) : 0;
}

/* Refills x->exhausted if a span follows. False: it needs pf_merge_next_run(). */
static bool refill_with_span(pf_merge *x)
{
    pf_merge_input *in = x->exhausted;
    if (!in)
        return true;
    if (!read_span(x, in))
        return false;
    x->exhausted = NULL;
    pf_merge_push(x, in);
    return true;
}

/* Copies the next sample of `in` and advances it. *size 0: it cannot be merged as bytes. False:
 * the span being made has to end, because an input needs more than a span. */
static bool copy_next(pf_merge *x, pf_merge_input *in, uint8_t *to, bool swap, size_t *size)
{
    if (in->span.n) {
        const pf_frame f = frame_of(in, swap);
        *size = f.size ? copy_sample(in, in->span.bytes.ptr, f.size, to, swap) : 0;
        return *size && advance_span(x, in, *size, swap);
    }
    *size = copy_record(in, to, swap);
    return *size && (pf_merge_advance(x, in) || refill_with_span(x));
}

/* Stops at whatever is not a plain sample with a time, so that the records path takes it next. A
 * span never goes beyond the next round: `most` ends with it, and the last sample may exceed that
 * by less than PF_MERGE_LARGE. */
bool pf_merge_make_span(pf_merge *x)
{
    const bool swap = perfile_session_swapped(x->base.session);
    /* Bytes up to the next round. */
    const uint64_t left = PF_ROUND_BYTES - x->since_round;
    const uint64_t most = x->has_rounds && left < OUT_BYTES ? left : OUT_BYTES;
    if (x->since_round >= PF_ROUND_BYTES || x->ready_span.n || x->pending_damage.len ||
        !pf_buffer_reserve(&x->merged, OUT_BYTES + PF_MERGE_LARGE) || !refill_with_span(x))
        return x->ready_span.n != 0;
    uint8_t *const begin = x->merged.ptr;
    size_t bytes = 0;
    bool more = true;
    while (more && x->n_heap && bytes < most) {
        pf_merge_input *in = &x->inputs[x->heap[0].input];
        size_t size;
        if (in->key == 0) /* without a time: x->timed_since_round would be wrong */
            break;
        bytes += pf_merge_few_spans(x, begin + bytes, (size_t)(most - bytes));
        if (bytes >= most)
            break;
        in = &x->inputs[x->heap[0].input];
        more = copy_next(x, in, begin + bytes, swap, &size);
        if (size == 0)
            break;
        bytes += size;
        x->ready_span.n++;
        in->result.records++;
        in->result.samples++;
    }
    x->ready_span.bytes = (perfile_bytes){begin, bytes};
    return x->ready_span.n != 0;
}

/* A span that is longer than `most` records is not returned; it goes out as a run instead. */
pf_sample_span pf_merge_span(perfile_stream *s, uint64_t most)
{
    pf_merge *x = (pf_merge *)(void *)s;
    const pf_sample_span none = {0};
    return pf_merge_make_span(x) && x->ready_span.n <= most ? x->ready_span : none;
}

/* Counts n samples of the ready span as handed out. */
static void consume_ready(pf_merge *x, uint64_t n, uint64_t bytes)
{
    x->ready_span.bytes.ptr += bytes;
    x->ready_span.bytes.len -= (size_t)bytes;
    x->ready_span.n -= n;
    x->sequence += n;
    x->result.records += n;
    x->result.samples += n;
    x->since_round += bytes;
    x->timed_since_round = true;
}

void pf_merge_skip(perfile_stream *s, uint64_t records, uint64_t bytes)
{
    consume_ready((pf_merge *)(void *)s, records, bytes);
}

/* For a reader that wants records, or a span that is too long for it. */
void pf_merge_span_to_run(pf_merge *x)
{
    const bool swap = perfile_session_swapped(x->base.session);
    uint64_t bytes = 0;
    uint32_t n = 0;
    for (; n < x->ready_span.n && n < PERFILE_RUN_RECORDS; n++) {
        const uint8_t *at = x->ready_span.bytes.ptr + bytes;
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
    x->ready_slots = 0;
    x->base.n_run = n;
    consume_ready(x, n, bytes);
}
