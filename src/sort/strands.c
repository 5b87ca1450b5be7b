/* Merging of strands in place: a binary heap of their next records.  See strands.h.
 *
 * Bytes of the mapping may change at any time, when another program writes to the file.  So sizes
 * and times are checked again whenever they are read: nothing is read beyond the block, and a time
 * that steps back within a strand makes it PF_STRAND_CHANGED, with which merge.c ends the sort. */
#include "sort/strands.h"

#include "base/alloc.h"
#include "base/error.h"

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

/* Moves the strand to the first record of its next block. */
static void enter_block(const pf_sort_strands *s, pf_sort_strand *one)
{
    const pf_sort_block *b = &s->blocks->list[one->next_block++];
    one->at = one->start = b->start;
    one->end = b->start + b->bytes;
    one->offset = b->offset;
    one->clock = b->clock;
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
        if (one->at == one->end) {
            if (one->next_block == one->end_block)
                return false;
            enter_block(s, one);
        }
        const size_t left = (size_t)(one->end - one->at);
        const pf_frame f =
            left < PF_PERF_RECORD_HEADER ? (pf_frame){0} : pf_frame_at(one->at, swap);
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

perfile_status pf_sort_strands_open(pf_sort_strands *s, const pf_sort_blocks *b, uint64_t step,
                                    perfile_error *err)
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
