/* Numbers and bytes as characters, into room that the caller made. */
#ifndef PF_EMIT_DIGITS_H
#define PF_EMIT_DIGITS_H

#include <string.h>

#include "perfile/base.h"

enum {
    PF_DEC_MAX = 20, /* digits of the largest number */
    PF_HEX_MAX = 18  /* with 0x */
};

/* "00" "01" … "99", and "00" "01" … "ff". */
extern const char pf_dec_pairs[200];
extern const char pf_hex_pairs[512];

/* 1, 10, 100 … */
extern const uint64_t pf_dec_powers[PF_DEC_MAX];

/* All of these return where they stopped. */

/* How many digits `v` has. */
static inline unsigned pf_dec_length(uint64_t v)
{
    unsigned bits = 64 - (unsigned)__builtin_clzll(v | 1);
    unsigned least = bits * 1233 >> 12; /* of log 2 */
    return least + (v >= pf_dec_powers[least]) + (v == 0);
}

static inline uint8_t *pf_put_dec(uint8_t *at, uint64_t v)
{
    uint8_t *end = at + pf_dec_length(v);
    uint8_t *p = end;
    for (; v >= 100; v /= 100) {
        p -= 2;
        memcpy(p, pf_dec_pairs + 2 * (v % 100), 2);
    }
    if (v >= 10)
        memcpy(p - 2, pf_dec_pairs + 2 * v, 2);
    else
        p[-1] = (uint8_t)('0' + v);
    return end;
}

/* Exactly `n` digits, zeros in front. */
static inline uint8_t *pf_put_dec_fixed(uint8_t *at, uint64_t v, unsigned n)
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

/* Lower case, no zeros in front. */
static inline uint8_t *pf_put_hex(uint8_t *at, uint64_t v)
{
    uint8_t *end = at + (67 - (unsigned)__builtin_clzll(v | 1)) / 4;
    uint8_t *p = end;
    for (; v >= 16; v >>= 8) {
        p -= 2;
        memcpy(p, pf_hex_pairs + 2 * (v & 0xff), 2);
    }
    if (p != at)
        *at = (uint8_t)pf_hex_pairs[2 * v + 1];
    return end;
}

static inline uint8_t *pf_put_0x(uint8_t *at, uint64_t v)
{
    at[0] = '0';
    at[1] = 'x';
    return pf_put_hex(at + 2, v);
}

/* Exactly `n` digits, zeros in front. */
static inline uint8_t *pf_put_hex_fixed(uint8_t *at, uint64_t v, unsigned n)
{
    for (unsigned i = n; i-- > 0; v >>= 4)
        at[i] = (uint8_t) "0123456789abcdef"[v & 15];
    return at + n;
}

/* Two digits a byte. */
static inline uint8_t *pf_put_bytes(uint8_t *at, perfile_bytes bytes)
{
    for (size_t i = 0; i < bytes.len; i++, at += 2)
        memcpy(at, pf_hex_pairs + 2 * bytes.ptr[i], 2);
    return at;
}

#endif
