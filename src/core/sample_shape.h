/* Shapes: a fast test whether the fields of a sample fill it exactly, without decoding it.  It
 * works for sample types that have nothing but 64-bit words, a call chain and raw data, which are
 * the usual ones. */
#ifndef PF_CORE_SAMPLE_SHAPE_H
#define PF_CORE_SAMPLE_SHAPE_H

#include "base/byte_order.h"
#include "perfile/event.h"

/* The bits of sample_type that take a word each, in front of all others. */
#define PF_SHAPE_WORDS                                                                             \
    ((uint64_t)PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID |                \
     PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_ADDR | PERFILE_SAMPLE_ID | PERFILE_SAMPLE_STREAM_ID |    \
     PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_PERIOD)

typedef struct pf_sample_shape {
    bool known; /* sample_type has only PF_SHAPE_WORDS, CALLCHAIN and RAW; else the rest is not used
                 */
    bool chain, raw; /* it has CALLCHAIN; RAW */
    size_t least;    /* bytes of the body without the entries of the chain and the raw data */
    size_t chain_at; /* offset of the length of the call chain in the body */
} pf_sample_shape;

static inline pf_sample_shape pf_sample_shape_of(uint64_t sample_type)
{
    uint64_t more = PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_RAW;
    pf_sample_shape s = {.known = sample_type && !(sample_type & ~(PF_SHAPE_WORDS | more)),
                         .chain = sample_type & PERFILE_SAMPLE_CALLCHAIN,
                         .raw = sample_type & PERFILE_SAMPLE_RAW,
                         .chain_at =
                             8 * (size_t)__builtin_popcountll(sample_type & PF_SHAPE_WORDS)};
    s.least = s.chain_at + (s.chain ? 8 : 0) + (s.raw ? 4 : 0);
    return s;
}

/* True if the fields fill the `len` bytes at `body`, up to 7 bytes of padding.  The shape must be
 * known.  *raw is set to the raw data if the sample type has any. */
static inline __attribute__((always_inline)) bool pf_sample_shape_fits(const pf_sample_shape *s,
                                                                       const uint8_t *body,
                                                                       size_t len, bool swap,
                                                                       perfile_bytes *raw)
{
    if (len < s->least)
        return false;
    size_t spare = len - s->least;
    size_t at = s->chain_at;
    if (s->chain) {
        uint64_t n = pf_load_u64(body + at, swap);
        if (n > spare / 8)
            return false;
        spare -= 8 * (size_t)n;
        at += 8 + 8 * (size_t)n;
    }
    if (s->raw) {
        uint32_t n = pf_load_u32(body + at, swap);
        if (n > spare)
            return false;
        spare -= n;
        *raw = (perfile_bytes){body + at + 4, n};
    }
    return spare < 8;
}

#endif
