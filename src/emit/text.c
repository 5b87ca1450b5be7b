/* The form "text": one line per record with offset, time, type, size, misc and event, and below it
 * a line per field.
 *
 * This file has the fields of a walk, the facts before the records, and the records; all write
 * through text_page.c.  In hex mode (PERFILE_EMIT_HEX) each field is preceded by its offset and
 * bytes, and record headers are shown as fields too. */
#include "base/byte_order.h"
#include "base/crc32.h"
#include "base/shorten.h"
#include "emit/text_page.h"
#include "perfile/abi.h"
#include "perfile/perfile.h"
#include "schema/rows.h"
#include "core/command.h"
#include "base/command.h"
#include "schema/command.h"

/* Fields in the form "text": a visitor that shows everything that a walk over a record, attr or
 * feature finds.
 *
 * In hex mode each value follows its bytes: values longer than 8 bytes get more lines, and long
 * blobs become a hex dump.  Otherwise each field has one line, lists of numbers as many as they
 * need, and the fields of a list item share one. */

enum {
    SHORT_BYTES = 32, /* blobs up to this length are shown completely */
    SHOWN_BYTES = 16, /* bytes that are shown of longer blobs, outside hex mode */
    WORD = 8          /* bytes before a value in hex mode */
};

/* Returns the padded name of a field, from the cache. */
static const pf_key *key_of(pf_text_page *t, const perfile_field *f)
{
    uintptr_t at = (uintptr_t)f;
    pf_key *key = &t->keys[(at >> 3 ^ at >> 11) & (sizeof t->keys / sizeof t->keys[0] - 1)];
    if (key->row == f)
        return key;
    uint8_t room[sizeof key->text - 2];
    const perfile_bytes name =
        pf_shortened((perfile_bytes){(const uint8_t *)f->name, strlen(f->name)}, sizeof room, room);
    const size_t n = name.len;
    memset(key->text, ' ', sizeof key->text);
    memcpy(key->text, name.ptr, n);
    key->row = f;
    key->len = (uint8_t)(n < PF_NAME_WIDTH ? PF_NAME_WIDTH : n + 2);
    return key;
}

/* Hex mode: writes lines for the bytes of the field that do not fit before it. */
static void bytes_below(pf_text_page *t, uint64_t offset, uint64_t width)
{
    if (width > WORD)
        pf_text_page_rest(t, offset, (perfile_bytes){t->bytes + offset, (size_t)width});
}

/* Writes a number.  Remembers the values that decide how later fields are shown: the register mask,
 * and the flags that say whether the event uses its clock id. */
static void show_number(pf_text_page *t, const perfile_field *f, const perfile_value *v)
{
    unsigned kind = f->kind;
    if (kind == PERFILE_KIND_REGS_MASK)
        t->mask = v->number;
    else if (kind == PERFILE_KIND_ATTR_FLAGS)
        t->attr_flags = v->number;
    else if (kind == PERFILE_KIND_EVENT_CLOCKID &&
             !(t->attr_flags >> PERFILE_ATTR_BIT_USE_CLOCKID & 1))
        kind = PERFILE_KIND_DEC; /* without use_clockid the number is not a clock */
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

/* Hex mode: writes a blob longer than 8 bytes as a dump below its name. */
static void show_long_blob(pf_text_page *t, const perfile_field *f, const perfile_value *v)
{
    perfile_value none = {.offset = v->offset};
    pf_text_page_name(t, key_of(t, f), &none);
    put_count(t, v->u.bytes.len, " bytes");
    pf_text_page_end(t);
    pf_text_page_dump(t, v->offset, v->u.bytes);
}

/* Writes length and CRC-32, for bulk data that is not worth showing. */
static void put_crc(pf_text_page *t, perfile_bytes bytes)
{
    uint8_t crc[8];
    pf_put_hex_fixed(crc, pf_crc32(0, bytes), sizeof crc);
    put_count(t, bytes.len, " bytes  crc32 ");
    pf_emit_bytes(&t->base, crc, sizeof crc);
}

/* Writes a blob as hexadecimal digits.  Of a long blob, writes the length and the first bytes. */
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

/* Writes an item of a list of numbers.  A register is written as name=value, with r12 as the name
 * if it is not known.  Each register uses the lowest bit of *mask, which is then cleared. */
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

/* Hex mode: writes a list of numbers, one per line. */
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

/* Writes a callchain, one address per line. */
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

/* Writes an empty list. */
static void show_none(pf_text_page *t, const perfile_field *f, const perfile_value *v)
{
    pf_text_page_name(t, key_of(t, f), v);
    PF_TEXT_LITERAL(t, "-");
    pf_text_page_named_end(t);
}

/* Writes a list of strings, on shared lines except in hex mode.  The offset of a string is computed
 * from the rest of the list. */
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
    if (!t->hex && f->kind == PERFILE_KIND_COUNT) /* the list itself shows its length */
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

/* Writes the heading of a list item, "[3]". */
static void begin_item(pf_text_page *t, uint64_t position)
{
    uint8_t name[PF_DEC_MAX + 2];
    name[0] = '[';
    uint8_t *end = pf_put_dec(name + 1, position);
    *end++ = ']';
    pf_text_page_heading(t, (const char *)name, (size_t)(end - name));
}

/* Begins a struct, list or list item.  The fields of an item share its line, except in hex mode. */
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

/* The facts before the records in the form "text": header, events, event types, features, and the
 * damage found in them when the file was opened.  Also the lines of damage. */

/* Writes an offset with 0x and at least 8 digits. */
static void pf_text_offset(pf_text_page *t, uint64_t offset)
{
    uint8_t *at = pf_emit_room(&t->base, 2 + 16);
    if (!at)
        return;
    *at++ = '0';
    *at++ = 'x';
    pf_emit_filled(&t->base, pf_put_hex_fixed(at, offset, offset >> 32 ? 16 : 8));
}

static void pf_text_damage(pf_text_page *t, uint32_t damage)
{
    PF_TEXT_LITERAL(t, "!! ");
    pf_text_page_string(t, pf_damage_name(damage));
    PF_TEXT_LITERAL(t, ": ");
    pf_text_page_string(t, pf_damage_text(damage));
}

static void pf_text_damage_at(pf_text_page *t, uint32_t damage, uint64_t offset)
{
    pf_text_page_line(t, 0);
    pf_text_offset(t, offset);
    PF_TEXT_LITERAL(t, "  ");
    pf_text_damage(t, damage);
    pf_text_page_end(t);
    t->base.n_errors++;
}

/* Writes damage on its own line below the record or feature it concerns.  All damage is marked with
 * "!!", so that one can search for it. */
static void pf_text_error(pf_text_page *t, uint32_t damage)
{
    pf_text_page_reset(t);
    pf_text_page_line(t, t->hex ? 2 : 4);
    pf_text_damage(t, damage);
    pf_text_page_end(t);
}

/* Writes the fields of a feature.  If they cannot be decoded to the end, writes the damage after
 * them and returns false. */
static bool pf_text_feature(pf_text_page *t, const perfile_feature *f)
{
    perfile_error why = {.damage = 0};
    t->bytes = f->payload.ptr;
    perfile_status st =
        perfile_feature_walk(f, t->hex ? PERFILE_WALK_PADDING : 0, &pf_text_page_visitor, t, &why);
    pf_text_page_reset(t);
    if (st == PERFILE_OK)
        return true;
    pf_text_error(t, why.damage);
    return false;
}

/* Writes the damage of one kind of section (PERFILE_EXTENT_…). */
static void container_damage(pf_text_page *t, uint32_t role)
{
    const perfile_container *c = t->base.container;
    for (uint32_t i = 0; i < c->n_damages; i++)
        if (c->damages[i].role == role)
            pf_text_damage_at(t, c->damages[i].damage, c->damages[i].offset);
}

/* Writes offset and size of a section. */
static void put_extent(pf_text_page *t, const char *name, const perfile_section *s)
{
    pf_text_page_named(t, name, 0, 0);
    pf_text_offset(t, s->offset);
    PF_TEXT_LITERAL(t, " +");
    pf_text_page_dec(t, s->size);
    pf_text_page_end(t);
}

/* Writes the names of the features that the header's bitmap declares; "-" for none. */
static void put_declared_features(pf_text_page *t, const perfile_container *c)
{
    pf_text_page_named(t, "features", 0, 0);
    bool first = true;
    for (uint32_t i = 0; i < PERFILE_N_FEATURES; i++) {
        if (!(c->features[i / 64] >> i % 64 & 1))
            continue;
        if (!first)
            pf_text_page_between(t);
        first = false;
        const char *name = pf_feature_name(i);
        if (name)
            pf_text_page_string(t, name);
        else
            pf_text_page_dec(t, i);
    }
    if (first)
        PF_TEXT_LITERAL(t, "-");
    pf_text_page_end(t);
}

/* Writes the header of each file of the capture, where the container has its stored bytes. */
static void stored_headers(pf_text_page *t)
{
    const perfile_emitter *e = &t->base;
    const perfile_container *c = e->container;
    const pf_family *family = pf_family_of((uint8_t)c->family);
    const pf_context k = {0};
    if (!family || !family->walk_file_header)
        return;
    for (uint32_t i = 0; i < c->n_parts; i++) {
        const perfile_part *part = &c->parts[i];
        pf_cursor at = pf_cur(part->header, pf_session_swapped(e->session));
        const pf_walker walker = {&pf_text_page_visitor, t, at.pos, 0, 0};
        if (part->name) {
            pf_text_page_line(t, 0);
            pf_text_page_text(t, (perfile_bytes){(const uint8_t *)part->name, strlen(part->name)});
            pf_text_page_end(t);
        }
        t->bytes = part->header.ptr;
        family->walk_file_header(&k, &at, &walker);
        pf_text_page_reset(t);
    }
}

/* Writes format, version and byte order; for files also the sections and declared features. */
static void header_lines(pf_text_page *t)
{
    const perfile_container *c = t->base.container;
    bool hex = t->hex;
    t->hex = false; /* the container has the values, but not the bytes they came from */
    pf_text_page_line(t, 0);
    pf_text_page_string(t, c->family == PERFILE_FAMILY_PERF ? "perf.data" : c->format);
    pf_text_page_string(t, c->form == PERFILE_FORM_PIPE ? " pipe" : " file");
    PF_TEXT_LITERAL(t, ", version ");
    pf_text_page_dec(t, c->version);
    pf_text_page_string(t, c->byte_order == PERFILE_BYTE_ORDER_BIG ? ", big-endian"
                                                                   : ", little-endian");
    pf_text_page_end(t);
    if (c->has_sections) {
        put_extent(t, "attrs", &c->attrs);
        put_extent(t, "data", &c->data);
        if (c->event_types.size)
            put_extent(t, "event_types", &c->event_types);
        put_declared_features(t, c);
    }
    t->hex = hex;
    stored_headers(t);
    pf_text_page_end(t);
}

/* Writes an event: the fields of its attr, and its ids. */
static void event_lines(pf_text_page *t, const perfile_event *event)
{
    pf_text_page_line(t, 0);
    pf_text_offset(t, event->offset);
    PF_TEXT_LITERAL(t, "  event ");
    pf_text_page_dec(t, event->index);
    PF_TEXT_LITERAL(t, "  ");
    pf_text_page_text(t, (perfile_bytes){(const uint8_t *)event->name, strlen(event->name)});
    pf_text_page_end(t);
    if (event->damage)
        pf_text_damage_at(t, event->damage, event->offset);
    if (event->ids_damage)
        pf_text_damage_at(t, event->ids_damage, event->offset);
    t->bytes = event->stored.ptr;
    /* An attr that became an event can be walked: the driver has decoded it. */
    (void)!perfile_attr_walk(event->stored, event->ids.swapped, t->hex ? PERFILE_WALK_PADDING : 0,
                             &pf_text_page_visitor, t, NULL);
    if (event->ids.n) {
        pf_text_page_named(t, "ids", 0, 0);
        for (size_t i = 0; i < event->ids.n; i++) {
            if (i > 0)
                pf_text_page_between(t);
            pf_text_page_dec(t, perfile_word(&event->ids, i));
        }
        pf_text_page_end(t);
    }
    pf_text_page_end(t);
    t->base.decoded = true;
}

/* Writes an event type of an old file: config and name. */
static void event_type_line(pf_text_page *t, const pf_event_type *type)
{
    pf_text_page_line(t, 0);
    PF_TEXT_LITERAL(t, "event_type ");
    pf_text_page_dec(t, type->event_id);
    PF_TEXT_LITERAL(t, "  ");
    pf_text_page_quoted(t, type->name);
    pf_text_page_end(t);
    t->base.decoded = true;
}

/* Writes a feature section: position, number and name, then its fields or its damage. */
static void feature_lines(pf_text_page *t, const perfile_feature *f)
{
    const char *name = pf_feature_name(f->number);
    pf_text_page_line(t, 0);
    pf_text_offset(t, f->offset);
    PF_TEXT_LITERAL(t, " +");
    pf_text_page_dec(t, f->size);
    PF_TEXT_LITERAL(t, "  feature ");
    pf_text_page_dec(t, f->number);
    if (name) {
        PF_TEXT_LITERAL(t, "  ");
        pf_text_page_string(t, name);
    }
    pf_text_page_end(t);
    if (!pf_text_feature(t, f))
        t->base.n_errors++;
    pf_text_page_end(t);
    t->base.decoded = true;
}

/* Writes everything before the records: header, events, event types, features of the container. */
static void pf_text_facts(pf_text_page *t)
{
    const perfile_emitter *e = &t->base;
    const perfile_session *s = e->session;
    if (e->container->form != PERFILE_FORM_NONE)
        header_lines(t);
    container_damage(t, PERFILE_EXTENT_HEADER);
    container_damage(t, PERFILE_EXTENT_ATTRS);
    for (uint32_t i = 0; i < pf_session_n_events(s); i++) {
        const perfile_event *event = perfile_session_event(s, i);
        /* Events and features of other origin are shown with the record that contains them. */
        if (event->origin == PERFILE_ORIGIN_CONTAINER)
            event_lines(t, event);
    }
    for (uint32_t i = 0; i < pf_session_n_event_types(s); i++)
        event_type_line(t, pf_session_event_type(s, i));
    for (uint32_t i = 0; i < pf_session_n_features(s); i++) {
        const perfile_feature *f = perfile_session_feature_at(s, i);
        if (f->origin == PERFILE_ORIGIN_CONTAINER)
            feature_lines(t, f);
    }
    container_damage(t, PERFILE_EXTENT_RECORDS);
}

enum {
    TIME_WIDTH = 17, /* columns of the line of a record */
    TYPE_WIDTH = 18,
    SIZE_WIDTH = 6,
    MISC_WIDTH = 8,
    FIRST_END_MARKER = 23 /* HEADER_LAST_FEATURE of perf 4.17, the first that ends the list */
};

/* Pads a column that began at `mark` to its width.  At least two blanks follow a value that is too
 * wide. */
static void pad_from(pf_text_page *t, size_t mark, size_t width)
{
    size_t n = t->base.out.len - mark;
    pf_text_page_spaces(t, n < width ? width - n : 2);
}

static perfile_status text_open(perfile_emitter *e, perfile_error *err)
{
    (void)err;
    ((pf_text_page *)(void *)e)->hex = e->flags & PERFILE_EMIT_HEX;
    return PERFILE_OK;
}

static perfile_status text_begin(perfile_emitter *e, perfile_error *err)
{
    pf_text_page *t = (pf_text_page *)(void *)e;
    (void)err;
    if (!(e->flags & PERFILE_EMIT_RECORDS))
        pf_text_facts(t);
    return PERFILE_OK;
}

/* Begins the line of a record with its file name, if there are several files, and its offset.  A
 * record from a compressed record shows its offset in the decompressed stream, and a bar before
 * each of its lines. */
static void put_place(pf_text_page *t, const perfile_record *r)
{
    bool inner = r->flags & PERFILE_REC_INNER;
    const char *file = pf_emit_part_name(&t->base, r->part);
    t->gutter = inner ? "| " : NULL;
    pf_text_page_line(t, 0);
    if (file) {
        pf_text_page_text(t, (perfile_bytes){(const uint8_t *)file, strlen(file)});
        PF_TEXT_LITERAL(t, ":");
    }
    pf_text_offset(t, inner ? r->stream_offset : r->offset);
}

static void put_type(pf_text_page *t, const perfile_record *r)
{
    const char *name = pf_type_name(r->family, r->type);
    size_t mark = t->base.out.len;
    if (name) {
        pf_text_page_string(t, name);
    } else {
        PF_TEXT_LITERAL(t, "type ");
        pf_text_page_dec(t, perfile_record_stored_type(r));
    }
    pad_from(t, mark, TYPE_WIDTH);
}

/* Writes the header fields of a record of another family, besides type and size: on the line of the
 * record, or in hex mode one per line.  Returns true if the family has any. */
static bool tag_fields(pf_text_page *t, const perfile_record *r)
{
    const pf_family *family = pf_family_of(r->family);
    if (!family || !family->walk_tag)
        return false;
    const pf_context k = {0};
    pf_cursor at =
        pf_cur((perfile_bytes){r->header + family->tag_at, family->header - family->tag_at},
               r->flags & PERFILE_REC_SWAPPED);
    const pf_walker walker = {&pf_text_page_visitor, t, r->header, 0, 0};
    family->walk_tag(&k, &at, &walker);
    return true;
}

/* The same on the line of the record. */
static void tag_in_line(pf_text_page *t, const perfile_record *r)
{
    const bool hex = t->hex;
    t->hex = false;
    t->base.out.len -= 2; /* each field on a shared line begins with two blanks */
    t->in_line = 1;
    if (!tag_fields(t, r))
        PF_TEXT_LITERAL(t, "  ");
    t->in_line = 0;
    t->hex = hex;
}

/* Writes the line of a record. */
static void head_line(pf_text_page *t, const perfile_record *r)
{
    uint64_t time = perfile_record_time(r);
    const perfile_event *event = perfile_record_event(r);
    put_place(t, r);
    PF_TEXT_LITERAL(t, " ");
    if (time == PERFILE_NO_TIME)
        pf_text_page_spaces(t, TIME_WIDTH);
    else
        pf_text_page_seconds(t, time, TIME_WIDTH);
    PF_TEXT_LITERAL(t, "  ");
    put_type(t, r);
    size_t mark = t->base.out.len;
    pf_text_page_dec(t, perfile_record_size(r));
    pad_from(t, mark, SIZE_WIDTH);
    mark = t->base.out.len;
    if (r->family == PERFILE_FAMILY_PERF)
        pf_text_page_misc(t, r->type, r->misc);
    else
        tag_in_line(t, r);
    if (event) {
        pad_from(t, mark, MISC_WIDTH);
        pf_text_page_text(t, (perfile_bytes){(const uint8_t *)event->name, strlen(event->name)});
    }
    pf_text_page_trim(t);
    pf_text_page_end(t);
}

/* Hex mode: writes the record header of another family on one line. */
static void other_header(pf_text_page *t, const perfile_record *r)
{
    pf_text_page_named(t, "header", 0, pf_family_header(r->family));
    PF_TEXT_LITERAL(t, "type ");
    pf_text_page_dec(t, perfile_record_stored_type(r));
    PF_TEXT_LITERAL(t, ", size ");
    pf_text_page_dec(t, perfile_record_size(r));
    pf_text_page_end(t);
    (void)tag_fields(t, r);
    pf_text_page_reset(t);
}

/* Hex mode: writes the header of a record as fields with their bytes.  Some types have a wide size
 * field (4 bytes) and no misc. */
static void header_fields(pf_text_page *t, const perfile_record *r)
{
    const char *name = pf_type_name(r->family, r->type);
    bool wide = pf_type_is_wide(r->type);
    if (r->family != PERFILE_FAMILY_PERF) {
        other_header(t, r);
        return;
    }
    pf_text_page_named(t, "type", 0, 4);
    pf_text_page_dec(t, r->type);
    if (name) {
        PF_TEXT_LITERAL(t, "  ");
        pf_text_page_string(t, name);
    }
    pf_text_page_end(t);
    if (!wide) {
        pf_text_page_named(t, "misc", 4, 2);
        pf_text_page_0x(t, r->misc);
        PF_TEXT_LITERAL(t, "  ");
        pf_text_page_misc(t, r->type, r->misc);
        pf_text_page_trim(t);
        pf_text_page_end(t);
    }
    pf_text_page_named(t, "size", wide ? 4 : 6, wide ? 4 : 2);
    pf_text_page_dec(t, perfile_record_size(r));
    pf_text_page_end(t);
}

/* Writes the feature in a HEADER_FEATURE.  Offsets of its fields count from the first byte of its
 * content. */
static perfile_status carried_feature(pf_text_page *t, const perfile_record *r, perfile_error *why)
{
    perfile_feature f;
    perfile_status st = perfile_record_feature(r, &f, why);
    if (st != PERFILE_OK)
        return st;
    /* An empty feature ends the list.  Its number is one above the last feature of the perf that
     * wrote it, and newer versions have given that number to a real feature. */
    const char *name = pf_feature_name(f.number);
    if (f.payload.len == 0 && f.number >= FIRST_END_MARKER)
        name = "end of features";
    pf_text_page_named(t, "feat_id", PF_PERF_RECORD_HEADER, 8);
    pf_text_page_dec(t, f.number);
    if (name) {
        PF_TEXT_LITERAL(t, "  ");
        pf_text_page_string(t, name);
    }
    pf_text_page_end(t);
    if (f.payload.len)
        pf_text_feature(t, &f);
    return PERFILE_OK;
}

/* Writes the trailer: its fields on one line, or in hex mode one per line.  Writes nothing if there
 * is none. */
static perfile_status put_trailer(pf_text_page *t, const perfile_record *r, perfile_error *why)
{
    size_t mark = t->base.out.len;
    pf_text_page_named(t, "sample_id", 0, 0);
    if (t->hex) {
        pf_text_page_trim(t);
        pf_text_page_end(t);
        t->depth = 1;
    } else {
        t->base.out.len -= 2; /* each field on a shared line begins with two blanks */
        t->in_line = 1;
    }
    perfile_status st = perfile_record_walk_trailer(r, 0, &pf_text_page_visitor, t, why);
    pf_text_page_reset(t);
    if (st == PERFILE_END)
        t->base.out.len = mark;
    return st < 0 ? st : PERFILE_OK;
}

/* Writes the payload of a tracepoint as fields below a heading. */
static void put_tracepoint(pf_text_page *t, const perfile_record *r)
{
    static const perfile_field heading = {.name = "tracepoint", .type = PERFILE_STORED_STRUCT};
    const perfile_event *event = perfile_record_event(r);
    if (!event || event->attr->type != PERFILE_TYPE_TRACEPOINT || !pf_emit_tracepoints(&t->base))
        return;
    const size_t mark = t->base.out.len;
    pf_text_page_visitor.begin(t, &heading, NULL);
    perfile_status st =
        perfile_tracepoint_walk(t->base.tracepoints, r, &pf_text_page_visitor, t, NULL);
    pf_text_page_visitor.end(t, &heading);
    pf_text_page_reset(t);
    if (st == PERFILE_END)
        t->base.out.len = mark;
    else if (st != PERFILE_OK)
        t->base.no_memory = true;
}

/* Writes fields and trailer.  On an error the fields so far remain: the damage is shown below
 * them. */
static perfile_status put_body(pf_text_page *t, const perfile_record *r, perfile_error *why)
{
    if (r->type == PERFILE_RECORD_HEADER_FEATURE)
        return carried_feature(t, r, why);
    perfile_status st =
        perfile_record_walk(r, t->hex ? PERFILE_WALK_PADDING : 0, &pf_text_page_visitor, t, why);
    pf_text_page_reset(t);
    if (st == PERFILE_OK && r->type == PERFILE_RECORD_SAMPLE)
        put_tracepoint(t, r);
    if (st != PERFILE_OK || r->type >= PERFILE_RECORD_USER || r->type == PERFILE_RECORD_SAMPLE)
        return st;
    return put_trailer(t, r, why);
}

/* Writes position, size and CRC-32 of the bytes after a record. */
static perfile_status put_payload(pf_text_page *t, const perfile_record *r, perfile_error *err)
{
    uint32_t crc;
    if (r->extra.len == 0)
        return PERFILE_OK;
    perfile_status st = pf_emit_extra_crc(&t->base, r, &crc, err);
    if (st == PERFILE_E_TRUNCATED)
        return PERFILE_OK; /* a damage record follows */
    if (st != PERFILE_OK)
        return st;
    uint8_t digits[8];
    pf_put_hex_fixed(digits, crc, sizeof digits);
    pf_text_page_named(t, "payload", 0, 0);
    pf_text_offset(t, r->offset + perfile_record_size(r));
    PF_TEXT_LITERAL(t, " +");
    pf_text_page_dec(t, r->extra.len);
    PF_TEXT_LITERAL(t, "  crc32 ");
    pf_emit_bytes(&t->base, digits, sizeof digits);
    pf_text_page_end(t);
    return PERFILE_OK;
}

/* Writes all lines of a record.  If it cannot be decoded, damage and a dump of its bytes follow the
 * fields that could be decoded. */
static perfile_status record_lines(pf_text_page *t, const perfile_record *r, perfile_error *err)
{
    /* Hex mode needs header and body in one range of memory, which records assembled from fragments
     * do not have. */
    bool hex = t->hex;
    t->hex = hex && r->header && r->body.ptr == r->header + pf_family_header(r->family);
    t->bytes = r->header;
    head_line(t, r);
    if (t->hex)
        header_fields(t, r);
    perfile_error why; /* over 300 bytes; only the member that is read is initialized */
    why.damage = 0;
    if (put_body(t, r, &why) != PERFILE_OK) {
        pf_text_error(t, why.damage);
        pf_text_page_dump(t, pf_family_header(r->family), r->body);
        t->base.n_errors++;
    }
    perfile_status st = put_payload(t, r, err);
    t->hex = hex;
    t->base.n_records++;
    t->base.decoded = true;
    return st;
}

/* Writes damage in the stream as one line. */
static void damage_line(pf_text_page *t, const perfile_record *r)
{
    put_place(t, r);
    PF_TEXT_LITERAL(t, "  ");
    pf_text_damage(t, r->damage);
    if (r->body.len) {
        PF_TEXT_LITERAL(t, "; ");
        pf_text_page_dec(t, r->body.len);
        PF_TEXT_LITERAL(t, " bytes skipped");
    }
    pf_text_page_end(t);
    t->base.n_errors++;
}

static perfile_status text_put(perfile_emitter *e, const perfile_record *r, perfile_error *err)
{
    pf_text_page *t = (pf_text_page *)(void *)e;
    if (r->family != PERFILE_FAMILY_DAMAGE)
        return record_lines(t, r, err);
    damage_line(t, r);
    return PERFILE_OK;
}

static perfile_status text_finish(perfile_emitter *e, perfile_error *err)
{
    pf_text_page *t = (pf_text_page *)(void *)e;
    (void)err;
    t->gutter = NULL;
    pf_text_page_end(t);
    pf_text_page_dec(t, e->n_records);
    pf_text_page_string(t, e->n_records == 1 ? " record" : " records");
    if (e->n_errors) {
        PF_TEXT_LITERAL(t, "; ");
        pf_text_page_dec(t, e->n_errors);
        pf_text_page_string(t, e->n_errors == 1 ? " place is" : " places are");
        PF_TEXT_LITERAL(t, " damaged, marked !!");
    }
    pf_text_page_end(t);
    return PERFILE_OK;
}

static perfile_status text_failure(perfile_emitter *e, uint32_t damage, uint64_t offset,
                                   perfile_error *err)
{
    (void)err;
    pf_text_damage_at((pf_text_page *)(void *)e, damage, offset);
    return PERFILE_OK;
}

const pf_emit_ops pf_emit_text = {
    .name = "text",
    .doc = "a line a record, and one for each of its fields",
    .size = sizeof(pf_text_page),
    .open = text_open,
    .begin = text_begin,
    .put = text_put,
    .finish = text_finish,
    .failure = text_failure,
};
