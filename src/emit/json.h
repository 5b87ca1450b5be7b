/* Writes compact JSON into the buffer of an emitter.
 *
 * Every value ends with a comma, and the end of an object, array or line replaces the last comma
 * with its bracket.  So the writer keeps no state, and `out` can be cut back to any position
 * between two values when a record turns out to be damaged. pf_json_put_…() write to a position
 * that has room and return where they stopped; pf_json_…() reserve the room themselves. */
#ifndef PF_EMIT_JSON_H
#define PF_EMIT_JSON_H

#include "emit/digits.h"
#include "emit/emitter.h"
#include "emit/plan.h"

/* Copies a literal in units of 16 bytes, because a constant size that is a power of two needs no
 * call of memcpy(): `at` needs room for 15 bytes more than the text has (PF_KEY_ROOM). */
#define PF_JSON_LITERAL(at, text)                                                                  \
    {                                                                                              \
        static const char padded[(sizeof(text) + 15) / 16 * 16] = text;                            \
        memcpy(at, padded, sizeof padded);                                                         \
        at += sizeof(text) - 1;                                                                    \
    }
#define PF_JSON_KEY(at, name)  PF_JSON_LITERAL(at, "\"" name "\":")
#define PF_JSON_WORD(at, text) PF_JSON_LITERAL(at, "\"" text "\",")

/* A number with its quotes and comma needs at most PF_VALUE_ROOM bytes. */

/* `bracket`: { or [. */
PF_INLINE uint8_t *pf_json_put_open(uint8_t *at, char bracket)
{
    *at = (uint8_t)bracket;
    return at + 1;
}

/* Ends an object or array.  `after`: the comma of the value, or a newline. */
PF_INLINE uint8_t *pf_json_put_shut(uint8_t *at, char bracket, char after)
{
    if (at[-1] == ',')
        at--;
    at[0] = (uint8_t)bracket;
    at[1] = (uint8_t)after;
    return at + 2;
}

PF_INLINE uint8_t *pf_json_put_object(uint8_t *at)
{
    return pf_json_put_open(at, '{');
}

PF_INLINE uint8_t *pf_json_put_object_end(uint8_t *at)
{
    return pf_json_put_shut(at, '}', ',');
}

PF_INLINE uint8_t *pf_json_put_array(uint8_t *at)
{
    return pf_json_put_open(at, '[');
}

PF_INLINE uint8_t *pf_json_put_array_end(uint8_t *at)
{
    return pf_json_put_shut(at, ']', ',');
}

PF_INLINE uint8_t *pf_json_put_number(uint8_t *at, uint64_t v)
{
    at = pf_put_dec(at, v);
    *at = ',';
    return at + 1;
}

/* 0 - (uint64_t)v also negates INT64_MIN. */
PF_INLINE uint8_t *pf_json_put_signed(uint8_t *at, int64_t v)
{
    if (v >= 0)
        return pf_json_put_number(at, (uint64_t)v);
    *at = '-';
    return pf_json_put_number(at + 1, 0 - (uint64_t)v);
}

/* The end of a string value. */
PF_INLINE uint8_t *pf_json_put_quote(uint8_t *at)
{
    memcpy(at, "\",", 2);
    return at + 2;
}

/* 64-bit numbers are strings: "123", "0xff". */
PF_INLINE uint8_t *pf_json_put_dec(uint8_t *at, uint64_t v)
{
    *at = '"';
    return pf_json_put_quote(pf_put_dec(at + 1, v));
}

PF_INLINE uint8_t *pf_json_put_signed_dec(uint8_t *at, int64_t v)
{
    if (v >= 0)
        return pf_json_put_dec(at, (uint64_t)v);
    memcpy(at, "\"-", 2);
    return pf_json_put_quote(pf_put_dec(at + 2, 0 - (uint64_t)v));
}

PF_INLINE uint8_t *pf_json_put_hex(uint8_t *at, uint64_t v)
{
    *at = '"';
    return pf_json_put_quote(pf_put_0x(at + 1, v));
}

/* Always 8 digits: "000000ab". */
PF_INLINE uint8_t *pf_json_put_crc(uint8_t *at, uint32_t crc)
{
    *at = '"';
    return pf_json_put_quote(pf_put_hex_fixed(at + 1, crc, 8));
}

/* Bytes as a string of hexadecimal digits, "00ff".  Needs 2 * bytes.len + PF_VALUE_ROOM. */
PF_INLINE uint8_t *pf_json_put_bytes(uint8_t *at, perfile_bytes bytes)
{
    *at = '"';
    return pf_json_put_quote(pf_put_bytes(at + 1, bytes));
}

/* A string; if `text` is no valid UTF-8, the object {"hex":"…"} instead. */
void pf_json_text(perfile_emitter *e, perfile_bytes text);
void pf_json_bytes(perfile_emitter *e, perfile_bytes bytes);

static inline void pf_json_object(perfile_emitter *e)
{
    uint8_t *at = pf_emit_room(e, 1);
    if (at)
        pf_emit_filled(e, pf_json_put_object(at));
}

/* `after` is what follows the bracket: a comma, or the newline of a line. */
static inline void pf_json_shut(perfile_emitter *e, char bracket, char after)
{
    uint8_t *at = pf_emit_room(e, 2);
    if (at && e->out.len) /* after a failed append `out` may be empty */
        pf_emit_filled(e, pf_json_put_shut(at, bracket, after));
}

static inline void pf_json_object_end(perfile_emitter *e)
{
    pf_json_shut(e, '}', ',');
}

/* Ends the object of a line, and the line. */
static inline void pf_json_line_end(perfile_emitter *e)
{
    pf_json_shut(e, '}', '\n');
}

static inline void pf_json_array(perfile_emitter *e)
{
    uint8_t *at = pf_emit_room(e, 1);
    if (at)
        pf_emit_filled(e, pf_json_put_array(at));
}

static inline void pf_json_array_end(perfile_emitter *e)
{
    pf_json_shut(e, ']', ',');
}

/* The key of the next value; `name` must be plain ASCII without quotes and backslashes. */
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

/* The key from a cache entry.  Copies all of key->text: a constant size. */
static inline void pf_json_key(perfile_emitter *e, const pf_key *key)
{
    uint8_t *at = pf_emit_room(e, sizeof key->text);
    if (!at)
        return;
    memcpy(at, key->text, sizeof key->text);
    pf_emit_filled(e, at + key->len);
}

/* Makes key->text of a name, cut to fit `size`; returns its length. */
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

/* A string value; `word` as in pf_json_name(). */
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

static inline void pf_json_null(perfile_emitter *e)
{
    pf_emit_bytes(e, "null,", 5);
}

/* values.inc adds pf_json_number() … pf_json_crc(). */
#define W(name) pf_json_##name
#include "emit/values.inc"

#endif
