/* Numbers of variable length, as DWARF has them. */
#ifndef PF_UNWIND_LEB_H
#define PF_UNWIND_LEB_H

#include "base/cursor.h"

enum { PF_LEB_BYTES = 10 }; /* of the longest number of 64 bits */

/* Reads the 7-bit groups of a number; *shift is the number of bits.  One that is longer than
 * PF_LEB_BYTES makes the cursor bad: each number costs a bounded number of steps. */
static inline uint64_t pf_cur_leb_bits(pf_cursor *c, unsigned *shift, uint8_t *last)
{
    uint64_t v = 0;
    for (*shift = 0; *shift < 7 * PF_LEB_BYTES; *shift += 7) {
        *last = pf_cur_u8(c);
        if (*shift < 64)
            v |= (uint64_t)(*last & 0x7f) << *shift;
        if (!(*last & 0x80)) {
            *shift += 7;
            return v;
        }
    }
    c->bad = true;
    return 0;
}

/* Bits beyond the 64th are lost. */
static inline uint64_t pf_cur_uleb(pf_cursor *c)
{
    unsigned shift;
    uint8_t last = 0;
    return pf_cur_leb_bits(c, &shift, &last);
}

static inline int64_t pf_cur_sleb(pf_cursor *c)
{
    unsigned shift;
    uint8_t last = 0;
    uint64_t v = pf_cur_leb_bits(c, &shift, &last);
    if (!c->bad && shift < 64 && (last & 0x40))
        v |= UINT64_MAX << shift;
    return (int64_t)v;
}

#endif
