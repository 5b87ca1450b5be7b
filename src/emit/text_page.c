/* Lines, columns, escapes and hex dumps of the form "text"; see text_page.h. */
#include "emit/text_page.h"

#include "perfile/text.h"

enum {
    INDENT = 4,
    STEP = 2,       /* further blanks per depth */
    SHORT_RUN = 16, /* blanks that one memset() of constant size writes */
    HEX_BYTES = 8,  /* per line in front of a field */
    DUMP_BYTES = 16 /* per line of a dump */
};

void pf_text_page_string(pf_text_page *t, const char *text)
{
    pf_text_page_raw(t, text, strlen(text));
}

void pf_text_page_spaces(pf_text_page *t, size_t n)
{
    uint8_t *at = pf_emit_room(&t->base, n < SHORT_RUN ? SHORT_RUN : n);
    if (!at)
        return;
    memset(at, ' ', SHORT_RUN); /* a constant size: the compiler makes no call */
    if (n > SHORT_RUN)
        memset(at + SHORT_RUN, ' ', n - SHORT_RUN);
    pf_emit_filled(&t->base, at + n);
}

/* Seconds with all 9 decimals: no digit of the time is lost. */
void pf_text_page_seconds(pf_text_page *t, uint64_t ns, size_t width)
{
    enum { NS_DIGITS = 9 };
    uint8_t digits[PF_DEC_MAX + 1 + NS_DIGITS];
    uint8_t *end = pf_put_dec(digits, ns / 1000000000);
    *end++ = '.';
    end = pf_put_dec_fixed(end, ns % 1000000000, NS_DIGITS);
    size_t n = (size_t)(end - digits);
    if (n < width)
        pf_text_page_spaces(t, width - n);
    pf_emit_bytes(&t->base, digits, n);
}

/* Length of the character at `p`; 0 if it is not printable or not UTF-8. */
static size_t printable(const uint8_t *p, size_t left)
{
    uint32_t code;
    size_t n = perfile_utf8_char(p, left, &code);
    return n && perfile_is_printable(code) ? n : 0;
}

/* A byte that cannot be shown, as \n, \t or \xNN. */
static void put_escaped(pf_text_page *t, uint8_t c)
{
    if (c == '\n') {
        PF_TEXT_LITERAL(t, "\\n");
    } else if (c == '\t') {
        PF_TEXT_LITERAL(t, "\\t");
    } else {
        PF_TEXT_LITERAL(t, "\\x");
        pf_text_page_raw(t, pf_hex_pairs + 2 * c, 2);
    }
}

/* Number of bytes from `i` on that need no escape and no further test: printable ASCII. */
static size_t plain_run(perfile_bytes text, size_t i, bool quoted)
{
    size_t n = 0;
    for (; n < text.len - i; n++) {
        uint8_t c = text.ptr[i + n];
        if (c < 0x20 || c >= 0x7f || (quoted && (c == '"' || c == '\\')))
            break;
    }
    return n;
}

/* Text from input, with escapes; `quoted`: also for the quote and the backslash. */
static void put_text(pf_text_page *t, perfile_bytes text, bool quoted)
{
    for (size_t i = 0; i < text.len;) {
        size_t run = plain_run(text, i, quoted);
        pf_emit_bytes(&t->base, text.ptr + i, run);
        i += run;
        if (i == text.len)
            break;
        uint8_t c = text.ptr[i];
        size_t n = printable(text.ptr + i, text.len - i);
        if (n == 0)
            put_escaped(t, c);
        else if (quoted && (c == '"' || c == '\\'))
            pf_emit_bytes(&t->base, (const char[]){'\\', (char)c}, 2);
        else
            pf_emit_bytes(&t->base, text.ptr + i, n);
        i += n ? n : 1;
    }
}

void pf_text_page_text(pf_text_page *t, perfile_bytes text)
{
    put_text(t, text, false);
}

void pf_text_page_quoted(pf_text_page *t, perfile_bytes text)
{
    PF_TEXT_LITERAL(t, "\"");
    put_text(t, text, true);
    PF_TEXT_LITERAL(t, "\"");
}

void pf_text_page_trim(pf_text_page *t)
{
    pf_buffer *out = &t->base.out;
    while (out->len && out->ptr[out->len - 1] == ' ')
        out->len--;
}

void pf_text_page_line(pf_text_page *t, size_t indent)
{
    t->line_start = t->base.out.len;
    if (t->gutter)
        pf_text_page_string(t, t->gutter);
    pf_text_page_spaces(t, indent);
    t->open = true;
}

void pf_text_page_end(pf_text_page *t)
{
    pf_emit_bytes(&t->base, "\n", 1);
    t->open = false;
}

/* An offset in front of bytes: 4 digits, or 8 above 0xffff, and two blanks. */
static void put_offset(pf_text_page *t, uint64_t offset)
{
    uint8_t *at = pf_emit_room(&t->base, 18);
    if (!at)
        return;
    at = pf_put_hex_fixed(at, offset, offset > 0xffff ? 8 : 4);
    memcpy(at, "  ", 2);
    pf_emit_filled(&t->base, at + 2);
}

void pf_text_page_hex_line(pf_text_page *t, uint64_t offset, const uint8_t *bytes, size_t n)
{
    pf_text_page_line(t, 2);
    if (!bytes) {
        pf_text_page_spaces(t, 6 + 3 * HEX_BYTES + 1); /* offset, bytes, one blank */
        return;
    }
    put_offset(t, offset);
    uint8_t *at = pf_emit_room(&t->base, 3 * HEX_BYTES + 1);
    if (!at)
        return;
    memset(at, ' ', 3 * HEX_BYTES + 1);
    for (size_t i = 0; i < n && i < HEX_BYTES; i++)
        memcpy(at + 3 * i, pf_hex_pairs + 2 * bytes[i], 2);
    pf_emit_filled(&t->base, at + 3 * HEX_BYTES + 1);
}

/* True if the line of `width` bytes at `i` equals the one before.  Never for the last line, so that
 * the end of the bytes is always shown. */
static bool repeats(perfile_bytes bytes, size_t i, size_t width)
{
    return i >= width && bytes.len - i > width &&
           memcmp(bytes.ptr + i, bytes.ptr + i - width, width) == 0;
}

/* Writes one star for lines that repeat the one before; returns the position of the next other
 * line. */
static size_t skip_repeated(pf_text_page *t, perfile_bytes bytes, size_t i, size_t width)
{
    if (!repeats(bytes, i, width))
        return i;
    while (repeats(bytes, i, width))
        i += width;
    pf_text_page_line(t, 2);
    PF_TEXT_LITERAL(t, "*");
    pf_text_page_end(t);
    return i;
}

void pf_text_page_rest(pf_text_page *t, uint64_t offset, perfile_bytes bytes)
{
    for (size_t i = HEX_BYTES; i < bytes.len; i += HEX_BYTES) {
        i = skip_repeated(t, bytes, i, HEX_BYTES);
        size_t n = bytes.len - i < HEX_BYTES ? bytes.len - i : HEX_BYTES;
        pf_text_page_hex_line(t, offset + i, bytes.ptr + i, n);
        pf_text_page_trim(t);
        pf_text_page_end(t);
    }
}

void pf_text_page_dump(pf_text_page *t, uint64_t offset, perfile_bytes bytes)
{
    for (size_t i = 0; i < bytes.len; i += DUMP_BYTES) {
        i = skip_repeated(t, bytes, i, DUMP_BYTES);
        size_t n = bytes.len - i < DUMP_BYTES ? bytes.len - i : DUMP_BYTES;
        pf_text_page_line(t, 2);
        put_offset(t, offset + i);
        uint8_t *at = pf_emit_room(&t->base, 3 * DUMP_BYTES + 5 + DUMP_BYTES);
        if (!at)
            return;
        memset(at, ' ', 3 * DUMP_BYTES + 2);
        for (size_t k = 0; k < n; k++)
            memcpy(at + 3 * k + (k >= DUMP_BYTES / 2), pf_hex_pairs + 2 * bytes.ptr[i + k], 2);
        at += 3 * DUMP_BYTES + 2;
        *at++ = '|';
        for (size_t k = 0; k < n; k++) {
            uint8_t c = bytes.ptr[i + k];
            *at++ = c >= 0x20 && c < 0x7f ? c : '.';
        }
        *at++ = '|';
        pf_emit_filled(&t->base, at);
        pf_text_page_end(t);
    }
}

/* Blanks in front of a field, by its depth.  In hex mode the bytes are the indentation. */
static size_t indent_of(const pf_text_page *t)
{
    return (t->hex ? 0 : INDENT) + STEP * (size_t)t->depth;
}

/* Begins a line for a field, or continues the open one; true in the latter case. */
static bool begin_field(pf_text_page *t, uint64_t offset, size_t n)
{
    if (t->open) {
        PF_TEXT_LITERAL(t, "  ");
        return true;
    }
    if (t->hex) {
        pf_text_page_hex_line(t, offset, n ? t->bytes + offset : NULL, n);
        pf_text_page_spaces(t, indent_of(t));
    } else {
        pf_text_page_line(t, indent_of(t));
    }
    return false;
}

/* Length of a cached name without its padding. */
static size_t trimmed(const pf_key *key)
{
    size_t n = key->len;
    while (n && key->text[n - 1] == ' ')
        n--;
    return n;
}

/* True if the fields at this depth are written on one line. */
static bool shares_line(const pf_text_page *t)
{
    return t->in_line >> t->depth & 1;
}

void pf_text_page_name(pf_text_page *t, const pf_key *key, const perfile_value *v)
{
    bool short_name = begin_field(t, v->offset, t->hex ? (size_t)v->width : 0) || shares_line(t);
    uint8_t *at = pf_emit_room(&t->base, sizeof key->text + 1);
    if (!at)
        return;
    memcpy(at, key->text, sizeof key->text);
    size_t n = key->len;
    if (short_name) {
        n = trimmed(key);
        at[n++] = ' ';
    }
    pf_emit_filled(&t->base, at + n);
}

void pf_text_page_heading(pf_text_page *t, const char *name, size_t n)
{
    if (t->open)
        pf_text_page_end(t);
    begin_field(t, 0, 0);
    pf_text_page_raw(t, name, n);
}

void pf_text_page_named(pf_text_page *t, const char *name, uint64_t offset, size_t n)
{
    size_t len = strlen(name);
    begin_field(t, offset, n);
    pf_text_page_raw(t, name, len);
    pf_text_page_spaces(t, len < PF_NAME_WIDTH ? PF_NAME_WIDTH - len : 2);
}

void pf_text_page_named_end(pf_text_page *t)
{
    if (!shares_line(t))
        pf_text_page_end(t);
}

void pf_text_page_value_line(pf_text_page *t, uint64_t offset, const uint8_t *bytes, size_t n)
{
    if (t->hex)
        pf_text_page_hex_line(t, offset, bytes, n);
    else
        pf_text_page_line(t, 0);
    pf_text_page_spaces(t, indent_of(t) + PF_NAME_WIDTH);
}

void pf_text_page_between(pf_text_page *t)
{
    if (t->base.out.len - t->line_start > PF_LINE_WIDTH) {
        pf_text_page_end(t);
        pf_text_page_value_line(t, 0, NULL, 0);
    } else {
        PF_TEXT_LITERAL(t, " ");
    }
}

void pf_text_page_reset(pf_text_page *t)
{
    if (t->open)
        pf_text_page_end(t);
    t->depth = 0;
    t->in_line = 0;
}
