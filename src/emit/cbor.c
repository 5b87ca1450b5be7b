/* The form cbor: the objects of jsonl as a CBOR sequence (RFC 8742, format/dump.cddl), made by
 * lines.inc with CBOR values.
 *
 * Objects and arrays have indefinite length, because members are not counted before they are
 * written.  Numbers are CBOR integers, including the 64-bit numbers that jsonl writes as strings.
 * The cbor_encode_…() functions of libcbor get the size of the buffer; here there is always enough
 * room. */
#ifndef PERFILE_WITHOUT_CBOR

#include <cbor/encoding.h>

#include "base/byte_order.h"
#include "emit/emitter.h"

enum {
    HEAD = 9 /* most bytes of a number, or of the head of any other item */
};

/* Adds the bytes that an encoder wrote to the output. */
static inline void filled(perfile_emitter *e, size_t n)
{
    e->out.len += n;
}

/* The cbor_put_…() functions write to a position with enough room, and return the position after
 * the last byte. */
/* Writes a key or string of at most 23 characters, copied as one constant: its head is one byte,
 * 0x60 + length. */
#define PUT_WORD(at, word)                                                                         \
    {                                                                                              \
        static const struct {                                                                      \
            uint8_t head;                                                                          \
            char text[sizeof(word)];                                                               \
        } item = {0x60 + sizeof(word) - 1, word};                                                  \
        _Static_assert(sizeof(word) - 1 < 24, "a longer head");                                    \
        memcpy(at, &item, sizeof(word));                                                           \
        at += sizeof(word);                                                                        \
    }
#define PUT_KEY PUT_WORD

/* Writes an unsigned integer of 1 to 9 bytes, depending on its value. */
PF_INLINE uint8_t *cbor_put_number(uint8_t *at, uint64_t v)
{
    return at + cbor_encode_uint(v, at, HEAD);
}

PF_INLINE uint8_t *cbor_put_signed(uint8_t *at, int64_t v)
{
    return v < 0 ? at + cbor_encode_negint(~(uint64_t)v, at, HEAD)
                 : cbor_put_number(at, (uint64_t)v);
}

PF_INLINE uint8_t *cbor_put_dec(uint8_t *at, uint64_t v)
{
    return cbor_put_number(at, v);
}

PF_INLINE uint8_t *cbor_put_signed_dec(uint8_t *at, int64_t v)
{
    return cbor_put_signed(at, v);
}

PF_INLINE uint8_t *cbor_put_hex(uint8_t *at, uint64_t v)
{
    return cbor_put_number(at, v);
}

PF_INLINE uint8_t *cbor_put_crc(uint8_t *at, uint32_t crc)
{
    return cbor_put_number(at, crc);
}

/* Writes a byte string.  `at` needs room for HEAD + bytes.len. */
static uint8_t *cbor_put_bytes(uint8_t *at, perfile_bytes bytes)
{
    at += cbor_encode_bytestring_start(bytes.len, at, HEAD);
    if (bytes.len)
        memcpy(at, bytes.ptr, bytes.len);
    return at + bytes.len;
}

/* Begins an object of indefinite length; cbor_put_object_end() ends it. */
PF_INLINE uint8_t *cbor_put_object(uint8_t *at)
{
    return at + cbor_encode_indef_map_start(at, HEAD);
}

PF_INLINE uint8_t *cbor_put_array(uint8_t *at)
{
    return at + cbor_encode_indef_array_start(at, HEAD);
}

PF_INLINE uint8_t *cbor_put_object_end(uint8_t *at)
{
    return at + cbor_encode_break(at, HEAD);
}

PF_INLINE uint8_t *cbor_put_array_end(uint8_t *at)
{
    return cbor_put_object_end(at);
}

PF_VALUES(cbor)

static void cbor_null(perfile_emitter *e)
{
    uint8_t *at = pf_emit_room(e, HEAD);
    if (at)
        filled(e, cbor_encode_null(at, HEAD));
}

static void cbor_bytes(perfile_emitter *e, perfile_bytes bytes)
{
    uint8_t *at = pf_emit_room(e, HEAD);
    if (!at)
        return;
    filled(e, cbor_encode_bytestring_start(bytes.len, at, HEAD));
    pf_emit_bytes(e, bytes.ptr, bytes.len);
}

/* Writes a text string.  `word` must be valid UTF-8. */
static void cbor_word(perfile_emitter *e, const char *word, size_t n)
{
    uint8_t *at = pf_emit_room(e, HEAD);
    if (!at)
        return;
    filled(e, cbor_encode_string_start(n, at, HEAD));
    pf_emit_bytes(e, word, n);
}

/* Writes text; as a byte string if it is not valid UTF-8. */
static void cbor_text(perfile_emitter *e, perfile_bytes text)
{
    if (pf_utf8_valid(text))
        cbor_word(e, (const char *)text.ptr, text.len);
    else
        cbor_bytes(e, text);
}

static void cbor_name(perfile_emitter *e, const char *name, size_t n)
{
    cbor_word(e, name, n);
}

/* Makes pf_key.text from a name, cut to fit `size`.  Returns its length. */
static uint8_t cbor_make_key(uint8_t *text, size_t size, const char *name)
{
    size_t n = strlen(name);
    if (n > size - HEAD)
        n = size - HEAD;
    size_t head = cbor_encode_string_start(n, text, size);
    memcpy(text + head, name, n);
    return (uint8_t)(head + n);
}

static void cbor_key(perfile_emitter *e, const pf_key *key)
{
    pf_emit_bytes(e, key->text, key->len);
}

static void cbor_object(perfile_emitter *e)
{
    uint8_t *at = pf_emit_room(e, HEAD);
    if (at)
        pf_emit_filled(e, cbor_put_object(at));
}

static void cbor_array(perfile_emitter *e)
{
    uint8_t *at = pf_emit_room(e, HEAD);
    if (at)
        pf_emit_filled(e, cbor_put_array(at));
}

static void cbor_object_end(perfile_emitter *e)
{
    uint8_t *at = pf_emit_room(e, HEAD);
    if (at)
        pf_emit_filled(e, cbor_put_object_end(at));
}

static void cbor_array_end(perfile_emitter *e)
{
    cbor_object_end(e);
}

/* Ends an object of the sequence, like any other object. */
static void cbor_line_end(perfile_emitter *e)
{
    cbor_object_end(e);
}

#define W(name) cbor_##name
#include "emit/lines.inc"

const pf_emit_ops pf_emit_cbor = {
    .name = "cbor",
    .doc = "the objects of jsonl as a CBOR sequence",
    .size = sizeof(lines),
    .begin = lines_begin,
    .put = lines_put,
    .finish = lines_finish,
    .failure = lines_failure,
};

#else
typedef int pf_emit_cbor_is_missing; /* C needs a declaration */
#endif
