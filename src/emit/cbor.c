/* The lines of jsonl as a CBOR sequence (RFC 8742); see format/dump.cddl. */
#include <cbor/encoding.h>

#include "emit/emitter.h"
#include "emit/plan.h"
#include "emit/utf8.h"

enum {
    HEAD = 9 /* bytes of a number, or of the head of anything else, at most */
};

/* The encoders say how many bytes they wrote; there is always room. */
static inline void filled(perfile_emitter *e, size_t n)
{
    e->out.len += n;
}

static void cbor_number(perfile_emitter *e, uint64_t v)
{
    uint8_t *at = pf_emit_room(e, HEAD);
    if (at)
        filled(e, cbor_encode_uint(v, at, HEAD));
}

static void cbor_signed(perfile_emitter *e, int64_t v)
{
    uint8_t *at = pf_emit_room(e, HEAD);
    if (!at)
        return;
    if (v < 0)
        filled(e, cbor_encode_negint(~(uint64_t)v, at, HEAD));
    else
        filled(e, cbor_encode_uint((uint64_t)v, at, HEAD));
}

static void cbor_dec(perfile_emitter *e, uint64_t v)
{
    cbor_number(e, v);
}

static void cbor_hex(perfile_emitter *e, uint64_t v)
{
    cbor_number(e, v);
}

static void cbor_crc(perfile_emitter *e, uint32_t crc)
{
    cbor_number(e, crc);
}

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

static void cbor_word(perfile_emitter *e, const char *word, size_t n)
{
    uint8_t *at = pf_emit_room(e, HEAD);
    if (!at)
        return;
    filled(e, cbor_encode_string_start(n, at, HEAD));
    pf_emit_bytes(e, word, n);
}

/* What is no UTF-8 is a byte string. */
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
        filled(e, cbor_encode_indef_map_start(at, HEAD));
}

static void cbor_array(perfile_emitter *e)
{
    uint8_t *at = pf_emit_room(e, HEAD);
    if (at)
        filled(e, cbor_encode_indef_array_start(at, HEAD));
}

static void cbor_object_end(perfile_emitter *e)
{
    uint8_t *at = pf_emit_room(e, HEAD);
    if (at)
        filled(e, cbor_encode_break(at, HEAD));
}

static void cbor_array_end(perfile_emitter *e)
{
    cbor_object_end(e);
}

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
