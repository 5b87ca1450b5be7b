/* The ops `span` and `skip` of the sorting stage: samples of strands yielded as bytes.
 *
 * A writer that copies samples unread needs no records of them.  Where one strand has many samples
 * before all others, the span is these bytes in the mapping.  Otherwise samples of several strands
 * are gathered in a buffer that stays in the cache (gather.c).  Strands advance when a span is
 * made; the reader may then skip() all of it, a part of it, or ask for records after all.  So
 * samples that were yielded and not skipped stay in x->pending, and pf_sort_hand_out() makes
 * records of them. */
#include <string.h>

#include "stage/round.h"
#include "sort/sort.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
/* Small, so that short inputs reach all paths. */
enum { GATHER = 512, GATHER_FEW = 256, IN_PLACE = 256, IN_PLACE_MOST = 1024 };
#else
enum {
    GATHER = 256 << 10,    /* bytes to gather at once */
    GATHER_FEW = 64 << 10, /* the same where the reader limits the samples: merge of many inputs */
    IN_PLACE = 64 << 10,   /* least span in place: to copy less costs less than one write() */
    IN_PLACE_MOST = 512 << 10 /* a span in place is not extended beyond this */
};
#endif

/* The stage as what it is; `s` must be of perfile_sort(). */
static pf_sort *sort_of(perfile_stream *s)
{
    return (pf_sort *)(void *)s;
}

/* True if the next records come from strands, and nothing must be yielded before them: no
 * FINISHED_ROUND that is due, no fragment, no source that must be filled first. */
static bool may_span(const pf_sort *x)
{
    return x->writing && x->n_heap && x->heap[0]->strands && !x->to_refill && !x->in_fragments &&
           !x->joined_ready && x->round_bytes < x->round_most;
}

/* Makes a span in the mapping of the top strand's range `some`, and extends it as long as the same
 * strand continues directly behind it.  `least` is the least key of the other sources. */
static void span_in_place(pf_sort *x, pf_sort_range some, uint64_t least, uint64_t most)
{
    pf_sort_strands *all = &x->strands;
    x->pending.bytes.ptr = pf_sort_strands_top(all)->at;
    x->pending.lasting = !all->source; /* the file is mapped */
    all->refilled = false;
    for (;;) {
        const uint32_t strand = all->heap[0].strand;
        x->pending.n += some.n;
        x->pending.bytes.len = (size_t)(some.end - x->pending.bytes.ptr);
        pf_sort_strands_advance(all, some.end, x->base.below);
        if (all->n_heap == 0 || all->heap[0].strand != strand || all->refilled ||
            x->pending.n >= most || x->pending.bytes.len >= IN_PLACE_MOST)
            break;
        const uint64_t left = x->round_most - x->round_bytes, own = pf_sort_strands_bound(all);
        if (pf_sort_strands_top(all)->at != some.end || x->pending.bytes.len >= left ||
            !pf_sort_strands_sample_is_next(all, least))
            break;
        some = pf_sort_strands_range(all, own < least ? own : least, left - x->pending.bytes.len,
                                     most - x->pending.n);
        if (some.n == 0)
            break;
    }
}

/* Returns how many bytes to gather at once; less with a small max_memory.  `most` is the reader's
 * limit of samples, UINT64_MAX: none. */
static uint64_t to_gather(const pf_sort *x, uint64_t most)
{
    const uint64_t bytes = most == UINT64_MAX ? GATHER : GATHER_FEW;
    return bytes < x->step ? bytes : x->step;
}

/* Sets bytes, n and lasting of x->pending; leaves n 0 if no usual sample is next.  A round must not
 * be exceeded, so that rounds stand at the same places as with records. */
static void make_span(pf_sort *x, uint64_t most)
{
    pf_sort_strands *all = &x->strands;
    const uint64_t least = pf_sort_least_of_others(x), own = pf_sort_strands_bound(all);
    const uint64_t left = x->round_most - x->round_bytes, some_bytes = to_gather(x, most);
    const uint64_t bytes = left < some_bytes ? left : some_bytes;
    if (!pf_sort_strands_sample_is_next(all, least))
        return;
    const pf_sort_range some = pf_sort_strands_range(all, own < least ? own : least, bytes, most);
    if (some.n == most || some.end - pf_sort_strands_top(all)->at >= IN_PLACE) {
        span_in_place(x, some, least, most);
        return;
    }
    x->gathered.to = x->gather_buffer.ptr;
    x->gathered.bytes = 0;
    x->gathered.n = 0;
    pf_sort_gather(&x->gathered, all, least, bytes, most, x->base.below);
    x->pending.bytes = (perfile_bytes){x->gathered.to, x->gathered.bytes};
    x->pending.n = x->gathered.n;
}

pf_sample_span pf_sort_span(perfile_stream *s, uint64_t most)
{
    pf_sort *x = sort_of(s);
    const pf_sample_span none = {0};
    if (x->pending.n == 0 && may_span(x) &&
        pf_buffer_reserve(&x->gather_buffer, (size_t)to_gather(x, most) + UINT16_MAX)) {
        const pf_sort_strand *top = pf_sort_strands_top(&x->strands);
        x->pending = (pf_sample_span){.offset = pf_sort_strand_offset(top, top->at),
                                      .part = pf_sort_strand_block(&x->strands, top)->part};
        x->pending_at = 0;
        make_span(x, most);
        pf_sort_strands_advanced(x);
    }
    return x->pending.n <= most ? x->pending : none;
}

/* Moves behind the first `n` samples of x->pending, which were yielded one way or the other. */
static void count_passed(pf_sort *x, uint64_t n, uint64_t bytes)
{
    x->pending.bytes.ptr += bytes;
    x->pending.bytes.len -= (size_t)bytes;
    x->pending.n -= n;
    x->pending_at += n;
    x->result.records += n;
    x->result.samples += n;
    x->sequence += n;
    x->round_bytes += bytes;
    x->done += bytes;
    x->timed = true;
}

void pf_sort_skip(perfile_stream *s, uint64_t records, uint64_t bytes)
{
    count_passed(sort_of(s), records, bytes);
}

/* Records of gathered samples have offset and part as noted in from[]; samples behind those, and
 * all of a span in place, have 0: who has asked for bytes does not need them. */
void pf_sort_hand_out(pf_sort *x)
{
    const bool swap = x->blocks.swap;
    uint64_t bytes = 0;
    uint32_t n = 0;
    for (; n < x->pending.n && n < PERFILE_RUN_RECORDS; n++) {
        const uint8_t *at = x->pending.bytes.ptr + bytes;
        perfile_record *r = &x->base.run[n];
        *r = (perfile_record){.flags = swap ? PERFILE_REC_SWAPPED : 0,
                              .envelope = PERFILE_NO_SEQUENCE,
                              .sequence = x->sequence + n,
                              .session = x->base.session};
        if (x->pending_at + n < PERFILE_RUN_RECORDS) {
            const pf_sort_place from = x->gathered.from[x->pending_at + n];
            r->offset = from.offset;
            r->part = from.part;
        }
        pf_sort_frame(r, at, swap);
        x->keys[n] = pf_load_u64(at + PF_PERF_RECORD_HEADER + x->strands.place.at, swap);
        bytes += perfile_record_size(r);
    }
    x->prepared = 0;
    x->base.n_run = n;
    count_passed(x, n, bytes);
}
