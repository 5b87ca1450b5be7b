/* The bytes of one chunk: checked as stored, decoded, and checked again.
 *
 * What a chunk may cost is bounded before anything is decoded: the sizes in its header keep the
 * limits (pf_chunk_decode()), the frame must announce just as many bytes as the header, and zstd
 * writes no more than these. */
#include <zstd.h>

#include "archive/header.h"
#include "archive/table.h"
#include "base/alloc.h"
#include "base/crc32.h"
#include "base/error.h"

static perfile_status fail(const pf_chunk *c, const char *where, const char *what,
                           perfile_error *err)
{
    perfile_status st = pf_fail(err, PERFILE_E_CORRUPT, where, "%s chunk at offset %llu: %s",
                                pf_chunk_kind_name(c->kind) ? pf_chunk_kind_name(c->kind) : "a",
                                (unsigned long long)c->offset, what);
    pf_error_at(err, c->offset);
    return st;
}

/* Yields `n` stored bytes at `offset`: where the source has them, if it shows all at once, else
 * copied to a->stored. */
static perfile_status stored_bytes(pf_archive *a, uint64_t offset, size_t n, perfile_bytes *bytes,
                                   perfile_error *err)
{
    pf_buffer_clear(&a->stored);
    if (a->source->lasting) { /* a mapping beside the window: no bytes are read that nobody needs */
        perfile_status st = pf_source_view(a->source, offset, n, bytes, err);
        if (st != PERFILE_OK)
            return st;
        if (bytes->len >= n) {
            bytes->len = n;
            return PERFILE_OK;
        }
    }
    for (bool first = true; a->stored.len < n || first; first = false) {
        perfile_bytes run;
        perfile_status st = pf_source_run(a->source, offset + a->stored.len, n ? 1 : 0, &run, err);
        if (st != PERFILE_OK)
            return st;
        if (first && run.len >= n) {
            *bytes = (perfile_bytes){run.ptr, n};
            return PERFILE_OK;
        }
        if (run.len == 0)
            return pf_fail(err, PERFILE_E_TRUNCATED, "archive.payload",
                           "the archive was cut while it was read");
        if (run.len > n - a->stored.len)
            run.len = n - a->stored.len;
        if (!pf_buffer_append(&a->stored, run.ptr, run.len))
            return pf_fail_nomem(err, "archive");
    }
    *bytes = (perfile_bytes){a->stored.ptr, a->stored.len};
    return PERFILE_OK;
}

/* True if the window of a frame that has been found whole is not larger than the format allows.
 * zstd compares it only when it decodes in pieces.  A frame in one segment has no window of its
 * own. */
static bool has_valid_window(perfile_bytes frame)
{
    enum { DESCRIPTOR_AT = 4, SINGLE_SEGMENT = 0x20, LOG_LEAST = 10 };
    if (frame.len < DESCRIPTOR_AT + 2 || frame.ptr[DESCRIPTOR_AT] & SINGLE_SEGMENT)
        return true;
    const unsigned window = frame.ptr[DESCRIPTOR_AT + 1]; /* exponent and eighths */
    return window <= (PF_ARCHIVE_MOST_WINDOW_LOG - LOG_LEAST) << 3;
}

/* Decompresses one frame to `out`, which has room for c->raw_len bytes. */
static perfile_status decompress(pf_archive *a, const pf_chunk *c, perfile_bytes frame,
                                 uint8_t *out, perfile_error *err)
{
    if (!a->zstd)
        a->zstd = ZSTD_createDCtx();
    if (!a->zstd)
        return pf_fail_nomem(err, "archive");
    (void)ZSTD_DCtx_setParameter(a->zstd, ZSTD_d_windowLogMax, PF_ARCHIVE_MOST_WINDOW_LOG);
    if (ZSTD_getFrameContentSize(frame.ptr, frame.len) != c->raw_len ||
        ZSTD_findFrameCompressedSize(frame.ptr, frame.len) != frame.len || !has_valid_window(frame))
        return fail(c, "archive.payload", "it is no frame of as many bytes as its header says",
                    err);
    const size_t n = ZSTD_decompressDCtx(a->zstd, out, c->raw_len, frame.ptr, frame.len);
    if (ZSTD_isError(n) || n != c->raw_len)
        return fail(c, "archive.payload", ZSTD_isError(n) ? ZSTD_getErrorName(n) : "too short",
                    err);
    return PERFILE_OK;
}

/* Decoded bytes on their way to a caller, who gets them in pieces. */
typedef struct pieces_out {
    uint32_t crc; /* of those so far */
    bool shown;   /* they were summed up while they were decoded */
    pf_archive_piece *piece;
    void *user;
} pieces_out;

static void sum_up(void *user, perfile_bytes bytes)
{
    pieces_out *x = user;
    x->crc = pf_crc32c(x->crc, bytes);
    x->shown = true;
    if (x->piece)
        x->piece(x->user, bytes);
}

/* Puts the records of a chunk together at `out`, which has room for c->raw_len bytes. */
static perfile_status join_columns(pf_archive *a, const pf_chunk *c, perfile_bytes columns,
                                   uint8_t *out, pieces_out *pieces, perfile_error *err)
{
    perfile_error why;
    if (!a->columns)
        a->columns = pf_columns_decoder_new();
    if (!a->columns)
        return pf_fail_nomem(err, "archive");
    const bool big = c->flags & PF_CHUNK_FLAG_BIG_ENDIAN;
    const perfile_status st =
        pf_columns_decode_pieces(a->columns, columns, big, out, c->raw_len, sum_up, pieces, &why);
    if (st == PERFILE_E_CORRUPT)
        return fail(c, "archive.columns", why.message, err);
    return st == PERFILE_OK ? st : pf_fail_nomem(err, "archive");
}

/* Decodes to `out`, which has room for c->raw_len bytes. */
static perfile_status decode(pf_archive *a, const pf_chunk *c, perfile_bytes stored, uint8_t *out,
                             pieces_out *pieces, perfile_error *err)
{
    switch (c->codec) {
    case PF_CODEC_RAW:
        if (stored.len)
            memcpy(out, stored.ptr, stored.len);
        return PERFILE_OK;
    case PF_CODEC_ZSTD:
        return decompress(a, c, stored, out, err);
    case PF_CODEC_COLUMNS:
        return join_columns(a, c, stored, out, pieces, err);
    default:
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "archive.codec",
                       "the chunk at offset %llu has codec %u, which this library does not know",
                       (unsigned long long)c->offset, c->codec);
    }
}

perfile_status pf_archive_pieces(pf_archive *a, const pf_chunk *c, pf_buffer *out,
                                 pf_archive_piece *piece, void *user, perfile_error *err)
{
    const uint64_t at = c->offset + PF_ARCHIVE_HEADER + pf_chunk_meta_bytes(c);
    pieces_out pieces = {.piece = piece, .user = user};
    perfile_bytes stored;
    perfile_status st = stored_bytes(a, at, pf_chunk_payload_bytes(c), &stored, err);
    if (st != PERFILE_OK)
        return st;
    if (pf_crc32c(0, stored) != c->payload_crc)
        return fail(c, "archive.payload_crc", "the checksum of the payload is wrong", err);
    stored.len = c->payload_len;
    if (!pf_buffer_reserve_large(out, (size_t)c->raw_len + 1)) /* so that out->ptr is not NULL */
        return pf_fail_nomem(err, "archive");
    uint8_t *raw = out->ptr + out->len;
    st = decode(a, c, stored, raw, &pieces, err);
    if (st != PERFILE_OK)
        return st;
    if (!pieces.shown)
        sum_up(&pieces, (perfile_bytes){raw, c->raw_len});
    if (pieces.crc != c->raw_crc)
        return fail(c, "archive.raw_crc", "the checksum of the decoded bytes is wrong", err);
    out->len += c->raw_len;
    return PERFILE_OK;
}

perfile_status pf_archive_payload(pf_archive *a, const pf_chunk *c, pf_buffer *out,
                                  perfile_error *err)
{
    return pf_archive_pieces(a, c, out, NULL, NULL, err);
}

/* A payload that is read piece by piece. */
typedef struct pieces {
    pf_archive *archive;
    uint64_t at; /* of the payload in the archive */
} pieces;

static perfile_status read_piece(void *user, size_t offset, size_t len, perfile_bytes *bytes,
                                 perfile_error *err)
{
    const pieces *p = user;
    return stored_bytes(p->archive, p->at + offset, (uint32_t)len, bytes, err);
}

/* Begins to read the payload of a chunk in pieces; makes the decoder, if there is memory for it. */
static pf_columns_input open_pieces(pf_archive *a, const pf_chunk *c, pieces *p)
{
    *p = (pieces){a, c->offset + PF_ARCHIVE_HEADER + pf_chunk_meta_bytes(c)};
    if (!a->columns)
        a->columns = pf_columns_decoder_new();
    return (pf_columns_input){
        .read = read_piece, .user = p, .len = c->payload_len, .stays = a->source->lasting};
}

perfile_status pf_archive_apart(pf_archive *a, const pf_chunk *c, pf_buffer *out, pf_buffer *ranges,
                                uint64_t *n_records, perfile_error *err)
{
    pieces p;
    const pf_columns_input input = open_pieces(a, c, &p);
    /* What is apart is a few records among many that are not touched. */
    if (!a->columns || !pf_buffer_reserve(out, (size_t)c->raw_len + 1))
        return pf_fail_nomem(err, "archive");
    const bool big = c->flags & PF_CHUNK_FLAG_BIG_ENDIAN;
    perfile_status st = pf_columns_decode_apart(a->columns, &input, big, out->ptr + out->len,
                                                c->raw_len, ranges, n_records, err);
    const pf_columns_range *all = (const pf_columns_range *)(const void *)ranges->ptr;
    const size_t n = ranges->len / sizeof *all;
    if (st == PERFILE_OK)
        out->len += n ? all[n - 1].at + all[n - 1].bytes : 0;
    return st;
}

perfile_status pf_archive_stored(pf_archive *a, const pf_chunk *c, perfile_bytes *stored,
                                 perfile_error *err)
{
    const uint64_t at = c->offset + PF_ARCHIVE_HEADER + pf_chunk_meta_bytes(c);
    perfile_status st = stored_bytes(a, at, pf_chunk_payload_bytes(c), stored, err);
    if (st != PERFILE_OK)
        return st;
    if (pf_crc32c(0, *stored) != c->payload_crc)
        return fail(c, "archive.payload_crc", "the checksum of the payload is wrong", err);
    stored->len = c->payload_len;
    return PERFILE_OK;
}

/* What the index has of the metadata of a chunk; empty: nothing that is known to be that. */
static perfile_bytes indexed_meta(const pf_archive *a, const pf_chunk *c)
{
    const uint32_t i = (uint32_t)(c - a->chunks);
    if (i >= a->n_indexed)
        return (perfile_bytes){NULL, 0};
    const uint32_t *at = (const uint32_t *)(const void *)a->indexed_at.ptr;
    const perfile_bytes meta = {a->indexed.ptr + at[i], pf_chunk_meta_bytes(c)};
    return pf_crc32c(0, meta) == c->meta_crc ? meta : (perfile_bytes){NULL, 0};
}

perfile_status pf_archive_zone(pf_archive *a, const pf_chunk *c, pf_buffer *out, perfile_error *err)
{
    const perfile_bytes meta = indexed_meta(a, c);
    if (!meta.len)
        return pf_archive_meta(a, c, out, err);
    return pf_buffer_append(out, meta.ptr, c->meta_len) ? PERFILE_OK
                                                        : pf_fail_nomem(err, "archive");
}

perfile_status pf_archive_meta(pf_archive *a, const pf_chunk *c, pf_buffer *out, perfile_error *err)
{
    perfile_bytes stored;
    perfile_status st =
        stored_bytes(a, c->offset + PF_ARCHIVE_HEADER, pf_chunk_meta_bytes(c), &stored, err);
    if (st != PERFILE_OK)
        return st;
    if (pf_crc32c(0, stored) != c->meta_crc)
        return fail(c, "archive.meta_crc", "the checksum of the metadata is wrong", err);
    return pf_buffer_append(out, stored.ptr, c->meta_len) ? PERFILE_OK
                                                          : pf_fail_nomem(err, "archive");
}

void pf_archive_borrow(const pf_archive *from, perfile_source *source, pf_archive *a)
{
    *a = *from;
    a->source = source;
    a->borrowed = true; /* also what is indexed */
    a->zstd = NULL;
    a->columns = NULL;
    a->stored = (pf_buffer){0};
}

void pf_archive_clear(pf_archive *a)
{
    ZSTD_freeDCtx(a->zstd);
    pf_columns_decoder_free(a->columns);
    if (!a->borrowed) {
        pf_free(a->chunks);
        pf_free(a->order);
        pf_free(a->gaps);
        pf_buffer_free(&a->indexed);
        pf_buffer_free(&a->indexed_at);
    }
    pf_buffer_free(&a->stored);
    *a = (pf_archive){0};
}
