/* Parquet's encodings of numbers in pages: variable-length numbers, runs and packed bits,
 * differences (format/parquet.md).
 *
 * All functions append to `out` and return false when out of memory. */
#ifndef PF_PARQUET_ENCODINGS_H
#define PF_PARQUET_ENCODINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Encodings, with the format's numbers. */
enum {
    PF_ENCODING_PLAIN = 0,
    PF_ENCODING_RLE = 3,
    PF_ENCODING_DELTA_BINARY_PACKED = 5,
    PF_ENCODING_RLE_DICTIONARY = 8
};

/* Returns the number of bits of numbers up to `most`; 0 for 0. */
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

/* Maps signed numbers near zero to small unsigned numbers. */
static inline uint64_t pf_zigzag(uint64_t value)
{
    return value << 1 ^ (0 - (value >> 63));
}

/* Unsigned LEB128: 1 to 10 bytes. */
bool pf_varint(pf_buffer *out, uint64_t value);

/* Encodes `n` numbers of `width` bits (0 to 32) as RLE, the hybrid of runs and packed bits. */
bool pf_hybrid(pf_buffer *out, const uint32_t *values, size_t n, unsigned width);

/* Encodes `n` equal numbers in the same way. */
bool pf_hybrid_same(pf_buffer *out, uint32_t value, size_t n, unsigned width);

/* Encodes as DELTA_BINARY_PACKED.  `narrow`: the numbers are sign-extended 32-bit ones, otherwise
 * they have 64 bits. */
bool pf_delta(pf_buffer *out, const uint64_t *values, size_t n, bool narrow);

/* Returns the number of bytes that pf_delta() would append. */
size_t pf_delta_size(const uint64_t *values, size_t n, bool narrow);

#endif
