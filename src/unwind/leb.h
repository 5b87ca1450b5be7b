/* Numbers of variable length, as DWARF has them. */
#ifndef PF_UNWIND_LEB_H
#define PF_UNWIND_LEB_H

#include "base/cursor.h"

/* Bits beyond the 64th are lost. */
static inline uint64_t pf_cur_uleb(pf_cursor *c)
{
    uint64_t v = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = pf_cur_u8(c);
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
        shift = shift < 64 ? shift + 7 : shift;
    } while (byte & 0x80);
    return v;
}

static inline int64_t pf_cur_sleb(pf_cursor *c)
{
    uint64_t v = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = pf_cur_u8(c);
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
        shift = shift < 64 ? shift + 7 : shift;
    } while (byte & 0x80);
    if (shift < 64 && (byte & 0x40))
        v |= UINT64_MAX << shift;
    return (int64_t)v;
}

#endif
