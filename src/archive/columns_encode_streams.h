/* Streams of a payload in the making: the head, small streams, and a frame for each large stream.
 * For the encoder's files only. */
#ifndef PF_ARCHIVE_COLUMNS_ENCODE_STREAMS_H
#define PF_ARCHIVE_COLUMNS_ENCODE_STREAMS_H

#include <zstd.h>

#include "base/buffer.h"
#include "perfile/base.h"

/* A payload that is being written.  After the first failure `failed` stays set, and every call does
 * nothing: the caller asks once, at the end. */
typedef struct pf_streams_out {
    ZSTD_CCtx *zstd;
    int level;
    bool failed; /* out of memory */
    pf_buffer head, small;
    pf_buffer frames; /* stored, one behind the other */
    pf_buffer sizes;  /* uint32_t of each frame … */
    pf_buffer crcs;   /* … and its CRC */
    pf_buffer first;  /* scratch: frame 0 */
} pf_streams_out;

/* Makes room for a new payload; memory is kept. */
void pf_streams_out_begin(pf_streams_out *s, int level);

void pf_streams_out_free(pf_streams_out *s);

/* A byte, and a number, for the head. */
void pf_streams_out_u8(pf_streams_out *s, uint8_t v);
void pf_streams_out_v(pf_streams_out *s, uint64_t v);

/* A stream: its bytes go among the small ones or to a frame, and the head refers to it. */
void pf_streams_out_put(pf_streams_out *s, perfile_bytes bytes);

/* The same for bytes that may repeat by chance only. */
void pf_streams_out_put_by_chance(pf_streams_out *s, perfile_bytes bytes);

/* Appends the payload. */
perfile_status pf_streams_out_finish(pf_streams_out *s, pf_buffer *out, perfile_error *err);

/* Writes an unsigned LEB128 number, 10 bytes at most; returns its end. */
static inline uint8_t *pf_leb128_put(uint8_t *p, uint64_t v)
{
    while (v > 0x7f) {
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}

#endif
