/* Writing the streams of a payload.
 *
 * A stream of some size gets a frame of its own: its bytes have a distribution of their own, and a
 * reader that does not need the column does not decompress it.  Short ones share frame 0 with the
 * head, for a frame costs some bytes of its own and some work to begin. */
#include "archive/columns_encode.h"

#include "archive/header.h"
#include "base/byte_order.h"
#include "base/crc32.h"
#include "base/error.h"

enum {
    SMALL = 512,           /* shorter streams share frame 0 */
    WIDE_WINDOW = 1 << 20, /* longer streams get a window of their size */
    SAVES_ONE_OF = 32,     /* a frame is stored as it is unless compressing saves that part */
    FIXED = 16,            /* bytes in front of the sizes */
    LEB128_MOST = 10       /* bytes of a number */
};

void pf_streams_out_begin(pf_streams_out *s, int level)
{
    s->level = level;
    s->failed = false;
    pf_buffer_clear(&s->head);
    pf_buffer_clear(&s->small);
    pf_buffer_clear(&s->frames);
    pf_buffer_clear(&s->sizes);
    pf_buffer_clear(&s->crcs);
    if (!s->zstd && !(s->zstd = ZSTD_createCCtx()))
        s->failed = true;
}

void pf_streams_out_free(pf_streams_out *s)
{
    ZSTD_freeCCtx(s->zstd);
    pf_buffer_free(&s->head);
    pf_buffer_free(&s->small);
    pf_buffer_free(&s->frames);
    pf_buffer_free(&s->sizes);
    pf_buffer_free(&s->crcs);
    pf_buffer_free(&s->first);
}

void pf_streams_out_u8(pf_streams_out *s, uint8_t v)
{
    s->failed |= !pf_buffer_append_u8(&s->head, v);
}

void pf_streams_out_v(pf_streams_out *s, uint64_t v)
{
    if (!pf_buffer_reserve(&s->head, LEB128_MOST)) {
        s->failed = true;
        return;
    }
    s->head.len = (size_t)(pf_leb128_put(s->head.ptr + s->head.len, v) - s->head.ptr);
}

/* The least power of two that is not below `n`, as an exponent. */
static int log_of(size_t n)
{
    int log = 0;
    while (log < PF_ARCHIVE_MOST_WINDOW_LOG && (size_t)1 << log < n)
        log++;
    return log;
}

/* Compresses to `to`, which has room for the bound; returns the size, or an error of zstd. */
static size_t compress(pf_streams_out *s, uint8_t *to, size_t bound, perfile_bytes bytes)
{
    (void)ZSTD_CCtx_reset(s->zstd, ZSTD_reset_session_and_parameters);
    (void)ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, s->level);
    if (bytes.len > WIDE_WINDOW)
        (void)ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_windowLog, log_of(bytes.len));
    return ZSTD_compress2(s->zstd, to, bound, bytes.ptr, bytes.len);
}

/* The same with hardly any match: of bytes that repeat by chance a match costs more than the codes
 * of its bytes, which zstd does not count below level 13. */
static size_t compress_codes(pf_streams_out *s, uint8_t *to, size_t bound, perfile_bytes bytes)
{
    enum { LONGEST_LEAST_MATCH = 7, LEAST_HASH_LOG = 6 };
    (void)ZSTD_CCtx_reset(s->zstd, ZSTD_reset_session_and_parameters);
    (void)ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, 1);
    (void)ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_minMatch, LONGEST_LEAST_MATCH);
    (void)ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_hashLog, LEAST_HASH_LOG);
    return ZSTD_compress2(s->zstd, to, bound, bytes.ptr, bytes.len);
}

/* Appends a frame with `bytes` to `to`, what is smaller of both ways with `by_chance`; *len is its
 * stored size. */
static bool add_frame(pf_streams_out *s, perfile_bytes bytes, bool by_chance, pf_buffer *to,
                      size_t *len)
{
    const size_t bound = ZSTD_compressBound(bytes.len);
    if (!s->zstd || !pf_buffer_reserve_large(to, 2 * bound))
        return false;
    uint8_t *at = to->ptr + to->len;
    size_t n = compress(s, at, bound, bytes);
    /* A code has one bit at least. */
    if (by_chance && !ZSTD_isError(n) && n > bytes.len / 8) {
        const size_t other = compress_codes(s, at + bound, bound, bytes);
        if (!ZSTD_isError(other) && other < n) {
            n = other;
            memcpy(at, at + bound, n);
        }
    }
    if (ZSTD_isError(n))
        return false;
    if (n >= bytes.len - bytes.len / SAVES_ONE_OF) { /* equal sizes say: not compressed */
        n = bytes.len;
        if (n)
            memcpy(at, bytes.ptr, n);
    }
    to->len += n;
    *len = n;
    return true;
}

static bool append_u32(pf_buffer *to, uint32_t v)
{
    uint8_t bytes[4];
    pf_store_u32(bytes, v, PF_NATIVE_BIG);
    return pf_buffer_append(to, bytes, sizeof bytes);
}

static void put(pf_streams_out *s, perfile_bytes bytes, bool by_chance)
{
    const bool own = bytes.len >= SMALL;
    size_t len;
    pf_streams_out_v(s, (uint64_t)bytes.len << 1 | own);
    if (s->failed)
        return;
    if (!own) {
        s->failed = !pf_buffer_append(&s->small, bytes.ptr, bytes.len);
        return;
    }
    const size_t at = s->frames.len;
    s->failed = !add_frame(s, bytes, by_chance, &s->frames, &len) ||
                !append_u32(&s->sizes, (uint32_t)len) ||
                !append_u32(&s->crcs, pf_crc32c(0, (perfile_bytes){s->frames.ptr + at, len}));
}

void pf_streams_out_put(pf_streams_out *s, perfile_bytes bytes)
{
    put(s, bytes, false);
}

void pf_streams_out_put_by_chance(pf_streams_out *s, perfile_bytes bytes)
{
    put(s, bytes, true);
}

/* Frame 0 as stored, in s->first. */
static bool pack_first(pf_streams_out *s, size_t *head_len, size_t *raw0)
{
    size_t stored;
    *head_len = s->head.len;
    if (s->failed || !pf_buffer_append(&s->head, s->small.ptr, s->small.len))
        return false;
    *raw0 = s->head.len;
    pf_buffer_clear(&s->first);
    return add_frame(s, (perfile_bytes){s->head.ptr, s->head.len}, false, &s->first, &stored);
}

perfile_status pf_streams_out_finish(pf_streams_out *s, pf_buffer *out, perfile_error *err)
{
    size_t head_len, raw0;
    if (!pack_first(s, &head_len, &raw0))
        return pf_fail_nomem(err, "archive.columns");
    const size_t n_frames = s->sizes.len / 4, table = FIXED + 4 * n_frames + 4 + 4 * n_frames;
    if (!pf_buffer_reserve(out, table + 4 + s->first.len + s->frames.len))
        return pf_fail_nomem(err, "archive.columns");
    const size_t begin = out->len;
    const uint32_t crc0 = pf_crc32c(0, (perfile_bytes){s->first.ptr, s->first.len});
    bool ok = append_u32(out, (uint32_t)n_frames) && append_u32(out, (uint32_t)head_len) &&
              append_u32(out, (uint32_t)raw0) && append_u32(out, (uint32_t)s->first.len) &&
              pf_buffer_append(out, s->sizes.ptr, s->sizes.len) && append_u32(out, crc0) &&
              pf_buffer_append(out, s->crcs.ptr, s->crcs.len) &&
              append_u32(out, pf_crc32c(0, (perfile_bytes){out->ptr + begin, table})) &&
              pf_buffer_append(out, s->first.ptr, s->first.len) &&
              pf_buffer_append(out, s->frames.ptr, s->frames.len);
    return ok ? PERFILE_OK : pf_fail_nomem(err, "archive.columns");
}
