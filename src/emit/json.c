/* Numbers as digits, validation of UTF-8, the plan of a field, strings and bytes in JSON, and the
 * form jsonl. */
#include "emit/emitter.h"
#include "perfile/text.h"
#include "schema/command.h"

#include <string.h>

#define DEC_ROW(t) t "0" t "1" t "2" t "3" t "4" t "5" t "6" t "7" t "8" t "9"
#define HEX_ROW(t) DEC_ROW(t) t "a" t "b" t "c" t "d" t "e" t "f"
#define DEC_ROWS(row)                                                                              \
    row("0") row("1") row("2") row("3") row("4") row("5") row("6") row("7") row("8") row("9")

/* Each has exactly as many bytes as characters, without a NUL, so these are not strings. */
const char pf_dec_pairs[200] = DEC_ROWS(DEC_ROW);
const char pf_hex_pairs[512] =
    DEC_ROWS(HEX_ROW) HEX_ROW("a") HEX_ROW("b") HEX_ROW("c") HEX_ROW("d") HEX_ROW("e") HEX_ROW("f");

/* Writes the number in groups of 8 digits. */
uint8_t *pf_put_dec_long(uint8_t *at, uint64_t v)
{
    enum { EIGHT = 100000000 };
    uint64_t upper = v / EIGHT;
    if (upper < EIGHT) {
        at = pf_put_dec_up_to_8(at, (uint32_t)upper);
    } else {
        at = pf_put_dec_up_to_8(at, (uint32_t)(upper / EIGHT));
        at = pf_put_dec_8(at, (uint32_t)(upper % EIGHT));
    }
    return pf_put_dec_8(at, (uint32_t)(v % EIGHT));
}

/* Validates UTF-8: eight ASCII bytes at a time, everything else by character. */

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

pf_plan pf_plan_of(const perfile_field *f)
{
    return pf_plan_for(f->type, f->element, f->kind, pf_kind_base(f->kind), f->flags);
}

static void pf_json_bytes(perfile_emitter *e, perfile_bytes bytes)
{
    if (bytes.len > (SIZE_MAX - 3) / 2) {
        e->no_memory = true;
        return;
    }
    uint8_t *at = pf_emit_room(e, 2 * bytes.len + 3);
    if (at)
        pf_emit_filled(e, pf_json_put_bytes(at, bytes));
}

/* Writes the escape of a quote, a backslash or a control character. */
static uint8_t *put_escaped(uint8_t *at, uint8_t c)
{
    static const char letters[] = "btn\0fr"; /* for the bytes 8 to 13; 11 has no letter */
    *at++ = '\\';
    if (c == '"' || c == '\\') {
        *at++ = c;
    } else if (c >= 8 && c <= 13 && c != 11) {
        *at++ = (uint8_t)letters[c - 8];
    } else {
        memcpy(at, "u00", 3);
        at = pf_put_hex_fixed(at + 3, c, 2);
    }
    return at;
}

/* Returns true if the byte needs no escape.  This includes bytes of multi-byte characters, because
 * the text is valid UTF-8. */
static bool is_plain(uint8_t c)
{
    return c >= 0x20 && c != '"' && c != '\\';
}

void pf_json_text(perfile_emitter *e, perfile_bytes text)
{
    enum { WORST = 6 /* bytes of the longest escape, \u001f */ };
    if (!pf_utf8_valid(text)) {
        pf_json_object(e);
        pf_json_name(e, "hex", 3);
        pf_json_bytes(e, text);
        pf_json_object_end(e);
        return;
    }
    if (text.len > (SIZE_MAX - 3) / WORST) {
        e->no_memory = true;
        return;
    }
    uint8_t *at = pf_emit_room(e, WORST * text.len + 3);
    if (!at)
        return;
    *at++ = '"';
    for (size_t i = 0; i < text.len; i++) {
        if (is_plain(text.ptr[i]))
            *at++ = text.ptr[i];
        else
            at = put_escaped(at, text.ptr[i]);
    }
    *at++ = '"';
    *at++ = ',';
    pf_emit_filled(e, at);
}

/* The form jsonl, the output contract of `dump` (format/dump.cddl): lines.inc with JSON values. */

#define W(name)  pf_json_##name
#define PUT_KEY  PF_JSON_KEY
#define PUT_WORD PF_JSON_WORD
#include "emit/lines.inc"

const pf_emit_ops pf_emit_jsonl = {
    .name = "jsonl",
    .doc = "JSON lines, complete and exact",
    .size = sizeof(lines),
    .begin = lines_begin,
    .put = lines_put,
    .finish = lines_finish,
    .failure = lines_failure,
};
