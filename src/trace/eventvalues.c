/* The values of an EventHeader event (eventheader.h).
 *
 * Values are packed, so all values before one must be read to find it.  `reading` iterates over the
 * rows, with a stack of the current structs.  Each item of a list must have at least one byte in
 * the payload, or reading ends; so it takes at most as many steps as the payload has bytes, for
 * each level.  Values that are converted to text are written to a buffer with room for all values
 * of the payload; each has its own position there, which follows from its position in the
 * payload. */
#include "trace/eventheader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "trace/print.h"

enum { COSTLY_NAME = 32 }; /* length of a name that costs as much as one byte of payload */

/* A struct, or a list of them. */
typedef struct level {
    uint16_t row;
    uint32_t left, position; /* remaining items including the current one; its index */
} level;

typedef struct reading {
    const pf_eh *self;
    const perfile_tracepoint_field *fields; /* of the rows */
    perfile_bytes payload;
    pf_cursor c;
    uint32_t row;
    level levels[PF_EH_DEPTH];
    unsigned depth;
    /* The visitor; NULL if there is no consumer. */
    const perfile_visitor *visitor;
    void *user;
    uint64_t offset; /* offset of the payload */
    size_t *left;
} reading;

static const perfile_field item = {
    .name = "item", .doc = "", .type = PERFILE_STORED_ITEM, .kind = PERFILE_KIND_GROUP};

static bool is_array(const pf_eh_row *row)
{
    return row->encoding & (PF_EH_COUNTED | PF_EH_VARIABLE);
}

/* Reads the number of items of a row. */
static uint32_t take_count(reading *x, const pf_eh_row *row)
{
    return row->encoding & PF_EH_COUNTED    ? row->count
           : row->encoding & PF_EH_VARIABLE ? pf_cur_u16(&x->c)
                                            : 1;
}

/* Reads an item of a row, without its NUL or its length. */
static perfile_bytes take_item(reading *x, const pf_eh_row *row)
{
    pf_cursor *c = &x->c;
    const unsigned e = row->encoding & PF_EH_ENCODING, size = pf_eh_size(row->encoding);
    if (e < PF_EH_ZSTRING8)
        return pf_cur_span(c, size);
    if (e >= PF_EH_STRING8) {
        const uint16_t n = pf_cur_u16(c);
        return pf_cur_span(c, (size_t)n * size);
    }
    static const uint8_t zeros[4] = {0};
    size_t n = 0;
    if (!pf_cur_has(c, size))
        return (perfile_bytes){NULL, 0};
    while (pf_cur_left(c) - n >= size && memcmp(c->pos + n, zeros, size) != 0)
        n += size;
    const perfile_bytes text = pf_cur_span(c, n);
    (void)pf_cur_span(c, pf_cur_left(c) < size ? pf_cur_left(c) : size);
    return text;
}

/* Appends a character in UTF-8; invalid ones become U+FFFD. */
static void put_character(pf_print_out *out, uint32_t c)
{
    uint8_t b[4];
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = 0xfffd;
    const int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int i = n - 1; i > 0; i--, c >>= 6)
        b[i] = (uint8_t)(0x80 | (c & 0x3f));
    b[0] = (uint8_t)(first[n] | c);
    pf_print_bytes(out, b, (size_t)n);
}

/* Removes a byte order mark from the text, and sets *swapped. */
static void take_mark(perfile_bytes *text, unsigned size, bool *swapped)
{
    static const uint8_t utf8[] = {0xef, 0xbb, 0xbf};
    size_t n = 0;
    if (size == 1) {
        n = text->len >= sizeof utf8 && memcmp(text->ptr, utf8, sizeof utf8) == 0 ? sizeof utf8 : 0;
    } else if (text->len >= size) {
        const uint64_t same = pf_trace_number(text->ptr, size, false, false);
        const uint64_t other = pf_trace_number(text->ptr, size, false, true);
        if (same == 0xfeff || other == 0xfeff) {
            *swapped = other == 0xfeff;
            n = size;
        }
    }
    text->ptr += n;
    text->len -= n;
}

/* Appends a text with characters of `size` bytes. */
static void put_characters(pf_print_out *out, perfile_bytes text, unsigned size, bool swapped)
{
    for (size_t i = 0; i + size <= text.len; i += size) {
        uint32_t c = (uint32_t)pf_trace_number(text.ptr + i, size, false, swapped);
        if (size == 2 && c >= 0xd800 && c < 0xdc00 && i + 4 <= text.len) {
            const uint32_t low = (uint32_t)pf_trace_number(text.ptr + i + 2, 2, false, swapped);
            if (low >= 0xdc00 && low < 0xe000) {
                c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
                i += 2;
            }
        }
        put_character(out, c);
    }
}

/* Appends a floating-point number, with the fewest digits that restore it. */
static void put_float(pf_print_out *out, perfile_bytes b, bool swapped)
{
    enum { SINGLE = 6, SINGLE_MOST = 9, WIDE = 15, WIDE_MOST = 17 };
    const uint64_t n = pf_trace_number(b.ptr, b.len, false, swapped);
    const uint32_t low = (uint32_t)n;
    char text[40];
    float single;
    double wide;
    memcpy(&single, &low, sizeof single);
    memcpy(&wide, &n, sizeof wide);
    const bool is_single = b.len == sizeof single;
    wide = is_single ? (double)single : wide;
    for (int digits = is_single ? SINGLE : WIDE; digits <= WIDE_MOST; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, wide);
        const double read = is_single ? (double)strtof(text, NULL) : strtod(text, NULL);
        if (digits == (is_single ? SINGLE_MOST : WIDE_MOST) ||
            memcmp(&read, &wide, sizeof wide) == 0)
            break;
    }
    pf_print_bytes(out, text, strlen(text));
}

/* Appends an address or a UUID in the style of a print fmt. */
static void put_address(pf_print_out *out, const char *kind, perfile_bytes b)
{
    pf_print_piece piece = {.conversion = 'p'};
    const pf_print_value v = {.what = PF_VALUE_BYTES, .bytes = b};
    memcpy(piece.pointer, kind, strlen(kind));
    (void)pf_print_address(out, &piece, &v);
}

/* Appends an item as text. */
static void put_item(pf_print_out *out, const pf_eh *self, const pf_eh_row *row, perfile_bytes b)
{
    const unsigned size = pf_eh_size(row->encoding);
    bool swapped = self->swapped;
    switch (row->format) {
    case PF_EH_FLOAT:
        put_float(out, b, swapped);
        break;
    case PF_EH_HEX_BYTES:
        for (size_t i = 0; i < b.len; i++)
            pf_print_number(out, "%02x", b.ptr[i]);
        break;
    case PF_EH_UUID:
        put_address(out, "Ub", b);
        break;
    case PF_EH_IPV4:
        put_address(out, "I4", b);
        break;
    case PF_EH_IPV6:
        put_address(out, "I6c", b);
        break;
    default:
        if (row->format >= PF_EH_UTF_BOM)
            take_mark(&b, size, &swapped);
        if (size == 1 && row->format != PF_EH_LATIN1)
            pf_print_bytes(out, b.ptr, b.len);
        else
            put_characters(out, b, size, swapped);
        break;
    }
}

/* Prepares the output for the text of the next value.  Returns false when out of memory. */
static bool begin_text(reading *x, pf_print_out *out)
{
    const size_t at = PF_EH_GROWTH * (size_t)(x->c.pos - x->payload.ptr),
                 all = PF_EH_GROWTH * x->payload.len;
    pf_buffer_clear(x->self->scratch);
    if (!pf_buffer_reserve(x->self->scratch, all))
        return false;
    *out = (pf_print_out){x->self->scratch->ptr + at, 0, all - at};
    return true;
}

/* Converts a value to text, or an array to several texts, each after its length. */
static bool make_text(reading *x, const pf_eh_row *row, perfile_value *v)
{
    pf_print_out out;
    const bool array = is_array(row);
    if (!begin_text(x, &out))
        return false;
    const uint32_t n = take_count(x, row);
    for (uint32_t i = 0; i < n && !x->c.bad; i++) {
        const size_t at = out.len;
        uint32_t length = 0;
        const perfile_bytes b = take_item(x, row);
        if (x->c.bad)
            return false;
        if (array)
            pf_print_bytes(&out, &length, sizeof length);
        put_item(&out, x->self, row, b);
        length = (uint32_t)(out.len - at - sizeof length);
        if (array)
            memcpy(out.to + at, &length, sizeof length);
    }
    if (array)
        v->u.strings = (perfile_strings){.bytes = {out.to, out.len}, .n = n};
    else
        v->u.bytes = (perfile_bytes){out.to, out.len};
    return true;
}

/* Reads the value of a row that is not a struct.  Returns false if it is not there. */
static bool take_value(reading *x, const pf_eh_row *row, perfile_value *v)
{
    const uint8_t *begin = x->c.pos;
    const perfile_tracepoint_field *f = &x->fields[row - x->self->rows];
    const unsigned size = pf_eh_size(row->encoding);
    const bool swapped = row->format == PF_EH_PORT ? !PF_NATIVE_BIG : x->self->swapped;
    bool ok = true;
    *v = (perfile_value){.offset = (uint64_t)(begin - x->payload.ptr)};
    if (pf_eh_is_made(row)) {
        ok = make_text(x, row, v);
    } else if (is_array(row)) {
        const uint32_t n = take_count(x, row);
        const perfile_bytes b = pf_cur_span(&x->c, (size_t)n * size);
        v->u.words = (perfile_words){b.ptr, n, (uint8_t)size, swapped};
    } else {
        const perfile_bytes b = take_item(x, row);
        v->u.bytes = b;
        if (f->field.type != PERFILE_STORED_BLOB && b.len)
            v->number = pf_trace_number(b.ptr, b.len,
                                        f->field.type == PERFILE_STORED_S32 ||
                                            f->field.type == PERFILE_STORED_S64,
                                        swapped);
    }
    v->width = (uint64_t)(x->c.pos - begin);
    return ok && !x->c.bad;
}

static void show_begin(reading *x, const perfile_field *f, uint64_t count)
{
    const perfile_value v = {.u.count = count};
    if (x->visitor && x->visitor->begin)
        x->visitor->begin(x->user, f, &v);
}

static void show_end(reading *x, const perfile_field *f)
{
    if (x->visitor && x->visitor->end)
        x->visitor->end(x->user, f);
}

/* Enters a struct, or skips an empty list. */
static void enter(reading *x, const pf_eh_row *row)
{
    const uint32_t n = take_count(x, row);
    const perfile_field *f = &x->fields[x->row].field;
    if (x->c.bad)
        return;
    show_begin(x, f, n);
    if (!n) {
        show_end(x, f);
        x->row = row->end;
        return;
    }
    if (is_array(row))
        show_begin(x, &item, 0);
    x->levels[x->depth++] = (level){.row = (uint16_t)x->row, .left = n};
    x->row++;
}

/* Called after the last member of a struct: continues with the next item, or with the row after the
 * struct. */
static void leave(reading *x)
{
    level *l = &x->levels[x->depth - 1];
    const pf_eh_row *row = &x->self->rows[l->row];
    if (is_array(row))
        show_end(x, &item);
    if (--l->left && !x->c.bad) {
        show_begin(x, &item, ++l->position);
        x->row = l->row + 1U;
        return;
    }
    show_end(x, &x->fields[l->row].field);
    x->row = row->end;
    x->depth--;
}

/* Reads the next value.  Returns false at the end, when all structs have been left. */
static bool next_value(reading *x, uint32_t *at, perfile_value *v)
{
    for (;;) {
        if (x->depth && (x->c.bad || x->row == x->self->rows[x->levels[x->depth - 1].row].end)) {
            leave(x);
            continue;
        }
        if (x->c.bad || x->row >= x->self->n_rows)
            return false;
        const pf_eh_row *row = &x->self->rows[x->row];
        if ((row->encoding & PF_EH_ENCODING) == PF_EH_STRUCT) {
            enter(x, row);
            continue;
        }
        *at = x->row++;
        if (take_value(x, row, v))
            return true;
        pf_cur_fail(&x->c, PERFILE_DAMAGE_SHORT_BODY);
    }
}

/* Returns a field that each event has.  The event name is without attributes. */
static bool extra_value(const pf_eh_parts *parts, perfile_bytes payload, uint32_t which,
                        perfile_value *v)
{
    enum { ID = 16 };
    perfile_bytes b = parts->activity;
    if (which == PF_EH_EVENT_NAME) {
        b = parts->metadata;
        size_t n = 0;
        while (n < b.len && b.ptr[n] && b.ptr[n] != ';')
            n++;
        b.len = n;
    } else if (b.len < (which == PF_EH_ACTIVITY ? ID : 2 * ID)) {
        return false;
    } else {
        b = (perfile_bytes){b.ptr + (which == PF_EH_ACTIVITY ? 0 : ID), ID};
    }
    *v = (perfile_value){.offset = (uint64_t)(b.ptr - payload.ptr), .width = b.len, .u.bytes = b};
    return true;
}

/* Begins reading.  Returns false if the payload is not of this event. */
static bool begin(const pf_trace_format *f, perfile_bytes payload, pf_eh_parts *parts, reading *x)
{
    const pf_eh *self = f->self;
    if (!pf_eh_split(self->base, payload, parts))
        return false;
    x->self = self;
    x->fields = f->shown.fields + self->first;
    x->payload = payload;
    x->c = pf_cur((perfile_bytes){payload.ptr + parts->values, payload.len - parts->values},
                  self->swapped);
    return true;
}

perfile_status pf_eh_value(const pf_trace_format *f, perfile_bytes payload, uint32_t i,
                           perfile_value *value)
{
    reading x = {0};
    pf_eh_parts parts;
    perfile_value v;
    uint32_t at;
    const uint32_t extra = f->self->first - PF_EH_EXTRA;
    if (!begin(f, payload, &parts, &x))
        return PERFILE_END;
    if (i < f->self->first) {
        if (!extra_value(&parts, payload, i - extra, &v))
            return PERFILE_END;
        *value = v;
        return PERFILE_OK;
    }
    const uint32_t wanted = i - f->self->first;
    for (uint32_t up = f->self->rows[wanted].parent; up; up = f->self->rows[up - 1].parent)
        if (is_array(&f->self->rows[up - 1]))
            return PERFILE_END; /* there may be any number of them */
    while (next_value(&x, &at, &v))
        if (at == wanted) {
            *value = v;
            return PERFILE_OK;
        }
    return PERFILE_END;
}

static void show(reading *x, const perfile_field *f, perfile_value *v)
{
    const size_t cost = (size_t)v->width + strlen(f->name) / COSTLY_NAME;
    if (cost > *x->left)
        return;
    *x->left -= cost;
    v->offset += x->offset;
    x->visitor->value(x->user, f, v);
}

void pf_eh_walk(const pf_trace_format *f, perfile_bytes payload, uint64_t offset, size_t *left,
                const perfile_visitor *visitor, void *user)
{
    reading x = {.visitor = visitor, .user = user, .offset = offset, .left = left};
    pf_eh_parts parts;
    perfile_value v;
    uint32_t at;
    if (!begin(f, payload, &parts, &x))
        return;
    for (uint32_t i = 0; i < PF_EH_EXTRA; i++)
        if (extra_value(&parts, payload, i, &v))
            show(&x, &f->shown.fields[f->self->first - PF_EH_EXTRA + i].field, &v);
    while (next_value(&x, &at, &v))
        show(&x, &x.fields[at].field, &v);
}
