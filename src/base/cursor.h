/* A bounded cursor over input bytes, which knows their byte order.  All input is read through it.
 *
 * A read past the end returns zero, sets `bad` and moves to the end, so that every later read
 * fails, too.  Callers check `bad` once, after the last field. */
#ifndef PF_BASE_CURSOR_H
#define PF_BASE_CURSOR_H

#include <string.h>

#include "base/byte_order.h"
#include "perfile/base.h"
#include "perfile/damage.h"

/* May be copied freely; it owns nothing. */
typedef struct pf_cursor {
    const uint8_t *pos; /* next byte to read */
    const uint8_t *end; /* after the last byte */
    bool swap;          /* the input has the other byte order than this machine */
    uint8_t bad;        /* 0, or the first damage found (PERFILE_DAMAGE_…) */
} pf_cursor;

/* Returns a cursor over `b`, which is borrowed. */
static inline pf_cursor pf_cur(perfile_bytes b, bool swap)
{
    /* Pointer arithmetic on NULL is undefined in C, even NULL + 0. */
    static const uint8_t none[1] = {0};
    const uint8_t *p = b.ptr ? b.ptr : none;
    return (pf_cursor){.pos = p, .end = p + b.len, .swap = swap};
}

/* Returns the number of bytes from the position to the end. */
PF_INLINE size_t pf_cur_left(const pf_cursor *c)
{
    return (size_t)(c->end - c->pos);
}

/* Sets `bad` unless it is already set, and moves to the end. */
PF_INLINE void pf_cur_fail(pf_cursor *c, unsigned damage)
{
    if (!c->bad)
        c->bad = (uint8_t)damage;
    c->pos = c->end;
}

/* Returns true if `n` bytes are left; otherwise the cursor fails. */
PF_INLINE bool pf_cur_has(pf_cursor *c, size_t n)
{
    if (pf_cur_left(c) >= n)
        return true;
    pf_cur_fail(c, PERFILE_DAMAGE_SHORT_BODY);
    return false;
}

PF_INLINE uint8_t pf_cur_u8(pf_cursor *c)
{
    return pf_cur_has(c, 1) ? *c->pos++ : 0;
}

PF_INLINE uint16_t pf_cur_u16(pf_cursor *c)
{
    if (!pf_cur_has(c, 2))
        return 0;
    uint16_t v = pf_load_u16(c->pos, c->swap);
    c->pos += 2;
    return v;
}

PF_INLINE uint32_t pf_cur_u32(pf_cursor *c)
{
    if (!pf_cur_has(c, 4))
        return 0;
    uint32_t v = pf_load_u32(c->pos, c->swap);
    c->pos += 4;
    return v;
}

PF_INLINE uint64_t pf_cur_u64(pf_cursor *c)
{
    if (!pf_cur_has(c, 8))
        return 0;
    uint64_t v = pf_load_u64(c->pos, c->swap);
    c->pos += 8;
    return v;
}

/* Reads the next `n` bytes, borrowed.  If fewer are left, the cursor fails and the result is
 * empty. */
PF_INLINE perfile_bytes pf_cur_span(pf_cursor *c, uint64_t n)
{
    if (n > pf_cur_left(c)) {
        pf_cur_fail(c, PERFILE_DAMAGE_SHORT_BODY);
        return (perfile_bytes){NULL, 0};
    }
    perfile_bytes b = {c->pos, (size_t)n};
    c->pos += n;
    return b;
}

/* Reads the next `n` items of `width` bytes each, borrowed.  If fewer are left, the cursor fails
 * and the result is empty.  No product overflows. */
PF_INLINE perfile_bytes pf_cur_list(pf_cursor *c, uint64_t n, unsigned width)
{
    if (n > pf_cur_left(c) / width) {
        pf_cur_fail(c, PERFILE_DAMAGE_SHORT_BODY);
        return (perfile_bytes){NULL, 0};
    }
    return pf_cur_span(c, n * width);
}

/* Reads a string as perf stores it in headers: a u32 length, then that many bytes of text with NUL
 * padding. */
static inline perfile_bytes pf_cur_string(pf_cursor *c)
{
    uint32_t n = pf_cur_u32(c);
    return pf_cur_span(c, n);
}

/* Reads text up to and including its NUL; the cursor fails if there is no NUL. */
static inline perfile_bytes pf_cur_cstr(pf_cursor *c)
{
    const uint8_t *nul = pf_cur_left(c) ? memchr(c->pos, 0, pf_cur_left(c)) : NULL;
    if (!nul) {
        pf_cur_fail(c, PERFILE_DAMAGE_SHORT_BODY);
        return (perfile_bytes){NULL, 0};
    }
    return pf_cur_span(c, (uint64_t)(nul - c->pos) + 1);
}

#endif
