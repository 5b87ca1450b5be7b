/* Compression and decompression of records: a thin layer over libzstd that bounds the output and
 * handles padding.
 *
 * The difficulty is zero padding after the data: zstd does not say how many of the last bytes it
 * needs.  But its return value (`wanted`) hints at how many bytes it expects next, and this shows
 * where a block ends. */
#include "io/zstd.h"

#include <inttypes.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/alloc.h"
#include "base/error.h"

#define BLOCK_HEADER 3 /* bytes of a zstd block header */

struct pf_inflate {
    ZSTD_DCtx *zstd;
    size_t wanted;  /* zstd's hint: input bytes until its next step; 0 at the end of a frame */
    bool started;   /* some input was consumed since the last reset */
    uint64_t limit; /* limit of the current call, for the message */
};

pf_inflate *pf_inflate_new(unsigned window_log)
{
    pf_inflate *z = pf_alloc(1, sizeof *z);
    if (!z)
        return NULL;
    z->zstd = ZSTD_createDCtx();
    if (!z->zstd) {
        pf_free(z);
        return NULL;
    }
    ZSTD_bounds range = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
    int log = window_log < (unsigned)range.upperBound ? (int)window_log : range.upperBound;
    if (log < range.lowerBound)
        log = range.lowerBound;
    (void)ZSTD_DCtx_setParameter(z->zstd, ZSTD_d_windowLogMax, log);
    return z;
}

void pf_inflate_free(pf_inflate *z)
{
    if (!z)
        return;
    ZSTD_freeDCtx(z->zstd);
    pf_free(z);
}

void pf_inflate_reset(pf_inflate *z)
{
    (void)ZSTD_DCtx_reset(z->zstd, ZSTD_reset_session_only);
    z->wanted = 0;
    z->started = false;
}

/* Fails with the error for the result `code` of a failed zstd call. */
static perfile_status fail_zstd(size_t code, perfile_error *err)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
        return pf_fail_nomem(err, "zstd");
    case ZSTD_error_frameParameter_windowTooLarge:
        return pf_fail(err, PERFILE_E_LIMIT, "zstd_window", "zstd: %s", ZSTD_getErrorName(code));
    default:
        return pf_fail(err, PERFILE_E_CORRUPT, "zstd", "zstd: %s", ZSTD_getErrorName(code));
    }
}

/* Decompresses all of `bytes`.  *left is the number of bytes by which `out` may still grow. */
static perfile_status inflate(pf_inflate *z, perfile_bytes bytes, pf_buffer *out, uint64_t *left,
                              perfile_error *err)
{
    ZSTD_inBuffer in = {bytes.ptr, bytes.len, 0};
    bool full = false;
    while (in.pos < in.size || full) {
        if (!pf_buffer_reserve(out, ZSTD_DStreamOutSize()))
            return pf_fail_nomem(err, "zstd");
        /* One byte more than allowed: output that ends exactly at the limit does not use it, and
         * longer output fills it. */
        size_t room = out->cap - out->len;
        if (room > *left)
            room = (size_t)*left + 1;
        ZSTD_outBuffer to = {out->ptr + out->len, room, 0};
        size_t before = in.pos;
        size_t r = ZSTD_decompressStream(z->zstd, &to, &in);
        if (to.pos > *left) {
            out->len += (size_t)*left;
            *left = 0;
            return pf_fail(err, PERFILE_E_LIMIT, "inflate_bytes",
                           "zstd: the output is longer than the limit of %" PRIu64 " bytes",
                           z->limit);
        }
        out->len += to.pos;
        *left -= to.pos;
        if (ZSTD_isError(r))
            return fail_zstd(r, err);
        full = to.pos == to.size && r != 0; /* zstd may hold more output: call it again */
        if (!to.pos && in.pos == before && in.pos < in.size)
            return pf_fail(err, PERFILE_E_CORRUPT, "zstd", "zstd makes no progress");
        z->wanted = r;
        z->started = true;
    }
    return PERFILE_OK;
}

/* Calls inflate(), and resets the stream if it fails. */
static perfile_status feed(pf_inflate *z, perfile_bytes in, pf_buffer *out, uint64_t *left,
                           perfile_error *err)
{
    perfile_status st = inflate(z, in, out, left, err);
    if (st != PERFILE_OK)
        pf_inflate_reset(z);
    return st;
}

perfile_status pf_inflate_feed(pf_inflate *z, perfile_bytes in, pf_buffer *out, uint64_t limit,
                               perfile_error *err)
{
    z->limit = limit;
    return feed(z, in, out, &limit, err);
}

perfile_status pf_inflate_feed_padded(pf_inflate *z, perfile_bytes in, pf_buffer *out,
                                      uint64_t limit, perfile_error *err)
{
    if (!in.len)
        return PERFILE_OK;
    z->limit = limit;
    perfile_bytes body = in;
    while (body.len && !in.ptr[body.len - 1])
        body.len--;
    perfile_bytes zeros = {in.ptr + body.len, in.len - body.len};
    perfile_status st = body.len ? feed(z, body, out, &limit, err) : PERFILE_OK;

    /* The first of the zeros may belong to the last block. zstd's hint counts the bytes up to the
     * end of the block plus the next block header, so it equals one header exactly at the end of a
     * block.  Feed zeros until then; the remaining ones are padding. */
    while (st == PERFILE_OK && zeros.len) {
        if (z->started && (z->wanted == 0 || z->wanted == BLOCK_HEADER))
            break;
        size_t n = z->wanted > BLOCK_HEADER ? z->wanted - BLOCK_HEADER : 1;
        if (n > zeros.len || !z->started)
            n = zeros.len;
        st = feed(z, (perfile_bytes){zeros.ptr, n}, out, &limit, err);
        zeros.ptr += n;
        zeros.len -= n;
    }
    return st;
}

/* Compression for COMPRESSED records, a thin layer over libzstd. */

/* A zstd compression context, which contains the window of the stream. */
struct pf_deflate {
    ZSTD_CCtx *zstd;
};

/* High levels have a window and tables of up to 700 MB, and split has a context for each part.
 * These bounds, which levels up to 9 do not reach, make output 2 to 3 % larger. */
static bool set_level(ZSTD_CCtx *zstd, int level)
{
    enum { LARGE_TABLES = 10, MOST_LOG = 20 };
    static const ZSTD_cParameter tables[] = {ZSTD_c_windowLog, ZSTD_c_hashLog, ZSTD_c_chainLog};
    bool done = !ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level));
    for (size_t i = 0; level >= LARGE_TABLES && i < sizeof tables / sizeof tables[0]; i++)
        done &= !ZSTD_isError(ZSTD_CCtx_setParameter(zstd, tables[i], MOST_LOG));
    return done;
}

pf_deflate *pf_deflate_new(int level)
{
    pf_deflate *z = pf_alloc(1, sizeof *z);
    if (!z)
        return NULL;
    z->zstd = ZSTD_createCCtx();
    if (!z->zstd || !set_level(z->zstd, level)) {
        pf_deflate_free(z);
        return NULL;
    }
    return z;
}

void pf_deflate_free(pf_deflate *z)
{
    if (!z)
        return;
    ZSTD_freeCCtx(z->zstd);
    pf_free(z);
}

size_t pf_deflate_bound(size_t n)
{
    /* ZSTD_compressBound() is for a single complete frame.  Add the largest frame header and the
     * empty block that a flush may add. */
    enum { FRAME_HEADER = 18, FLUSH = 3 };
    return ZSTD_compressBound(n) + FRAME_HEADER + FLUSH;
}

perfile_status pf_deflate_feed(pf_deflate *z, perfile_bytes in, uint8_t *out, size_t room,
                               size_t *len, perfile_error *err)
{
    /* Flushing may take several calls; `left` bytes remain in zstd's own buffers. */
    ZSTD_inBuffer from = {in.ptr, in.len, 0};
    ZSTD_outBuffer to = {out, room, 0};
    size_t left;
    do {
        left = ZSTD_compressStream2(z->zstd, &to, &from, ZSTD_e_flush);
        if (ZSTD_isError(left))
            return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation
                       ? pf_fail_nomem(err, "zstd")
                       : pf_fail(err, PERFILE_E_UNSUPPORTED, "zstd", "zstd: %s",
                                 ZSTD_getErrorName(left));
    } while (left && to.pos < to.size);
    if (left)
        return pf_fail(err, PERFILE_E_LIMIT, "zstd", "zstd needs more than %zu bytes", room);
    *len = to.pos;
    return PERFILE_OK;
}
