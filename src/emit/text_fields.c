/* Fields in the form "text": the visitor that shows what a walk over a record, attr or feature
 * finds.
 *
 * In hex mode each value stands behind its bytes: what is longer than 8 bytes gets further lines,
 * long blobs become a hex dump.  Otherwise each field takes one line, lists of numbers as many as
 * they fill, and the fields of a list item share one. */
#include "base/crc32.h"
#include "base/byte_order.h"
#include "emit/text_page.h"
#include "perfile/abi.h"

enum {
    SHORT_BYTES = 32, /* blobs up to this length are shown completely */
    SHOWN_BYTES = 16, /* bytes that are shown of longer ones, outside hex mode */
    WORD = 8          /* bytes in front of a value in hex mode */
};

/* The padded name of a field, from the cache. */
static const pf_key *key_of(pf_text_page *t, const perfile_field *f)
{
    uintptr_t at = (uintptr_t)f;
    pf_key *key = &t->keys[(at >> 3 ^ at >> 11) & (sizeof t->keys / sizeof t->keys[0] - 1)];
    if (key->row == f)
        return key;
    size_t n = strlen(f->name);
    if (n > sizeof key->text - 2)
        n = sizeof key->text - 2;
    memset(key->text, ' ', sizeof key->text);
    memcpy(key->text, f->name, n);
    key->row = f;
    key->len = (uint8_t)(n < PF_NAME_WIDTH ? PF_NAME_WIDTH : n + 2);
    return key;
}

/* Hex mode: lines for the bytes of the field that do not fit in front of it. */
static void bytes_below(pf_text_page *t, uint64_t offset, uint64_t width)
{
    if (width > WORD)
        pf_text_page_rest(t, offset, (perfile_bytes){t->bytes + offset, (size_t)width});
}

/* A number.  Keeps the values that decide how later fields are shown: the register mask, and the
 * flags that say whether the event's clock id is used. */
static void show_number(pf_text_page *t, const perfile_field *f, const perfile_value *v)
{
    unsigned kind = f->kind;
    if (kind == PERFILE_KIND_REGS_MASK)
        t->mask = v->number;
    else if (kind == PERFILE_KIND_ATTR_FLAGS)
        t->attr_flags = v->number;
    else if (kind == PERFILE_KIND_EVENT_CLOCKID &&
             !(t->attr_flags >> PERFILE_ATTR_BIT_USE_CLOCKID & 1))
        kind = PERFILE_KIND_DEC; /* without use_clockid the number names no clock */
    pf_text_page_name(t, key_of(t, f), v);
    pf_text_page_number(t, kind, f->type, v->number);
    pf_text_page_named_end(t);
}

static void show_text(pf_text_page *t, const perfile_field *f, const perfile_value *v)
{
    pf_text_page_name(t, key_of(t, f), v);
    pf_text_page_quoted(t, v->u.bytes);
    pf_text_page_named_end(t);
    if (t->hex)
        bytes_below(t, v->offset, v->width);
}

static void put_count(pf_text_page *t, uint64_t n, const char *what)
{
    pf_text_page_dec(t, n);
    pf_text_page_string(t, what);
}

/* Hex mode: a blob that is longer than 8 bytes, as a dump below its name. */
static void show_long_blob(pf_text_page *t, const perfile_field *f, const perfile_value *v)
{
    perfile_value none = {.offset = v->offset};
    pf_text_page_name(t, key_of(t, f), &none);
    put_count(t, v->u.bytes.len, " bytes");
    pf_text_page_end(t);
    pf_text_page_dump(t, v->offset, v->u.bytes);
}

/* Length and CRC-32, for bulk data that nobody reads as numbers. */
static void put_crc(pf_text_page *t, perfile_bytes bytes)
{
    uint8_t crc[8];
    pf_put_hex_fixed(crc, pf_crc32(0, bytes), sizeof crc);
    put_count(t, bytes.len, " bytes  crc32 ");
    pf_emit_bytes(&t->base, crc, sizeof crc);
}

/* A blob as hexadecimal digits; of a long one its length and its first bytes. */
static void put_bytes(pf_text_page *t, perfile_bytes bytes)
{
    bool complete = bytes.len <= SHORT_BYTES;
    if (!complete)
        put_count(t, bytes.len, " bytes  ");
    uint8_t *at = pf_emit_room(&t->base, 2 * SHORT_BYTES);
    if (!at)
        return;
    if (!complete)
        bytes.len = SHOWN_BYTES;
    pf_emit_filled(&t->base, pf_put_bytes(at, bytes));
    if (!complete)
        PF_TEXT_LITERAL(t, "…");
}

static void show_blob(pf_text_page *t, const perfile_field *f, const perfile_value *v)
{
    bool id = f->kind == PERFILE_KIND_BUILD_ID;
    if (t->hex && v->u.bytes.len > WORD && !id) {
        show_long_blob(t, f, v);
        return;
    }
    pf_text_page_name(t, key_of(t, f), v);
    if (f->kind == PERFILE_KIND_BULK)
        put_crc(t, v->u.bytes);
    else if (v->u.bytes.len == 0)
        PF_TEXT_LITERAL(t, "-");
    else
        put_bytes(t, v->u.bytes);
    pf_text_page_named_end(t);
    if (t->hex)
        bytes_below(t, v->offset, v->width);
}

/* An item of a list of numbers.  Registers have their name in front, r12= if it is not known: each
 * takes the lowest bit of *mask, which is removed. */
static void put_word(pf_text_page *t, const perfile_field *f, uint64_t v, uint64_t *mask,
                     pf_registers names)
{
    if (f->kind == PERFILE_KIND_REG && *mask) {
        unsigned bit = (unsigned)__builtin_ctzll(*mask);
        *mask &= *mask - 1;
        if (names && names[bit]) {
            pf_text_page_string(t, names[bit]);
        } else {
            PF_TEXT_LITERAL(t, "r");
            pf_text_page_dec(t, bit);
        }
        PF_TEXT_LITERAL(t, "=");
    }
    pf_text_page_number(t, f->kind, f->element,
                        f->element == PERFILE_STORED_S32 ? (uint64_t)(int32_t)v : v);
}

/* Hex mode: a list of numbers, one per line. */
static void show_words_hex(pf_text_page *t, const perfile_field *f, const perfile_value *v)
{
    const perfile_words *words = &v->u.words;
    uint64_t mask = t->mask;
    pf_registers names = NULL;
    if (f->kind == PERFILE_KIND_REG)
        names = pf_registers_of(t->base.session);
    for (size_t i = 0; i < words->n; i++) {
        perfile_value one = {.offset = v->offset + i * words->width, .width = words->width};
        if (i == 0)
            pf_text_page_name(t, key_of(t, f), &one);
        else
            pf_text_page_value_line(t, one.offset, t->bytes + one.offset, words->width);
        put_word(t, f, perfile_word(words, i), &mask, names);
        pf_text_page_end(t);
    }
}

/* A call chain: one address per line. */
static void show_chain(pf_text_page *t, const perfile_field *f, const perfile_value *v)
{
    const perfile_words *words = &v->u.words;
    pf_text_page_name(t, key_of(t, f), v);
    for (size_t i = 0; i < words->n; i++) {
        if (i > 0) {
            pf_text_page_end(t);
            pf_text_page_value_line(t, 0, NULL, 0);
        }
        pf_text_page_number(t, f->kind, f->element,
                            pf_load_u64(words->ptr + 8 * i, words->swapped));
    }
    pf_text_page_named_end(t);
}

static void show_words(pf_text_page *t, const perfile_field *f, const perfile_value *v)
{
    const perfile_words *words = &v->u.words;
    uint64_t mask = t->mask;
    pf_registers names = NULL;
    if (f->kind == PERFILE_KIND_REG)
        names = pf_registers_of(t->base.session);
    pf_text_page_name(t, key_of(t, f), v);
    for (size_t i = 0; i < words->n; i++) {
        if (i > 0)
            pf_text_page_between(t);
        put_word(t, f, perfile_word(words, i), &mask, names);
    }
    pf_text_page_named_end(t);
}

/* An empty list. */
static void show_none(pf_text_page *t, const perfile_field *f, const perfile_value *v)
{
    pf_text_page_name(t, key_of(t, f), v);
    PF_TEXT_LITERAL(t, "-");
    pf_text_page_named_end(t);
}

/* A list of strings, outside hex mode on shared lines.  The offset of a string is computed from
 * what is left of the list. */
static void show_strings(pf_text_page *t, const perfile_field *f, const perfile_value *v)
{
    perfile_strings left = v->u.strings;
    const uint8_t *begin = left.bytes.ptr;
    perfile_bytes text;
    if (left.n == 0)
        show_none(t, f, v);
    for (size_t i = 0; i < v->u.strings.n; i++) {
        perfile_value one = {.offset = v->offset + (uint64_t)(left.bytes.ptr - begin),
                             .width = left.bytes.len};
        if (perfile_strings_next(&left, &text) != PERFILE_OK)
            break;
        one.width -= left.bytes.len;
        if (i == 0)
            pf_text_page_name(t, key_of(t, f), &one);
        else if (t->hex)
            pf_text_page_value_line(t, one.offset, t->bytes + one.offset, (size_t)one.width);
        else
            pf_text_page_between(t);
        pf_text_page_quoted(t, text);
        if (t->hex) {
            pf_text_page_end(t);
            bytes_below(t, one.offset, one.width);
        }
    }
    if (!t->hex && v->u.strings.n)
        pf_text_page_named_end(t);
}

static void show_value(void *user, const perfile_field *f, const perfile_value *v)
{
    pf_text_page *t = user;
    if (!t->hex && f->kind == PERFILE_KIND_COUNT) /* the list itself has its length */
        return;
    switch (f->type) {
    case PERFILE_STORED_TEXT:
        show_text(t, f, v);
        break;
    case PERFILE_STORED_BLOB:
        show_blob(t, f, v);
        break;
    case PERFILE_STORED_WORDS:
        if (v->u.words.n == 0)
            show_none(t, f, v);
        else if (t->hex)
            show_words_hex(t, f, v);
        else if (f->kind == PERFILE_KIND_CHAIN && v->u.words.width == WORD)
            show_chain(t, f, v);
        else
            show_words(t, f, v);
        break;
    case PERFILE_STORED_STRINGS:
        show_strings(t, f, v);
        break;
    default:
        show_number(t, f, v);
        break;
    }
}

/* The heading of a list item, "[3]". */
static void begin_item(pf_text_page *t, uint64_t position)
{
    uint8_t name[PF_DEC_MAX + 2];
    name[0] = '[';
    uint8_t *end = pf_put_dec(name + 1, position);
    *end++ = ']';
    pf_text_page_heading(t, (const char *)name, (size_t)(end - name));
}

/* A struct, list or list item begins.  The fields of an item share its line, except in hex mode. */
static void show_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    pf_text_page *t = user;
    if (f->flags & PERFILE_FIELD_FLAT)
        return;
    bool item = f->type == PERFILE_STORED_ITEM;
    if (item)
        begin_item(t, v->u.count);
    else
        pf_text_page_heading(t, f->name, strlen(f->name));
    if (f->type == PERFILE_STORED_LIST && v->u.count != UINT64_MAX) {
        PF_TEXT_LITERAL(t, " (");
        put_count(t, v->u.count, ")");
    }
    if (!item || t->hex)
        pf_text_page_end(t);
    t->depth++;
    uint64_t bit = UINT64_C(1) << t->depth;
    t->in_line = item && !t->hex ? t->in_line | bit : t->in_line & ~bit;
}

static void show_end(void *user, const perfile_field *f)
{
    pf_text_page *t = user;
    if (f->flags & PERFILE_FIELD_FLAT)
        return;
    if (t->open)
        pf_text_page_end(t);
    t->depth--;
}

const perfile_visitor pf_text_page_visitor = {sizeof pf_text_page_visitor, show_value, show_begin,
                                              show_end};
