/* Errors of an expression, with the place in the text that they are about:
 *
 *     column 19: there is no perid; did you mean period?
 *       type == SAMPLE && perid > 1e6
 *                         ^
 *
 * The place is also the offset of the error. */
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "perfile/text.h"
#include "expr/parse.h"

enum {
    SHOWN = 44, /* bytes of the text that are shown */
    BEFORE = 30 /* of them in front of the place, at most */
};

/* True for bytes of a UTF-8 character behind its first. */
static bool is_inside_character(char c)
{
    return ((uint8_t)c & 0xc0) == 0x80;
}

/* The number of characters (not bytes) in text[0 .. n). */
static uint32_t characters(const char *text, size_t n)
{
    uint32_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += !is_inside_character(text[i]);
    return found;
}

/* Writes two lines to `out`: the text around `at`, and a caret under that place.  Control
 * characters become spaces, and no UTF-8 character is cut. */
static void show_place(const char *text, uint32_t at, char *out, size_t size)
{
    char part[SHOWN + 1];
    uint32_t from = at > BEFORE ? at - BEFORE : 0;
    while (from < at && is_inside_character(text[from]))
        from++;
    size_t n = 0;
    for (; n < SHOWN && text[from + n]; n++) {
        char c = text[from + n];
        part[n] = (uint8_t)c < ' ' || c == 127 ? ' ' : c;
    }
    while (n && text[from + n] && is_inside_character(text[from + n]))
        n--;
    part[n] = 0;
    snprintf(out, size, "\n  %s\n  %*s^", part, (int)characters(text + from, at - from), "");
}

/* Sets the error from a message that may have arbitrary bytes of the text in it. */
static bool fail(pf_compiler *c, uint32_t at, perfile_status status, const char *what)
{
    char place[2 * SHOWN + 16], shown[256];
    /* Line ends in words of the text are escaped: line ends of the message separate the lines that
     * show the place. */
    perfile_printable((perfile_bytes){(const uint8_t *)what, strlen(what)}, shown, sizeof shown);
    show_place(c->text, at, place, sizeof place);
    int room = (int)(sizeof c->err->message - strlen(place)) - 24; /* 24: "column 1048576: " */
    c->status = pf_fail(c->err, status, "expression", "column %u: %.*s%s",
                        characters(c->text, at) + 1, room, shown, place);
    pf_error_at(c->err, at);
    return false;
}

bool pf_code_fail(pf_compiler *c, uint32_t at, perfile_status status, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return fail(c, at, status, what);
}

bool pf_code_fail_token(pf_compiler *c, uint32_t at, const perfile_error *err)
{
    if (err->status == PERFILE_E_USAGE)
        return fail(c, at, err->status, err->message);
    c->status = err->status;
    if (c->err)
        *c->err = *err;
    return false;
}
