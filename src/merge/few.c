/* The inner loop of merging spans of up to 8 inputs.
 *
 * What the loop needs of an input is copied to a *lane*; the keys of the next samples are kept
 * sorted in an array. With so few inputs, insertion into a sorted array is less work than a heap,
 * above all where many samples have equal times. Keys and lane numbers are two arrays: a struct of
 * both would be written in two stores and read by one wide load, which stalls until the stores are
 * done. */
#include "base/copy.h"
#include "base/byte_order.h"
#include "merge/heap.h"
#include "merge/usual.h"
#include "schema/frame.h"

enum { FEW = 8 };

/* What the loop needs of an input. */
typedef struct lane {
    const uint8_t *at;  /* the next sample */
    uint64_t left;      /* samples left in the span */
    uint64_t offset;    /* added to times */
    size_t time, id;    /* offsets of both in a sample, header included */
    size_t min_size;    /* bytes that a sample needs to hold both */
    const uint8_t *end; /* of the span */
    pf_merge_input *in;
} lane;

typedef struct lane_set {
    lane all[FEW];         /* in the order of the inputs: equal keys go by lane number */
    uint64_t key[FEW];     /* ascending: the key of the next sample … */
    uint32_t lane_at[FEW]; /* … of this lane */
    uint32_t n;
} lane_set;

/* An input with records at hand gets an empty lane: the loop stops when it is the earliest. */
static lane lane_of(pf_merge_input *in)
{
    const perfile_bytes left = in->span.bytes;
    return (lane){.at = left.ptr,
                  .left = in->span.n,
                  .offset = in->offset,
                  .time = in->span_time,
                  .id = PF_PERF_RECORD_HEADER + 8 * (size_t)in->id_slot,
                  .min_size = in->span_min_size,
                  .end = in->span.n ? left.ptr + left.len : left.ptr,
                  .in = in};
}

/* Inserts a lane and its key into the n that are sorted, after all that are not later. */
static void insert(lane_set *l, uint32_t n, uint64_t key, uint32_t lane_at)
{
    for (; n && (l->key[n - 1] > key || (l->key[n - 1] == key && l->lane_at[n - 1] > lane_at));
         n--) {
        l->key[n] = l->key[n - 1];
        l->lane_at[n] = l->lane_at[n - 1];
    }
    l->key[n] = key;
    l->lane_at[n] = lane_at;
}

/* Fills the lanes from the heap. */
static void begin(lane_set *l, const pf_merge *x)
{
    l->n = x->n_heap;
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t at = i;
        const lane one = lane_of(&x->inputs[x->heap[i].input]);
        for (; at && l->all[at - 1].in > one.in; at--)
            l->all[at] = l->all[at - 1];
        l->all[at] = one;
    }
    for (uint32_t i = 0; i < l->n; i++)
        insert(l, i, l->all[i].in->key, i);
}

/* Stores back to the inputs and the heap what was used; a sorted array is a heap. */
static void end(const lane_set *l, pf_merge *x)
{
    for (uint32_t i = 0; i < l->n; i++) {
        const lane *from = &l->all[l->lane_at[i]];
        pf_merge_input *in = from->in;
        const uint64_t taken = in->span.n - from->left;
        x->heap[i] = (pf_merge_head){l->key[i], (int32_t)in->at, in->at};
        if (taken == 0)
            continue;
        in->key = l->key[i];
        in->span_taken += taken;
        in->span.n = from->left;
        in->span.bytes = (perfile_bytes){from->at, (size_t)(from->end - from->at)};
        in->result.records += taken;
        in->result.samples += taken;
        x->ready_span.n += taken;
    }
}

/* Copies samples in order of time until `most` bytes are written or a sample needs the general
 * code: the last one of a span, a large one, or one whose id is not in the cache. Inlined for each
 * value of `swap`. */
static inline __attribute__((always_inline)) size_t merge_lanes(lane_set *l, uint8_t *to,
                                                                size_t most, bool swap)
{
    const uint32_t last = l->n - 1;
    size_t bytes = 0;
    while (bytes < most) {
        const uint32_t lane_at = l->lane_at[0];
        lane *d = &l->all[lane_at];
        if (d->left < 2) /* the key after the last one is not in the span */
            break;
        const pf_frame f = pf_frame_at(d->at, swap);
        const size_t size = f.size, room = (size_t)(d->end - d->at);
        if (f.type != PERFILE_RECORD_SAMPLE || size < d->min_size || size >= PF_MERGE_LARGE ||
            size + d->min_size > room)
            break;
        const uint64_t id = pf_load_u64(d->at + d->id, swap);
        const pf_merge_cached_id *known = &d->in->id_cache[id % PF_MERGE_ID_CACHE];
        if (known->id != id || !known->new_id)
            break;
        pf_copy_small(to + bytes, d->at, size);
        if (known->new_id != id)
            pf_store_u64(to + bytes + d->id, known->new_id, swap);
        bytes += size;
        d->at += size;
        d->left--;
        /* Reads the time of the following sample, which size + min_size <= room made sure is
         * there. */
        const uint64_t key = pf_load_u64(d->at + d->time, swap) + d->offset;
        uint32_t i = 0;
        /* Insertion of the new key from the front. The tests use | and &, not || and &&: two
         * conditional jumps would be mispredicted too often. */
        while (i < last &&
               ((l->key[i + 1] < key) | ((l->key[i + 1] == key) & (l->lane_at[i + 1] < lane_at)))) {
            l->key[i] = l->key[i + 1];
            l->lane_at[i] = l->lane_at[i + 1];
            i++;
        }
        l->key[i] = key;
        l->lane_at[i] = lane_at;
    }
    return bytes;
}

/* order < 0: an input is in the middle of fragments, which only the records path can continue. */
size_t pf_merge_few_spans(pf_merge *x, uint8_t *to, size_t most)
{
    const bool swap = perfile_session_swapped(x->base.session);
    lane_set l;
    if (x->n_heap > FEW || x->heap[0].order < 0 || x->inputs[x->heap[0].input].span.n < 2)
        return 0;
    begin(&l, x);
    const size_t bytes = swap ? merge_lanes(&l, to, most, true) : merge_lanes(&l, to, most, false);
    end(&l, x);
    return bytes;
}
