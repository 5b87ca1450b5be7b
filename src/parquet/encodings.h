/* How Parquet stores numbers in pages: variable-length numbers, runs and packed bits, differences
 * (format/parquet.md).
 *
 * All functions append to `out`; false: there is no memory. */
#ifndef PF_PARQUET_ENCODINGS_H
#define PF_PARQUET_ENCODINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Encodings, as the format numbers them. */
enum {
    PF_ENCODING_PLAIN = 0,
    PF_ENCODING_RLE = 3,
    PF_ENCODING_DELTA_BINARY_PACKED = 5,
    PF_ENCODING_RLE_DICTIONARY = 8
};

/* Bits that numbers up to `most` need; 0 for 0. */
static inline unsigned pf_bits_of(uint64_t most)
{
    unsigned n = 0;
    for (unsigned half = 32; half; half /= 2) {
        if (most >> half) {
            most >>= half;
            n += half;
        }
    }
    return n + (most != 0);
}

/* Numbers near zero, of both signs, as small numbers without a sign. */
static inline uint64_t pf_zigzag(uint64_t value)
{
    return value << 1 ^ (0 - (value >> 63));
}

/* Unsigned LEB128: 1 to 10 bytes. */
bool pf_varint(pf_buffer *out, uint64_t value);

/* RLE: the hybrid of runs and packed bits, of `n` numbers of `width` bits (0 to 32). */
bool pf_hybrid(pf_buffer *out, const uint32_t *values, size_t n, unsigned width);

/* The same of `n` equal numbers. */
bool pf_hybrid_same(pf_buffer *out, uint32_t value, size_t n, unsigned width);

/* DELTA_BINARY_PACKED.  `narrow`: the numbers have 32 bits, with the sign extended; else 64. */
bool pf_delta(pf_buffer *out, const uint64_t *values, size_t n, bool narrow);

/* Bytes that pf_delta() would append. */
size_t pf_delta_size(const uint64_t *values, size_t n, bool narrow);

#endif
