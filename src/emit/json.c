/* Strings and bytes in JSON: what is too long to be inline. */
#include "emit/json.h"

#include "emit/digits.h"

void pf_json_bytes(perfile_emitter *e, perfile_bytes bytes)
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
    static const char letters[] = "btn\0fr"; /* escapes of the bytes 8 to 13; 11 has none */
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

/* True if the byte needs no escape; bytes of multi-byte characters too, because the text is valid
 * UTF-8. */
static bool is_plain(uint8_t c)
{
    return c >= 0x20 && c != '"' && c != '\\';
}

void pf_json_text(perfile_emitter *e, perfile_bytes text)
{
    enum { WORST = 6 /* bytes of an escape, \u001f */ };
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

/* JSON Lines, the output contract of `dump` (format/dump.cddl): lines.inc with the values of
 * json.h. */

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
