/* Writes perfmon buffers: the header of the input, then records as they are, and a TIME wherever
 * the time of the next record is not that of the last TIME written.  So a filtered buffer has
 * correct times.
 *
 * `capture_end` is known only at the end.  So the sink must be able to patch, or the whole buffer
 * is held in memory until then (a buffer has some MiB).  A buffer belongs to one CPU: records of a
 * second one are refused. */
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "core/writer.h"
#include "io/out.h"
#include "perfmon/perfmon.h"

enum { WRITE_BYTES = 64 << 10 };
#define NO_PART UINT32_MAX

/* Facts about a part of the input. */
typedef struct input_part {
    uint8_t header[PF_PERFMON_HEADER];
    uint32_t cpu;
    bool used; /* a record of it was written */
} input_part;

typedef struct pf_perfmon_writer {
    perfile_writer base;
    pf_buffer out;   /* not yet written to the sink; for a pipe, the whole buffer */
    uint64_t time;   /* last time written, in the form of perfile_record.time */
    pf_buffer parts; /* input_part: the parts of the input */
    uint32_t part;   /* part of the previous record; NO_PART: there was none */
    bool timed;      /* `time` is set */
    bool patches;
    bool begun;
} pf_perfmon_writer;

static pf_perfmon_writer *writer_of(perfile_writer *w)
{
    return (pf_perfmon_writer *)(void *)w;
}

static input_part *part_at(const pf_perfmon_writer *w, uint32_t i)
{
    return i < w->parts.len / sizeof(input_part) ? (input_part *)(void *)w->parts.ptr + i : NULL;
}

/* Stores the header of a part of the input.  The headers of a capture differ only in the flag FULL
 * and the end. */
static perfile_status put_header(perfile_writer *writer, const perfile_part *part,
                                 perfile_error *err)
{
    pf_perfmon_writer *w = writer_of(writer);
    input_part p = {.cpu = part->cpu};
    if (part->header.len != PF_PERFMON_HEADER)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "perfmon.header",
                       "the input has no header of a perfmon buffer");
    memcpy(p.header, part->header.ptr, PF_PERFMON_HEADER);
    return pf_buffer_append(&w->parts, &p, sizeof p) ? PERFILE_OK : pf_fail_nomem(err, "perfmon");
}

static perfile_status begin(pf_perfmon_writer *w, perfile_error *err)
{
    const input_part *first = part_at(w, 0);
    if (w->begun)
        return PERFILE_OK;
    if (!first)
        return pf_fail(err, PERFILE_E_USAGE, "perfmon.header",
                       "a perfmon buffer is written from perfmon buffers only");
    w->begun = true;
    w->patches = pf_sink_can_patch(w->base.sink);
    return pf_buffer_append(&w->out, first->header, PF_PERFMON_HEADER)
               ? PERFILE_OK
               : pf_fail_nomem(err, "perfmon");
}

/* Writes the pending bytes to the sink, unless the header must be complete first. */
static perfile_status flush(pf_perfmon_writer *w, perfile_error *err)
{
    const perfile_bytes out = {w->out.ptr, w->out.len};
    if (!w->patches || out.len == 0)
        return PERFILE_OK;
    pf_buffer_clear(&w->out);
    return perfile_sink_write(w->base.sink, out, err);
}

static bool append(pf_perfmon_writer *w, const void *bytes, size_t n)
{
    w->base.bytes += n;
    return pf_buffer_append(&w->out, bytes, n);
}

/* Appends a TIME record without an event. */
static bool append_time(pf_perfmon_writer *w, uint64_t time)
{
    uint8_t r[PF_PERFMON_RECORD_HEADER + sizeof(uint64_t)] = {PF_PERFMON_TIME};
    pf_store_u64(r + PF_PERFMON_RECORD_HEADER, time ^ PF_TICKS_BIAS, pf_perfmon_swap());
    w->time = time;
    w->timed = true;
    return append(w, r, sizeof r);
}

static perfile_status check_record(pf_perfmon_writer *w, const perfile_record *r,
                                   perfile_error *err)
{
    if (r->family != PF_FAMILY_AT_perfmon)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put", "a record of family %u, not perfmon",
                       r->family);
    if (r->part == w->part)
        return PERFILE_OK;
    input_part *part = part_at(w, r->part);
    const input_part *before = part_at(w, w->part);
    if (!part)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put", "a record of part %u, of %zu", r->part,
                       w->parts.len / sizeof *part);
    if (before && before->cpu != part->cpu)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "perfmon.processors",
                       "a perfmon buffer holds the records of one CPU: write one for each, or "
                       "another format");
    part->used = true;
    w->part = r->part;
    return PERFILE_OK;
}

static perfile_status put_record(pf_perfmon_writer *w, const perfile_record *r, perfile_error *err)
{
    perfile_status st = check_record(w, r, err);
    bool room = true;
    if (st == PERFILE_OK)
        st = begin(w, err);
    if (st != PERFILE_OK)
        return st;
    const bool timed = r->flags & PERFILE_REC_TIMED;
    if (pf_perfmon_is(r, PF_PERFMON_TIME)) {
        w->time = r->time;
        w->timed = true;
    } else if (timed && (!w->timed || w->time != r->time)) {
        room = append_time(w, r->time);
    }
    room = room && append(w, r->header, PF_PERFMON_RECORD_HEADER);
    if (pf_perfmon_is(r, PF_PERFMON_TIME)) { /* merging may have changed the time */
        uint8_t body[sizeof(uint64_t)];
        pf_store_u64(body, r->time ^ PF_TICKS_BIAS, pf_perfmon_swap());
        room = room && append(w, body, sizeof body);
    } else {
        room = room && (r->body.len == 0 || append(w, r->body.ptr, r->body.len));
    }
    if (!room)
        return pf_fail_nomem(err, "perfmon");
    return w->out.len < WRITE_BYTES ? PERFILE_OK : flush(w, err);
}

static perfile_status put(perfile_writer *w, const pf_batch *batch, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < batch->n && st == PERFILE_OK; i++)
        st = put_record(writer_of(w), &batch->at[i], err);
    return st;
}

/* Makes the final header: that of the first part with records, with FULL if one of these parts was
 * full, and the end. */
static void complete_header(const pf_perfmon_writer *w, uint8_t *header)
{
    uint32_t flags = 0;
    const input_part *from = NULL, *part;
    for (uint32_t i = 0; (part = part_at(w, i)); i++) {
        if (!part->used)
            continue;
        from = from ? from : part;
        flags |= pf_perfmon_header_of(part->header).flags;
    }
    memcpy(header, (from ? from : part_at(w, 0))->header, PF_PERFMON_HEADER);
    /* A recovered buffer gets an intact header. */
    const pf_perfmon_header h = pf_perfmon_header_of(header);
    if (!from)
        flags = h.flags;
    pf_store_u16(header, 0, pf_perfmon_swap());
    if (h.arch > PF_PERFMON_ARM64)
        pf_store_u16(header + PF_PERFMON_ARCH_AT, 0, pf_perfmon_swap());
    pf_store_u32(header + PF_PERFMON_FLAGS_AT, flags & PF_PERFMON_FULL, pf_perfmon_swap());
    pf_store_u64(header + PF_PERFMON_END_AT, PF_PERFMON_HEADER + w->base.bytes, pf_perfmon_swap());
}

static perfile_status finish(perfile_writer *writer, perfile_error *err)
{
    pf_perfmon_writer *w = writer_of(writer);
    uint8_t header[PF_PERFMON_HEADER];
    perfile_status st = begin(w, err);
    if (st != PERFILE_OK)
        return st;
    complete_header(w, header);
    if (w->patches) {
        st = flush(w, err);
        if (st == PERFILE_OK)
            st = pf_sink_patch(writer->sink, 0, (perfile_bytes){header, sizeof header}, err);
    } else {
        memcpy(w->out.ptr, header, sizeof header);
        st = perfile_sink_write(writer->sink, (perfile_bytes){w->out.ptr, w->out.len}, err);
    }
    return st == PERFILE_OK ? perfile_sink_finish(writer->sink, err) : st;
}

static void close_writer(perfile_writer *w)
{
    pf_buffer_free(&writer_of(w)->out);
    pf_buffer_free(&writer_of(w)->parts);
    pf_free(w);
}

static const pf_writer_ops ops = {
    .format = "perfmon",
    .family = PF_FAMILY_AT_perfmon,
    .header = put_header,
    .put = put,
    .finish = finish,
    .close = close_writer,
};

perfile_status pf_perfmon_create(perfile_sink *sink, const perfile_writer_options *options,
                                 perfile_writer **writer, perfile_error *err)
{
    if (options->byte_order == PERFILE_BYTE_ORDER_BIG)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "writer.byte_order",
                       "perfmon buffers are little-endian");
    pf_perfmon_writer *w = pf_alloc(1, sizeof *w);
    if (!w)
        return pf_fail_nomem(err, "writer");
    w->base.ops = &ops;
    w->base.sink = sink;
    w->base.swap = pf_perfmon_swap();
    w->base.form = PERFILE_FORM_FILE;
    w->part = NO_PART;
    *writer = &w->base;
    return PERFILE_OK;
}
