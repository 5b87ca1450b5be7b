/* JSON, compact.  Every value ends with a comma, which the end of its object, array or line takes
 * back: so nothing needs to be remembered, and `out` can be cut back to any place between values.
 */
#ifndef PF_EMIT_JSON_H
#define PF_EMIT_JSON_H

#include "emit/digits.h"
#include "emit/emitter.h"
#include "emit/plan.h"

/* A string; what is no UTF-8 becomes {"hex":"…"}. */
void pf_json_text(perfile_emitter *e, perfile_bytes text);
/* "00ff" */
void pf_json_bytes(perfile_emitter *e, perfile_bytes bytes);

static inline void pf_json_open(perfile_emitter *e, char bracket)
{
    uint8_t *at = pf_emit_room(e, 1);
    if (!at)
        return;
    *at = (uint8_t)bracket;
    pf_emit_filled(e, at + 1);
}

static inline void pf_json_shut(perfile_emitter *e, char bracket, char after)
{
    uint8_t *at = pf_emit_room(e, 2);
    if (!at)
        return;
    if (e->out.len && at[-1] == ',')
        at--;
    *at++ = (uint8_t)bracket;
    *at++ = (uint8_t)after;
    pf_emit_filled(e, at);
}

static inline void pf_json_object(perfile_emitter *e)
{
    pf_json_open(e, '{');
}

static inline void pf_json_object_end(perfile_emitter *e)
{
    pf_json_shut(e, '}', ',');
}

static inline void pf_json_line_end(perfile_emitter *e)
{
    pf_json_shut(e, '}', '\n');
}

static inline void pf_json_array(perfile_emitter *e)
{
    pf_json_open(e, '[');
}

static inline void pf_json_array_end(perfile_emitter *e)
{
    pf_json_shut(e, ']', ',');
}

/* The key of the next value; plain ASCII. */
static inline void pf_json_name(perfile_emitter *e, const char *name, size_t n)
{
    uint8_t *at = pf_emit_room(e, n + 3);
    if (!at)
        return;
    at[0] = '"';
    memcpy(at + 1, name, n);
    at[n + 1] = '"';
    at[n + 2] = ':';
    pf_emit_filled(e, at + n + 3);
}

static inline void pf_json_key(perfile_emitter *e, const pf_key *key)
{
    uint8_t *at = pf_emit_room(e, sizeof key->text);
    if (!at)
        return;
    memcpy(at, key->text, sizeof key->text);
    pf_emit_filled(e, at + key->len);
}

/* Bytes of `name` as a key, at most `size` of them. */
static inline uint8_t pf_json_make_key(uint8_t *text, size_t size, const char *name)
{
    size_t n = strlen(name);
    if (n > size - 3)
        n = size - 3;
    text[0] = '"';
    memcpy(text + 1, name, n);
    text[n + 1] = '"';
    text[n + 2] = ':';
    return (uint8_t)(n + 3);
}

/* A string of plain ASCII. */
static inline void pf_json_word(perfile_emitter *e, const char *word, size_t n)
{
    uint8_t *at = pf_emit_room(e, n + 3);
    if (!at)
        return;
    at[0] = '"';
    memcpy(at + 1, word, n);
    at[n + 1] = '"';
    at[n + 2] = ',';
    pf_emit_filled(e, at + n + 3);
}

static inline void pf_json_number(perfile_emitter *e, uint64_t v)
{
    uint8_t *at = pf_emit_room(e, PF_DEC_MAX + 1);
    if (!at)
        return;
    at = pf_put_dec(at, v);
    *at++ = ',';
    pf_emit_filled(e, at);
}

static inline void pf_json_signed(perfile_emitter *e, int64_t v)
{
    if (v < 0) {
        pf_json_open(e, '-');
        pf_json_number(e, 0 - (uint64_t)v);
    } else {
        pf_json_number(e, (uint64_t)v);
    }
}

static inline void pf_json_dec(perfile_emitter *e, uint64_t v)
{
    uint8_t *at = pf_emit_room(e, PF_DEC_MAX + 3);
    if (!at)
        return;
    *at++ = '"';
    at = pf_put_dec(at, v);
    *at++ = '"';
    *at++ = ',';
    pf_emit_filled(e, at);
}

static inline void pf_json_hex(perfile_emitter *e, uint64_t v)
{
    uint8_t *at = pf_emit_room(e, PF_HEX_MAX + 3);
    if (!at)
        return;
    *at++ = '"';
    at = pf_put_0x(at, v);
    *at++ = '"';
    *at++ = ',';
    pf_emit_filled(e, at);
}

static inline void pf_json_crc(perfile_emitter *e, uint32_t crc)
{
    uint8_t *at = pf_emit_room(e, 8 + 3);
    if (!at)
        return;
    *at++ = '"';
    at = pf_put_hex_fixed(at, crc, 8);
    *at++ = '"';
    *at++ = ',';
    pf_emit_filled(e, at);
}

static inline void pf_json_null(perfile_emitter *e)
{
    pf_emit_bytes(e, "null,", 5);
}

#endif
