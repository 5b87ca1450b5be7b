#include "emit/utf8.h"

#include <string.h>

/* Bytes of the sequence at `p`, 0 when it is none; `left` is at least 1. */
static size_t sequence(const uint8_t *p, size_t left)
{
    uint8_t c = p[0];
    if (c < 0x80)
        return 1;
    size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4 || left < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f) || (c == 0xf0 && p[1] < 0x90) ||
        (c == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

bool pf_utf8_valid(perfile_bytes text)
{
    const uint8_t *p = text.ptr;
    size_t left = text.len;
    while (left > 0) {
        if (left >= 8) {
            uint64_t eight;
            memcpy(&eight, p, 8);
            if (!(eight & UINT64_C(0x8080808080808080))) {
                p += 8;
                left -= 8;
                continue;
            }
        }
        size_t n = sequence(p, left);
        if (n == 0)
            return false;
        p += n;
        left -= n;
    }
    return true;
}
