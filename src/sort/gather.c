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
    uint64_t key;            /* of the next record */
    size_t size;             /* of the next record */
    uint32_t strand;
} side;

/* The strand at heap[place] as a side. */
static side side_of(const pf_sort_strands *s, uint32_t place)
{
    const pf_sort_head *head = &s->heap[place];
    const pf_sort_strand *one = &s->all[head->strand];
    return (side){one->at, one->end, head->key, pf_frame_at(one->at, s->blocks->swap).size,
                  head->strand};
}

/* Notes where sample number `n` of those gathered, at address `at` of this strand, lies in the
 * input. */
static void note_place(pf_sort_gathered *g, uint64_t n, const pf_sort_strands *s, uint32_t strand,
                       const uint8_t *at)
{
    const pf_sort_strand *one = &s->all[strand];
    g->from[n] =
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

/* `b` if `mask` is all ones, `a` if it is 0; without a branch. */
static inline uint64_t choose(uint64_t a, uint64_t b, uint64_t mask)
{
    return a ^ ((a ^ b) & mask);
}

static inline const uint8_t *choose_address(const uint8_t *a, const uint8_t *b, uint64_t mask)
{
    return (const uint8_t *)(uintptr_t)choose((uintptr_t)a, (uintptr_t)b, mask);
}

/* True if the next record of the side, a sample, lies in its block and has a time; `least` is the
 * size of the shortest one. */
static inline bool fits(const side *d, size_t least)
{
    return d->size >= least && d->size <= (size_t)(d->end - d->at);
}

/* Advances a side to its next record.  False if that is no usual sample in order within the block:
 * then the key stays that of the record before.  A second `return` would make branches of the
 * choices in merge_sides(). */
static inline bool advance_side(side *d, size_t least, size_t time_at, bool swap)
{
    d->at += d->size;
    const size_t left = (size_t)(d->end - d->at);
    const uint64_t before = d->key;
    uint64_t key = 0;
    pf_frame f = {0};
    if (left >= least) {
        f = pf_frame_at(d->at, swap);
        key = pf_load_u64(d->at + time_at, swap);
    }
    __builtin_prefetch((const void *)((uintptr_t)d->at + AHEAD));
    const bool usual = left >= least && f.type == PERFILE_RECORD_SAMPLE && f.size >= least &&
                       f.size <= left && key >= before;
    d->size = f.size;
    d->key = usual ? key : before;
    return usual;
}

/* Copies the samples of two sides by key, up to `bound`; those of sides[0] first where keys are
 * equal.  The state of both is in registers, and that of the one whose turn it is is chosen and put
 * back by masks: to address it by an index costs a store and a load for each step. */
static void merge_sides(pf_sort_gathered *g, const pf_sort_strands *s, side *sides, uint64_t bound,
                        uint64_t bytes, uint64_t most)
{
    const bool swap = s->blocks->swap;
    const size_t least = PF_PERF_RECORD_HEADER + s->place.need;
    const size_t time_at = PF_PERF_RECORD_HEADER + s->place.at;
    uint8_t *to = g->to;
    size_t at = g->bytes;
    uint64_t n = g->n;
    side a = sides[0], b = sides[1];
    bool more = fits(&a, least) && fits(&b, least);
    while (more && at < bytes && n < most) {
        const uint64_t mask = 0 - (uint64_t)(b.key < a.key);
        side d = {choose_address(a.at, b.at, mask), choose_address(a.end, b.end, mask),
                  choose(a.key, b.key, mask), (size_t)choose(a.size, b.size, mask), 0};
        if (d.key >= bound)
            break;
        if (n < PERFILE_RUN_RECORDS)
            note_place(g, (uint32_t)n, s, mask ? b.strand : a.strand, d.at);
        pf_copy_small(to + at, d.at, d.size);
        at += d.size;
        n++;
        more = advance_side(&d, least, time_at, swap);
        a.at = choose_address(d.at, a.at, mask);
        b.at = choose_address(b.at, d.at, mask);
        a.key = choose(d.key, a.key, mask);
        b.key = choose(b.key, d.key, mask);
        a.size = (size_t)choose(d.size, a.size, mask);
        b.size = (size_t)choose(b.size, d.size, mask);
    }
    g->bytes = at;
    g->n = n;
    sides[0] = a;
    sides[1] = b;
}

/* Merges the first two strands up to the next record of a third one.  Returns the number of
 * samples; 0 if the second strand has something else next. */
static uint64_t gather_two(pf_sort_gathered *g, pf_sort_strands *s, uint64_t bound, uint64_t bytes,
                           uint64_t most, perfile_stream *stream)
{
    uint64_t third;
    const uint32_t second = second_of(s, &third);
    const uint64_t before = g->n;
    if (s->all[s->heap[second].strand].kind != PF_STRAND_SAMPLE)
        return 0;
    /* Where keys are equal the strand that is first in the input goes first. */
    const bool exchanged = s->heap[second].strand < s->heap[0].strand;
    side sides[2] = {side_of(s, exchanged ? second : 0), side_of(s, exchanged ? 0 : second)};
    merge_sides(g, s, sides, third < bound ? third : bound, bytes, most);
    const uint8_t *const to[2] = {sides[exchanged].at, sides[!exchanged].at};
    const uint64_t keys[2] = {sides[exchanged].key, sides[!exchanged].key};
    if (g->n > before)
        pf_sort_strands_advance_two(s, second, to, keys, stream);
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
        note_place(g, g->n, s, strand, at);
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
