/* Validation of UTF-8: eight ASCII bytes at a time, characters else. */
#include "emit/utf8.h"

#include <string.h>

#include "perfile/text.h"

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
        size_t n = perfile_utf8_char(p, left, NULL);
        if (n == 0)
            return false;
        p += n;
        left -= n;
    }
    return true;
}
