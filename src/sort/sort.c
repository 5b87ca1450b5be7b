/* perfile_sort(): options, the stage's functions, and its summary.  The first call of fill() reads
 * the stream below to its end (read.c) and plans the second pass (plan.c); later calls yield what
 * is merged (merge.c).  See sort.h for the parts. */
#include "sort/sort.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "io/temporary.h"
#include "stage/round.h"

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
