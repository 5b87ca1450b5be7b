/* Records into compressed records: one zstd stream, flushed at every call and never ended. */
#ifndef PF_IO_DEFLATE_H
#define PF_IO_DEFLATE_H

#include "perfile/base.h"

typedef struct pf_deflate pf_deflate;

enum { PF_DEFLATE_LEVEL_MOST = 22 };

/* NULL when there is no memory. */
pf_deflate *pf_deflate_new(int level);

void pf_deflate_free(pf_deflate *z);

/* What `n` bytes make at most. */
size_t pf_deflate_bound(size_t n);

/* Compresses `in` and flushes, so that a reader gets all of it from what is in `out`, which has
 * room for pf_deflate_bound(in.len).  After a failure the stream is of no use any more. */
perfile_status pf_deflate_feed(pf_deflate *z, perfile_bytes in, uint8_t *out, size_t room,
                               size_t *len, perfile_error *err);

#endif
