/* Blocks of the mapped file, and the window that sorts them where times step back too often to
 * merge the blocks as strands.  See window.h for the idea.
 *
 * The window relies on `floor`: once a block is loaded, every record of the part that is not loaded
 * yet has a key of at least block->floor.  So entries up to the floor are final, and only the
 * others wait.  pf_sort_window_need() computes beforehand how much will wait at most, which is how
 * plan.c decides whether windows fit in memory.  Every key read in the second pass is compared with
 * the first pass: the file may have been changed in between, and a key below block->min would break
 * the order that was promised. */
#include "base/alloc.h"
#include "base/error.h"
#include "sort/sort.h"

#include <string.h>

enum {
    BLOCK_BYTES = 64 << 10, /* initial block size; doubled whenever the array is full */
    PER_RECORD = 24,        /* an entry of 16 bytes, and half an entry of scratch */
    /* Steps between releases of pages among which some records still wait. */
    RELEASE_AGAIN = 8,
    /* Bytes before the last release that are released once more: a writer that is behind has read
     * them since and brought their pages back. */
    RELEASE_TWICE = 2 << 20
};

perfile_status pf_sort_blocks_open(pf_sort_blocks *b, uint32_t most, const perfile_session *session,
                                   perfile_error *err)
{
    *b = (pf_sort_blocks){.list = pf_alloc(most, sizeof *b->list),
                          .most = most,
                          .block_bytes = BLOCK_BYTES,
                          .swap = perfile_session_swapped(session),
                          .session = session};
    return b->list ? PERFILE_OK : pf_fail_nomem(err, "sort");
}

void pf_sort_blocks_close(pf_sort_blocks *b)
{
    pf_free(b->list);
}

/* True if block `b` begins where block `a` ends. */
static bool adjacent(const pf_sort_block *a, const pf_sort_block *b)
{
    return a->part == b->part && a->start + a->bytes == b->start;
}

/* Doubles the block size and joins neighbours that are not full.  A block ends with the record that
 * fills it, so it may be a little larger than `block_bytes`; the same holds for joined blocks.
 * Blocks that are in order stay so: they are joined only if the second begins where the first ends
 * in time, too.  If more than three quarters of the array stay in use, joining again would cost
 * much and yield little: no further records are accepted. */
static void join_blocks(pf_sort_blocks *b)
{
    uint32_t n = 0;
    b->block_bytes *= 2;
    for (uint32_t i = 0; i < b->n; i++) {
        const pf_sort_block *next = &b->list[i];
        pf_sort_block *last = n ? &b->list[n - 1] : NULL;
        const bool apart = !last || !adjacent(last, next) || (!b->mixed && next->min < last->max);
        if (apart || last->bytes >= b->block_bytes) {
            b->list[n++] = *next;
            continue;
        }
        last->bytes += next->bytes;
        last->records += next->records;
        last->min = next->min < last->min ? next->min : last->min;
        last->max = next->max > last->max ? next->max : last->max;
    }
    b->full = n > b->most - b->most / 4;
    b->n = n;
}

/* Begins an empty block at `r`; NULL when no further records are accepted. */
static pf_sort_block *begin_block(pf_sort_blocks *b, const perfile_record *r,
                                  const pf_time_clock *before)
{
    if (b->n == b->most)
        join_blocks(b);
    if (b->full)
        return NULL;
    pf_sort_block *block = &b->list[b->n++];
    *block = (pf_sort_block){.start = r->header,
                             .offset = r->offset,
                             .min = UINT64_MAX,
                             .clock = *before,
                             .part = r->part};
    return block;
}

/* Adds the counts of contiguous records to the block. */
static void extend_block(pf_sort_block *block, uint64_t records, uint64_t bytes, uint64_t min,
                         uint64_t max)
{
    block->records += records;
    block->bytes += bytes;
    block->min = min < block->min ? min : block->min;
    block->max = max > block->max ? max : block->max;
}

bool pf_sort_blocks_add_chunk(pf_sort_blocks *b, const pf_sort_chunk *chunk,
                              const pf_time_clock *before)
{
    pf_sort_block *last = b->n ? &b->list[b->n - 1] : NULL;
    if (b->full || !(b->mixed || chunk->ascending))
        return false;
    const bool follows = last && last->part == chunk->first->part &&
                         last->start + last->bytes == chunk->first->header;
    if (follows && !b->mixed && chunk->min < last->max)
        return false; /* a time steps back: the caller finds the record, and begins a block there */
    if (!follows || last->bytes + chunk->bytes > b->block_bytes)
        last = begin_block(b, chunk->first, before);
    if (last)
        extend_block(last, chunk->records, chunk->bytes, chunk->min, chunk->max);
    return last != NULL;
}

bool pf_sort_blocks_add(pf_sort_blocks *b, const perfile_record *r, uint64_t key,
                        const pf_time_clock *before)
{
    if (b->full || pf_sort_blocks_extend(b, r, key))
        return !b->full;
    pf_sort_block *block = begin_block(b, r, before);
    if (block)
        extend_block(block, 1, perfile_record_size(r), key, key);
    return block != NULL;
}

void pf_sort_blocks_add_round(pf_sort_blocks *b, const perfile_record *r)
{
    pf_sort_block *last = b->n ? &b->list[b->n - 1] : NULL;
    if (last && pf_sort_walkable(r) && last->part == r->part &&
        last->start + last->bytes == r->header)
        last->bytes += perfile_record_size(r);
}

perfile_status pf_sort_fail_changed(const pf_sort_block *block, perfile_error *err)
{
    perfile_status st =
        pf_fail(err, PERFILE_E_IO, "sort", "the file was changed while it was sorted: try again");
    pf_error_at(err, block->offset);
    return st;
}

perfile_status pf_sort_blocks_recompute_keys(pf_sort_blocks *b, perfile_error *err)
{
    b->mixed = true;
    for (uint32_t i = 0; i < b->n; i++) {
        pf_sort_block *block = &b->list[i];
        pf_time_clock clock = block->clock;
        pf_sort_walk w;
        pf_sort_walk_begin(&w, b, block, block->start);
        block->min = UINT64_MAX;
        block->max = 0;
        while (pf_sort_walk_next(&w)) {
            uint64_t key = pf_time_key(&clock, &w.record);
            block->min = key < block->min ? key : block->min;
            block->max = key > block->max ? key : block->max;
        }
        if (w.at != w.end)
            return pf_sort_fail_changed(block, err);
    }
    return PERFILE_OK;
}

void pf_sort_blocks_set_floors(pf_sort_blocks *b)
{
    uint64_t floor = UINT64_MAX;
    for (uint32_t i = b->n; i-- > 0;) {
        if (i + 1 < b->n && b->list[i + 1].part != b->list[i].part)
            floor = UINT64_MAX;
        b->list[i].floor = floor;
        floor = b->list[i].min < floor ? b->list[i].min : floor;
    }
}

/* Returns the first block b >= i whose floor is not below the greatest key of block `i`: once it is
 * loaded, all entries of block `i` are final.  Floors never decrease, hence the binary search. */
static uint32_t held_until(const pf_sort_blocks *b, uint32_t i, uint32_t end)
{
    uint32_t low = i;
    while (low < end) {
        uint32_t middle = low + (end - low) / 2;
        if (b->list[middle].floor < b->list[i].max)
            low = middle + 1;
        else
            end = middle;
    }
    return low;
}

/* Simulates the window: block by block what is held, without what became final before.  The sum
 * over blocks is exact but for partly final blocks, which count in full. */
perfile_status pf_sort_window_need(const pf_sort_blocks *b, uint32_t first, uint32_t end,
                                   uint64_t step, pf_sort_need *need, perfile_error *err)
{
    typedef struct held {
        uint64_t records, bytes;
    } held;
    held now = {0}, most = {0};
    /* By block: what is final, and no longer held, once the block is loaded. */
    held *over = pf_alloc(end - first + (size_t)1, sizeof *over);
    if (!over)
        return pf_fail_nomem(err, "sort");
    for (uint32_t i = first; i < end; i++) {
        const pf_sort_block *block = &b->list[i];
        now.records += block->records;
        now.bytes += block->bytes;
        most.records = now.records > most.records ? now.records : most.records;
        most.bytes = now.bytes > most.bytes ? now.bytes : most.bytes;
        /* The entries of this block are final once block `until` is loaded. */
        held *until = &over[held_until(b, i, end) - first];
        until->records += block->records;
        until->bytes += block->bytes;
        now.records -= over[i - first].records;
        now.bytes -= over[i - first].bytes;
    }
    pf_free(over);
    /* make_room() lets the array of entries grow by a quarter of what is in it. */
    const uint64_t entries = most.records * PER_RECORD;
    need->memory += entries + entries / 4 + step + step / 2;
    need->mapped += most.bytes;
    return PERFILE_OK;
}

/* Makes room for `more` entries and for the scratch to sort them. */
static perfile_status make_room(pf_sort_window *w, uint64_t more, perfile_error *err)
{
    if (more > SIZE_MAX / sizeof *w->e - w->n)
        return pf_fail_nomem(err, "sort");
    size_t n = w->n + (size_t)more;
    if (n > w->cap) {
        size_t cap = n + n / 4;
        void *p = pf_realloc(w->e, cap, sizeof *w->e);
        if (!p)
            return pf_fail_nomem(err, "sort");
        w->e = p;
        w->cap = cap;
    }
    /* Merging copies the shorter half: half of the entries at most. */
    if (w->cap / 2 > w->scratch_cap) {
        void *p = pf_realloc(w->scratch, w->cap / 2, sizeof *w->e);
        if (!p)
            return pf_fail_nomem(err, "sort");
        w->scratch = p;
        w->scratch_cap = w->cap / 2;
    }
    return PERFILE_OK;
}

/* Returns the least file offset among the waiting entries, or `end` if all are behind it. */
static uint64_t oldest_offset(const pf_sort_window *w, uint64_t end)
{
    const pf_sort_block *any = &w->blocks->list[w->next ? w->next - 1 : 0];
    uint64_t shift = (uintptr_t)any->start - any->offset;
    for (size_t i = w->at; i < w->n; i++)
        end = w->e[i].at - shift < end ? w->e[i].at - shift : end;
    return end;
}

/* Appends an entry for each record of the block, unsorted.  Fails if the records are not those of
 * the first pass: their number, their sizes, or a key below the least one. */
static perfile_status append_entries(pf_sort_window *w, const pf_sort_block *block,
                                     perfile_error *err)
{
    pf_time_clock clock = block->clock;
    pf_sort_walk walk;
    perfile_status st = make_room(w, block->records, err);
    if (st != PERFILE_OK)
        return st;
    pf_sort_walk_begin(&walk, w->blocks, block, block->start);
    pf_sort_entry *e = w->e + w->n, *end = e + block->records;
    const pf_time_place place = pf_time_place_of(w->blocks->session);
    while (e < end) {
        const uint8_t *at = walk.at;
        uint64_t key;
        if (pf_sort_walk_sample(&walk, &place, &key)) {
            clock.last_time = key;
            clock.max_time = key > clock.max_time ? key : clock.max_time;
        } else if (pf_sort_walk_next(&walk)) {
            at = walk.record.header;
            key = pf_time_key(&clock, &walk.record);
        } else {
            break;
        }
        if (key < block->min)
            return pf_sort_fail_changed(block, err);
        *e++ = (pf_sort_entry){key, (uintptr_t)at};
    }
    if (e < end || (walk.at != walk.end && pf_sort_walk_next(&walk)) || walk.at != walk.end)
        return pf_sort_fail_changed(block, err);
    w->n += (size_t)block->records; /* whose entries are in memory */
    return PERFILE_OK;
}

/* Releases the pages of the part up to offset `end`. */
static void release_until(const pf_sort_window *w, perfile_stream *stream, uint32_t part,
                          uint64_t end)
{
    /* The last 2 MiB once more: a reader that was behind has brought their pages back. */
    uint64_t from = w->released > RELEASE_TWICE ? w->released - RELEASE_TWICE : 0;
    pf_stream_release(stream, part, from, end - from);
}

/* Releases the pages of records that were yielded.  Where a few old records wait long and nothing
 * before them could be released, now and then everything that was walked is released: the pages of
 * the waiting records are read again when their time comes. */
static void release_passed(pf_sort_window *w, perfile_stream *stream)
{
    const pf_sort_block *last = &w->blocks->list[w->next - 1];
    uint64_t end = last->offset + last->bytes, wanted = oldest_offset(w, end);
    end = end < w->lag ? 0 : pf_sort_round_to_pages(end - w->lag);
    wanted = wanted < w->lag ? 0 : pf_sort_round_to_pages(wanted - w->lag);
    if (wanted >= w->released + w->step) {
        release_until(w, stream, last->part, wanted);
        w->released = wanted;
    } else if (end >= w->released_early + RELEASE_AGAIN * w->step) {
        release_until(w, stream, last->part, end);
        w->released_early = end;
    }
}

perfile_status pf_sort_window_fill(pf_sort_window *w, perfile_stream *stream, perfile_error *err)
{
    while (w->at == w->ready && w->next < w->end) {
        w->n -= w->at;
        if (w->n && w->at)
            memmove(w->e, w->e + w->at, w->n * sizeof *w->e);
        w->at = w->ready = 0;
        size_t held = w->n;
        uint64_t bytes = 0, floor = 0;
        if (w->next && w->blocks->list[w->next - 1].part == w->blocks->list[w->next].part)
            release_passed(w, stream);
        /* Load at least a quarter of the number that waits already, so that merging the new entries
         * with the old ones stays linear on average. */
        while (w->next < w->end && (bytes < w->step || w->n - held < held / 4)) {
            const pf_sort_block *block = &w->blocks->list[w->next++];
            perfile_status st = append_entries(w, block, err);
            if (st != PERFILE_OK)
                return st;
            bytes += block->bytes;
            floor = block->floor;
        }
        pf_sort_entries_sort(w->e + held, w->n - held, w->scratch);
        pf_sort_entries_merge(w->e, held, w->n, w->scratch);
        w->ready = w->n;
        if (w->next < w->end) { /* `ready`: behind the last entry up to the floor */
            size_t low = 0;
            for (size_t high = w->n; low < high;) {
                size_t middle = low + (high - low) / 2;
                if (w->e[middle].key <= floor)
                    low = middle + 1;
                else
                    high = middle;
            }
            w->ready = low;
        }
    }
    return PERFILE_OK;
}

void pf_sort_window_close(pf_sort_window *w)
{
    pf_free(w->e);
    pf_free(w->scratch);
}

/* Merging of strands in place: a binary heap of their next records.  See strands.h.
 *
 * Bytes of the mapping may change at any time, when another program writes to the file.  So sizes
 * and times are checked again whenever they are read: nothing is read beyond the block, and a time
 * that steps back within a strand makes it PF_STRAND_CHANGED, with which merge.c ends the sort. */

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
