/* Copying records, which are mostly so short that a call of memcpy() would cost more than the copy.
 */
#ifndef PF_BASE_COPY_H
#define PF_BASE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void pf_copy_16(uint8_t *to, const uint8_t *from)
{
    memcpy(to, from, 16);
}

/* Inline copy for 32 to 128 bytes, memcpy() for other lengths.  The first and last 32 bytes are
 * copied in fixed-size pieces that may overlap, so that no byte outside of the `n` bytes is read or
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
