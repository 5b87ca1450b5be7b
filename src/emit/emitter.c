/* The public functions of emitters: they call the form (ops) and write its buffer to the sink. With
 * threads, records go to threads.c instead, which must have finished before anything else is
 * emitted. */
#include "emit/emitter.h"

#include <string.h>

#include "base/alloc.h"
#include "base/crc32.h"
#include "base/error.h"
#include "emit/export.h"
#include "emit/threads.h"

enum {
    WRITE_BYTES = 64 << 10, /* of output that go to the sink at once */
    /* Behind an emitter, so that two that are allocated one after the other share no cache line
     * (processors fetch them in pairs): each thread writes to its own with every record, and text
     * by two threads took a fifth longer. */
    APART_BYTES = 128
};

perfile_status pf_emitter_new(const pf_emit_ops *ops, perfile_sink *sink, perfile_emitter **out,
                              perfile_error *err)
{
    perfile_emitter *e = pf_alloc(1, ops->size + APART_BYTES);
    if (!e)
        return pf_fail_nomem(err, "emitter");
    e->ops = ops; /* pf_alloc() has set all else to zero */
    e->sink = sink;
    *out = e;
    return PERFILE_OK;
}

perfile_status pf_emitter_write_out(perfile_emitter *e, perfile_error *err)
{
    perfile_bytes out = {e->out.ptr, e->out.len};
    if (e->no_memory)
        return pf_fail_nomem(err, "emitter");
    pf_buffer_clear(&e->out);
    return out.len ? perfile_sink_write(e->sink, out, err) : PERFILE_OK;
}

perfile_status perfile_emitter_flush(perfile_emitter *e, perfile_error *err)
{
    perfile_status st = e->threads ? pf_emit_threads_wait(e, err) : PERFILE_OK;
    return st == PERFILE_OK ? pf_emitter_write_out(e, err) : st;
}

/* Returns `st` if it is an error; else writes `out` if it has a full chunk, or must report
 * no_memory. */
static perfile_status write_out_if_full(perfile_emitter *e, perfile_status st, perfile_error *err)
{
    if (st != PERFILE_OK || (e->out.len < WRITE_BYTES && !e->no_memory))
        return st;
    return pf_emitter_write_out(e, err);
}

perfile_status perfile_emitter_begin(perfile_emitter *e, perfile_error *err)
{
    return write_out_if_full(e, e->ops->begin(e, err), err);
}

perfile_status pf_emitter_put_now(perfile_emitter *e, const perfile_record *r, perfile_error *err)
{
    return write_out_if_full(e, e->ops->put(e, r, err), err);
}

perfile_status perfile_emitter_put(perfile_emitter *e, const perfile_record *r, perfile_error *err)
{
    return e->threads ? pf_emit_threads_put(e, r, 1, err) : pf_emitter_put_now(e, r, err);
}

perfile_status perfile_emitter_put_run(perfile_emitter *e, const perfile_record *first, size_t n,
                                       perfile_error *err)
{
    if (e->threads)
        return pf_emit_threads_put(e, first, n, err);
    if (e->ops->exports)
        return write_out_if_full(e, e->ops->exports->put_run(e, first, n, err), err);
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        st = pf_emitter_put_now(e, &first[i], err);
    return st;
}

/* The end of the output may depend on all records (their number), so threads finish first. */
perfile_status perfile_emitter_finish(perfile_emitter *e, perfile_error *err)
{
    perfile_status st = e->threads ? pf_emit_threads_wait(e, err) : PERFILE_OK;
    if (st == PERFILE_OK)
        st = e->ops->finish(e, err);
    return st == PERFILE_OK ? perfile_emitter_flush(e, err) : st;
}

void perfile_emitter_get_summary(const perfile_emitter *e, perfile_export_summary *summary,
                                 size_t size)
{
    perfile_export_summary all = {0};
    if (e->ops->exports)
        e->ops->exports->summary(e, &all);
    memset(summary, 0, size);
    memcpy(summary, &all, size < sizeof all ? size : sizeof all);
}

/* The exit status of `dump`: damage alone is not a failure as long as something could be decoded.
 */
int perfile_emitter_outcome(const perfile_emitter *e)
{
    if (e->n_errors == 0)
        return PERFILE_EMIT_COMPLETE;
    return e->decoded ? PERFILE_EMIT_DAMAGED : PERFILE_EMIT_NOTHING;
}

uint64_t perfile_emitter_errors(const perfile_emitter *e)
{
    return e->n_errors;
}

void pf_emitter_free(perfile_emitter *e)
{
    if (!e)
        return;
    if (e->ops->close)
        e->ops->close(e);
    pf_buffer_free(&e->out);
    pf_free(e);
}

void perfile_emitter_close(perfile_emitter *e)
{
    if (e)
        pf_emit_threads_free(e);
    pf_emitter_free(e);
}

perfile_status pf_emit_extra_crc(perfile_emitter *e, const perfile_record *r, uint32_t *crc,
                                 perfile_error *err)
{
    *crc = 0;
    if (r->extra.ptr) {
        *crc = pf_crc32(0, r->extra);
        return PERFILE_OK;
    }
    for (;;) { /* not in memory: the stream reads it in chunks */
        perfile_bytes chunk;
        perfile_status st = perfile_stream_extra(e->stream, r, &chunk, err);
        if (st == PERFILE_END)
            return PERFILE_OK;
        if (st != PERFILE_OK)
            return st;
        *crc = pf_crc32(*crc, chunk);
    }
}
