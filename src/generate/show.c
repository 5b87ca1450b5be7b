/* Writes structs as JSON; see show.h.
 *
 * How a number is written follows from its width and from the base of its kind.  Two lists that are
 * stored apart are shown as one: the guests of ID_INDEX, and the dies of CPU_TOPOLOGY. */
#include "generate/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/crc32.h"
#include "perfile/field.h"
#include "perfile/text.h"
#include "schema/command.h"

static void put(pf_shown *out, const void *bytes, size_t n)
{
    if (!out->unwanted && !out->failed)
        out->failed = !pf_buffer_append(&out->text, bytes, n);
}

static void put_text(pf_shown *out, const char *text)
{
    put(out, text, strlen(text));
}

/* Separates a value or a key from what comes before it. */
static void separate(pf_shown *out)
{
    const size_t n = out->text.len;
    const char last = n ? (char)out->text.ptr[n - 1] : '\n';
    if (last != '{' && last != '[' && last != ':' && last != '\n')
        put(out, ",", 1);
}

void pf_show_open(pf_shown *out, char bracket)
{
    separate(out);
    put(out, &bracket, 1);
}

void pf_show_shut(pf_shown *out, char bracket)
{
    put(out, &bracket, 1);
}

void pf_show_plain(pf_shown *out, const char *word)
{
    separate(out);
    put(out, "\"", 1);
    put_text(out, word);
    put(out, "\"", 1);
}

void pf_show_key(pf_shown *out, const char *key)
{
    pf_show_plain(out, key);
    put(out, ":", 1);
}

void pf_show_null(pf_shown *out)
{
    separate(out);
    put_text(out, "null");
}

void pf_show_line_end(pf_shown *out)
{
    put(out, "}\n", 2);
}

void pf_show_lines(pf_shown *out, const pf_shown *more)
{
    put(out, more->text.ptr, more->text.len);
    out->failed = out->failed || more->failed;
}

void pf_show_more(pf_shown *out, const pf_shown *more)
{
    separate(out);
    pf_show_lines(out, more);
}

void pf_show_count(pf_shown *out, uint64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, n);
    separate(out);
    put_text(out, text);
}

void pf_show_decimal(pf_shown *out, uint64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, n);
    pf_show_plain(out, text);
}

void pf_show_hex(pf_shown *out, perfile_bytes bytes)
{
    separate(out);
    put(out, "\"", 1);
    for (size_t i = 0; i < bytes.len; i++) {
        char pair[3];
        snprintf(pair, sizeof pair, "%02x", bytes.ptr[i]);
        put(out, pair, 2);
    }
    put(out, "\"", 1);
}

void pf_show_crc(pf_shown *out, perfile_bytes bytes)
{
    char text[16];
    snprintf(text, sizeof text, "%08" PRIx32, pf_crc32(0, bytes));
    pf_show_plain(out, text);
}

static bool is_utf8(perfile_bytes text)
{
    for (size_t at = 0, n; at < text.len; at += n) {
        n = perfile_utf8_char(text.ptr + at, text.len - at, NULL);
        if (!n)
            return false;
    }
    return true;
}

void pf_show_text(pf_shown *out, perfile_bytes text)
{
    static const char letters[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    if (!is_utf8(text)) {
        pf_show_open(out, '{');
        pf_show_key(out, "hex");
        pf_show_hex(out, text);
        pf_show_shut(out, '}');
        return;
    }
    separate(out);
    put(out, "\"", 1);
    for (size_t i = 0; i < text.len; i++) {
        const uint8_t c = text.ptr[i];
        if (c < 0x20 && !letters[c]) {
            char escape[8];
            snprintf(escape, sizeof escape, "\\u%04x", c);
            put_text(out, escape);
        } else if (c < 0x20 || c == '"' || c == '\\')
            put(out, (const uint8_t[]){'\\', c < 0x20 ? (uint8_t)letters[c] : c}, 2);
        else
            put(out, &c, 1);
    }
    put(out, "\"", 1);
}

/* Writes a number of the stored type `type`; 64 bits are a string, because readers use doubles. */
static void show_number(pf_shown *out, unsigned type, unsigned base, uint64_t v)
{
    char text[24];
    switch (type) {
    case PERFILE_STORED_S32:
        snprintf(text, sizeof text, "%" PRId32, (int32_t)v);
        separate(out);
        put_text(out, text);
        return;
    case PERFILE_STORED_U64:
        if (base == PERFILE_BASE_HEX || base == PERFILE_BASE_SCALE) {
            snprintf(text, sizeof text, "0x%" PRIx64, v);
            pf_show_plain(out, text);
            return;
        }
        pf_show_decimal(out, v);
        return;
    default:
        pf_show_count(out, v);
    }
}

static uint64_t load(const uint8_t *at, unsigned type)
{
    uint8_t v8 = 0;
    uint16_t v16 = 0;
    uint32_t v32 = 0;
    uint64_t v64 = 0;
    switch (pf_type_width(type)) {
    case 1:
        memcpy(&v8, at, 1);
        return v8;
    case 2:
        memcpy(&v16, at, 2);
        return v16;
    case 4:
        memcpy(&v32, at, 4);
        return v32;
    default:
        memcpy(&v64, at, 8);
        return v64;
    }
}

static uint64_t part_of(uint64_t word, const perfile_bits *b)
{
    return word >> b->shift & (b->width < 64 ? (UINT64_C(1) << b->width) - 1 : UINT64_MAX);
}

/* Writes the bit fields of `least` or more bits that are not reserved as members. */
static void show_parts(pf_shown *out, const perfile_vocabulary *v, unsigned least, uint64_t word)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const perfile_bits *b = &v->bits[i];
        if (b->width < least || (least > 1 && b->name[0] == '_' && !part_of(word, b)))
            continue;
        pf_show_key(out, b->name);
        pf_show_count(out, part_of(word, b));
    }
}

/* Writes the names of the bits that are set, and wider bit fields as members. */
static void show_flags(pf_shown *out, const char *key, const perfile_vocabulary *v, uint64_t word)
{
    pf_show_key(out, key);
    pf_show_open(out, '[');
    for (uint32_t i = 0; i < v->n; i++)
        if (v->bits[i].width == 1 && part_of(word, &v->bits[i]))
            pf_show_plain(out, v->bits[i].name);
    pf_show_shut(out, ']');
    show_parts(out, v, 2, word);
}

static void show_words(pf_shown *out, const pf_member *m, const perfile_words *words)
{
    pf_show_open(out, '[');
    for (size_t i = 0; i < words->n; i++)
        show_number(out, m->element, pf_kind_base(m->kind), perfile_word(words, i));
    pf_show_shut(out, ']');
}

static void show_strings(pf_shown *out, perfile_strings strings)
{
    perfile_bytes text;
    pf_show_open(out, '[');
    while (perfile_strings_next(&strings, &text) == PERFILE_OK)
        pf_show_text(out, text);
    pf_show_shut(out, ']');
}

/* Returns true for lists that are shown as members of the items of another list. */
static bool is_joined(const pf_member *m)
{
    return (m->type == PERFILE_STORED_LIST && m->of == PF_SHAPE_id_index_guest) ||
           (m->type == PERFILE_STORED_WORDS && m->element == PERFILE_STORED_S32 &&
            strcmp(m->name, "die_id") == 0);
}

static void show_value(pf_shown *out, const pf_member *m, const uint8_t *at)
{
    if (m->kind == PERFILE_KIND_COUNT || m->kind == PERFILE_KIND_ZSTD || is_joined(m))
        return;
    if (m->kind == PERFILE_KIND_ATTR_FLAGS) {
        show_flags(out, m->name, pf_kind_words(m->kind), load(at, m->type));
        return;
    }
    if (m->kind == PERFILE_KIND_BRANCH_FLAGS) {
        show_parts(out, pf_kind_words(m->kind), 1, load(at, m->type));
        return;
    }
    if (m->kind == PERFILE_KIND_BULK) {
        pf_show_key(out, "crc32");
        pf_show_crc(out, *(const perfile_bytes *)(const void *)at);
        return;
    }
    pf_show_key(out, m->name);
    switch (m->type) {
    case PERFILE_STORED_TEXT:
        pf_show_text(out, *(const perfile_bytes *)(const void *)at);
        break;
    case PERFILE_STORED_BLOB:
        pf_show_hex(out, *(const perfile_bytes *)(const void *)at);
        break;
    case PERFILE_STORED_WORDS:
        show_words(out, m, (const perfile_words *)(const void *)at);
        break;
    case PERFILE_STORED_STRINGS:
        show_strings(out, *(const perfile_strings *)(const void *)at);
        break;
    default:
        show_number(out, m->type, pf_kind_base(m->kind), load(at, m->type));
    }
}

/* Writes what is stored in another list for the item number `i` of this one. */
static void show_joined(pf_shown *out, unsigned of, const void *outer, size_t i)
{
    const perfile_id_index *index = outer;
    const perfile_cpu_topology *topology = outer;
    if (of == PF_SHAPE_id_index_entry && index->has_guests) {
        const perfile_id_index_guest *guests = (const void *)index->guests.bytes.ptr;
        pf_show_key(out, "machine_pid");
        pf_show_decimal(out, guests[i].machine_pid);
        pf_show_key(out, "vcpu");
        pf_show_decimal(out, guests[i].vcpu);
    }
    if (of == PF_SHAPE_topology_cpu && topology->has_dies) {
        pf_show_key(out, "die_id");
        show_number(out, PERFILE_STORED_S32, PERFILE_BASE_DEC, perfile_word(&topology->die_id, i));
    }
}

void pf_show_struct(pf_shown *out, const pf_row_shape *shape, unsigned of, const void *given,
                    perfile_bytes rest)
{
    pf_members visit;
    pf_step s;
    size_t item = 0;
    bool hidden = false; /* in a list that is shown with another one */
    pf_members_begin(&visit, shape, of, (void *)(uintptr_t)given);
    while (pf_members_next(&visit, &s)) {
        if (s.what == PF_STEP_BEYOND) {
            pf_show_key(out, "data");
            pf_show_hex(out, rest);
            return;
        }
        const bool flat = s.member->flags & PERFILE_FIELD_FLAT;
        if (s.what == PF_STEP_LIST || s.what == PF_STEP_LIST_END) {
            hidden = s.what == PF_STEP_LIST && is_joined(s.member);
            if (is_joined(s.member))
                continue;
        }
        if (hidden)
            continue;
        switch (s.what) {
        case PF_STEP_VALUE:
            show_value(out, s.member, s.at);
            break;
        case PF_STEP_LIST:
            item = 0;
            pf_show_key(out, s.member->name);
            pf_show_open(out, '[');
            break;
        case PF_STEP_LIST_END:
            pf_show_shut(out, ']');
            break;
        case PF_STEP_ITEM:
            pf_show_open(out, '{');
            break;
        case PF_STEP_ITEM_END:
            show_joined(out, s.of, given, item++);
            pf_show_shut(out, '}');
            break;
        case PF_STEP_STRUCT:
            if (!flat) {
                pf_show_key(out, s.member->name);
                pf_show_open(out, '{');
            }
            break;
        case PF_STEP_STRUCT_END:
            if (!flat)
                pf_show_shut(out, '}');
            break;
        default:
            break;
        }
    }
}
