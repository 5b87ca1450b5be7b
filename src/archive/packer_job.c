/* Encoding one chunk: columns if they can be made and are right, else zstd, else as it is.
 *
 * Right means: decoded again they are the bytes that were written.  So a mistake of the encoder, or
 * a caller that tells records which are not those, costs size and loses nothing. */
#include "archive/packer_job.h"

#include <string.h>

#include "base/byte_order.h"
#include "base/error.h"

enum { WORTH_PERCENT = 95 /* of the bytes: columns that need more are not used */ };

bool pf_job_init(pf_job *j, int level, bool verify)
{
    j->level = level;
    j->verify = verify;
    j->encoder = pf_columns_encoder_new();
    j->decoder = verify ? pf_columns_decoder_new() : NULL;
    j->zstd = ZSTD_createCCtx();
    j->unzstd = verify ? ZSTD_createDCtx() : NULL;
    return j->encoder && j->zstd && (!verify || (j->decoder && j->unzstd));
}

void pf_job_free(pf_job *j)
{
    pf_columns_encoder_free(j->encoder);
    pf_columns_decoder_free(j->decoder);
    ZSTD_freeCCtx(j->zstd);
    ZSTD_freeDCtx(j->unzstd);
    pf_zone_free(&j->zone);
    pf_buffer_free(&j->raw);
    pf_buffer_free(&j->meta);
    pf_buffer_free(&j->columns);
    pf_buffer_free(&j->packed);
    pf_buffer_free(&j->again);
}

void pf_job_begin_bytes(pf_job *j)
{
    j->records = false;
    j->flags = 0;
    pf_buffer_clear(&j->meta);
}

void pf_job_begin_records(pf_job *j, bool swapped)
{
    const bool big = swapped != (bool)PF_NATIVE_BIG;
    j->records = true;
    j->swapped = swapped;
    j->aligned = true;
    j->flags = big ? PF_CHUNK_FLAG_BIG_ENDIAN : 0;
    j->n_records = 0;
    pf_columns_encoder_begin(j->encoder, swapped);
    pf_zone_clear(&j->zone);
    pf_buffer_clear(&j->meta);
}

bool pf_job_accepts(const pf_job *j, bool swapped)
{
    return j->swapped == swapped;
}

perfile_status pf_job_add(pf_job *j, const perfile_record *first, size_t n, perfile_error *err)
{
    for (size_t i = 0; i < n; i++)
        j->aligned &= first[i].body.len % 8 == 0;
    j->n_records += n;
    return pf_columns_encoder_add(j->encoder, first, n) && pf_zone_add(&j->zone, first, n)
               ? PERFILE_OK
               : pf_fail_nomem(err, "archive");
}

perfile_status pf_job_end_records(pf_job *j, perfile_error *err)
{
    j->flags |= j->aligned ? PF_CHUNK_FLAG_ALIGNED : 0;
    pf_zone_seal(&j->zone);
    return pf_zone_encode(&j->zone, &j->meta, err);
}

/* Room to decode the chunk into. */
static bool make_room(pf_job *j)
{
    pf_buffer_clear(&j->again);
    return pf_buffer_reserve_large(&j->again, j->raw.len + 1);
}

/* True if the payload decodes to the bytes that were written.  Without memory it is not known. */
static bool is_right(pf_job *j, const pf_pack_payload *payload)
{
    if (!make_room(j))
        return false;
    const bool big = j->flags & PF_CHUNK_FLAG_BIG_ENDIAN;
    if (payload->codec == PF_CODEC_COLUMNS &&
        pf_columns_decode(j->decoder, payload->bytes, big, j->again.ptr, j->raw.len, NULL) !=
            PERFILE_OK)
        return false;
    if (payload->codec == PF_CODEC_ZSTD &&
        ZSTD_decompressDCtx(j->unzstd, j->again.ptr, j->raw.len, payload->bytes.ptr,
                            payload->bytes.len) != j->raw.len)
        return false;
    return payload->codec == PF_CODEC_RAW || memcmp(j->again.ptr, j->raw.ptr, j->raw.len) == 0;
}

/* Encodes the records as columns; false: they cannot be, or it is not worth it. */
static bool encode_columns(pf_job *j)
{
    const perfile_bytes raw = {j->raw.ptr, j->raw.len};
    pf_buffer_clear(&j->columns);
    if (pf_columns_encoder_finish(j->encoder, j->level, &j->columns, NULL) != PERFILE_OK ||
        j->columns.len > raw.len / 100 * WORTH_PERCENT)
        return false;
    j->payload = pf_pack_columns(raw, (perfile_bytes){j->columns.ptr, j->columns.len});
    return !j->verify || is_right(j, &j->payload);
}

void pf_job_encode(pf_job *j)
{
    const perfile_bytes raw = {j->raw.ptr, j->raw.len};
    j->status = PERFILE_OK;
    if (j->records && encode_columns(j))
        return;
    j->status = pf_pack_compress(j->zstd, j->level, raw, &j->packed, &j->payload, &j->error);
    if (j->status == PERFILE_OK && j->verify && !is_right(j, &j->payload))
        j->payload = (pf_pack_payload){.codec = PF_CODEC_RAW,
                                       .raw_len = j->payload.raw_len,
                                       .raw_crc = j->payload.raw_crc,
                                       .bytes = raw};
}
