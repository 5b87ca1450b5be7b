/* CBOR of archives and dumps, by libcbor's streaming decoder and its encoders; see cbor.h.
 *
 * cbor_stream_decode() reads the head of one item, and the bytes of a string, and reports the
 * result to a callback; the callbacks here turn it into a pf_cbor_item.  The decoder reads only the
 * bytes it gets and allocates nothing.  Its result says how many bytes it would have needed.  That
 * number overflows for lengths near 2^64 (GHSA-pj89-8hch-p7vp) and is not used. */
#ifndef PERFILE_WITHOUT_CBOR /* then base/without_cbor.c */

#include "base/cbor.h"

#include <string.h>

#include <cbor/configuration.h>
#include <cbor/encoding.h>
#include <cbor/streaming.h>

#include "base/error.h"
#include "perfile/text.h"

enum {
    HEAD = 9,       /* bytes of the longest head */
    END_BYTE = 0xff /* ends an indefinite length */
};

/* Before version 0.9 the lengths in callbacks had the type size_t. */
#if CBOR_MAJOR_VERSION == 0 && CBOR_MINOR_VERSION < 9
typedef size_t length;
#else
typedef uint64_t length;
#endif

/* Callbacks.  `context` is the pf_cbor_item. */
static void on_number(void *context, pf_cbor_kind kind, uint64_t v)
{
    *(pf_cbor_item *)context = (pf_cbor_item){.kind = kind, .number = v};
}

static void on_u8(void *context, uint8_t v)
{
    on_number(context, PF_CBOR_UINT, v);
}

static void on_u16(void *context, uint16_t v)
{
    on_number(context, PF_CBOR_UINT, v);
}

static void on_u32(void *context, uint32_t v)
{
    on_number(context, PF_CBOR_UINT, v);
}

static void on_u64(void *context, uint64_t v)
{
    on_number(context, PF_CBOR_UINT, v);
}

static void on_negative8(void *context, uint8_t v)
{
    on_number(context, PF_CBOR_NEGATIVE, v);
}

static void on_negative16(void *context, uint16_t v)
{
    on_number(context, PF_CBOR_NEGATIVE, v);
}

static void on_negative32(void *context, uint32_t v)
{
    on_number(context, PF_CBOR_NEGATIVE, v);
}

static void on_negative64(void *context, uint64_t v)
{
    on_number(context, PF_CBOR_NEGATIVE, v);
}

/* `number` is the length that libcbor reported, so that pf_cbor_next() can check it. */
static void on_bytes(void *context, cbor_data p, length n)
{
    *(pf_cbor_item *)context = (pf_cbor_item){PF_CBOR_BYTES, n, {p, (size_t)n}};
}

static void on_text(void *context, cbor_data p, length n)
{
    *(pf_cbor_item *)context = (pf_cbor_item){PF_CBOR_TEXT, n, {p, (size_t)n}};
}

/* A count equal to PF_CBOR_OPEN would mean an indefinite length; one less is just as impossible. */
static uint64_t count_of(uint64_t n)
{
    return n == PF_CBOR_OPEN ? PF_CBOR_OPEN - 1 : n;
}

static void on_array(void *context, length n)
{
    on_number(context, PF_CBOR_ARRAY, count_of(n));
}

static void on_map(void *context, length n)
{
    on_number(context, PF_CBOR_MAP, count_of(n));
}

static void on_float(void *context, float v)
{
    (void)v;
    on_number(context, PF_CBOR_OTHER, 0);
}

static void on_double(void *context, double v)
{
    (void)v;
    on_number(context, PF_CBOR_OTHER, 0);
}

static void on_bool(void *context, bool v)
{
    (void)v;
    on_number(context, PF_CBOR_OTHER, 0);
}

static void on_simple(void *context)
{
    on_number(context, PF_CBOR_OTHER, 0);
}

/* Indefinite lengths and their end. decode() refuses them where they are not allowed. */
static void on_open_bytes(void *context)
{
    on_number(context, PF_CBOR_BYTES, PF_CBOR_OPEN);
}

static void on_open_text(void *context)
{
    on_number(context, PF_CBOR_TEXT, PF_CBOR_OPEN);
}

static void on_open_array(void *context)
{
    on_number(context, PF_CBOR_ARRAY, PF_CBOR_OPEN);
}

static void on_open_map(void *context)
{
    on_number(context, PF_CBOR_MAP, PF_CBOR_OPEN);
}

static void on_end(void *context)
{
    on_number(context, PF_CBOR_END, 0);
}

/* Versions of libcbor know different tags, so a tag cannot even be skipped with all of them. */

static void on_tag(void *context, uint64_t v)
{
    (void)v;
    on_number(context, PF_CBOR_BAD, 0);
}

static const struct cbor_callbacks callbacks = {
    .uint8 = on_u8,
    .uint16 = on_u16,
    .uint32 = on_u32,
    .uint64 = on_u64,
    .negint8 = on_negative8,
    .negint16 = on_negative16,
    .negint32 = on_negative32,
    .negint64 = on_negative64,
    .byte_string = on_bytes,
    .byte_string_start = on_open_bytes,
    .string = on_text,
    .string_start = on_open_text,
    .array_start = on_array,
    .indef_array_start = on_open_array,
    .map_start = on_map,
    .indef_map_start = on_open_map,
    .tag = on_tag,
    .float2 = on_float,
    .float4 = on_float,
    .float8 = on_double,
    .undefined = on_simple,
    .null = on_simple,
    .boolean = on_bool,
    .indef_break = on_end,
};

/* Values of pf_cbor.left inside an item of indefinite length: they say what must come next.  Counts
 * are never this large, because they were compared with the number of bytes left. */
#define ITEM         UINT64_MAX       /* an item of an array, or the end */
#define KEY          (UINT64_MAX - 1) /* a key of a map, or the end */
#define VALUE        (UINT64_MAX - 2) /* the value of that key */
#define PIECE        (UINT64_MAX - 3) /* a piece of a byte string, or the end */
#define TEXT_PIECE   (UINT64_MAX - 4)
#define MOST_COUNTED (UINT64_MAX - 5)

perfile_status pf_cbor_needed(const char *what, perfile_error *err)
{
    (void)what, (void)err;
    return PERFILE_OK;
}

pf_cbor pf_cbor_begin(perfile_bytes bytes)
{
    static const uint8_t none[1] = {0}; /* arithmetic on NULL is undefined */
    const uint8_t *p = bytes.ptr ? bytes.ptr : none;
    return (pf_cbor){.pos = p, .end = p + bytes.len, .left = {1}};
}

pf_cbor pf_cbor_begin_any(perfile_bytes bytes)
{
    pf_cbor c = pf_cbor_begin(bytes);
    c.indefinite = true;
    return c;
}

void pf_cbor_fail(pf_cbor *c, const char *why)
{
    if (!c->why)
        c->why = why;
}

static void fail_cut(pf_cbor *c, const char *why)
{
    if (!c->why) {
        c->why = why;
        c->cut = true;
    }
}

/* Leaves the arrays and maps that have no items left. */
static void leave_complete(pf_cbor *c)
{
    while (c->depth > 0 && c->left[c->depth] == 0)
        c->depth--;
}

/* Enters an array or map of `n` items, or an item of indefinite length.  For a map 2 * n cannot
 * overflow, because n was compared with the number of bytes left. */
static void enter(pf_cbor *c, const pf_cbor_item *item)
{
    static const uint64_t next[] = {[PF_CBOR_ARRAY] = ITEM,
                                    [PF_CBOR_MAP] = KEY,
                                    [PF_CBOR_BYTES] = PIECE,
                                    [PF_CBOR_TEXT] = TEXT_PIECE};
    const uint64_t bytes = (uint64_t)(c->end - c->pos);
    const uint64_t most = item->kind == PF_CBOR_MAP ? bytes / 2 : bytes;
    if (item->number != PF_CBOR_OPEN && item->number > most)
        fail_cut(c, "an array or map of more items than bytes are left");
    else if (c->depth == PF_CBOR_DEPTH)
        pf_cbor_fail(c, "arrays and maps are nested too deeply");
    else if (item->number == PF_CBOR_OPEN)
        c->left[++c->depth] = next[item->kind];
    else
        c->left[++c->depth] = item->kind == PF_CBOR_MAP ? 2 * item->number : item->number;
}

/* Leaves an item of indefinite length at its end marker.  The marker must be allowed here: a map
 * needs a value for each key. */
static void leave_open(pf_cbor *c)
{
    const uint64_t left = c->left[c->depth];
    if (left <= MOST_COUNTED || left == VALUE)
        pf_cbor_fail(c, "an end where none can be");
    else
        c->depth--;
}

/* Counts an item that was read as part of the array, map or string around it. */
static void count(pf_cbor *c, const pf_cbor_item *item)
{
    uint64_t *left = &c->left[c->depth];
    const pf_cbor_kind piece = *left == PIECE ? PF_CBOR_BYTES : PF_CBOR_TEXT;
    if (*left <= MOST_COUNTED)
        --*left;
    else if (*left == KEY || *left == VALUE)
        *left = *left == KEY ? VALUE : KEY;
    else if (*left != ITEM && (item->kind != piece || item->number == PF_CBOR_OPEN))
        pf_cbor_fail(c, "a string in pieces that contains something else");
}

/* Returns true if the item begins or ends an indefinite length. */
static bool is_open(const pf_cbor_item *item)
{
    const bool opens = item->kind == PF_CBOR_ARRAY || item->kind == PF_CBOR_MAP ||
                       item->kind == PF_CBOR_BYTES || item->kind == PF_CBOR_TEXT;
    return item->kind == PF_CBOR_END || (opens && item->number == PF_CBOR_OPEN);
}

/* Decodes the item at the position and moves to the byte after it. */
static void decode(pf_cbor *c, pf_cbor_item *item)
{
    const size_t bytes = (size_t)(c->end - c->pos);
    const struct cbor_decoder_result result = cbor_stream_decode(c->pos, bytes, &callbacks, item);
    if (result.status != CBOR_DECODER_FINISHED) {
        if (result.status == CBOR_DECODER_NEDATA)
            fail_cut(c, "it ends inside an item");
        pf_cbor_fail(c, "a byte that begins no item");
        return;
    }
    const bool string = item->kind == PF_CBOR_BYTES || item->kind == PF_CBOR_TEXT;
    /* The length of a string is checked again: where size_t has 32 bits, libcbor 0.9 to 0.14.0
     * checks a truncated length (GHSA-frh9-3gqx-pqg2). */
    if (result.read > bytes || (string && item->number != PF_CBOR_OPEN && item->number > bytes))
        fail_cut(c, "it ends inside an item");
    else if (item->kind == PF_CBOR_BAD || (is_open(item) && !c->indefinite))
        pf_cbor_fail(c, "a tag or an indefinite length");
    else
        c->pos += result.read;
}

pf_cbor_item pf_cbor_next(pf_cbor *c)
{
    pf_cbor_item item = {.kind = PF_CBOR_BAD};
    const pf_cbor_item none = item;
    leave_complete(c);
    if (c->why)
        return none;
    if (c->left[c->depth] == 0) {
        pf_cbor_fail(c, "there is no such item");
        return none;
    }
    if (c->pos == c->end) {
        fail_cut(c, "it ends before an item");
        return none;
    }
    decode(c, &item);
    if (c->why)
        return none;
    if (item.kind == PF_CBOR_END) {
        leave_open(c);
        return c->why ? none : item;
    }
    count(c, &item);
    const bool string = item.kind == PF_CBOR_BYTES || item.kind == PF_CBOR_TEXT;
    if (item.kind == PF_CBOR_ARRAY || item.kind == PF_CBOR_MAP ||
        (string && item.number == PF_CBOR_OPEN))
        enter(c, &item);
    return c->why ? none : item;
}

bool pf_cbor_more(pf_cbor *c, unsigned depth)
{
    while (c->depth > depth && c->left[c->depth] == 0)
        c->depth--;
    if (c->why || c->depth != depth)
        return false;
    if (c->left[depth] == 0) {
        c->depth--;
        return false;
    }
    if (c->left[depth] <= MOST_COUNTED || c->left[depth] == VALUE || c->pos == c->end ||
        *c->pos != END_BYTE)
        return true;
    (void)pf_cbor_next(c);
    return false;
}

/* When the reader is back at its depth, everything in the skipped item has been read. */
void pf_cbor_skip(pf_cbor *c)
{
    leave_complete(c);
    const unsigned depth = c->depth;
    do {
        pf_cbor_next(c);
        while (c->depth > depth && c->left[c->depth] == 0)
            c->depth--;
    } while (c->depth > depth && !c->why);
}

/* Reads the next item if it is of the given kind; otherwise the reader fails and the item is
 * empty. */
static pf_cbor_item expect(pf_cbor *c, pf_cbor_kind kind, const char *why)
{
    const pf_cbor_item item = pf_cbor_next(c);
    if (item.kind == kind)
        return item;
    pf_cbor_fail(c, why);
    return (pf_cbor_item){.kind = PF_CBOR_BAD};
}

uint64_t pf_cbor_uint(pf_cbor *c)
{
    return expect(c, PF_CBOR_UINT, "not the unsigned number that is needed").number;
}

uint32_t pf_cbor_u32(pf_cbor *c)
{
    const uint64_t v = pf_cbor_uint(c);
    if (v <= UINT32_MAX)
        return (uint32_t)v;
    pf_cbor_fail(c, "a number above 32 bits");
    return 0;
}

uint64_t pf_cbor_array(pf_cbor *c)
{
    return expect(c, PF_CBOR_ARRAY, "not the array that is needed").number;
}

uint64_t pf_cbor_map(pf_cbor *c)
{
    return expect(c, PF_CBOR_MAP, "not the map that is needed").number;
}

perfile_bytes pf_cbor_bytes(pf_cbor *c)
{
    return expect(c, PF_CBOR_BYTES, "not the byte string that is needed").bytes;
}

perfile_bytes pf_cbor_text(pf_cbor *c)
{
    const pf_cbor_item item = pf_cbor_next(c);
    if (item.kind == PF_CBOR_TEXT || item.kind == PF_CBOR_BYTES)
        return item.bytes;
    pf_cbor_fail(c, "not the text that is needed");
    return (perfile_bytes){NULL, 0};
}

perfile_status pf_cbor_finish(pf_cbor *c, const char *where, perfile_error *err)
{
    leave_complete(c);
    if (c->depth > 0 || c->left[0] > 0)
        pf_cbor_fail(c, "it ends before an item");
    if (c->pos != c->end)
        pf_cbor_fail(c, "bytes after its end");
    if (c->why)
        return pf_fail(err, PERFILE_E_CORRUPT, where, "%s", c->why);
    return PERFILE_OK;
}

bool pf_cbor_put_uint(pf_buffer *b, uint64_t v)
{
    if (!pf_buffer_reserve(b, HEAD))
        return false;
    b->len += cbor_encode_uint(v, b->ptr + b->len, HEAD);
    return true;
}

bool pf_cbor_put_array(pf_buffer *b, size_t items)
{
    if (!pf_buffer_reserve(b, HEAD))
        return false;
    b->len += cbor_encode_array_start(items, b->ptr + b->len, HEAD);
    return true;
}

bool pf_cbor_put_map(pf_buffer *b, size_t pairs)
{
    if (!pf_buffer_reserve(b, HEAD))
        return false;
    b->len += cbor_encode_map_start(pairs, b->ptr + b->len, HEAD);
    return true;
}

bool pf_cbor_put_bytes(pf_buffer *b, perfile_bytes bytes)
{
    if (!pf_buffer_reserve(b, HEAD))
        return false;
    b->len += cbor_encode_bytestring_start(bytes.len, b->ptr + b->len, HEAD);
    return pf_buffer_append(b, bytes.ptr, bytes.len);
}

static bool is_utf8(perfile_bytes text)
{
    size_t n = 1;
    for (size_t at = 0; at < text.len && n; at += n)
        n = perfile_utf8_char(text.ptr + at, text.len - at, NULL);
    return n != 0;
}

bool pf_cbor_put_text(pf_buffer *b, const char *text)
{
    const perfile_bytes bytes = {(const uint8_t *)text, strlen(text)};
    if (!is_utf8(bytes))
        return pf_cbor_put_bytes(b, bytes);
    if (!pf_buffer_reserve(b, HEAD))
        return false;
    b->len += cbor_encode_string_start(bytes.len, b->ptr + b->len, HEAD);
    return pf_buffer_append(b, bytes.ptr, bytes.len);
}

#else
typedef int pf_cbor_is_elsewhere; /* C needs a declaration */
#endif
