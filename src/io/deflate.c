/* Compression for COMPRESSED records, a thin layer over libzstd. */
#include "io/deflate.h"

#include <zstd.h>
#include <zstd_errors.h>

#include "base/alloc.h"
#include "base/error.h"

/* A zstd compression context; the window of the stream lives in it. */
struct pf_deflate {
    ZSTD_CCtx *zstd;
};

pf_deflate *pf_deflate_new(int level)
{
    pf_deflate *z = pf_alloc(1, sizeof *z);
    if (!z)
        return NULL;
    z->zstd = ZSTD_createCCtx();
    if (!z->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(z->zstd, ZSTD_c_compressionLevel, level))) {
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
    /* ZSTD_compressBound() is for a single complete frame; the largest frame header and the empty
     * block that a flush may add come on top. */
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
