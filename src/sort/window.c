#include "sort/window.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum {
    BLOCK_BYTES = 64 << 10, /* of a small capture; doubled when there are too many */
    PER_RECORD = 24,        /* an entry and its share of scratch */
    RELEASE_AGAIN = 8,
    LATE = 2 << 20
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

static bool adjacent(const pf_sort_block *a, const pf_sort_block *b)
{
    return a->part == b->part && a->start + a->bytes == b->start;
}

/* Makes fewer and larger blocks.  A block ends behind the record that fills it, and is a little
 * larger than `block_bytes`: those that are not full join, as records do. */
static void join(pf_sort_blocks *b)
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

/* Makes a new block; NULL when there is no place for it. */
static pf_sort_block *begin_block(pf_sort_blocks *b, const perfile_record *r,
                                  const pf_time_clock *before)
{
    if (b->n == b->most)
        join(b);
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

static void put(pf_sort_block *block, uint64_t records, uint64_t bytes, uint64_t min, uint64_t max)
{
    block->records += records;
    block->bytes += bytes;
    block->min = min < block->min ? min : block->min;
    block->max = max > block->max ? max : block->max;
}

bool pf_sort_blocks_add_piece(pf_sort_blocks *b, const pf_sort_piece *piece,
                              const pf_time_clock *before)
{
    pf_sort_block *last = b->n ? &b->list[b->n - 1] : NULL;
    if (b->full || !(b->mixed || piece->ascending))
        return false;
    const bool adjacent = last && last->part == piece->first->part &&
                          last->start + last->bytes == piece->first->header;
    if (adjacent && !b->mixed && piece->min < last->max)
        return false; /* one of them steps back */
    if (!adjacent || last->bytes + piece->bytes > b->block_bytes)
        last = begin_block(b, piece->first, before);
    if (last)
        put(last, piece->records, piece->bytes, piece->min, piece->max);
    return last != NULL;
}

bool pf_sort_blocks_add(pf_sort_blocks *b, const perfile_record *r, uint64_t key,
                        const pf_time_clock *before)
{
    if (b->full || pf_sort_blocks_extend(b, r, key))
        return !b->full;
    pf_sort_block *block = begin_block(b, r, before);
    if (block)
        put(block, 1, perfile_record_size(r), key, key);
    return block != NULL;
}

void pf_sort_blocks_round(pf_sort_blocks *b, const perfile_record *r)
{
    pf_sort_block *last = b->n ? &b->list[b->n - 1] : NULL;
    if (last && pf_sort_walkable(r) && last->part == r->part &&
        last->start + last->bytes == r->header)
        last->bytes += perfile_record_size(r);
}

perfile_status pf_sort_changed(const pf_sort_block *block, perfile_error *err)
{
    perfile_status st =
        pf_fail(err, PERFILE_E_IO, "sort", "the file was changed while it was read: try again");
    pf_error_at(err, block->offset);
    return st;
}

perfile_status pf_sort_blocks_again(pf_sort_blocks *b, perfile_error *err)
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
            return pf_sort_changed(block, err);
    }
    return PERFILE_OK;
}

void pf_sort_blocks_settle(pf_sort_blocks *b)
{
    uint64_t floor = UINT64_MAX;
    for (uint32_t i = b->n; i-- > 0;) {
        if (i + 1 < b->n && b->list[i + 1].part != b->list[i].part)
            floor = UINT64_MAX;
        b->list[i].floor = floor;
        floor = b->list[i].min < floor ? b->list[i].min : floor;
    }
}

/* The block behind which all is later than block `i`. */
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

perfile_status pf_sort_window_need(const pf_sort_blocks *b, uint32_t first, uint32_t end,
                                   uint64_t step, pf_sort_need *need, perfile_error *err)
{
    typedef struct held {
        uint64_t records, bytes;
    } held;
    held now = {0}, most = {0};
    held *over = pf_alloc(end - first + (size_t)1, sizeof *over); /* what has gone out there */
    if (!over)
        return pf_fail_nomem(err, "sort");
    for (uint32_t i = first; i < end; i++) {
        const pf_sort_block *block = &b->list[i];
        now.records += block->records;
        now.bytes += block->bytes;
        most.records = now.records > most.records ? now.records : most.records;
        most.bytes = now.bytes > most.bytes ? now.bytes : most.bytes;
        held *until = &over[held_until(b, i, end) - first];
        until->records += block->records;
        until->bytes += block->bytes;
        now.records -= over[i - first].records;
        now.bytes -= over[i - first].bytes;
    }
    pf_free(over);
    /* The array of entries grows by a quarter of what is in it. */
    const uint64_t entries = most.records * PER_RECORD;
    need->memory += entries + entries / 4 + step + step / 2;
    need->mapped += most.bytes;
    return PERFILE_OK;
}

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
    if (w->cap / 2 > w->scratch_cap) {
        void *p = pf_realloc(w->scratch, w->cap / 2, sizeof *w->e);
        if (!p)
            return pf_fail_nomem(err, "sort");
        w->scratch = p;
        w->scratch_cap = w->cap / 2;
    }
    return PERFILE_OK;
}

/* Of the entries that wait and of the blocks that come, the first byte of the file. */
static uint64_t oldest(const pf_sort_window *w, uint64_t end)
{
    const pf_sort_block *any = &w->blocks->list[w->next ? w->next - 1 : 0];
    uint64_t shift = (uintptr_t)any->start - any->offset;
    for (size_t i = w->at; i < w->n; i++)
        end = w->e[i].at - shift < end ? w->e[i].at - shift : end;
    return end;
}

/* Reads on, to the end of the block. */
static perfile_status bring(pf_sort_window *w, const pf_sort_block *block, uint64_t from,
                            perfile_error *err)
{
    const pf_sort_blocks *b = w->blocks;
    uint64_t need = block->offset + block->bytes - from;
    perfile_bytes run;
    if (!b->beside)
        return PERFILE_OK;
    perfile_status st = pf_source_run(b->beside, from, (size_t)need, &run, err);
    if (st == PERFILE_OK && run.len < need)
        st = pf_sort_changed(block, err);
    if (st == PERFILE_OK)
        w->shift = (uintptr_t)run.ptr - (uintptr_t)(b->mapped + from);
    return st;
}

/* Takes in a block: its records behind the others. */
static perfile_status take(pf_sort_window *w, const pf_sort_block *block, perfile_error *err)
{
    pf_time_clock clock = block->clock;
    pf_sort_walk walk;
    perfile_status st = make_room(w, block->records, err);
    if (st != PERFILE_OK)
        return st;
    pf_sort_walk_begin(&walk, w->blocks, block,
                       (const uint8_t *)((uintptr_t)block->start + w->shift));
    pf_sort_entry *e = w->e + w->n, *end = e + block->records;
    const pf_time_place place = pf_time_place_of(w->blocks->session);
    while (e < end) {
        const uint8_t *at = walk.at;
        uint64_t key;
        if (pf_sort_walk_sample(&walk, &place, &key)) {
            clock.near = key;
            clock.top = key > clock.top ? key : clock.top;
        } else if (pf_sort_walk_next(&walk)) {
            at = walk.record.header;
            key = pf_time_key(&clock, &walk.record);
        } else {
            break;
        }
        if (key < block->min)
            return pf_sort_changed(block, err);
        *e++ = (pf_sort_entry){key, (uintptr_t)at - w->shift};
    }
    if (e < end || (walk.at != walk.end && pf_sort_walk_next(&walk)) || walk.at != walk.end)
        return pf_sort_changed(block, err);
    w->n += block->records;
    return PERFILE_OK;
}

static void give_back(const pf_sort_window *w, perfile_stream *stream, uint32_t part, uint64_t end)
{
    /* Once more what was given back last: who looked late has brought it back. */
    uint64_t from = w->released > LATE ? w->released - LATE : 0;
    pf_stream_release(stream, part, from, end - from);
}

/* The pages of what went out leave memory.  When a few old records hold them, all do: those that
 * are wanted again come back. */
static void release(pf_sort_window *w, perfile_stream *stream)
{
    const pf_sort_block *last = &w->blocks->list[w->next - 1];
    uint64_t end = last->offset + last->bytes, wanted = oldest(w, end);
    end = end < w->lag ? 0 : pf_sort_pages(end - w->lag);
    wanted = wanted < w->lag ? 0 : pf_sort_pages(wanted - w->lag);
    if (wanted >= w->released + w->step) {
        give_back(w, stream, last->part, wanted);
        w->released = wanted;
    } else if (end >= w->again + RELEASE_AGAIN * w->step) {
        give_back(w, stream, last->part, end);
        w->again = end;
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
        uint64_t from = 0;
        if (w->blocks->beside)
            from = oldest(w, w->blocks->list[w->next].offset);
        if (w->next && w->shift == 0 &&
            w->blocks->list[w->next - 1].part == w->blocks->list[w->next].part)
            release(w, stream);
        /* More of what is long, so that merging with what waits is worth it. */
        while (w->next < w->end && (bytes < w->step || w->n - held < held / 4)) {
            const pf_sort_block *block = &w->blocks->list[w->next++];
            perfile_status st = bring(w, block, from, err);
            if (st == PERFILE_OK)
                st = take(w, block, err);
            if (st != PERFILE_OK)
                return st;
            bytes += block->bytes;
            floor = block->floor;
        }
        pf_sort_entries(w->e + held, w->n - held, w->scratch);
        pf_sort_entries_merge(w->e, held, w->n, w->scratch);
        w->ready = w->n;
        if (w->next < w->end) {
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
