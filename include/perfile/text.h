/* Text for terminals: escaping names from captures and users, and suggestions for misspelled words.
 *
 * Names in captures, file names and arguments may contain anything: escape sequences that control a
 * terminal, line breaks that start a fake message, marks that change the direction of the text
 * after them.  Messages of the library (perfile_error, notes, findings) contain such names
 * unescaped.  A program must pass them through perfile_printable() before it writes them. */
#ifndef PERFILE_TEXT_H
#define PERFILE_TEXT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef PERFILE_DECLARATIONS
/* Returns the number of bytes of the UTF-8 character at `p`, which has `left` (at least 1) bytes; 0
 * if there is no valid one.  Valid is the shortest form, no surrogates, nothing above U+10FFFF.
 * Stores the code point in *code (may be NULL). */
static inline size_t perfile_utf8_char(const uint8_t *p, size_t left, uint32_t *code)
{
    /* The first byte gives the length. 0x80 to 0xc1 and 0xf5 to 0xff cannot be first. */
    const uint8_t c = p[0];
    const size_t n = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    uint32_t value = n == 1 ? c : c & (0x7fU >> n);
    size_t i;
    if (n > 1 && (c < 0xc2 || c > 0xf4 || left < n))
        return 0;
    for (i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (p[i] & 0x3fU);
    }
    /* Overlong encodings, surrogates, and values above the last code point are invalid. */
    if ((n == 3 && value < 0x800) || (n == 4 && value < 0x10000) || value > 0x10ffff ||
        (value >= 0xd800 && value <= 0xdfff))
        return 0;
    if (code)
        *code = value;
    return n;
}
#endif

/* Writes `text` to `out` of `size` bytes, NUL-terminated.  Each byte of an unprintable character or
 * of invalid UTF-8 becomes \xNN.  Text that does not fit is cut at a character.  `out` may be NULL
 * if `size` is 0.  Returns the length of the complete result in bytes, without the NUL. */
PERFILE_API size_t perfile_printable(perfile_bytes text, char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
