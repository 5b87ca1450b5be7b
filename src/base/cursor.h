/* The only way input bytes are read: a bounded cursor that knows the byte order.
 *
 * Reads past the end give zero and set `bad`; callers check once, after the last field. */
#ifndef PF_BASE_CURSOR_H
#define PF_BASE_CURSOR_H

#include <string.h>

#include "base/byte_order.h"
#include "perfile/base.h"
#include "perfile/damage.h"

typedef struct pf_cursor {
    const uint8_t *pos;
    const uint8_t *end;
    bool swap;   /* stored in the other byte order than this machine's */
    uint8_t bad; /* 0, or the PERFILE_DAMAGE_… that was met first */
} pf_cursor;

static inline pf_cursor pf_cur(perfile_bytes b, bool swap)
{
    /* NULL + 0 is not arithmetic C allows. */
    static const uint8_t none[1] = {0};
    const uint8_t *p = b.ptr ? b.ptr : none;
    return (pf_cursor){.pos = p, .end = p + b.len, .swap = swap};
}

PF_INLINE size_t pf_cur_left(const pf_cursor *c)
{
    return (size_t)(c->end - c->pos);
}

PF_INLINE void pf_cur_fail(pf_cursor *c, unsigned damage)
{
    if (!c->bad)
        c->bad = (uint8_t)damage;
    c->pos = c->end;
}

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

/* The next `n` bytes as they are, or nothing and `bad` when fewer are left. */
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

/* The next `n` items of `width` bytes each, or nothing and `bad`. */
PF_INLINE perfile_bytes pf_cur_list(pf_cursor *c, uint64_t n, unsigned width)
{
    if (n > pf_cur_left(c) / width) {
        pf_cur_fail(c, PERFILE_DAMAGE_SHORT_BODY);
        return (perfile_bytes){NULL, 0};
    }
    return pf_cur_span(c, n * width);
}

/* `u32 len`, then `len` bytes that hold NUL-padded text. */
static inline perfile_bytes pf_cur_string(pf_cursor *c)
{
    uint32_t n = pf_cur_u32(c);
    return pf_cur_span(c, n);
}

/* Text up to and including its NUL; without a NUL there is damage. */
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
