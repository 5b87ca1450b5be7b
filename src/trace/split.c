/* Splits the format string of a print fmt into text and conversions (print.h). */
#include <string.h>

#include "trace/print.h"

/* State of the split. */
typedef struct splitting {
    const uint8_t *at, *end;
    unsigned long_size;
    uint8_t *texts; /* room for the rest of the text */
} splitting;

/* Copies text without its escapes. */
static perfile_bytes without_escapes(splitting *s, const uint8_t *text, size_t n)
{
    const perfile_bytes begin = {s->texts, 0};
    for (size_t i = 0; i < n; i++) {
        uint8_t c = text[i];
        if (c == '\\' && ++i == n)
            break;
        if (c == '\\')
            c = text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i] == 'r' ? '\r' : text[i];
        *s->texts++ = c;
    }
    return (perfile_bytes){begin.ptr, (size_t)(s->texts - begin.ptr)};
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool take(splitting *s, char c)
{
    if (s->at == s->end || *s->at != (uint8_t)c)
        return false;
    s->at++;
    return true;
}

static uint8_t take_flags(splitting *s)
{
    static const char signs[] = "-0+ #"; /* PF_PRINT_LEFT, ZEROS, SIGN, BLANK, ALTERNATE */
    uint8_t flags = 0;
    const char *found;
    while (s->at < s->end && *s->at && (found = strchr(signs, *s->at)) != NULL) {
        flags |= (uint8_t)(1U << (found - signs));
        s->at++;
    }
    return flags;
}

/* Reads a number.  Returns false if it is too large. */
static bool take_size(splitting *s, int16_t *size)
{
    int n = 0;
    for (; s->at < s->end && is_digit(*s->at) && n <= PF_PRINT_WIDTH; s->at++)
        n = 10 * n + (*s->at - '0');
    *size = (int16_t)n;
    return n <= PF_PRINT_WIDTH;
}

/* Reads a length modifier.  Returns the size of the number. */
static uint8_t take_length(splitting *s)
{
    if (take(s, 'h'))
        return take(s, 'h') ? 1 : 2;
    if (take(s, 'l'))
        return take(s, 'l') ? 8 : (uint8_t)s->long_size;
    if (take(s, 'L') || take(s, 'j') || take(s, 'q'))
        return 8;
    if (take(s, 'z') || take(s, 'Z') || take(s, 't'))
        return (uint8_t)s->long_size;
    return 4;
}

/* Reads the letters after %p. */
static void take_pointer(splitting *s, pf_print_piece *p)
{
    static const char *const kinds[] = {"I6c", "I4", "i4", "I6", "i6", "ISpc", "ISp",
                                        "ISc", "IS", "Ub", "UB", "Ul", "UL"};
    p->bytes = (uint8_t)s->long_size;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const size_t n = strlen(kinds[i]);
        if ((size_t)(s->end - s->at) >= n && memcmp(s->at, kinds[i], n) == 0) {
            memcpy(p->pointer, kinds[i], n < sizeof p->pointer ? n : sizeof p->pointer);
            s->at += n;
            return;
        }
    }
    const uint8_t c = s->at < s->end ? *s->at : 0;
    if (is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        p->pointer[0] = (char)c;
        s->at++;
    }
}

/* Reads a conversion after its percent sign. */
static bool conversion(splitting *s, pf_print_piece *p)
{
    p->flags = take_flags(s);
    p->precision = -1;
    if (take(s, '*'))
        p->width = -1;
    else if (!take_size(s, &p->width))
        return false;
    if (take(s, '.')) {
        if (take(s, '*'))
            p->precision = -2;
        else if (!take_size(s, &p->precision))
            return false;
    }
    if (p->width == -1 && p->precision == -2)
        return false; /* a piece has only one `star` */
    p->bytes = take_length(s);
    if (s->at == s->end || !*s->at || !strchr("diuxXocsp", *s->at))
        return false;
    p->conversion = (char)*s->at++;
    if (p->conversion == 'i')
        p->conversion = 'd';
    if (p->conversion == 'p')
        take_pointer(s, p);
    return true;
}

/* A "%%" ends a piece without a conversion; its text has one percent sign. */
int pf_print_split(perfile_bytes format, unsigned long_size, uint8_t *texts, pf_print_piece *pieces,
                   int room)
{
    static const uint8_t none[1] = {0};
    const uint8_t *begin = format.ptr ? format.ptr : none;
    splitting s = {begin, begin + format.len, long_size, texts};
    for (int n = 0; n < room; n++) {
        pf_print_piece *p = &pieces[n];
        const uint8_t *text = s.at;
        const uint8_t *percent = s.at < s.end ? memchr(s.at, '%', (size_t)(s.end - s.at)) : NULL;
        s.at = percent ? percent + 1 : s.end;
        const bool is_sign = percent && take(&s, '%');
        *p =
            (pf_print_piece){.text = without_escapes(
                                 &s, text, (size_t)((percent ? percent : s.end) - text) + is_sign)};
        if (!percent)
            return n + 1;
        if (!is_sign && !conversion(&s, p))
            return -1;
    }
    return -1;
}
