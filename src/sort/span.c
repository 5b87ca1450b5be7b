/* Samples of strands, handed out as bytes: what one strand has in front of all others where it
 * lies when it is long, else what several have, put together in a buffer that stays in the cache.
 * Who asks for bytes makes no records of them; where somebody asks for records after all, fill()
 * makes them of what was handed out and not taken. */
#include <string.h>

#include "stage/round.h"
#include "sort/sort.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { GATHER = 512, GATHER_FEW = 256, IN_PLACE = 256, IN_PLACE_MOST = 1024 };
#else
enum {
    GATHER = 256 << 10,
    GATHER_FEW = 64 << 10, /* for who asks for a few, and has other streams to ask */
    IN_PLACE = 64 << 10,   /* copying less costs less than a call of write() for it */
    IN_PLACE_MOST = 512 << 10
};
#endif

static pf_sort *sort_of(perfile_stream *s)
{
    return (pf_sort *)(void *)s;
}

/* Whether the next records are of strands, and none has to stand in front of them. */
static bool may_span(const pf_sort *x)
{
    return x->writing && x->n_heap && x->heap[0]->strands && !x->dry && !x->in_pieces &&
           !x->whole_ready && x->round_bytes < PF_ROUND_BYTES;
}

/* What the top strand has where it lies, as long as nothing comes between. */
static void span_in_place(pf_sort *x, pf_sort_stretch some, uint64_t least, uint64_t most)
{
    pf_sort_strands *all = &x->strands;
    x->given.bytes.ptr = pf_sort_strands_top(all)->at;
    x->given.lasting = true; /* strands are of a mapped file */
    for (;;) {
        const uint32_t strand = all->heap[0].strand;
        x->given.n += some.n;
        x->given.bytes.len = (size_t)(some.end - x->given.bytes.ptr);
        pf_sort_strands_go_on(all, some.end, x->base.below);
        if (all->n_heap == 0 || all->heap[0].strand != strand || x->given.n >= most ||
            x->given.bytes.len >= IN_PLACE_MOST)
            break;
        const uint64_t left = PF_ROUND_BYTES - x->round_bytes, own = pf_sort_strands_bound(all);
        if (pf_sort_strands_top(all)->at != some.end || x->given.bytes.len >= left ||
            !pf_sort_strands_sample(all, least))
            break;
        some = pf_sort_strands_stretch(all, own < least ? own : least, left - x->given.bytes.len,
                                       most - x->given.n);
        if (some.n == 0)
            break;
    }
}

/* Bytes to gather at once: where little memory is to be had, less. */
static uint64_t to_gather(const pf_sort *x, uint64_t most)
{
    const uint64_t bytes = most == UINT64_MAX ? GATHER : GATHER_FEW;
    return bytes < x->step ? bytes : x->step;
}

static void make_span(pf_sort *x, uint64_t most)
{
    pf_sort_strands *all = &x->strands;
    const uint64_t least = pf_sort_least_of_others(x), own = pf_sort_strands_bound(all);
    const uint64_t left = PF_ROUND_BYTES - x->round_bytes, some_bytes = to_gather(x, most);
    const uint64_t bytes = left < some_bytes ? left : some_bytes;
    if (!pf_sort_strands_sample(all, least))
        return;
    const pf_sort_stretch some =
        pf_sort_strands_stretch(all, own < least ? own : least, bytes, most);
    if (some.n == most || some.end - pf_sort_strands_top(all)->at >= IN_PLACE) {
        span_in_place(x, some, least, most);
        return;
    }
    x->gathered.to = x->room.ptr;
    x->gathered.bytes = 0;
    x->gathered.n = 0;
    pf_sort_gather(&x->gathered, all, least, bytes, most, x->base.below);
    x->given.bytes = (perfile_bytes){x->gathered.to, x->gathered.bytes};
    x->given.n = x->gathered.n;
}

pf_sample_span pf_sort_span(perfile_stream *s, uint64_t most)
{
    pf_sort *x = sort_of(s);
    const pf_sample_span none = {0};
    if (x->given.n == 0 && may_span(x) &&
        pf_buffer_reserve(&x->room, (size_t)to_gather(x, most) + UINT16_MAX)) {
        const pf_sort_strand *top = pf_sort_strands_top(&x->strands);
        const pf_sort_block *b = pf_sort_strand_block(&x->strands, top);
        x->given =
            (pf_sample_span){.offset = b->offset + (uint64_t)(top->at - b->start), .part = b->part};
        x->given_at = 0;
        make_span(x, most);
        pf_sort_strands_took(x);
    }
    return x->given.n <= most ? x->given : none;
}

static void account(pf_sort *x, uint64_t n, uint64_t bytes)
{
    x->given.bytes.ptr += bytes;
    x->given.bytes.len -= (size_t)bytes;
    x->given.n -= n;
    x->given_at += n;
    x->result.records += n;
    x->result.samples += n;
    x->sequence += n;
    x->round_bytes += bytes;
    x->done += bytes;
    x->timed = true;
}

void pf_sort_skip(perfile_stream *s, uint64_t records, uint64_t bytes)
{
    account(sort_of(s), records, bytes);
}

void pf_sort_hand_out(pf_sort *x)
{
    const bool swap = x->blocks.swap;
    uint64_t bytes = 0;
    uint32_t n = 0;
    for (; n < x->given.n && n < PERFILE_RUN_RECORDS; n++) {
        const uint8_t *at = x->given.bytes.ptr + bytes;
        perfile_record *r = &x->base.run[n];
        *r = (perfile_record){.flags = swap ? PERFILE_REC_SWAPPED : 0,
                              .envelope = PERFILE_NO_SEQUENCE,
                              .sequence = x->sequence + n,
                              .session = x->base.session};
        if (x->given_at + n < PERFILE_RUN_RECORDS) {
            const pf_sort_place from = x->gathered.from[x->given_at + n];
            r->offset = from.offset;
            r->part = from.part;
        }
        pf_sort_frame(r, at, swap);
        x->keys[n] = pf_load_u64(at + PF_PERF_RECORD_HEADER + x->strands.place.at, swap);
        bytes += perfile_record_size(r);
    }
    x->clean = 0;
    x->base.n_run = n;
    account(x, n, bytes);
}
