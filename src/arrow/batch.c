/* Columns in the layout of Arrow (batch.h). */
#include "arrow/batch.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/byte_order.h"
#include "perfile/text.h"

size_t pf_column_width(pf_column_type type)
{
    switch (type) {
    case PF_COLUMN_I32:
    case PF_COLUMN_TEXT:
    case PF_COLUMN_TEXTS:
        return 4;
    case PF_COLUMN_I64:
    case PF_COLUMN_U64:
    case PF_COLUMN_F64:
    case PF_COLUMN_WALL:
    case PF_COLUMN_I64S:
        return 8;
    case PF_COLUMN_BOOL:
    case PF_COLUMN_GROUP:
    case PF_COLUMN_LIST:
        break;
    }
    return 0;
}

static bool is_list(pf_column_type type)
{
    return type == PF_COLUMN_TEXTS || type == PF_COLUMN_I64S || type == PF_COLUMN_LIST;
}

/* Returns the size of `n` items in `data`. */
static size_t data_bytes(pf_column_type type, size_t n)
{
    return type == PF_COLUMN_BOOL ? (n + 7) / 8 : n * pf_column_width(type);
}

pf_table_batch *pf_table_batch_new(const pf_table_about *about)
{
    pf_table_batch *b = pf_alloc(1, sizeof *b);
    if (!b)
        return NULL;
    *b = (pf_table_batch){.about = about, .n = about->n};
    b->columns = pf_alloc(about->n, sizeof *b->columns);
    if (!b->columns) {
        pf_free(b);
        return NULL;
    }
    bool of_list = false;
    for (size_t i = 0; i < about->n; i++) {
        const pf_column_about *a = &about->columns[i];
        of_list = a->is_member ? of_list : a->type == PF_COLUMN_LIST;
        b->columns[i] = (pf_table_column){
            .about = a, .batch = b, .wanted = true, .by_hand = of_list && a->is_member};
        b->columns[i].texts.by_place.seed = pf_index_seed(b);
    }
    return b;
}

pf_table_batch *pf_table_batch_again(const pf_table_batch *b)
{
    pf_table_batch *next = pf_table_batch_new(b->about);
    for (size_t i = 0; next && i < b->n; i++) {
        next->columns[i].wanted = b->columns[i].wanted;
        next->columns[i].by_hand = b->columns[i].by_hand;
    }
    return next;
}

static void free_texts(pf_column_texts *t)
{
    pf_buffer_free(&t->bytes);
    pf_buffer_free(&t->offsets);
    pf_buffer_free(&t->scratch);
    pf_index_free(&t->by_place);
    pf_free(t->slots);
}

void pf_table_batch_free(pf_table_batch *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->n; i++) {
        pf_table_column *c = &b->columns[i];
        pf_buffer_free(&c->valid);
        pf_buffer_free(&c->data);
        pf_buffer_free(&c->offsets);
        free_texts(&c->texts);
    }
    pf_free(b->columns);
    pf_free(b);
}

static void forget_places(pf_column_texts *t)
{
    const uint64_t seed = t->by_place.seed;
    pf_index_free(&t->by_place);
    t->by_place = (pf_index){.seed = seed};
    t->last = NULL;
}

void pf_table_batch_forget(pf_table_batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        forget_places(&b->columns[i].texts);
}

static void clear_texts(pf_column_texts *t)
{
    pf_buffer_clear(&t->bytes);
    pf_buffer_clear(&t->offsets);
    forget_places(t);
    if (t->slots)
        memset(t->slots, 0, t->n_slots * sizeof *t->slots);
    t->n = 0;
}

void pf_table_batch_clear(pf_table_batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        pf_table_column *c = &b->columns[i];
        pf_buffer_clear(&c->valid);
        pf_buffer_clear(&c->data);
        pf_buffer_clear(&c->offsets);
        clear_texts(&c->texts);
        c->n = c->nulls = 0;
    }
    b->rows = 0;
}

size_t pf_table_batch_bytes(const pf_table_batch *b)
{
    size_t bytes = 0;
    for (size_t i = 0; i < b->n; i++) {
        const pf_table_column *c = &b->columns[i];
        bytes +=
            c->valid.len + c->data.len + c->offsets.len + c->texts.bytes.len + c->texts.offsets.len;
    }
    return bytes;
}

/* Items. */

static void fail(pf_table_column *c)
{
    c->batch->no_memory = true;
}

/* Appends `n` equal bytes.  Returns false when out of memory. */
static bool append_same(pf_buffer *b, int byte, size_t n)
{
    if (!n)
        return true; /* a GROUP has no data, and its buffer no memory */
    if (!pf_buffer_reserve(b, n))
        return false;
    memset(b->ptr + b->len, byte, n);
    b->len += n;
    return true;
}

/* Appends the ends of `n` empty lists, and the initial 0 if there is none yet.  Returns false when
 * out of memory. */
static bool append_empty(pf_table_column *c, size_t n)
{
    const int32_t *at = (const void *)c->offsets.ptr;
    const int32_t end = c->offsets.len ? at[c->offsets.len / 4 - 1] : 0;
    n += !c->offsets.len;
    if (!pf_buffer_reserve(&c->offsets, 4 * n))
        return false;
    for (size_t i = 0; i < n; i++, c->offsets.len += 4)
        memcpy(c->offsets.ptr + c->offsets.len, &end, 4);
    return true;
}

/* Allocates the first `n` items, which are all null or all valid. */
static bool fill_in(pf_table_column *c, bool null)
{
    const pf_column_type type = c->about->type;
    if (!append_same(&c->valid, null ? 0 : 0xff, (c->n + 7) / 8))
        return false;
    if (!null)
        return true;
    return is_list(type) ? append_empty(c, c->n) : append_same(&c->data, 0, data_bytes(type, c->n));
}

static void set_bit(pf_buffer *bits, size_t i, bool value)
{
    uint8_t *byte = &bits->ptr[i / 8];
    *byte = (uint8_t)((*byte & ~(1u << i % 8)) | (unsigned)value << i % 8);
}

/* Appends a bit.  Returns false when out of memory. */
static bool append_bit(pf_buffer *bits, size_t i, bool value)
{
    if (i % 8 == 0 && !pf_buffer_append_u8(bits, 0))
        return false;
    set_bit(bits, i, value);
    return true;
}

/* Appends `n` nulls. */
static void append_nulls(pf_table_column *c, size_t n)
{
    const pf_column_type type = c->about->type;
    bool ok = !c->batch->no_memory; /* otherwise preceding items may be missing */
    if (ok && c->nulls < c->n) {
        if (!c->nulls)
            ok = fill_in(c, false);
        for (size_t i = c->n; ok && i < c->n + n; i++)
            ok = append_bit(&c->valid, i, false);
        if (ok && is_list(type))
            ok = append_empty(c, n);
        else if (ok)
            ok = append_same(&c->data, 0, data_bytes(type, c->n + n) - c->data.len);
    }
    if (!ok)
        fail(c);
    c->n += n;
    c->nulls += n;
}

/* Prepares for a valid item.  Returns false if the column is not wanted, or when out of memory. */
static bool begin_item(pf_table_column *c)
{
    if (!c->wanted)
        return false;
    if (!c->by_hand && c->n < c->batch->rows)
        append_nulls(c, c->batch->rows - c->n);
    if (c->batch->no_memory)
        return false;
    if (c->nulls && c->nulls == c->n && !fill_in(c, true)) {
        fail(c);
        return false;
    }
    if (c->nulls && !append_bit(&c->valid, c->n, true)) {
        fail(c);
        return false;
    }
    c->n++;
    return true;
}

bool pf_table_batch_end(pf_table_batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        pf_table_column *c = &b->columns[i];
        if (c->wanted && !c->by_hand && c->n < b->rows)
            append_nulls(c, b->rows - c->n);
    }
    return !b->no_memory;
}

bool pf_table_batch_complete(pf_table_batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        pf_table_column *c = &b->columns[i];
        if (c->wanted && c->n == c->nulls && c->n && !c->valid.len && !fill_in(c, true))
            fail(c);
        /* Even without lists there is one offset. */
        if (c->wanted && is_list(c->about->type) && !c->offsets.len && !append_empty(c, 0))
            fail(c);
    }
    return !b->no_memory;
}

void pf_column_null(pf_table_column *c)
{
    if (c->wanted)
        append_nulls(c, 1);
}

void pf_column_bool(pf_table_column *c, bool value)
{
    if (begin_item(c) && !append_bit(&c->data, c->n - 1, value))
        fail(c);
}

/* Appends a number of the type's width to `data`. */
static void append_number(pf_table_column *c, uint64_t value)
{
    const size_t width = pf_column_width(c->about->type);
    if (!pf_buffer_reserve(&c->data, 8)) {
        fail(c);
        return;
    }
    if (width == 4)
        pf_store_u32(c->data.ptr + c->data.len, (uint32_t)value, false);
    else
        pf_store_u64(c->data.ptr + c->data.len, value, false);
    c->data.len += width;
}

void pf_column_number(pf_table_column *c, uint64_t value)
{
    if (begin_item(c))
        append_number(c, value);
}

void pf_column_double(pf_table_column *c, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    pf_column_number(c, bits);
}

/* Texts. */

#define NO_TEXT UINT32_MAX

/* Doubles the hash table.  Returns false when out of memory. */
static bool grow_slots(pf_column_texts *t)
{
    const size_t n = t->n_slots ? 2 * t->n_slots : 64;
    struct pf_text_slot *slots = pf_alloc(n, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < t->n_slots; i++) {
        if (!t->slots[i].number)
            continue;
        size_t at = t->slots[i].hash & (n - 1);
        while (slots[at].number)
            at = (at + 1) & (n - 1);
        slots[at] = t->slots[i];
    }
    pf_free(t->slots);
    t->slots = slots;
    t->n_slots = n;
    return true;
}

/* Returns the number of a text, and adds it if it is new.  Returns NO_TEXT when out of memory, or
 * if the texts would exceed 2 GiB. */
static uint32_t find_text(pf_column_texts *t, perfile_bytes text)
{
    if (2 * (size_t)t->n >= t->n_slots && !grow_slots(t))
        return NO_TEXT;
    const uint32_t hash = (uint32_t)pf_index_hash(t->by_place.seed, text.ptr, text.len);
    size_t at = hash & (t->n_slots - 1);
    for (; t->slots[at].number; at = (at + 1) & (t->n_slots - 1)) {
        if (t->slots[at].hash != hash)
            continue;
        const perfile_bytes old = pf_column_text_at(t, t->slots[at].number - 1);
        if (old.len == text.len && (!text.len || memcmp(old.ptr, text.ptr, text.len) == 0))
            return t->slots[at].number - 1;
    }
    if (text.len > INT32_MAX - t->bytes.len || (!t->n && !append_same(&t->offsets, 0, 4)) ||
        !pf_buffer_append(&t->bytes, text.ptr, text.len))
        return NO_TEXT;
    const int32_t end = (int32_t)t->bytes.len;
    if (!pf_buffer_append(&t->offsets, &end, sizeof end))
        return NO_TEXT;
    t->slots[at] = (struct pf_text_slot){t->n + 1, hash};
    return t->n++;
}

/* Returns true for UTF-8 without NUL, which some engines do not support in texts. */
static bool is_text(perfile_bytes text)
{
    uint32_t code;
    for (size_t i = 0, n; i < text.len; i += n) {
        n = perfile_utf8_char(text.ptr + i, text.len - i, &code);
        if (!n || !code)
            return false;
    }
    return true;
}

/* Escapes invalid UTF-8.  Returns false when out of memory. */
static bool escape(pf_buffer *out, perfile_bytes text)
{
    char hex[8];
    uint32_t code;
    pf_buffer_clear(out);
    for (size_t i = 0, n; i < text.len; i += n) {
        n = perfile_utf8_char(text.ptr + i, text.len - i, &code);
        bool ok;
        if (n && code == '\\') {
            ok = pf_buffer_append(out, "\\\\", 2);
        } else if (n && code) {
            ok = pf_buffer_append(out, text.ptr + i, n);
        } else {
            n = 1;
            snprintf(hex, sizeof hex, "\\x%02x", text.ptr[i]);
            ok = pf_buffer_append(out, hex, 4);
        }
        if (!ok)
            return false;
    }
    return true;
}

static uint32_t number_of(pf_table_column *c, perfile_bytes text)
{
    pf_column_texts *t = &c->texts;
    if (!is_text(text)) {
        if (!escape(&t->scratch, text)) {
            fail(c);
            return NO_TEXT;
        }
        text = (perfile_bytes){t->scratch.ptr, t->scratch.len};
    }
    const uint32_t number = find_text(t, text);
    if (number == NO_TEXT)
        fail(c);
    return number;
}

void pf_column_bytes(pf_table_column *c, perfile_bytes text)
{
    const uint32_t number = c->wanted ? number_of(c, text) : NO_TEXT;
    if (number != NO_TEXT)
        pf_column_number(c, number);
}

static perfile_bytes bytes_of(const char *text)
{
    return (perfile_bytes){(const uint8_t *)text, strlen(text)};
}

void pf_column_text(pf_table_column *c, const char *text)
{
    if (text)
        pf_column_bytes(c, bytes_of(text));
    else if (c->by_hand)
        pf_column_null(c);
}

/* Looks up a text by its address.  Returns NO_TEXT when out of memory. */
static uint32_t number_of_place(pf_table_column *c, const char *text)
{
    pf_column_texts *t = &c->texts;
    uint32_t number = pf_index_get(&t->by_place, (uintptr_t)text);
    if (number != PF_INDEX_NONE)
        return number;
    number = number_of(c, bytes_of(text));
    if (number != NO_TEXT && !pf_index_put(&t->by_place, (uintptr_t)text, number)) {
        fail(c);
        return NO_TEXT;
    }
    return number;
}

void pf_column_same_text(pf_table_column *c, const char *text)
{
    pf_column_texts *t = &c->texts;
    if (!text || !c->wanted) {
        pf_column_text(c, text);
        return;
    }
    if (text != t->last) { /* consecutive samples mostly have the same text */
        t->last_number = number_of_place(c, text);
        t->last = t->last_number != NO_TEXT ? text : NULL;
    }
    if (t->last)
        pf_column_number(c, t->last_number);
}

/* Lists and structures. */

void pf_column_element(pf_table_column *c, uint64_t value)
{
    if (c->wanted && !c->batch->no_memory)
        append_number(c, value);
}

void pf_column_element_text(pf_table_column *c, const char *text)
{
    const uint32_t number = c->wanted ? number_of(c, bytes_of(text)) : NO_TEXT;
    if (number != NO_TEXT)
        pf_column_element(c, number);
}

void pf_column_list_end(pf_table_column *c, size_t n)
{
    if (!begin_item(c))
        return;
    if (!append_empty(c, 1)) {
        fail(c);
        return;
    }
    int32_t *last = (void *)(c->offsets.ptr + c->offsets.len - 4);
    if (n > (size_t)(INT32_MAX - *last))
        fail(c);
    else
        *last += (int32_t)n;
}

void pf_column_group(pf_table_column *c)
{
    begin_item(c);
}
