/* Writes toy captures: records as they are, and a TOY_TYPE_TIME where the next one's time is
 * another than was said last. */
#include "toy/toy.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "core/writer.h"

typedef struct toy_writer {
    perfile_writer base;
    uint64_t time;
    bool timed;
    bool begun;
} toy_writer;

static perfile_status begin(toy_writer *w, perfile_error *err)
{
    uint8_t header[TOY_HEADER] = TOY_MAGIC;
    if (w->begun)
        return PERFILE_OK;
    w->begun = true;
    pf_store_u16(header + TOY_VERSION_AT, 1, w->base.swap);
    return perfile_sink_write(w->base.sink, (perfile_bytes){header, sizeof header}, err);
}

static perfile_status put_bytes(toy_writer *w, perfile_bytes bytes, perfile_error *err)
{
    w->base.bytes += bytes.len;
    return perfile_sink_write(w->base.sink, bytes, err);
}

static perfile_status say_time(toy_writer *w, uint64_t time, perfile_error *err)
{
    uint8_t r[TOY_RECORD_HEADER + 6];
    const bool swap = w->base.swap;
    if (time >> 48)
        return pf_fail(err, PERFILE_E_LIMIT, "toy.time", "time %llu does not fit 48 bits",
                       (unsigned long long)time);
    pf_store_u16(r, (uint16_t)(TOY_TYPE_TIME & UINT16_MAX), swap);
    pf_store_u16(r + TOY_SIZE_AT, sizeof r, swap);
    pf_store_u16(r + 4, (uint16_t)(time >> 32), swap);
    pf_store_u16(r + 6, (uint16_t)(time >> 16), swap);
    pf_store_u16(r + 8, (uint16_t)time, swap);
    w->time = time;
    w->timed = true;
    return put_bytes(w, (perfile_bytes){r, sizeof r}, err);
}

static perfile_status put_record(toy_writer *w, const perfile_record *r, perfile_error *err)
{
    perfile_status st = begin(w, err);
    if (r->family != PF_FAMILY_AT_toy)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put", "a record of family %u, not toy",
                       r->family);
    const bool timed = r->flags & PERFILE_REC_TIMED;
    if (r->type == TOY_TYPE_TIME && r->body.len >= 6) {
        w->time = toy_time(r);
        w->timed = true;
    } else if (st == PERFILE_OK && timed && (!w->timed || w->time != r->time)) {
        st = say_time(w, r->time, err);
    }
    if (st == PERFILE_OK)
        st = put_bytes(w, (perfile_bytes){r->header, TOY_RECORD_HEADER}, err);
    return st == PERFILE_OK ? put_bytes(w, r->body, err) : st;
}

static perfile_status put(perfile_writer *w, const pf_batch *batch, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < batch->n && st == PERFILE_OK; i++)
        st = put_record((toy_writer *)w, &batch->at[i], err);
    return st;
}

static perfile_status finish(perfile_writer *w, perfile_error *err)
{
    perfile_status st = begin((toy_writer *)w, err);
    return st == PERFILE_OK ? perfile_sink_finish(w->sink, err) : st;
}

static void close_writer(perfile_writer *w)
{
    pf_free(w);
}

static const pf_writer_ops ops = {
    .format = "toy",
    .family = PF_FAMILY_AT_toy,
    .put = put,
    .finish = finish,
    .close = close_writer,
};

perfile_status toy_create(perfile_sink *sink, const perfile_writer_options *options,
                          perfile_writer **writer, perfile_error *err)
{
    toy_writer *w = pf_alloc(1, sizeof *w);
    if (!w)
        return pf_fail_nomem(err, "writer");
    w->base.ops = &ops;
    w->base.sink = sink;
    w->base.swap = pf_byte_order_swaps(options->byte_order);
    w->base.form = PERFILE_FORM_FILE;
    *writer = &w->base;
    return PERFILE_OK;
}
