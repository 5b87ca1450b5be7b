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

/* All of these return where they stopped. */

static inline uint8_t *pf_put_dec(uint8_t *at, uint64_t v)
{
    uint8_t digits[PF_DEC_MAX];
    uint8_t *p = digits + sizeof digits;
    while (v >= 100) {
        p -= 2;
        memcpy(p, pf_dec_pairs + 2 * (v % 100), 2);
        v /= 100;
    }
    if (v >= 10) {
        p -= 2;
        memcpy(p, pf_dec_pairs + 2 * v, 2);
    } else {
        *--p = (uint8_t)('0' + v);
    }
    size_t n = (size_t)(digits + sizeof digits - p);
    memcpy(at, p, n);
    return at + n;
}

/* Exactly `n` digits, zeros in front. */
static inline uint8_t *pf_put_dec_fixed(uint8_t *at, uint64_t v, unsigned n)
{
    for (unsigned i = n; i-- > 0; v /= 10)
        at[i] = (uint8_t)('0' + v % 10);
    return at + n;
}

/* Lower case, no zeros in front. */
static inline uint8_t *pf_put_hex(uint8_t *at, uint64_t v)
{
    uint8_t digits[16];
    for (int i = 7; i >= 0; i--, v >>= 8)
        memcpy(digits + 2 * i, pf_hex_pairs + 2 * (v & 0xff), 2);
    size_t skip = 0;
    while (skip < 15 && digits[skip] == '0')
        skip++;
    memcpy(at, digits + skip, 16 - skip);
    return at + 16 - skip;
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
