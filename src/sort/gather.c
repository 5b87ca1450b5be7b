/* Two ways to gather samples of strands whose times alternate.
 *
 * Where the two first strands have many samples before any third one, a loop merges just these two:
 * their state stays in registers, and the loop chooses the next sample without a branch, because
 * the choice is unpredictable.  Otherwise the heap decides: the range that the first strand has
 * before all others is copied at once.  gather_two() is tried first; if it yielded little, the next
 * BY_HEAP ranges are taken by the heap before it is tried again. */
#include "sort/gather.h"

#include "base/copy.h"

enum {
    AHEAD = 1024,   /* bytes to prefetch ahead in each strand */
    WORTH_TWO = 16, /* samples: if gather_two() yields fewer, … */
    BY_HEAP = 64    /* … so many ranges are gathered by the heap next */
};

/* One of the two strands that gather_two() merges. */
typedef struct side {
    const uint8_t *at, *end; /* next record, end of its block */
    uint64_t key, last;      /* keys of the next record and of the one before it */
    size_t size;             /* of the next record */
} side;

/* The strand at heap[place] as a side. */
static side side_of(const pf_sort_strands *s, uint32_t place)
{
    const pf_sort_head *head = &s->heap[place];
    const pf_sort_strand *one = &s->all[head->strand];
    return (side){one->at, one->end, head->key, head->key,
                  pf_frame_at(one->at, s->blocks->swap).size};
}

/* Notes where sample number g->n, at address `at` of this strand, lies in the input. */
static void note_place(pf_sort_gathered *g, const pf_sort_strands *s, uint32_t strand,
                       const uint8_t *at)
{
    const pf_sort_strand *one = &s->all[strand];
    g->from[g->n] =
        (pf_sort_place){pf_sort_strand_offset(one, at), pf_sort_strand_block(s, one)->part};
}

/* Returns the heap position of the second strand, 1 or 2.  *third is the least key of all strands
 * but the first two: in a binary heap it is that of the sibling or of a child of the second. */
static uint32_t second_of(const pf_sort_strands *s, uint64_t *third)
{
    const pf_sort_head *heap = s->heap;
    uint32_t second = 1;
    if (s->n_heap > 2 && (heap[2].key < heap[1].key ||
                          (heap[2].key == heap[1].key && heap[2].strand < heap[1].strand)))
        second = 2;
    const uint32_t others[] = {3 - second, 2 * second + 1, 2 * second + 2};
    *third = UINT64_MAX;
    for (size_t i = 0; i < 3; i++)
        if (others[i] < s->n_heap && heap[others[i]].key < *third)
            *third = heap[others[i]].key;
    return second;
}

/* Advances a side to its next record.  False if that is no usual sample in order within the block;
 * `least` is the size of the shortest sample with a time. */
static inline bool advance_side(side *d, const pf_sort_strands *s, size_t least, bool swap)
{
    d->last = d->key;
    d->at += d->size;
    const size_t left = (size_t)(d->end - d->at);
    if (left < least)
        return false;
    const pf_frame f = pf_frame_at(d->at, swap);
    d->size = f.size;
    d->key = pf_load_u64(d->at + PF_PERF_RECORD_HEADER + s->place.at, swap);
    __builtin_prefetch((const void *)((uintptr_t)d->at + AHEAD));
    return f.type == PERFILE_RECORD_SAMPLE && d->size >= least && d->size <= left &&
           d->key >= d->last;
}

/* Merges the first two strands up to the next record of a third one.  Returns the number of
 * samples; 0 if the second strand has something else next. */
static uint64_t gather_two(pf_sort_gathered *g, pf_sort_strands *s, uint64_t bound, uint64_t bytes,
                           uint64_t most, perfile_stream *stream)
{
    uint64_t third;
    const bool swap = s->blocks->swap;
    const uint32_t second = second_of(s, &third);
    const uint32_t strand[2] = {s->heap[0].strand, s->heap[second].strand};
    const size_t least = PF_PERF_RECORD_HEADER + s->place.need;
    const uint64_t before = g->n;
    if (s->all[strand[1]].kind != PF_STRAND_SAMPLE)
        return 0;
    /* Where keys are equal the strand that is first in the input goes first; sides[0] is that
     * one. */
    const bool exchanged = strand[1] < strand[0];
    side sides[2] = {side_of(s, exchanged ? second : 0), side_of(s, exchanged ? 0 : second)};
    bound = third < bound ? third : bound;
    bool more = sides[0].size >= least && sides[0].size <= (size_t)(sides[0].end - sides[0].at) &&
                sides[1].size >= least && sides[1].size <= (size_t)(sides[1].end - sides[1].at);
    size_t at = g->bytes;
    while (more && at < bytes && g->n < most) {
        const size_t i = sides[1].key < sides[0].key;
        side *d = &sides[i];
        if (d->key >= bound)
            break;
        if (g->n < PERFILE_RUN_RECORDS)
            note_place(g, s, strand[i ^ exchanged], d->at);
        pf_copy_small(g->to + at, d->at, d->size);
        at += d->size;
        g->n++;
        more = advance_side(d, s, least, swap);
    }
    g->bytes = at;
    const uint8_t *const to[2] = {sides[exchanged].at, sides[!exchanged].at};
    const uint64_t last[2] = {sides[exchanged].last, sides[!exchanged].last};
    if (g->n > before)
        pf_sort_strands_advance_two(s, second, to, last, stream);
    return g->n - before;
}

/* Copies the range that the first strand has before all others.  False if there is none, which
 * means that the file was changed. */
static bool gather_one(pf_sort_gathered *g, pf_sort_strands *s, uint64_t bound, uint64_t bytes,
                       uint64_t most, perfile_stream *stream)
{
    const uint64_t own = pf_sort_strands_bound(s);
    const uint32_t strand = s->heap[0].strand;
    const uint8_t *at = s->all[strand].at;
    const pf_sort_range some =
        pf_sort_strands_range(s, own < bound ? own : bound, bytes - g->bytes, most - g->n);
    pf_copy_small(g->to + g->bytes, at, (size_t)(some.end - at));
    g->bytes += (size_t)(some.end - at);
    for (uint64_t i = 0; i < some.n; i++, g->n++) { /* places of the first samples only */
        if (g->n >= PERFILE_RUN_RECORDS) {
            g->n += some.n - i;
            break;
        }
        note_place(g, s, strand, at);
        at += pf_frame_at(at, s->blocks->swap).size;
    }
    if (some.n)
        pf_sort_strands_advance(s, some.end, stream);
    return some.n != 0;
}

void pf_sort_gather(pf_sort_gathered *g, pf_sort_strands *s, uint64_t bound, uint64_t bytes,
                    uint64_t most, perfile_stream *stream)
{
    unsigned by_heap = 0;
    while (s->n_heap && g->n < most && g->bytes < bytes &&
           pf_sort_strands_sample_is_next(s, bound)) {
        if (by_heap == 0 && s->n_heap > 1) {
            const uint64_t n = gather_two(g, s, bound, bytes, most, stream);
            by_heap = n < WORTH_TWO ? BY_HEAP : 0;
            if (n)
                continue;
        }
        if (!gather_one(g, s, bound, bytes, most, stream))
            break;
        by_heap -= by_heap != 0;
    }
}
