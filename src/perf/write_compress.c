/* Compression: kernel records go into COMPRESSED or COMPRESSED2 records.
 *
 * Records are collected in the stage of their part up to PF_WRITE_CHUNK bytes.  A full stage is
 * compressed and flushed into one envelope, so that decompressing an envelope yields all of its
 * records and no reader needs more memory than the feature COMPRESSED states.  Records of the tool
 * are not compressed; the stage is flushed in front of them to keep the order. */
#include "base/error.h"
#include "base/byte_order.h"
#include "perf/write.h"

enum { DATA_SIZE = 8 }; /* the length of the zstd bytes in COMPRESSED2 */

/* Writes the header of an envelope, and of COMPRESSED2 length and padding, around `len` bytes of
 * zstd that already stand in it.  Returns the size of the record. */
static size_t finish_envelope(const pf_perf_writer *w, uint8_t *envelope, size_t len)
{
    size_t size = PF_PERF_RECORD_HEADER + len;
    if (w->compressed2) {
        pf_store_u64(envelope + PF_PERF_RECORD_HEADER, len, w->base.swap);
        size = (size + DATA_SIZE + 7) & ~(size_t)7;
        size_t end = PF_PERF_RECORD_HEADER + DATA_SIZE + len;
        memset(envelope + end, 0, size - end);
    }
    uint32_t type = w->compressed2 ? PERFILE_RECORD_COMPRESSED2 : PERFILE_RECORD_COMPRESSED;
    pf_store_u32(envelope, type, w->base.swap);
    pf_store_u16(envelope + 4, 0, w->base.swap);
    pf_store_u16(envelope + 6, (uint16_t)size, w->base.swap);
    return size;
}

/* Compresses the stage of the current part into an envelope and writes that. */
static perfile_status flush_chunk(pf_perf_writer *w, perfile_error *err)
{
    pf_write_part *p = w->part;
    size_t before = PF_PERF_RECORD_HEADER + (w->compressed2 ? DATA_SIZE : 0);
    size_t room = pf_deflate_bound(PF_WRITE_CHUNK), len = 0;
    if (!pf_buffer_reserve(&w->own, before + room + 8))
        return pf_fail_nomem(err, "writer.own");
    uint8_t *envelope = w->own.ptr;
    perfile_status st = pf_deflate_feed(p->deflate, (perfile_bytes){p->stage.ptr, p->stage.len},
                                        envelope + before, room, &len, err);
    if (st != PERFILE_OK)
        return st;
    size_t size = finish_envelope(w, envelope, len);
    w->plain_bytes += p->stage.len;
    w->packed_bytes += len;
    pf_buffer_clear(&p->stage);
    return pf_write_bytes(w, (perfile_bytes){envelope, size}, err);
}

perfile_status pf_write_flush_stage(pf_perf_writer *w, perfile_error *err)
{
    perfile_error why;
    if (!w->part->stage.len)
        return PERFILE_OK;
    return pf_write_set_broken(w, flush_chunk(w, &why), &why, err);
}

/* The stage never grows: open_part() has reserved PF_WRITE_CHUNK bytes, so appending cannot fail.
 */
perfile_status pf_write_add_to_stage(pf_perf_writer *w, perfile_bytes bytes, perfile_error *err)
{
    pf_buffer *stage = &w->part->stage;
    perfile_status st = PERFILE_OK;
    while (bytes.len && st == PERFILE_OK) {
        size_t n = PF_WRITE_CHUNK - stage->len;
        if (n > bytes.len)
            n = bytes.len;
        (void)pf_buffer_append(stage, bytes.ptr, n);
        bytes.ptr += n;
        bytes.len -= n;
        if (stage->len == PF_WRITE_CHUNK)
            st = pf_write_flush_stage(w, err);
    }
    return st;
}

perfile_status pf_write_compress(pf_perf_writer *w, const perfile_record *r, perfile_error *err)
{
    size_t size = PF_PERF_RECORD_HEADER + r->body.len;
    perfile_status st = pf_write_flush_span(w, err);
    /* A record is divided among two envelopes only if it is longer than a chunk. */
    if (st == PERFILE_OK && w->part->stage.len + size > PF_WRITE_CHUNK)
        st = pf_write_flush_stage(w, err);
    if (st == PERFILE_OK)
        st = pf_write_add_to_stage(w, (perfile_bytes){r->header, PF_PERF_RECORD_HEADER}, err);
    return st == PERFILE_OK ? pf_write_add_to_stage(w, r->body, err) : st;
}

perfile_status pf_write_compressed_feature(pf_perf_writer *w, perfile_error *err)
{
    enum { ZSTD = 1 };
    uint8_t payload[32];
    size_t len;
    /* Rounded to the nearest. */
    uint64_t ratio = w->packed_bytes ? (w->plain_bytes + w->packed_bytes / 2) / w->packed_bytes : 1;
    perfile_encode_options how = pf_write_encoding(w);
    perfile_compression c = {.type = ZSTD,
                             .level = (uint32_t)w->level,
                             .ratio = ratio < UINT32_MAX ? (uint32_t)ratio : UINT32_MAX,
                             .mmap_len = PF_WRITE_MMAP_LEN};
    if (!w->level)
        return PERFILE_OK;
    perfile_status st =
        perfile_compression_encode(&c, sizeof c, &how, payload, sizeof payload, &len, err);
    pf_written_feature f = {.there = true, .len = len};
    if (st == PERFILE_OK)
        st = pf_write_keep(w, (perfile_bytes){payload, len}, &f.at, err);
    if (st == PERFILE_OK)
        w->features[PERFILE_FEATURE_COMPRESSED] = f;
    return st;
}
