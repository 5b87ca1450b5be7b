/* gzip by zlib (see gzip.h).  The header has no name and no time, so that equal output is equal
 * files. */
#include "emit/emitter.h"

#ifdef PERFILE_WITH_PPROF /* cmake/forms.cmake */

#include "emit/gzip.h"

#include "base/error.h"

/* Sizes of the compression: 2^BITS bytes of window, zlib's measure of memory, bytes of output at
 * once.  Under a fuzzer small ones: clearing 300 KiB would take most of a small profile's time. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { BITS = 9, MEMORY = 1, ROOM = 256 };
#else
enum { BITS = 15, MEMORY = 8, ROOM = 64 << 10 };
#endif
enum {
    WINDOW = BITS + 16, /* with 16 zlib writes gzip instead of its own format */
    MOST = 1 << 30      /* bytes of input at once: zlib counts them in 32 bits */
};

bool pf_gzip_begin(pf_gzip *g, perfile_emitter *e)
{
    *g = (pf_gzip){.e = e};
    return deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW, MEMORY,
                        Z_DEFAULT_STRATEGY) == Z_OK;
}

/* Lets zlib work until it needs nothing more of the output. */
static perfile_status run(pf_gzip *g, int flush, perfile_error *err)
{
    perfile_status st;
    do {
        uint8_t *out = pf_emit_room(g->e, ROOM);
        if (!out)
            return pf_fail_nomem(err, "gzip");
        g->z.next_out = out;
        g->z.avail_out = ROOM;
        (void)deflate(&g->z, flush); /* fails only where the stream is not one */
        pf_emit_filled(g->e, g->z.next_out);
        st = g->e->out.len >= ROOM ? pf_emitter_write_out(g->e, err) : PERFILE_OK;
    } while (st == PERFILE_OK && g->z.avail_out == 0);
    return st;
}

perfile_status pf_gzip_put(pf_gzip *g, perfile_bytes bytes, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    while (bytes.len && st == PERFILE_OK) {
        const size_t n = bytes.len < MOST ? bytes.len : MOST;
        g->z.next_in = bytes.ptr;
        g->z.avail_in = (uInt)n;
        st = run(g, Z_NO_FLUSH, err);
        bytes.ptr += n;
        bytes.len -= n;
    }
    return st;
}

perfile_status pf_gzip_finish(pf_gzip *g, perfile_error *err)
{
    g->z.avail_in = 0;
    return run(g, Z_FINISH, err);
}

void pf_gzip_free(pf_gzip *g)
{
    (void)deflateEnd(&g->z);
}

#endif
