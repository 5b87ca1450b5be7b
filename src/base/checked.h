/* Arithmetic on numbers from input that detects overflow. */
#ifndef PF_BASE_CHECKED_H
#define PF_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Computes *sum = a + b.  Returns true if the sum overflowed; *sum is then the sum modulo 2^64. */
static inline bool pf_add_u64(uint64_t a, uint64_t b, uint64_t *sum)
{
    *sum = a + b;
    return *sum < a;
}

/* Computes *product = a * b.  Returns true if the product overflowed; *product is then
 * unchanged. */
static inline bool pf_mul_size(size_t a, size_t b, size_t *product)
{
    if (a && b > SIZE_MAX / a)
        return true;
    *product = a * b;
    return false;
}

/* Returns true if [offset, offset + size) is inside [0, total).  Nothing overflows. */
static inline bool pf_within(uint64_t offset, uint64_t size, uint64_t total)
{
    return offset <= total && size <= total - offset;
}

/* Copies of records.  Most records are so short that a call of memcpy() would cost more than the
 * copy. */

static inline void pf_copy_16(uint8_t *to, const uint8_t *from)
{
    memcpy(to, from, 16);
}

/* Copies 32 to 128 bytes inline, and other lengths with memcpy().  The first and last 32 bytes are
 * copied in fixed-size pieces that may overlap, so that no byte outside the `n` bytes is read or
 * written. */
static inline void pf_copy_small(uint8_t *to, const uint8_t *from, size_t n)
{
    if (n < 32 || n > 128) {
        memcpy(to, from, n);
        return;
    }
    pf_copy_16(to, from);
    pf_copy_16(to + 16, from + 16);
    for (size_t at = 32; n > 64 && at < n - 32; at += 32) {
        pf_copy_16(to + at, from + at);
        pf_copy_16(to + at + 16, from + at + 16);
    }
    pf_copy_16(to + n - 32, from + n - 32);
    pf_copy_16(to + n - 16, from + n - 16);
}

#endif
