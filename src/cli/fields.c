/* The two visitors of fields.h.
 *
 * How a number is shown follows from the kind of its field: addresses and ids of hexadecimal kinds
 * as 0x…, flags and enumerations with their names, all else decimal.  In JSON 64-bit numbers are
 * strings, since many readers keep only 53 bits (format/reports.md). */
#include "cli/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/json.h"
#include "cli/print.h"
#include "cli/text.h"
#include "perfile/abi.h"

enum { SHOWN = 64 }; /* text shows at most this many items or bytes of a value */

static bool is_hex(const perfile_field *f)
{
    return perfile_kind_base(f->kind) == PERFILE_BASE_HEX;
}

/* True for fields that are not shown: padding, and counts, which the lists behind them repeat. */
static bool is_hidden(const perfile_field *f)
{
    return f->kind == PERFILE_KIND_COUNT || f->flags & PERFILE_FIELD_PAD;
}

/* Returns the double whose bytes are `bits`. */
static double scale_of(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* Writes the flags of an attr: the names of the bits that are set as an array, and fields of
 * several bits (precise_ip) as members of their own.  A name with two underscores is reserved in
 * the kernel header; it is shown only if it is not 0. */
static void json_flags(const perfile_field *f, uint64_t value)
{
    const perfile_vocabulary *v = perfile_kind_words(f->kind);
    cli_json_array(f->name);
    for (uint32_t i = 0; v && i < v->n; i++)
        if (v->bits[i].width == 1 && value >> v->bits[i].shift & 1)
            cli_json_string(NULL, v->bits[i].name);
    cli_json_array_end();
    for (uint32_t i = 0; v && i < v->n; i++) {
        const perfile_bits *b = &v->bits[i];
        uint64_t part = value >> b->shift & (((uint64_t)1 << b->width) - 1);
        if (b->width > 1 && b->width < 64 && (part || strncmp(b->name, "__", 2) != 0))
            cli_json_number(b->name, part);
    }
}

/* Writes a number that is stored as `type`, a PERFILE_STORED_… value. */
static void json_number(const perfile_field *f, const char *key, unsigned type, uint64_t value)
{
    if (type == PERFILE_STORED_S32)
        cli_json_signed(key, (int64_t)value);
    else if (type == PERFILE_STORED_S64)
        cli_json_signed_decimal(key, (int64_t)value);
    else if (type != PERFILE_STORED_U64)
        cli_json_number(key, value);
    else if (is_hex(f))
        cli_json_hex(key, value);
    else
        cli_json_decimal(key, value);
}

/* Writes a field as a member of the object that is open. */
static void json_value(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user;
    if (is_hidden(f))
        return;
    switch (f->type) {
    case PERFILE_STORED_TEXT:
        cli_json_text(f->name, v->u.bytes);
        break;
    case PERFILE_STORED_BLOB:
        if (f->kind == PERFILE_KIND_BULK) { /* large binary content: only its size */
            cli_json_object(f->name);
            cli_json_number("size", v->u.bytes.len);
            cli_json_object_end();
        } else {
            cli_json_bytes(f->name, v->u.bytes);
        }
        break;
    case PERFILE_STORED_WORDS:
        cli_json_array(f->name);
        for (size_t i = 0; i < v->u.words.n; i++) {
            uint64_t word = perfile_word(&v->u.words, i);
            if (f->element == PERFILE_STORED_S32)
                word = (uint64_t)(int64_t)(int32_t)word; /* sign-extend */
            json_number(f, NULL, f->element, word);
        }
        cli_json_array_end();
        break;
    case PERFILE_STORED_STRINGS: {
        perfile_strings strings = v->u.strings;
        perfile_bytes text;
        cli_json_array(f->name);
        while (perfile_strings_next(&strings, &text) == PERFILE_OK)
            cli_json_text(NULL, text);
        cli_json_array_end();
        break;
    }
    default:
        if (f->kind == PERFILE_KIND_ATTR_FLAGS)
            json_flags(f, v->number);
        else if (f->kind == PERFILE_KIND_SCALE)
            cli_json_real(f->name, scale_of(v->number));
        else
            json_number(f, f->name, f->type, v->number);
    }
}

/* Begins a list, an item, or a structure.  A flat structure has no object of its own: its fields
 * are members of the one around it. */
static void json_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    cli_fields_json *out = user;
    (void)v;
    char closing = 0;
    if (f->type == PERFILE_STORED_LIST) {
        cli_json_array(f->name);
        closing = ']';
    } else if (f->type == PERFILE_STORED_ITEM || !(f->flags & PERFILE_FIELD_FLAT)) {
        cli_json_object(f->type == PERFILE_STORED_ITEM ? NULL : f->name);
        closing = '}';
    }
    if (out->depth < sizeof out->closing)
        out->closing[out->depth] = closing;
    out->depth++;
}

/* Closes what json_begin() opened. */
static void json_end(void *user, const perfile_field *f)
{
    cli_fields_json *out = user;
    (void)f;
    if (!out->depth)
        return;
    char closing = out->closing[--out->depth];
    if (closing == ']')
        cli_json_array_end();
    else if (closing == '}')
        cli_json_object_end();
}

const perfile_visitor cli_fields_json_visitor = {
    .size = sizeof(perfile_visitor), .value = json_value, .begin = json_begin, .end = json_end};

void cli_fields_json_end(cli_fields_json *f)
{
    while (f->depth)
        json_end(f, NULL);
}

void cli_flag_names(const perfile_vocabulary *v, uint64_t value, char *out, size_t size)
{
    size_t len = 0;
    out[0] = 0;
    for (uint32_t i = 0; v && v->bits && i < v->n && len < size; i++) {
        const perfile_bits *b = &v->bits[i];
        uint64_t mask = b->width < 64 ? ((uint64_t)1 << b->width) - 1 : UINT64_MAX;
        uint64_t part = value >> b->shift & mask;
        if (!part)
            continue;
        const char *word = b->values ? perfile_vocabulary_word(b->values, part) : NULL;
        const char *bar = len ? "|" : "";
        int n;
        if (b->width == 1)
            n = snprintf(out + len, size - len, "%s%s", bar, b->name);
        else if (word)
            n = snprintf(out + len, size - len, "%s%s=%s", bar, b->name, word);
        else
            n = snprintf(out + len, size - len, "%s%s=%" PRIu64, bar, b->name, part);
        len += n > 0 ? (size_t)n : 0;
    }
    if (v && v->words) {
        /* An enumeration instead of flags. */
        const char *word = perfile_vocabulary_word(v, value);
        snprintf(out, size, "%s", word ? word : "");
    }
}

/* Prints a number of a field, and what it means in parentheses: names from `v` (may be NULL), or
 * the date of a wall-clock time. */
static void put_number(const perfile_field *f, unsigned type, uint64_t value,
                       const perfile_vocabulary *v)
{
    char words[512];
    if (f->kind == PERFILE_KIND_SCALE)
        cli_print("%.17g", scale_of(value));
    else if (type == PERFILE_STORED_S32 || type == PERFILE_STORED_S64)
        cli_print("%" PRId64, (int64_t)value);
    else if (is_hex(f))
        cli_print("0x%" PRIx64, value);
    else
        cli_print("%" PRIu64, value);
    if (v) {
        cli_flag_names(v, value, words, sizeof words);
        if (words[0])
            cli_print(" (%s)", words);
    } else if (f->kind == PERFILE_KIND_WALL) {
        cli_format_wall_time(value, words, sizeof words);
        cli_print(" (%s)", words);
    }
}

/* Prints bytes as hexadecimal digits, the first SHOWN of them. */
static void put_bytes(const perfile_field *f, perfile_bytes bytes)
{
    if (f->kind == PERFILE_KIND_BULK) {
        cli_print("%zu bytes", bytes.len);
        return;
    }
    for (size_t i = 0; i < bytes.len && i < SHOWN; i++)
        cli_print("%02x", bytes.ptr[i]);
    if (bytes.len > SHOWN)
        cli_print("… (%zu bytes)", bytes.len);
}

/* Returns the names for a number.  The clockid of an attr has none unless the attr uses it: 0 would
 * be printed as CLOCK_REALTIME. */
static const perfile_vocabulary *names_of_number(cli_fields_text *out, const perfile_field *f,
                                                 uint64_t value)
{
    if (f->kind == PERFILE_KIND_ATTR_FLAGS)
        out->attr_flags = value;
    if (f->kind == PERFILE_KIND_EVENT_CLOCKID &&
        !(out->attr_flags >> PERFILE_ATTR_BIT_USE_CLOCKID & 1))
        return NULL;
    return perfile_kind_words(f->kind);
}

/* Prints a value without its name. */
static void put_value(cli_fields_text *out, const perfile_field *f, const perfile_value *v)
{
    perfile_strings strings;
    perfile_bytes text;
    switch (f->type) {
    case PERFILE_STORED_TEXT:
        cli_print_text(v->u.bytes);
        break;
    case PERFILE_STORED_BLOB:
        put_bytes(f, v->u.bytes);
        break;
    case PERFILE_STORED_WORDS:
        for (size_t i = 0; i < v->u.words.n && i < SHOWN; i++) {
            uint64_t word = perfile_word(&v->u.words, i);
            if (f->element == PERFILE_STORED_S32)
                word = (uint64_t)(int64_t)(int32_t)word;
            cli_print("%s", i ? " " : "");
            put_number(f, f->element, word, perfile_kind_words(f->kind));
        }
        if (v->u.words.n > SHOWN)
            cli_print(" … (%zu)", v->u.words.n);
        break;
    case PERFILE_STORED_STRINGS:
        strings = v->u.strings;
        for (bool first = true; perfile_strings_next(&strings, &text) == PERFILE_OK;
             first = false) {
            cli_print("%s", first ? "" : " ");
            cli_print_text(text);
        }
        break;
    default:
        put_number(f, f->type, v->number, names_of_number(out, f, v->number));
    }
}

/* Prints a field: "name: value" on a line of its own, or "name value" within the line of an item.
 */
static void text_value(void *user, const perfile_field *f, const perfile_value *v)
{
    cli_fields_text *out = user;
    if (is_hidden(f))
        return;
    if (out->items) { /* within an item: fields are separated by commas */
        cli_print("%s%s ", out->line_open ? ", " : "", f->name);
        if (!out->line_open)
            out->line_open = true;
        put_value(out, f, v);
        return;
    }
    cli_print("%*s%s: ", (int)out->indent, "", f->name);
    put_value(out, f, v);
    cli_print("\n");
}

static void end_line(cli_fields_text *out)
{
    if (out->line_open)
        cli_print("\n");
    out->line_open = false;
}

/* Begins an item (a line), or a list or structure (a heading and a larger indent).  A structure
 * within an item, and a flat one, has no heading: its fields continue the line. */
static void text_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    cli_fields_text *out = user;
    (void)v;
    if (f->type == PERFILE_STORED_ITEM) {
        end_line(out);
        cli_print("%*s", (int)out->indent, "");
        out->items++;
    } else if (f->type == PERFILE_STORED_LIST ||
               (!out->items && !(f->flags & PERFILE_FIELD_FLAT))) {
        end_line(out);
        cli_print("%*s%s:\n", (int)out->indent, "", f->name);
        out->indent += 2;
    }
}

/* Ends what text_begin() began. */
static void text_end(void *user, const perfile_field *f)
{
    cli_fields_text *out = user;
    if (f->type == PERFILE_STORED_ITEM) {
        end_line(out);
        out->items--;
    } else if (f->type == PERFILE_STORED_LIST ||
               (!out->items && !(f->flags & PERFILE_FIELD_FLAT))) {
        end_line(out);
        out->indent -= 2;
    }
}

const perfile_visitor cli_fields_text_visitor = {
    .size = sizeof(perfile_visitor), .value = text_value, .begin = text_begin, .end = text_end};

void cli_fields_text_end(cli_fields_text *f)
{
    end_line(f);
}
