/* Arithmetic on numbers from input that detects overflow. */
#ifndef PF_BASE_CHECKED_H
#define PF_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* *sum = a + b.  Returns true if the sum overflowed; *sum is then the sum modulo 2^64. */
static inline bool pf_add_u64(uint64_t a, uint64_t b, uint64_t *sum)
{
    *sum = a + b;
    return *sum < a;
}

/* *product = a * b.  Returns true if the product overflowed; *product is then unchanged. */
static inline bool pf_mul_size(size_t a, size_t b, size_t *product)
{
    if (a && b > SIZE_MAX / a)
        return true;
    *product = a * b;
    return false;
}

/* True if [offset, offset + size) lies inside [0, total); nothing overflows. */
static inline bool pf_within(uint64_t offset, uint64_t size, uint64_t total)
{
    return offset <= total && size <= total - offset;
}

#endif
