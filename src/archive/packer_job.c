/* Encoding one chunk: columns if they can be made and are right, else zstd, else as it is.
 *
 * Right means: decoded again they are the bytes that were written.  So a mistake of the encoder, or
 * a caller that tells records which are not those, costs size and loses nothing. */
#include "archive/packer.h"

#include <string.h>

#include "base/byte_order.h"
#include "base/error.h"
#include "schema/frame.h"
#include "base/alloc.h"

enum {
    WORTH_PERCENT = 95, /* of the bytes: columns that need more are not used */
    AHEAD = 2048        /* bytes to prefetch: another processor has written them */
};

void pf_job_init(pf_job *j, pf_toolbox *box, int level, bool later)
{
    *j = (pf_job){.box = box, .level = level, .later = later};
}

void pf_job_free(pf_job *j)
{
    pf_tools_put_back(j->box, j->tools);
    pf_buffer_free(&j->raw);
    pf_buffer_free(&j->meta);
    pf_buffer_free(&j->columns);
    pf_buffer_free(&j->packed);
}

void pf_job_begin_bytes(pf_job *j)
{
    j->status = PERFILE_OK;
    j->records = false;
    j->flags = 0;
    pf_buffer_clear(&j->meta);
}

void pf_job_begin_records(pf_job *j, bool swapped)
{
    const bool big = swapped != (bool)PF_NATIVE_BIG;
    j->status = PERFILE_OK;
    j->records = true;
    j->swapped = swapped;
    j->aligned = true;
    j->flags = big ? PF_CHUNK_FLAG_BIG_ENDIAN : 0;
    j->n_records = j->taken = j->added = 0;
    pf_buffer_clear(&j->meta);
}

bool pf_job_accepts(const pf_job *j, bool swapped)
{
    return j->swapped == swapped;
}

/* Adds records to columns and zone. */
static perfile_status take_apart(pf_job *j, const perfile_record *first, size_t n,
                                 perfile_error *err)
{
    pf_tools *t = j->tools;
    if (!t && (t = j->tools = pf_tools_take(j->box))) {
        pf_columns_encoder_begin(t->encoder, j->swapped);
        pf_zone_clear(&t->zone);
    }
    return t && pf_columns_encoder_add(t->encoder, first, n) && pf_zone_add(&t->zone, first, n)
               ? PERFILE_OK
               : pf_fail_nomem(err, "archive");
}

/* True if the record differs from those in j->some in header and body only. */
static bool is_like(const pf_job *j, const perfile_record *r)
{
    const perfile_record *like = &j->some[0];
    const unsigned flags = (unsigned)(like->flags ^ r->flags) & ~(unsigned)PERFILE_REC_STABLE;
    return like->session == r->session && like->part == r->part && !flags;
}

/* From this record on, others are like it. */
static perfile_status begin_alike(pf_job *j, const uint8_t *raw, const perfile_record *r,
                                  perfile_error *err)
{
    perfile_status st = pf_job_catch_up(j, raw, err);
    for (size_t i = 0; i < PF_JOB_AT_ONCE; i++) {
        j->some[i] = *r;
        j->some[i].extra = (perfile_bytes){0};
    }
    return st;
}

perfile_status pf_job_add(pf_job *j, const uint8_t *raw, const perfile_record *first, size_t n,
                          perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < n; i++)
        j->aligned &= first[i].body.len % 8 == 0;
    if (!j->later)
        st = take_apart(j, first, n, err);
    else if (j->n_records == 0 || !is_like(j, first))
        st = begin_alike(j, raw, first, err);
    j->n_records += n;
    j->added += pf_job_bytes_of(first, n);
    j->taken = j->later ? j->taken : j->added;
    return st;
}

/* Frames the records that come next, as many as there is room for, in j->some.  Returns how many;
 * 0: the bytes are not what was added. */
static size_t frame(pf_job *j, const uint8_t *raw)
{
    size_t n = 0, at = j->taken;
    for (; n < PF_JOB_AT_ONCE && at < j->added; n++) {
        perfile_record *r = &j->some[n];
        const size_t left = j->added - at;
        __builtin_prefetch((const void *)((uintptr_t)raw + at + AHEAD));
        const pf_frame f =
            left < PF_PERF_RECORD_HEADER ? (pf_frame){0} : pf_frame_at(raw + at, j->swapped);
        if (f.size < PF_PERF_RECORD_HEADER || f.size > left)
            return 0;
        r->header = raw + at;
        r->body =
            (perfile_bytes){r->header + PF_PERF_RECORD_HEADER, f.size - PF_PERF_RECORD_HEADER};
        r->type = f.type;
        r->misc = f.misc;
        at += f.size;
    }
    j->taken = at;
    return n;
}

perfile_status pf_job_catch_up(pf_job *j, const uint8_t *raw, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    while (j->taken < j->added && st == PERFILE_OK) {
        const size_t n = frame(j, raw);
        if (!n) {
            j->records = false;
            j->taken = j->added;
            break;
        }
        st = take_apart(j, j->some, n, err);
    }
    return st;
}

/* What is known of a complete chunk of records, in front of its payload. */
static perfile_status end_records(pf_job *j, perfile_error *err)
{
    perfile_status st = pf_job_catch_up(j, j->raw.ptr, err);
    if (st != PERFILE_OK || !j->records) {
        j->flags = 0;
        return st;
    }
    j->flags |= j->aligned ? PF_CHUNK_FLAG_ALIGNED : 0;
    pf_zone_seal(&j->tools->zone);
    return pf_zone_encode(&j->tools->zone, &j->meta, err);
}

/* Room to decode the chunk into. */
static bool make_room(pf_job *j)
{
    pf_buffer_clear(&j->tools->again);
    return pf_buffer_reserve_large(&j->tools->again, j->raw.len + 1);
}

/* True if the payload decodes to the bytes that were written.  Without memory it is not known. */
static bool is_right(pf_job *j, const pf_pack_payload *payload)
{
    pf_tools *t = j->tools;
    if (!make_room(j))
        return false;
    const bool big = j->flags & PF_CHUNK_FLAG_BIG_ENDIAN;
    if (payload->codec == PF_CODEC_COLUMNS &&
        pf_columns_decode(t->decoder, payload->bytes, big, t->again.ptr, j->raw.len, NULL) !=
            PERFILE_OK)
        return false;
    if (payload->codec == PF_CODEC_ZSTD &&
        ZSTD_decompressDCtx(t->unzstd, t->again.ptr, j->raw.len, payload->bytes.ptr,
                            payload->bytes.len) != j->raw.len)
        return false;
    return payload->codec == PF_CODEC_RAW || memcmp(t->again.ptr, j->raw.ptr, j->raw.len) == 0;
}

/* Encodes the records as columns; false: they cannot be, or it is not worth it. */
static bool encode_columns(pf_job *j)
{
    const perfile_bytes raw = {j->raw.ptr, j->raw.len};
    pf_buffer_clear(&j->columns);
    if (pf_columns_encoder_finish(j->tools->encoder, j->level, &j->columns, NULL) != PERFILE_OK ||
        j->columns.len > raw.len / 100 * WORTH_PERCENT)
        return false;
    j->payload = pf_pack_columns(raw, (perfile_bytes){j->columns.ptr, j->columns.len});
    return !j->box->verify || is_right(j, &j->payload);
}

static perfile_status encode(pf_job *j)
{
    const perfile_bytes raw = {j->raw.ptr, j->raw.len};
    perfile_status st = j->records ? end_records(j, &j->error) : PERFILE_OK;
    if (st != PERFILE_OK || (j->records && encode_columns(j)))
        return st;
    if (!j->tools && !(j->tools = pf_tools_take(j->box)))
        return pf_fail_nomem(&j->error, "archive");
    st = pf_pack_compress(j->tools->zstd, j->level, raw, &j->packed, &j->payload, &j->error);
    if (st == PERFILE_OK && j->box->verify && !is_right(j, &j->payload))
        j->payload = (pf_pack_payload){.codec = PF_CODEC_RAW,
                                       .raw_len = j->payload.raw_len,
                                       .raw_crc = j->payload.raw_crc,
                                       .bytes = raw};
    return st;
}

void pf_job_encode(pf_job *j)
{
    if (j->status == PERFILE_OK)
        j->status = encode(j);
    pf_tools_put_back(j->box, j->tools);
    j->tools = NULL;
}

/* A list of tools that nobody uses, behind a lock.  See packer_tools.h. */

static void release(pf_tools *t)
{
    pf_columns_encoder_free(t->encoder);
    pf_columns_decoder_free(t->decoder);
    ZSTD_freeCCtx(t->zstd);
    ZSTD_freeDCtx(t->unzstd);
    pf_zone_free(&t->zone);
    pf_buffer_free(&t->again);
    pf_free(t);
}

static pf_tools *make(bool verify)
{
    pf_tools *t = pf_alloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->encoder = pf_columns_encoder_new();
    t->decoder = verify ? pf_columns_decoder_new() : NULL;
    t->zstd = ZSTD_createCCtx();
    t->unzstd = verify ? ZSTD_createDCtx() : NULL;
    if (t->encoder && t->zstd && (!verify || (t->decoder && t->unzstd)))
        return t;
    release(t);
    return NULL;
}

void pf_toolbox_init(pf_toolbox *box, bool verify)
{
    *box = (pf_toolbox){.verify = verify};
    pthread_mutex_init(&box->lock, NULL);
}

void pf_toolbox_free(pf_toolbox *box)
{
    for (pf_tools *t = box->free, *next; t; t = next) {
        next = t->next;
        release(t);
    }
    pthread_mutex_destroy(&box->lock);
}

pf_tools *pf_tools_take(pf_toolbox *box)
{
    pthread_mutex_lock(&box->lock);
    pf_tools *t = box->free;
    if (t)
        box->free = t->next;
    pthread_mutex_unlock(&box->lock);
    return t ? t : make(box->verify);
}

void pf_tools_put_back(pf_toolbox *box, pf_tools *tools)
{
    if (!tools)
        return;
    pthread_mutex_lock(&box->lock);
    tools->next = box->free;
    box->free = tools;
    pthread_mutex_unlock(&box->lock);
}
