/* Compressed records: one zstd stream cut into pieces. */
#ifndef PF_IO_INFLATE_H
#define PF_IO_INFLATE_H

#include "base/buffer.h"
#include "perfile/base.h"

typedef struct pf_inflate pf_inflate;

/* `window_log` is limits.zstd_window; what zstd cannot do is brought into its range.  NULL when
 * there is no memory. */
pf_inflate *pf_inflate_new(unsigned window_log);

void pf_inflate_free(pf_inflate *z);

/* Forgets the stream: the next bytes must begin a frame. */
void pf_inflate_reset(pf_inflate *z);

/* Appends everything that `in` makes to `out`.  The stream goes on from call to call: frames may
 * begin, end and follow each other anywhere, and need not end.
 *
 * PERFILE_E_LIMIT "inflate_bytes": more than `limit` bytes of output, "zstd_window": a frame that
 * needs a larger window.  PERFILE_E_CORRUPT: zstd refuses the bytes.  After a failure `out` has
 * what came before it, at most `limit` bytes, and the stream is reset. */
perfile_status pf_inflate_feed(pf_inflate *z, perfile_bytes in, pf_buffer *out, uint64_t limit,
                               perfile_error *err);

/* The same for bytes that may end in padding: zero bytes at the end of `in` are dropped where they
 * follow a whole zstd block or frame.  (Within a frame zstd would take three of them for an empty
 * block and keep the rest as the beginning of the next one.) */
perfile_status pf_inflate_feed_padded(pf_inflate *z, perfile_bytes in, pf_buffer *out,
                                      uint64_t limit, perfile_error *err);

#endif
