/* UTF-8, and which characters may reach a terminal: text from captures may contain escape
 * sequences, which are shown as \x1b instead. */
#include "perfile/text.h"

#include <string.h>

static const char hex_digits[] = "0123456789abcdef";

size_t perfile_utf8_char(const uint8_t *p, size_t left, uint32_t *code)
{
    /* The first byte gives the length; 0x80 to 0xc1 and 0xf5 to 0xff cannot be first. */
    uint8_t c = p[0];
    size_t n = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    uint32_t value = n == 1 ? c : c & (0x7fu >> n);
    if (n > 1 && (c < 0xc2 || c > 0xf4 || left < n))
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (p[i] & 0x3f);
    }
    /* Overlong encodings, surrogates, and values above the last code point are invalid. */
    if ((n == 3 && value < 0x800) || (n == 4 && value < 0x10000) || value > 0x10ffff ||
        (value >= 0xd800 && value <= 0xdfff))
        return 0;
    if (code)
        *code = value;
    return n;
}

/* Control characters, and characters that change the direction or line structure of text and so
 * could disguise it, are not printable. */
bool perfile_is_printable(uint32_t code)
{
    if (code < 0x20 || (code >= 0x7f && code < 0xa0))
        return false;
    if (code == 0x61c || code == 0x200e || code == 0x200f) /* marks of direction */
        return false;
    if (code >= 0x2028 && code <= 0x202e) /* separators, embeddings and overrides */
        return false;
    return !(code >= 0x2066 && code <= 0x2069); /* isolates */
}

/* `need` counts all bytes of the escaped text, `kept` those that were written.  The copy is cut in
 * front of a character, never inside one. */
size_t perfile_printable(perfile_bytes text, char *out, size_t size)
{
    size_t need = 0, kept = 0, from;
    bool cut = false;
    for (size_t i = 0; i < text.len; i += from) {
        uint32_t code;
        char shown[16];
        const uint8_t *p = text.ptr + i;
        size_t n = 0;
        from = perfile_utf8_char(p, text.len - i, &code);
        if (from && perfile_is_printable(code)) {
            memcpy(shown, p, from);
            n = from;
        } else {
            from = from ? from : 1;
            for (size_t k = 0; k < from; k++) {
                shown[n++] = '\\';
                shown[n++] = 'x';
                shown[n++] = hex_digits[p[k] >> 4];
                shown[n++] = hex_digits[p[k] & 15];
            }
        }
        cut = cut || need + n >= size; /* room for the NUL is kept */
        if (!cut) {
            memcpy(out + kept, shown, n);
            kept += n;
        }
        need += n;
    }
    if (size)
        out[kept] = '\0';
    return need;
}
