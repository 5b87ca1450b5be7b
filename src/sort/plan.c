/* Between the passes: decides where records wait, and makes the sources that merge.c merges.
 *
 *  1. If the session has learned events or ids since the first key was computed, keys may be
 *     wrong: all of them are computed again.
 *  2. If times step back in few places, blocks become strands: nothing waits, nothing is copied.
 *  3. Otherwise there is a window for each part, if their entries fit in max_memory and the records
 *     that wait fit in max_mapped.
 *  4. If not, the records of all blocks are copied to the store `moved`, which spills to temporary
 *     files.
 *
 * The store `loose` is read by readers in any case. */
#include "base/alloc.h"
#include "base/error.h"
#include "sort/sort.h"
#include "schema/frame.h"

enum {
    LEAST_STEP = 64 << 10 /* bytes that a window loads at once, or a strand releases, at least */
};

/* Returns the key of a stored record as the session knows it now: its time, if it came before the
 * attr that says where that is.  Fragments and records without a time keep their key. */
static uint64_t key_by_session(const pf_sort *x, const pf_sort_item *item)
{
    perfile_record r = {.session = x->base.session, .envelope = PERFILE_NO_SEQUENCE};
    bool swap = item->flags & PERFILE_REC_SWAPPED;
    pf_sort_item_record(item, &r);
    const pf_frame f = pf_frame_of(r.family, r.header, swap);
    r.type = f.type;
    r.misc = f.misc;
    uint64_t time = pf_is_fragment(&r) ? PERFILE_NO_TIME : pf_record_order(&r);
    return time == PERFILE_NO_TIME ? item->key : time;
}

/* Replaces the store `loose` by one with keys as the session knows them now.  The payload file is
 * taken over, because items point into it. */
static perfile_status recompute_store_keys(pf_sort *x, perfile_error *err)
{
    pf_sort_store updated = {0};
    size_t n;
    perfile_status st = pf_sort_store_finish(&x->loose, &n, err);
    pf_sort_reader *readers = st == PERFILE_OK ? pf_alloc(n, sizeof *readers) : NULL;
    if (st == PERFILE_OK && !readers)
        st = pf_fail_nomem(err, "sort");
    if (st != PERFILE_OK)
        return st;
    pf_sort_store_open(&updated, x->loose.budget, x->loose.temporary);
    pf_sort_store_read(&x->loose, readers, n);
    for (size_t i = 0; st == PERFILE_OK && i < n; i++) {
        pf_sort_reader *r = &readers[i];
        st = pf_sort_reader_fill(r, (size_t)x->step, err);
        while (st == PERFILE_OK && r->item) {
            st = pf_sort_store_add_item(&updated, r->item, key_by_session(x, r->item), err);
            pf_sort_reader_next(r);
            if (st == PERFILE_OK)
                st = pf_sort_reader_fill(r, (size_t)x->step, err);
        }
    }
    for (size_t i = 0; i < n; i++)
        pf_sort_reader_close(&readers[i]);
    pf_free(readers);
    updated.payloads = x->loose.payloads;
    updated.payloads_end = x->loose.payloads_end;
    updated.written += x->loose.written;
    x->loose.payloads = -1;
    pf_sort_store_close(&x->loose);
    x->loose = updated;
    return st;
}

/* Returns the index behind the last block of the part that block `first` is of. */
static uint32_t end_of_part(const pf_sort_blocks *b, uint32_t first)
{
    uint32_t end = first;
    while (end < b->n && b->list[end].part == b->list[first].part)
        end++;
    return end;
}

/* Returns how many bytes a window loads at once: x->step is shared among the windows, one for each
 * part. */
static uint64_t step_of_window(const pf_sort *x)
{
    uint64_t n = 0;
    for (uint32_t first = 0; first < x->blocks.n; first = end_of_part(&x->blocks, first))
        n++;
    return n && x->step / n > LEAST_STEP ? x->step / n : LEAST_STEP;
}

/* Adds up what the windows of all parts need. */
static perfile_status windows_need(const pf_sort *x, pf_sort_need *need, perfile_error *err)
{
    const uint64_t step = step_of_window(x);
    *need = (pf_sort_need){0};
    for (uint32_t first = 0, end; first < x->blocks.n; first = end) {
        end = end_of_part(&x->blocks, first);
        perfile_status st = pf_sort_window_need(&x->blocks, first, end, step, need, err);
        if (st != PERFILE_OK)
            return st;
    }
    return PERFILE_OK;
}

/* True if records can stay in the file while they wait.  Entries count as memory, together with
 * what the store `loose` uses of its budget.  The bytes of waiting records are page cache, but no
 * more than max_mapped of it: more might not stay in memory, and would be read from disk again and
 * again. */
static bool fits_in_place(const pf_sort *x, const pf_sort_need *need)
{
    const uint64_t loose =
        pf_sort_store_spilled(&x->loose) ? x->loose.budget : pf_sort_store_memory(&x->loose);
    return need->memory <= x->loose.budget + x->moved.budget - loose &&
           need->mapped <= x->options.max_mapped;
}

/* Copies the records of all blocks to the store `moved`, as if they were not mapped, and removes
 * the blocks.  Passed pages are released on the way. */
static perfile_status move_blocks(pf_sort *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    uint64_t released = 0;
    for (uint32_t i = 0; i < x->blocks.n; i++) {
        const pf_sort_block *b = &x->blocks.list[i];
        pf_time_clock clock = b->clock;
        pf_sort_walk w;
        pf_sort_walk_begin(&w, &x->blocks, b, b->start);
        if (i && b->part != b[-1].part)
            released = 0;
        while (st == PERFILE_OK && pf_sort_walk_next(&w)) {
            w.record.offset = b->offset + (uint64_t)(w.record.header - b->start);
            st = pf_sort_store_add(&x->moved, pf_time_key(&clock, &w.record), &w.record, true, err);
        }
        if (st == PERFILE_OK && w.at != w.end)
            st = pf_sort_fail_changed(b, err);
        if (st != PERFILE_OK)
            return st;
        if (b->offset + b->bytes > released + x->step) {
            uint64_t behind = pf_sort_round_to_pages(b->offset + b->bytes);
            pf_stream_release(x->base.below, b->part, released, behind - released);
            released = behind;
        }
    }
    x->blocks.n = 0;
    return st;
}

/* Makes a window for each part. */
static perfile_status open_windows(pf_sort *x, perfile_error *err)
{
    const uint64_t step = step_of_window(x);
    uint32_t n = 0;
    for (uint32_t first = 0; first < x->blocks.n; first = end_of_part(&x->blocks, first))
        n++;
    x->windows = pf_alloc(n, sizeof *x->windows);
    if (!x->windows)
        return pf_fail_nomem(err, "sort");
    for (uint32_t first = 0, end; first < x->blocks.n; first = end) {
        end = end_of_part(&x->blocks, first);
        x->windows[x->n_windows++] = (pf_sort_window){
            .blocks = &x->blocks, .next = first, .end = end, .step = step, .lag = step / 2};
    }
    return PERFILE_OK;
}

/* Makes the readers of both stores; those of runs share the budget. */
static perfile_status open_readers(pf_sort *x, perfile_error *err)
{
    size_t n_loose, n_moved;
    perfile_status st = pf_sort_store_finish(&x->loose, &n_loose, err);
    if (st == PERFILE_OK)
        st = pf_sort_store_finish(&x->moved, &n_moved, err);
    if (st != PERFILE_OK)
        return st;
    x->readers = pf_alloc(n_loose + n_moved, sizeof *x->readers);
    if (!x->readers)
        return pf_fail_nomem(err, "sort");
    pf_sort_store_read(&x->loose, x->readers, n_loose);
    pf_sort_store_read(&x->moved, x->readers + n_loose, n_moved);
    x->n_readers = (uint32_t)(n_loose + n_moved);
    x->reader_window = x->loose.budget / (x->n_readers + 1);
    return PERFILE_OK;
}

/* Makes strands of the blocks.  Each strand is read from front to back once, so its pages can be
 * released soon; unless the whole file stays mapped.  The store `moved` needs no memory then. */
static perfile_status open_strands(pf_sort *x, perfile_error *err)
{
    const uint64_t step = x->step / 4 > LEAST_STEP ? x->step / 4 : LEAST_STEP;
    return pf_sort_strands_open(&x->strands, &x->blocks, x->stays_mapped ? 0 : step, err);
}

/* Makes windows, or moves the records if windows would need too much. */
static perfile_status plan_windows(pf_sort *x, perfile_error *err)
{
    pf_sort_need need;
    pf_sort_blocks_set_floors(&x->blocks);
    perfile_status st = windows_need(x, &need, err);
    if (st == PERFILE_OK && !fits_in_place(x, &need))
        st = move_blocks(x, err);
    return st == PERFILE_OK ? open_windows(x, err) : st;
}

perfile_status pf_sort_plan(pf_sort *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (x->key_seen && x->known_events != pf_sort_count_events_and_ids(x->base.session)) {
        st = recompute_store_keys(x, err);
        if (st == PERFILE_OK)
            st = pf_sort_blocks_recompute_keys(&x->blocks, err);
    }
    if (st != PERFILE_OK)
        return st;
    x->by_strands = x->blocks.n && !x->blocks.mixed;
    st = x->by_strands ? open_strands(x, err) : plan_windows(x, err);
    return st == PERFILE_OK ? open_readers(x, err) : st;
}
