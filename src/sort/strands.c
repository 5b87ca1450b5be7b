/* Merging of strands in place: a binary heap of their next records.  See strands.h.
 *
 * Bytes of the mapping may change at any time, when another program writes to the file.  So sizes
 * and times are checked again whenever they are read: nothing is read beyond the block, and a time
 * that steps back within a strand makes it PF_STRAND_CHANGED, with which merge.c ends the sort. */
#include "sort/strands.h"

#include "base/alloc.h"
#include "base/error.h"

/* Bytes to prefetch ahead in a strand: adjacent pages of a file need not be adjacent in memory, so
 * the hardware does not prefetch beyond the end of a page. */
enum { AHEAD = 1024 };

/* Sizes of the buffers of a strand: any record fits into one, and those of few strands together
 * into the cache (TOGETHER); longer reads cost less.  The gap keeps the bytes of one buffer from
 * being adjacent to those of the other. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { LEAST_ROOM = 64 << 10, MOST_ROOM = 64 << 10, TOGETHER = 0, GAP = 64 };
#else
enum { LEAST_ROOM = 64 << 10, MOST_ROOM = 256 << 10, TOGETHER = 512 << 10, GAP = 64 };
#endif

/* The order of the heap; no two heads are equal, because strand numbers differ. */
static inline bool before(const pf_sort_head *a, const pf_sort_head *b)
{
    return a->key != b->key ? a->key < b->key : a->strand < b->strand;
}

/* Puts `one` at heap[at] or below, whichever keeps the heap property; what was at `at` is
 * replaced. */
static inline void sift(pf_sort_strands *s, uint32_t at, const pf_sort_head one)
{
    pf_sort_head *heap = s->heap;
    for (uint32_t child; (child = 2 * at + 1) < s->n_heap; at = child) {
        if (child + 1 < s->n_heap && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &one))
            break;
        heap[at] = heap[child];
    }
    heap[at] = one;
}

/* Moves the strand to the first record of its next block.  What is read into buffers is read across
 * adjacent blocks: the clock at the first of them is enough. */
static void enter_block(const pf_sort_strands *s, pf_sort_strand *one)
{
    const pf_sort_block *b = &s->blocks->list[one->next_block++];
    one->at = one->start = one->end = b->start;
    one->offset = b->offset;
    one->block_end = b->offset + b->bytes;
    one->clock = b->clock;
    if (!s->source) {
        one->end = b->start + b->bytes;
        return;
    }
    for (; one->next_block < one->end_block; one->next_block++) {
        const pf_sort_block *next = &s->blocks->list[one->next_block];
        if (next->offset != one->block_end)
            break;
        one->block_end += next->bytes;
    }
}

/* True if bytes of the block follow behind those in the buffer. */
static inline bool is_cut(const pf_sort_strands *s, const pf_sort_strand *one)
{
    return s->source && pf_sort_strand_offset(one, one->end) < one->block_end;
}

/* Reads the bytes from the next record on into the other buffer; into the same one if nothing of it
 * was yielded.  False: s->failed says why. */
static __attribute__((noinline)) bool refill(pf_sort_strands *s, pf_sort_strand *one)
{
    const uint64_t from = pf_sort_strand_offset(one, one->at), left = one->block_end - from;
    const size_t n = left < s->room ? (size_t)left : s->room;
    one->second ^= !one->fresh;
    one->fresh = true;
    uint8_t *to = s->buffers + (2 * (size_t)(one - s->all) + one->second) * (s->room + GAP);
    s->refilled = true;
    if (pf_source_read(s->source, from, to, n, &s->failed) != PERFILE_OK)
        return false;
    one->at = one->start = to;
    one->end = to + n;
    one->offset = from;
    return true;
}

/* Returns the key of the next record, which is no usual sample; advances the clock of the
 * strand. */
static uint64_t other_key(const pf_sort_strands *s, pf_sort_strand *one)
{
    pf_sort_walk walk;
    pf_sort_walk_begin(&walk, s->blocks, pf_sort_strand_block(s, one), one->at);
    pf_sort_frame(&walk.record, one->at, s->blocks->swap);
    one->kind = PF_STRAND_OTHER;
    return pf_time_key(&one->clock, &walk.record);
}

/* Marks the strand as changed since the first pass.  The key 0 brings it to the top of the heap,
 * where the error is reported.  Always true. */
static bool mark_changed(pf_sort_strand *one, uint64_t *key)
{
    one->kind = PF_STRAND_CHANGED;
    *key = 0;
    return true;
}

/* Reads the record at one->at, or the first one of the next block: sets kind and clock of the
 * strand.  *key is the key of the record before, and becomes that of this one.  FINISHED_ROUNDs are
 * skipped.  False: the strand has ended. */
static inline bool read_head(pf_sort_strands *s, pf_sort_strand *one, uint64_t *key)
{
    const bool swap = s->blocks->swap;
    for (;;) {
        if (one->at == one->end && !is_cut(s, one)) {
            if (one->next_block == one->end_block)
                return false;
            enter_block(s, one);
        }
        const size_t left = (size_t)(one->end - one->at);
        const pf_frame f =
            left < PF_PERF_RECORD_HEADER ? (pf_frame){0} : pf_frame_at(one->at, swap);
        if ((left < PF_PERF_RECORD_HEADER || f.size > left) && is_cut(s, one)) {
            if (!refill(s, one))
                return mark_changed(one, key);
            continue;
        }
        if (f.size < PF_PERF_RECORD_HEADER || f.size > left)
            return mark_changed(one, key);
        if (f.type == PERFILE_RECORD_FINISHED_ROUND) {
            one->at += f.size;
            continue;
        }
        uint64_t time = 0;
        if (f.type == PERFILE_RECORD_SAMPLE && f.size - PF_PERF_RECORD_HEADER >= s->place.need)
            time = pf_load_u64(one->at + PF_PERF_RECORD_HEADER + s->place.at, swap);
        if (time != 0 && time != PERFILE_NO_TIME) {
            one->kind = PF_STRAND_SAMPLE;
            one->clock.last_time = time;
            one->clock.max_time = time > one->clock.max_time ? time : one->clock.max_time;
        } else {
            time = other_key(s, one);
        }
        if (time < *key)
            return mark_changed(one, key);
        one->fresh = false;
        *key = time;
        return true;
    }
}

/* True if block `b` continues the strand of block `a`, which is the one before it in the list.
 * There may be a gap of bytes between them, but no step back in time. */
static bool continues(const pf_sort_block *a, const pf_sort_block *b)
{
    return a->part == b->part && a->max <= b->min;
}

/* Gives each strand its buffers, if the file is read through a window and there is memory for them.
 * False: out of memory. */
static bool choose_buffers(pf_sort_strands *s, uint64_t memory)
{
    if (!s->blocks->windowed || s->n == 0 || memory / 2 / s->n < LEAST_ROOM + GAP)
        return true;
    s->room = TOGETHER / s->n < MOST_ROOM ? TOGETHER / s->n : MOST_ROOM;
    s->room = s->room > LEAST_ROOM ? s->room : LEAST_ROOM;
    s->room = s->room < memory / 2 / s->n - GAP ? s->room : (size_t)(memory / 2 / s->n) - GAP;
    s->buffers = pf_realloc(NULL, 2 * (size_t)s->n, s->room + GAP);
    s->source = s->blocks->windowed;
    s->step = 0; /* the mapping has no pages to release */
    return s->buffers != NULL;
}

perfile_status pf_sort_strands_open(pf_sort_strands *s, const pf_sort_blocks *b, uint64_t step,
                                    uint64_t memory, perfile_error *err)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->n; i++)
        n += i == 0 || !continues(&b->list[i - 1], &b->list[i]);
    *s = (pf_sort_strands){.blocks = b,
                           .place = pf_time_place_of(b->session),
                           .all = pf_alloc(n, sizeof *s->all),
                           .heap = pf_alloc(n, sizeof *s->heap),
                           .step = step};
    if (!s->all || !s->heap)
        return pf_fail_nomem(err, "sort");
    for (uint32_t i = 0; i < b->n; i++) {
        if (i == 0 || !continues(&b->list[i - 1], &b->list[i]))
            s->all[s->n++] = (pf_sort_strand){.next_block = i, .released = b->list[i].offset};
        s->all[s->n - 1].end_block = i + 1;
    }
    if (!choose_buffers(s, memory))
        return pf_fail_nomem(err, "sort");
    for (uint32_t i = 0; i < s->n; i++) {
        pf_sort_head one = {0, i};
        if (!read_head(s, &s->all[i], &one.key))
            continue;
        uint32_t at = s->n_heap++;
        for (; at && before(&one, &s->heap[(at - 1) / 2]); at = (at - 1) / 2)
            s->heap[at] = s->heap[(at - 1) / 2];
        s->heap[at] = one;
    }
    return PERFILE_OK;
}

void pf_sort_strands_close(pf_sort_strands *s)
{
    pf_free(s->all);
    pf_free(s->heap);
    pf_free(s->buffers);
}

uint64_t pf_sort_strands_bound(const pf_sort_strands *s)
{
    const pf_sort_head none = {UINT64_MAX, UINT32_MAX};
    const pf_sort_head *least = &none;
    for (uint32_t i = 1; i < 3 && i < s->n_heap; i++)
        least = before(&s->heap[i], least) ? &s->heap[i] : least;
    /* Where keys are equal the strand that is first in the input goes first: if the top strand is
     * that, the equal key of the other one is not below the bound of the top, but included. */
    return least->key + (least->key != UINT64_MAX && s->heap[0].strand < least->strand);
}

/* Releases the pages of records that were passed: every `step` bytes, and when the strand has ended
 * (`over`). */
static void release(const pf_sort_strands *s, pf_sort_strand *one, bool over,
                    perfile_stream *stream)
{
    const uint64_t here = pf_sort_round_to_pages(pf_sort_strand_offset(one, one->at));
    if (here < one->released + (over ? 1 : s->step))
        return;
    pf_stream_release(stream, pf_sort_strand_block(s, one)->part, one->released,
                      here - one->released);
    one->released = here;
}

/* Advances the strand at heap[place] to `at`; `last` is the key of the last record that was
 * passed.  Heap entries above `place` must stay less than the new head, or be advanced next
 * themselves. */
static inline void advance(pf_sort_strands *s, uint32_t place, const uint8_t *at, uint64_t last,
                           perfile_stream *stream)
{
    pf_sort_head head = {last, s->heap[place].strand};
    pf_sort_strand *one = &s->all[head.strand];
    one->at = at;
    const bool more = read_head(s, one, &head.key);
    if (s->step)
        release(s, one, !more, stream);
    if (more)
        sift(s, place, head);
    else if (--s->n_heap > place)
        sift(s, place, s->heap[s->n_heap]);
}

void pf_sort_strands_advance(pf_sort_strands *s, const uint8_t *at, perfile_stream *stream)
{
    advance(s, 0, at, s->heap[0].key, stream);
}

void pf_sort_strands_advance_two(pf_sort_strands *s, uint32_t second, const uint8_t *const at[2],
                                 const uint64_t last[2], perfile_stream *stream)
{
    /* The second strand first: whatever takes its place in the heap is compared with the top strand
     * when that one advances. */
    advance(s, second, at[1], last[1], stream);
    advance(s, 0, at[0], last[0], stream);
}

pf_sort_range pf_sort_strands_range(const pf_sort_strands *s, uint64_t bound, uint64_t bytes,
                                    uint64_t most)
{
    const pf_sort_strand *one = pf_sort_strands_top(s);
    const bool swap = s->blocks->swap;
    const size_t least = PF_PERF_RECORD_HEADER + s->place.need;
    const size_t time_at = PF_PERF_RECORD_HEADER + s->place.at;
    const uint8_t *at = one->at, *end = one->end;
    pf_sort_range all = {.last = s->heap[0].key};
    size_t size = pf_frame_at(at, swap).size;
    all.end = at;
    if (size < least || size > (size_t)(end - at)) /* the file was changed since read_head() */
        return all;
    for (;;) {
        __builtin_prefetch((const void *)((uintptr_t)at + AHEAD));
        at += size;
        all.n++;
        const size_t left = (size_t)(end - at);
        if ((uint64_t)(at - one->at) >= bytes || all.n == most || left < least)
            break;
        const pf_frame f = pf_frame_at(at, swap);
        size = f.size;
        if (f.type != PERFILE_RECORD_SAMPLE || size < least || size > left)
            break;
        const uint64_t time = pf_load_u64(at + time_at, swap);
        if (time < all.last || time >= bound)
            break;
        all.last = time;
    }
    all.end = at;
    return all;
}
