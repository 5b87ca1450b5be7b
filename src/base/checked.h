/* Arithmetic on numbers from input: true when the result did not fit. */
#ifndef PF_BASE_CHECKED_H
#define PF_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool pf_add_u64(uint64_t a, uint64_t b, uint64_t *sum)
{
    *sum = a + b;
    return *sum < a;
}

static inline bool pf_mul_size(size_t a, size_t b, size_t *product)
{
    if (a && b > SIZE_MAX / a)
        return true;
    *product = a * b;
    return false;
}

/* Whether [offset, offset + size) lies inside [0, total). */
static inline bool pf_within(uint64_t offset, uint64_t size, uint64_t total)
{
    return offset <= total && size <= total - offset;
}

#endif
