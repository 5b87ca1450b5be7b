/* The streams of a payload of the codec COLUMNS: what the numbers and blobs of its columns are read
 * from.  For the decoder's files only. */
#ifndef PF_ARCHIVE_COLUMNS_STREAMS_H
#define PF_ARCHIVE_COLUMNS_STREAMS_H

#include <zstd.h>

#include "base/buffer.h"
#include "perfile/base.h"

/* A payload that is being read.  The head and small streams are in frame 0, large streams have a
 * frame each.  After the first failure `bad` says what was wrong, and every read yields zeros. */
typedef struct pf_streams {
    ZSTD_DCtx *zstd;
    const char *bad; /* NULL: nothing was wrong */
    bool no_memory;
    size_t raw_len;                   /* decoded bytes of the chunk: the bound of every count */
    const uint8_t *head, *head_end;   /* the head, from the next byte on */
    const uint8_t *small, *small_end; /* small streams, from the next one on */
    const uint8_t *sizes;             /* stored sizes of the frames, from the next one on */
    const uint8_t *frames;            /* the frames, from the next one on */
    uint32_t n_frames;                /* that are left */
    pf_buffer first;                  /* frame 0, decoded */
} pf_streams;

/* Begins a payload: reads its frame 0.  A failure is in s->bad. */
void pf_streams_open(pf_streams *s, perfile_bytes payload, size_t raw_len);

/* Sets `bad` unless it is set. */
void pf_streams_fail(pf_streams *s, const char *why);

/* A byte, and an unsigned LEB128 number of at most 64 bits, of the head. */
uint8_t pf_streams_u8(pf_streams *s);
uint64_t pf_streams_v(pf_streams *s);

/* A LEB128 number of a stream.  False: it runs past the end, or has more than 64 bits. */
bool pf_leb128(const uint8_t **at, const uint8_t *end, uint64_t *v);

/* The next stream, of `least` to `most` bytes.  They lie in the payload, or are decoded to
 * `buffer`, which is emptied first.  Empty after a failure. */
perfile_bytes pf_streams_next(pf_streams *s, size_t least, size_t most, pf_buffer *buffer);

/* True if all of the head, the small streams and the frames was read. */
bool pf_streams_at_end(const pf_streams *s);

#endif
