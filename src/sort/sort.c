/* perfile_sort(): options, the stage's functions, and its summary.  The first call of fill() reads
 * the stream below to its end (read.c) and plans the second pass (pf_sort_plan()); later calls
 * yield what is merged (merge.c).  See sort.h for the parts. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "io/temporary.h"
#include "schema/frame.h"
#include "sort/sort.h"
#include "stage/round.h"

#include <string.h>

enum {
    MOST_BLOCKS = 8192,   /* of the mapped file; fewer with a small max_memory */
    MOST_STEP = 4 << 20,  /* bytes between two releases of pages; the same holds */
    EXTRA_PIECE = 1 << 20 /* bytes of a payload that extra() returns at once */
};

/* The stage as what it is; `s` must have sort_ops. */
static pf_sort *sort_of(perfile_stream *s)
{
    return (pf_sort *)(void *)s;
}

void pf_sort_progress(pf_sort *x, uint64_t done)
{
    /* A byte is half done when it was read, and done when it was yielded.  In the first pass `done`
     * runs from 0 to the size of the input; in the second it begins at the number of bytes that
     * will be yielded (x->total then) and runs to twice that number. */
    if (x->options.progress)
        x->options.progress(x->options.user, x->total ? done / 2 : done, x->total);
}

/* Between the passes: from here on progress counts yielded bytes. */
static perfile_status begin_writing(pf_sort *x, perfile_error *err)
{
    perfile_status st = pf_sort_plan(x, err);
    if (st == PERFILE_OK)
        st = pf_sort_merge_begin(x, err);
    x->writing = true;
    x->total = x->done = x->reported = x->bytes;
    return st;
}

/* pf_stream_ops.fill. */
static perfile_status fill(perfile_stream *s, perfile_error *err)
{
    pf_sort *x = sort_of(s);
    if (!x->writing) {
        perfile_status st = pf_sort_read(x, err);
        if (st != PERFILE_END)
            return st;
        st = begin_writing(x, err);
        if (st != PERFILE_OK)
            return st;
    }
    if (x->done > x->reported + 2 * x->step) {
        x->reported = x->done;
        pf_sort_progress(x, x->done);
    }
    return pf_sort_merge(x, err);
}

/* pf_stream_ops.extra: the next chunk of a payload that is in the temporary file. */
static perfile_status extra(perfile_stream *s, const perfile_record *r, perfile_bytes *chunk,
                            perfile_error *err)
{
    pf_sort *x = sort_of(s);
    /* A record with such a payload is always alone in its run. */
    if (r != &s->run[0] || r->extra.len != x->extra.len || r->extra.ptr)
        return pf_fail(err, PERFILE_E_USAGE, "record.extra", "the stream is not at this record");
    uint64_t left = x->extra.len - x->extra_read;
    size_t most = x->step < EXTRA_PIECE ? (size_t)x->step : EXTRA_PIECE;
    size_t n = left < most ? (size_t)left : most, got;
    if (n == 0)
        return PERFILE_END;
    pf_buffer_clear(&x->payload_chunk);
    if (!pf_buffer_reserve(&x->payload_chunk, most))
        return pf_fail_nomem(err, "sort");
    perfile_status st = pf_temporary_read(x->loose.payloads, x->extra.at + x->extra_read,
                                          x->payload_chunk.ptr, n, &got, "sort", err);
    if (st != PERFILE_OK)
        return st;
    if (got < n)
        return pf_fail(err, PERFILE_E_IO, "sort", "the temporary file was truncated");
    x->extra_read += n;
    *chunk = (perfile_bytes){x->payload_chunk.ptr, n};
    return PERFILE_OK;
}

/* Frees everything but the stream below. */
static void free_stage(pf_sort *x)
{
    for (uint32_t i = 0; i < x->n_windows; i++)
        pf_sort_window_close(&x->windows[i]);
    for (uint32_t i = 0; i < x->n_readers; i++)
        pf_sort_reader_close(&x->readers[i]);
    pf_sort_strands_close(&x->strands);
    pf_free(x->windows);
    pf_free(x->readers);
    pf_free(x->sources);
    pf_free(x->heap);
    pf_sort_blocks_close(&x->blocks);
    pf_sort_store_close(&x->loose);
    pf_sort_store_close(&x->moved);
    pf_buffer_free(&x->record);
    pf_buffer_free(&x->joined);
    pf_buffer_free(&x->payload_chunk);
    pf_free(x);
}

static void close_stage(perfile_stream *s)
{
    perfile_stream_close(s->below);
    free_stage(sort_of(s));
}

static const pf_stream_ops sort_ops = {.fill = fill, .extra = extra, .close = close_stage};

/* Shares max_memory: three eighths for records in memory and for the windows of runs, three eighths
 * for what moves out of the mapping, for its entries or for buffers of strands, a sixteenth for
 * blocks, the rest for buffers. */
static perfile_status share_memory(pf_sort *x, const perfile_session *session, perfile_error *err)
{
    uint64_t memory = x->options.max_memory;
    uint64_t blocks = memory / 16 / sizeof(pf_sort_block);
    x->step = memory / 16 < MOST_STEP ? memory / 16 : MOST_STEP;
    pf_sort_store_open(&x->loose, memory / 8 * 3, x->options.temporary);
    pf_sort_store_open(&x->moved, memory / 8 * 3, x->options.temporary);
    return pf_sort_blocks_open(&x->blocks, blocks < MOST_BLOCKS ? (uint32_t)blocks : MOST_BLOCKS,
                               session, err);
}

/* Copies the options, with defaults for zeros, and checks them. */
static perfile_status take_options(perfile_sort_options *o, const perfile_sort_options *given,
                                   perfile_error *err)
{
    perfile_status st = pf_options_copy(o, given, "sort.options", err);
    if (st != PERFILE_OK)
        return st;
    /* With a max_memory of the caller, no more of the page cache is used than that. */
    if (o->max_mapped == 0)
        o->max_mapped = o->max_memory ? o->max_memory : PERFILE_SORT_MAX_MAPPED;
    if (o->max_memory == 0)
        o->max_memory = PERFILE_SORT_MAX_MEMORY;
    return o->max_memory >= PERFILE_SORT_LEAST_MEMORY
               ? PERFILE_OK
               : pf_fail(err, PERFILE_E_USAGE, "sort.max_memory",
                         "max_memory is %llu bytes, at least %d are needed",
                         (unsigned long long)o->max_memory, PERFILE_SORT_LEAST_MEMORY);
}

perfile_status perfile_sort(perfile_stream *below, const perfile_sort_options *options,
                            perfile_stream **stream, perfile_error *err)
{
    perfile_sort_options o;
    perfile_status st = take_options(&o, options, err);
    if (st == PERFILE_OK)
        st = pf_stream_unread(below, "sort", err);
    if (st != PERFILE_OK)
        return st;
    const bool in_order = below->sorted_by == PERFILE_SORTED_BY_TIME;
    if (in_order && !(o.flags & PERFILE_SORT_WHOLE))
        return pf_sort_in_order(below, &o, stream, err);
    pf_sort *x = pf_alloc(1, sizeof *x);
    if (!x)
        return pf_fail_nomem(err, "sort");
    x->options = o;
    x->round_most = o.flags & PERFILE_SORT_ONE_ROUND ? UINT64_MAX : PF_ROUND_BYTES;
    x->timed = o.flags & PERFILE_SORT_ONE_ROUND;
    x->in_order = in_order;
    /* So that release() finds no file to close when share_memory() fails. */
    pf_sort_store_open(&x->loose, 0, NULL);
    pf_sort_store_open(&x->moved, 0, NULL);
    st = share_memory(x, perfile_stream_session(below), err);
    if (st != PERFILE_OK) {
        free_stage(x);
        return st;
    }
    x->fragments_end = PERFILE_NO_SEQUENCE;
    x->base.totals = &x->totals;
    x->totals.first_sample = UINT64_MAX;
    x->total = pf_container_bytes(perfile_stream_container(below));
    /* To map a file twice costs as much as to read it, so a file that is not too large stays
     * mapped. */
    x->stays_mapped = x->total && x->total <= x->options.max_mapped;
    pf_stream_on(&x->base, &sort_ops, below);
    x->base.sorted_by = PERFILE_SORTED_BY_TIME;
    x->base.keys = x->keys;
    *stream = &x->base;
    return PERFILE_OK;
}

void perfile_sort_get_summary(const perfile_stream *stream, perfile_sort_summary *out, size_t size)
{
    perfile_sort_summary sorted = {0};
    /* `stream` may be a stage on the sorting one. */
    while (stream && stream->ops != &sort_ops && !pf_sort_in_order_result(stream, &sorted))
        stream = stream->below;
    if (stream && stream->ops == &sort_ops) {
        const pf_sort *x = (const pf_sort *)(const void *)stream;
        sorted = x->result;
        sorted.temporary = x->loose.written + x->moved.written;
        pf_sort_set_totals(&x->totals, &sorted);
    }
    memcpy(out, &sorted, size < sizeof sorted ? size : sizeof sorted);
}

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
