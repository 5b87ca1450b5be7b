/* Compression for COMPRESSED records: one zstd stream that is flushed at every call and never
 * ended, as perf record -z writes it. */
#ifndef PF_IO_DEFLATE_H
#define PF_IO_DEFLATE_H

#include "perfile/base.h"

typedef struct pf_deflate pf_deflate;

enum { PF_DEFLATE_LEVEL_MOST = 22 };

/* `level` is a zstd compression level, up to PF_DEFLATE_LEVEL_MOST.  Returns NULL if there is no
 * memory. */
pf_deflate *pf_deflate_new(int level);

void pf_deflate_free(pf_deflate *z);

/* The largest output of pf_deflate_feed() for `n` bytes of input. */
size_t pf_deflate_bound(size_t n);

/* Compresses `in` and flushes, so that a reader can decompress all of it from the *len bytes in
 * `out`.  `room` is the size of `out`, at least pf_deflate_bound(in.len).  After a failure the
 * stream must not be used again. */
perfile_status pf_deflate_feed(pf_deflate *z, perfile_bytes in, uint8_t *out, size_t room,
                               size_t *len, perfile_error *err);

#endif
