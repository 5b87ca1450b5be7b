/* Samples of spans of a few inputs: the inner loop of merging them.
 *
 * What it needs of an input stands in a lane of its own, and the keys of all in order, in an array
 * beside which lane each is of: of a few that is less work than a heap, most of all where all have
 * the same times.  Key and lane are apart, for a pair that is written in halves and read as a whole
 * has to wait for the memory. */
#include "base/copy.h"
#include "base/byte_order.h"
#include "merge/heap.h"
#include "merge/usual.h"
#include "schema/frame.h"

enum { FEW = 8 };

typedef struct lane {
    const uint8_t *at;
    uint64_t left;   /* samples of the span */
    uint64_t offset; /* of its clock */
    size_t time, id; /* where in a sample they are … */
    size_t least;    /* … and how many bytes it has at least */
    const uint8_t *end;
    pf_merge_input *in;
} lane;

typedef struct lanes {
    lane all[FEW];     /* by input, so that of equal keys the first lane is first */
    uint64_t key[FEW]; /* in order: of the next sample … */
    uint32_t who[FEW]; /* … of this lane */
    uint32_t n;
} lanes;

static lane lane_of(pf_merge_input *in)
{
    const perfile_bytes left = in->span.bytes;
    return (lane){.at = left.ptr,
                  .left = in->span.n,
                  .offset = in->offset,
                  .time = in->span_time,
                  .id = PF_PERF_RECORD_HEADER + 8 * (size_t)in->id_slot,
                  .least = in->span_least,
                  .end = in->span.n ? left.ptr + left.len : left.ptr,
                  .in = in};
}

/* Puts a lane with its key behind those that are not later. */
static void insert(lanes *l, uint32_t n, uint64_t key, uint32_t who)
{
    for (; n && (l->key[n - 1] > key || (l->key[n - 1] == key && l->who[n - 1] > who)); n--) {
        l->key[n] = l->key[n - 1];
        l->who[n] = l->who[n - 1];
    }
    l->key[n] = key;
    l->who[n] = who;
}

static void begin(lanes *l, const pf_merge *x)
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

/* What was taken is gone from the spans; an array in order is a heap. */
static void end(const lanes *l, pf_merge *x)
{
    for (uint32_t i = 0; i < l->n; i++) {
        const lane *from = &l->all[l->who[i]];
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
        x->given.n += taken;
    }
}

static inline __attribute__((always_inline)) size_t merge(lanes *l, uint8_t *to, size_t most,
                                                          bool swap)
{
    const uint32_t last = l->n - 1;
    size_t bytes = 0;
    while (bytes < most) {
        const uint32_t who = l->who[0];
        lane *d = &l->all[who];
        if (d->left < 2) /* what is behind the last one has to be read */
            break;
        const pf_frame f = pf_frame_at(d->at, swap);
        const size_t size = f.size, room = (size_t)(d->end - d->at);
        if (f.type != PERFILE_RECORD_SAMPLE || size < d->least || size >= PF_MERGE_LARGE ||
            size + d->least > room)
            break;
        const uint64_t id = pf_load_u64(d->at + d->id, swap);
        const pf_merge_known *known = &d->in->known[id % PF_MERGE_KNOWN];
        if (known->id != id || !known->new_id)
            break;
        pf_copy_small(to + bytes, d->at, size);
        if (known->new_id != id)
            pf_store_u64(to + bytes + d->id, known->new_id, swap);
        bytes += size;
        d->at += size;
        d->left--;
        const uint64_t key = pf_load_u64(d->at + d->time, swap) + d->offset;
        uint32_t i = 0;
        while (i < last &&
               ((l->key[i + 1] < key) | ((l->key[i + 1] == key) & (l->who[i + 1] < who)))) {
            l->key[i] = l->key[i + 1];
            l->who[i] = l->who[i + 1];
            i++;
        }
        l->key[i] = key;
        l->who[i] = who;
    }
    return bytes;
}

size_t pf_merge_few(pf_merge *x, uint8_t *to, size_t most)
{
    const bool swap = perfile_session_swapped(x->base.session);
    lanes l;
    if (x->n_heap > FEW || x->heap[0].order < 0 || x->inputs[x->heap[0].input].span.n < 2)
        return 0;
    begin(&l, x);
    const size_t bytes = swap ? merge(&l, to, most, true) : merge(&l, to, most, false);
    end(&l, x);
    return bytes;
}
