/* Numbers and bytes as characters, into room that the caller made. */
#ifndef PF_EMIT_DIGITS_H
#define PF_EMIT_DIGITS_H

#include <string.h>

#include "base/byte_order.h"
#include "perfile/base.h"

enum {
    PF_DEC_MAX = 20, /* digits of the largest number */
    PF_HEX_MAX = 18  /* with 0x */
};

/* "00" "01" … "99", and "00" "01" … "ff". */
extern const char pf_dec_pairs[200];
extern const char pf_hex_pairs[512];

/* All of these return where they stopped.  Numbers without zeros in front write up to 8 (decimal)
 * or 16 (hexadecimal) bytes at a time: what is behind the end they return is worthless. */

/* The lowest byte first. */
PF_INLINE void pf_put_word(uint8_t *at, uint64_t word)
{
    word = PF_NATIVE_BIG ? pf_swap_u64(word) : word;
    memcpy(at, &word, sizeof word);
}

/* Values of the 8 decimal digits of v < 10^8, the first in the lowest byte.  Each step halves what
 * a lane holds, by products that are exact for that much: the quotient stays in the lower half, the
 * rest goes to the upper one.  q + (x - d * q) * 2^n is (x << n) - q * (d * 2^n - 1). */
PF_INLINE uint64_t pf_dec_values(uint32_t v)
{
    uint64_t x = v, q = v / 10000;
    x = (x << 32) - q * ((UINT64_C(10000) << 32) - 1);
    q = x * 10486 >> 20 & UINT64_C(0x0000007f0000007f); /* by 100 */
    x = (x << 16) - q * ((100 << 16) - 1);
    q = x * 103 >> 10 & UINT64_C(0x000f000f000f000f); /* by 10 */
    return (x << 8) - q * ((10 << 8) - 1);
}

#define PF_DIGIT_ZEROS UINT64_C(0x3030303030303030)

/* v < 10^8, all 8 digits. */
PF_INLINE uint8_t *pf_put_dec_8(uint8_t *at, uint32_t v)
{
    pf_put_word(at, pf_dec_values(v) + PF_DIGIT_ZEROS);
    return at + 8;
}

/* v < 10^8, no zeros in front. */
PF_INLINE uint8_t *pf_put_dec_up_to_8(uint8_t *at, uint32_t v)
{
    uint64_t x = pf_dec_values(v);
    unsigned zeros = (unsigned)__builtin_ctzll(x | UINT64_C(1) << 56) / 8;
    pf_put_word(at, (x + PF_DIGIT_ZEROS) >> 8 * zeros);
    return at + 8 - zeros;
}

/* v < 10^4, no zeros in front: the same with half the steps. */
PF_INLINE uint8_t *pf_put_dec_up_to_4(uint8_t *at, uint32_t v)
{
    uint32_t q = v * 5243 >> 19; /* by 100 */
    uint32_t x = (v << 16) - q * ((100 << 16) - 1);
    q = x * 103 >> 10 & 0x000f000f; /* by 10 */
    x = (x << 8) - q * ((10 << 8) - 1);
    unsigned zeros = (unsigned)__builtin_ctz(x | 1U << 24) / 8;
    x = (x + 0x30303030) >> 8 * zeros;
    x = PF_NATIVE_BIG ? pf_swap_u32(x) : x;
    memcpy(at, &x, sizeof x);
    return at + 4 - zeros;
}

/* v >= 10^8. */
uint8_t *pf_put_dec_long(uint8_t *at, uint64_t v);

PF_INLINE uint8_t *pf_put_dec(uint8_t *at, uint64_t v)
{
    if (v < 10) {
        *at = (uint8_t)('0' + v);
        return at + 1;
    }
    if (v < 10000)
        return pf_put_dec_up_to_4(at, (uint32_t)v);
    return v < 100000000 ? pf_put_dec_up_to_8(at, (uint32_t)v) : pf_put_dec_long(at, v);
}

/* Exactly `n` digits, zeros in front. */
PF_INLINE uint8_t *pf_put_dec_fixed(uint8_t *at, uint64_t v, unsigned n)
{
    uint8_t *p = at + n;
    for (; p - at >= 2; v /= 100) {
        p -= 2;
        memcpy(p, pf_dec_pairs + 2 * (v % 100), 2);
    }
    if (p != at)
        *at = (uint8_t)('0' + v % 10);
    return at + n;
}

/* The 8 hexadecimal digits of `v`, the first in the lowest byte. */
PF_INLINE uint64_t pf_hex_digits(uint32_t v)
{
    uint64_t x = pf_swap_u32(v);
    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x >> 4 & UINT64_C(0x000f000f000f000f)) | (x & UINT64_C(0x000f000f000f000f)) << 8;
    uint64_t letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return x + PF_DIGIT_ZEROS + letters * ('a' - '0' - 10);
}

/* Lower case, no zeros in front. */
PF_INLINE uint8_t *pf_put_hex(uint8_t *at, uint64_t v)
{
    unsigned zeros = (unsigned)__builtin_clzll(v | 1) / 4;
    v <<= 4 * zeros;
    pf_put_word(at, pf_hex_digits((uint32_t)(v >> 32)));
    pf_put_word(at + 8, pf_hex_digits((uint32_t)v));
    return at + 16 - zeros;
}

PF_INLINE uint8_t *pf_put_0x(uint8_t *at, uint64_t v)
{
    at[0] = '0';
    at[1] = 'x';
    return pf_put_hex(at + 2, v);
}

/* Exactly `n` digits, zeros in front. */
PF_INLINE uint8_t *pf_put_hex_fixed(uint8_t *at, uint64_t v, unsigned n)
{
    for (unsigned i = n; i-- > 0; v >>= 4)
        at[i] = (uint8_t) "0123456789abcdef"[v & 15];
    return at + n;
}

/* Of 0 to 15.  Arithmetic, so that a loop of it becomes vectors. */
PF_INLINE uint8_t pf_hex_digit(uint8_t v)
{
    return (uint8_t)(v + '0' + (v > 9 ? 'a' - '0' - 10 : 0));
}

/* Two digits a byte. */
PF_INLINE uint8_t *pf_put_bytes(uint8_t *restrict at, perfile_bytes bytes)
{
    const uint8_t *restrict from = bytes.ptr;
    size_t i = 0;
    for (size_t blocks = bytes.len & ~(size_t)15; i < blocks; i++) {
        at[2 * i] = pf_hex_digit(from[i] >> 4);
        at[2 * i + 1] = pf_hex_digit(from[i] & 15);
    }
    for (; i < bytes.len; i++)
        memcpy(at + 2 * i, pf_hex_pairs + 2 * from[i], 2);
    return at + 2 * bytes.len;
}

#endif
