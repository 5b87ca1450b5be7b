/* Errors of an expression, with the place they are about. */
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "perfile/text.h"
#include "expr/code.h"

enum {
    SHOWN = 44, /* bytes of the text */
    BEFORE = 30 /* of them in front of the place, at most */
};

static bool is_inside_character(char c)
{
    return ((uint8_t)c & 0xc0) == 0x80;
}

/* Characters in text[0 .. n). */
static uint32_t characters(const char *text, size_t n)
{
    uint32_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += !is_inside_character(text[i]);
    return found;
}

/* The text around `at` and a caret under it. */
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

static bool fail(pf_compiler *c, uint32_t at, perfile_status status, const char *what)
{
    char place[2 * SHOWN + 16], shown[256];
    /* Words of the text may hold line ends; those of the message are where the place is shown. */
    perfile_printable((perfile_bytes){(const uint8_t *)what, strlen(what)}, shown, sizeof shown);
    show_place(c->text, at, place, sizeof place);
    int room = (int)(sizeof c->err->message - strlen(place)) - 24;
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
