/* Compression and decompression of records: one zstd stream per part of a capture, divided anywhere
 * into records. */
#ifndef PF_IO_ZSTD_H
#define PF_IO_ZSTD_H

#include "base/buffer.h"
#include "perfile/base.h"

typedef struct pf_inflate pf_inflate;

/* Makes a decompressor.  `window_log` is limits.zstd_window, clamped to the range that this zstd
 * accepts.  Returns NULL when out of memory. */
pf_inflate *pf_inflate_new(unsigned window_log);

void pf_inflate_free(pf_inflate *z);

/* Drops the state of the stream: the next bytes must begin a new frame. */
void pf_inflate_reset(pf_inflate *z);

/* Decompresses `in` and appends the result, at most `limit` bytes, to `out`.  The stream continues
 * from call to call: a frame may begin and end anywhere in `in`, and need not end at all.
 *
 * Fails with PERFILE_E_LIMIT and where "inflate_bytes" if there are more than `limit` bytes of
 * output, or "zstd_window" if a frame needs a larger window.  Fails with PERFILE_E_CORRUPT if zstd
 * rejects the bytes.  After a failure `out` holds the bytes decompressed before it, and the stream
 * is reset. */
perfile_status pf_inflate_feed(pf_inflate *z, perfile_bytes in, pf_buffer *out, uint64_t limit,
                               perfile_error *err);

/* Like pf_inflate_feed(), for bytes that may end in zero padding (COMPRESSED2 records are padded to
 * 8 bytes): zero bytes at the end of `in` are dropped if they follow a complete zstd block or
 * frame.  Within a frame, zstd would take three of them for an empty block and the rest for the
 * start of the next block header. */
perfile_status pf_inflate_feed_padded(pf_inflate *z, perfile_bytes in, pf_buffer *out,
                                      uint64_t limit, perfile_error *err);

/* Compression for COMPRESSED records: one zstd stream that is flushed at every call and never
 * ended, as perf record -z writes it. */

typedef struct pf_deflate pf_deflate;

enum { PF_DEFLATE_LEVEL_MOST = 22 };

/* Makes a compressor.  `level` is a zstd compression level, up to PF_DEFLATE_LEVEL_MOST.  Returns
 * NULL when out of memory. */
pf_deflate *pf_deflate_new(int level);

void pf_deflate_free(pf_deflate *z);

/* Returns the maximum size of the output of pf_deflate_feed() for `n` bytes of input. */
size_t pf_deflate_bound(size_t n);

/* Compresses `in` and flushes, so that a reader can decompress all of it from the *len bytes in
 * `out`.  `room` is the size of `out`, at least pf_deflate_bound(in.len).  After a failure the
 * stream must not be used again. */
perfile_status pf_deflate_feed(pf_deflate *z, perfile_bytes in, uint8_t *out, size_t room,
                               size_t *len, perfile_error *err);

#endif
