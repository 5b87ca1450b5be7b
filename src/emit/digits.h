/* Numbers and bytes as characters, written to a position that has room.
 *
 * All functions return where they stopped.  Those that leave out leading zeros write whole 64-bit
 * words: up to 8 (decimal) or 16 (hexadecimal) bytes, whatever the length of the number.  Bytes
 * behind the returned position are undefined.  The decimal ones compute all digits of a number in
 * parallel, in the lanes of a 64-bit word; printing numbers is most of what `dump` does. */
#ifndef PF_EMIT_DIGITS_H
#define PF_EMIT_DIGITS_H

#include <string.h>

#include "perfile/base.h"
#include "base/byte_order.h"

/* Validation of UTF-8. */

/* True if `text` is valid UTF-8: shortest forms, no surrogates, nothing above U+10FFFF. */
bool pf_utf8_valid(perfile_bytes text);

enum {
    PF_DEC_MAX = 20, /* digits of UINT64_MAX */
    PF_HEX_MAX = 18  /* digits of UINT64_MAX, with 0x */
};

/* The digit pairs "00" "01" … "99", and "00" "01" … "ff". */
extern const char pf_dec_pairs[200];
extern const char pf_hex_pairs[512];

/* Stores a 64-bit word with its lowest byte first, on every machine. */
PF_INLINE void pf_put_word(uint8_t *at, uint64_t word)
{
    word = PF_NATIVE_BIG ? pf_swap_u64(word) : word;
    memcpy(at, &word, sizeof word);
}

/* Returns the 8 decimal digits of v < 10^8 as bytes, the first digit in the lowest byte.
 *
 * Each step splits every lane x into x / d (lower half) and x % d (upper half) of a lane half as
 * wide, for d = 10^4, 100, 10.  The division by d is a multiplication and a shift that are exact
 * for the values a lane can have.  With q = x / d the result is q + ((x - d * q) << n), which
 * equals (x
 * << n) - q * ((d << n) - 1). */
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

/* v < 10^8, exactly 8 digits. */
PF_INLINE uint8_t *pf_put_dec_8(uint8_t *at, uint32_t v)
{
    pf_put_word(at, pf_dec_values(v) + PF_DIGIT_ZEROS);
    return at + 8;
}

/* v < 10^8, without leading zeros: they are the lowest bytes and are shifted out.  The bit at 56
 * keeps the last digit of 0. */
PF_INLINE uint8_t *pf_put_dec_up_to_8(uint8_t *at, uint32_t v)
{
    uint64_t x = pf_dec_values(v);
    unsigned zeros = (unsigned)__builtin_ctzll(x | UINT64_C(1) << 56) / 8;
    pf_put_word(at, (x + PF_DIGIT_ZEROS) >> 8 * zeros);
    return at + 8 - zeros;
}

/* v < 10^4, without leading zeros: the same in a 32-bit word, with one step less. */
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

/* v >= 10^8, out of line. */
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

/* Exactly `n` digits, with leading zeros; higher digits are lost. */
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

/* The 8 hexadecimal digits of `v` as characters, the first in the lowest byte: spreads the nibbles
 * to one per byte, then adds '0', and 'a' - '0' - 10 to those above 9. */
PF_INLINE uint64_t pf_hex_digits(uint32_t v)
{
    uint64_t x = pf_swap_u32(v);
    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x >> 4 & UINT64_C(0x000f000f000f000f)) | (x & UINT64_C(0x000f000f000f000f)) << 8;
    uint64_t letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return x + PF_DIGIT_ZEROS + letters * ('a' - '0' - 10);
}

/* Lower case, without leading zeros: the number is shifted to the left before. */
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

/* Exactly `n` digits, with leading zeros. */
PF_INLINE uint8_t *pf_put_hex_fixed(uint8_t *at, uint64_t v, unsigned n)
{
    for (unsigned i = n; i-- > 0; v >>= 4)
        at[i] = (uint8_t) "0123456789abcdef"[v & 15];
    return at + n;
}

/* The digit of 0 to 15.  Arithmetic instead of a table, so that loops over it become vector code.
 */
PF_INLINE uint8_t pf_hex_digit(uint8_t v)
{
    return (uint8_t)(v + '0' + (v > 9 ? 'a' - '0' - 10 : 0));
}

/* Two digits per byte: blocks of 16 bytes as vectors, the rest by table.  `at` needs 2 * bytes.len.
 */
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
