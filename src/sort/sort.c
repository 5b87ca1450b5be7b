/* perfile_sort(): options, the functions of the stage, and its summary.  The first call of fill()
 * reads the stream below to its end (read.c) and prepares the second pass (begin_writing()); later
 * calls yield the merged records (yield.c). sort.h explains the parts. */
#include "base/byte_order.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "io/source_kind.h"
#include "schema/rows.h"
#include "sort/sort.h"
#include "core/command.h"
#include "sort/command.h"

#include <string.h>

enum {
    MOST_RANGES = 1 << 17, /* ranges of the mapped file; fewer with a small max_memory */
    RELEASES = 512,        /* most releases of the mapping's pages in the second pass */
    MOST_STEP = 4 << 20,   /* bytes between two releases of pages; less with a small max_memory */
    EXTRA_PIECE = 1 << 20  /* bytes of a payload that extra() returns in one call */
};

/* Casts a stream to the stage; `s` must have sort_ops. */
static pf_sort *sort_of(perfile_stream *s)
{
    return (pf_sort *)(void *)s;
}

void pf_sort_progress(pf_sort *x, uint64_t done)
{
    /* Each byte counts half when it is read and half when it is yielded.  In the first pass `done`
     * runs from 0 to the size of the input.  In the second it runs from x->total, which is then the
     * number of bytes to yield, to twice that. */
    if (x->options.progress)
        x->options.progress(x->options.user, x->total ? done / 2 : done, x->total);
}

/* Returns the key of a stored record, computed again with what the session knows now: its time may
 * not have been found when the record was read, because its attr came later.  Fragments and records
 * without a time keep their key. */
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

/* Replaces the store `loose` by one with keys computed again.  The payload file moves to the new
 * store, because items refer to it. */
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

/* Copies the records of all ranges to the store `moved`, with keys computed again, and removes the
 * ranges, because their records may no longer be in order.  Pages are released once they are
 * copied. */
static perfile_status move_ranges(pf_sort *x, perfile_error *err)
{
    for (uint32_t i = 0; i < x->ranges.n; i++) {
        pf_sort_range *one = &x->ranges.list[i];
        const uint8_t *const end = one->start + one->bytes;
        pf_time_clock clock = one->clock;
        for (one->at = one->start; one->at < end;) {
            const size_t left = (size_t)(end - one->at);
            const size_t size =
                left < PF_PERF_RECORD_HEADER ? 0 : pf_frame_at(one->at, x->ranges.swap).size;
            if (size < PF_PERF_RECORD_HEADER || size > left)
                return pf_sort_fail_changed(one, err);
            perfile_record r;
            pf_sort_range_record(&x->ranges, one, &r);
            one->at += size;
            if (r.type == PERFILE_RECORD_FINISHED_ROUND)
                continue;
            perfile_status st =
                pf_sort_store_add(&x->moved, pf_time_key(&clock, &r), &r, true, err);
            if (st != PERFILE_OK)
                return st;
        }
        const uint64_t begin = pf_sort_round_to_pages(one->offset);
        pf_stream_release(x->base.below, one->part, begin,
                          pf_sort_round_to_pages(one->offset + one->bytes) - begin);
    }
    x->ranges.n = 0;
    return PERFILE_OK;
}

/* Makes the readers of both stores.  Readers of runs share the budget. */
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

/* Goes from the first pass to the second: makes the readers, and prepares to read the ranges in
 * place.  If the session has learned events or ids since the first key was computed, keys may be
 * wrong, so all of them are computed again. */
static perfile_status begin_writing(pf_sort *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (x->key_seen && x->known_events != pf_sort_count_events_and_ids(x->base.session)) {
        st = recompute_store_keys(x, err);
        if (st == PERFILE_OK)
            st = move_ranges(x, err);
    }
    if (st == PERFILE_OK)
        st = open_readers(x, err);
    x->ranges.place = pf_time_place_of(x->base.session);
    if (st == PERFILE_OK)
        st = pf_sort_merge_begin(x, err);
    x->writing = true;
    /* From here on progress counts yielded bytes. */
    x->total = x->done = x->reported = x->bytes;
    return st;
}

/* A release goes through the whole mapping, so there are at most RELEASES of them. */
void pf_sort_touched(pf_sort *x, uint64_t bytes)
{
    const perfile_container *c = perfile_stream_container(&x->base);
    x->touched += bytes;
    if (x->stays_mapped || x->touched < x->step || x->touched < x->bytes / RELEASES)
        return;
    x->touched = 0;
    for (uint32_t i = 0; i < c->n_parts; i++)
        pf_stream_release(x->base.below, i, 0, UINT64_MAX);
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

/* pf_stream_ops.extra: returns the next chunk of a payload that is in the temporary file. */
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
    for (uint32_t i = 0; i < x->n_readers; i++)
        pf_sort_reader_close(&x->readers[i]);
    pf_free(x->readers);
    pf_free(x->heap.at);
    pf_sort_ranges_close(&x->ranges);
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

/* Divides max_memory: three eighths for records in memory and the windows of runs, three eighths
 * for records of ranges with keys computed again, a sixteenth for ranges and their heap entries,
 * the rest for buffers. */
static perfile_status share_memory(pf_sort *x, const perfile_session *session, perfile_error *err)
{
    uint64_t memory = x->options.max_memory;
    uint64_t ranges = memory / 16 / (sizeof(pf_sort_range) + sizeof(pf_head));
    x->step = memory / 16 < MOST_STEP ? memory / 16 : MOST_STEP;
    pf_sort_store_open(&x->loose, memory / 8 * 3, x->options.temporary);
    pf_sort_store_open(&x->moved, memory / 8 * 3, x->options.temporary);
    return pf_sort_ranges_open(&x->ranges, ranges < MOST_RANGES ? (uint32_t)ranges : MOST_RANGES,
                               session, err);
}

/* Copies the options, replaces zeros by defaults, and checks them. */
static perfile_status take_options(perfile_sort_options *o, const perfile_sort_options *given,
                                   perfile_error *err)
{
    perfile_status st = pf_options_copy(o, given, "sort.options", err);
    if (st != PERFILE_OK)
        return st;
    /* If the caller limits max_memory, the page cache in use gets the same limit. */
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
    const bool in_order = below->sorted_by == PF_SORTED_BY_TIME;
    if (in_order && !(o.flags & PERFILE_SORT_WHOLE))
        return pf_sort_in_order(below, &o, stream, err);
    pf_sort *x = pf_alloc(1, sizeof *x);
    if (!x)
        return pf_fail_nomem(err, "sort");
    x->options = o;
    x->round_most = o.flags & PERFILE_SORT_ONE_ROUND ? UINT64_MAX : PF_ROUND_BYTES;
    x->timed = o.flags & PERFILE_SORT_ONE_ROUND;
    x->in_order = in_order;
    /* So that free_stage() finds no file to close if share_memory() fails. */
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
    /* Mapping a file twice costs as much as reading it, so a file that is not too large stays
     * mapped. */
    x->stays_mapped = x->total && x->total <= x->options.max_mapped;
    pf_stream_on(&x->base, &sort_ops, below);
    x->base.sorted_by = PF_SORTED_BY_TIME;
    x->base.keys = x->keys;
    *stream = &x->base;
    return PERFILE_OK;
}

void pf_sort_get_summary(const perfile_stream *stream, perfile_sort_summary *out, size_t size)
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

perfile_record pf_round_record(const perfile_session *s, uint64_t sequence)
{
    /* A header without body: type, misc 0, size 8. */
    static const uint8_t little[8] = {PERFILE_RECORD_FINISHED_ROUND, [6] = 8};
    static const uint8_t big[8] = {[3] = PERFILE_RECORD_FINISHED_ROUND, [7] = 8};
    bool swapped = pf_session_swapped(s);
    const uint8_t *at = pf_session_byte_order(s) == PERFILE_BYTE_ORDER_BIG ? big : little;
    return (perfile_record){.header = at,
                            .body = {at + 8, 0},
                            .type = PERFILE_RECORD_FINISHED_ROUND,
                            .flags =
                                (uint8_t)(PERFILE_REC_STABLE | (swapped ? PERFILE_REC_SWAPPED : 0)),
                            .offset = PERFILE_NO_OFFSET,
                            .sequence = sequence,
                            .envelope = PERFILE_NO_SEQUENCE,
                            .session = s};
}
