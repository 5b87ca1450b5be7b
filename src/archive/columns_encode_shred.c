/* Taking records apart.
 *
 * Most records are of the class of the record before.  Otherwise a hash of type, misc and layout
 * finds the classes that are possible, and the first that fits is taken.  A record that fits none
 * makes a new class. */
#include "archive/columns_encode.h"

#include "archive/meta.h"
#include "base/alloc.h"
#include "base/byte_order.h"
#include "core/attribution.h"
#include "schema/family.h"

enum { FIRST_VALUES = 256, RECORD_HEADER = 8, MOST_RECORD = 65535 };

/* Values of a column that has many are in a piece of a slab on large pages, as many as a chunk has
 * records at most: growing by steps would touch twice as much memory. */
enum { MANY_VALUES = 8192, PIECE_VALUES = 65536, PIECES = 8 };

bool pf_shred_init(pf_shred *x)
{
    x->ops = pf_alloc(PF_COLUMNS_MOST_OPS, sizeof *x->ops);
    x->columns = pf_alloc(PF_COLUMNS_MOST_COLUMNS, sizeof *x->columns);
    return x->ops && x->columns;
}

void pf_shred_free(pf_shred *x)
{
    for (uint32_t i = 0; i < x->made_columns; i++) {
        if (!x->columns[i].in_slab)
            pf_free(x->columns[i].values);
        pf_buffer_free(&x->columns[i].heap);
    }
    for (uint32_t i = 0; i < x->n_slabs; i++)
        pf_free(x->slabs[i]);
    pf_free(x->slabs);
    pf_free(x->columns);
    pf_free(x->ops);
    pf_buffer_free(&x->class_of);
    pf_buffer_free(&x->gaps);
}

void pf_shred_begin(pf_shred *x, bool swapped)
{
    x->swapped = swapped;
    x->failed = x->refused = false;
    x->n_columns = x->n_ops = x->n_classes = 0;
    x->last = UINT32_MAX;
    x->gap = 0;
    x->shaped = NULL;
    memset(x->slots, 0, sizeof x->slots);
    pf_buffer_clear(&x->class_of);
    pf_buffer_clear(&x->gaps);
}

static bool same_key(const pf_column_key *a, const pf_column_key *b)
{
    return a->field == b->field && a->of == b->of && a->nth == b->nth && a->apart == b->apart;
}

uint32_t pf_shred_column_of(pf_shred *x, const pf_column_key *key, unsigned width, bool words)
{
    for (uint32_t i = 0; i < x->n_columns; i++)
        if (x->columns[i].width == width && same_key(&x->columns[i].key, key))
            return i;
    if (x->n_columns == PF_COLUMNS_MOST_COLUMNS)
        return UINT32_MAX;
    static const uint8_t strategies[] = {
#define STRATEGY(kind, strategy) [PERFILE_KIND_##kind] = PF_STRATEGY_##strategy,
#include "perfile/format/columns.def"
    };
    const unsigned kind = key->field ? key->field->kind : PERFILE_KIND_DEC;
    pf_shred_column *c = &x->columns[x->n_columns++];
    if (x->made_columns < x->n_columns)
        x->made_columns = x->n_columns;
    c->key = *key;
    c->width = (uint8_t)width;
    c->words = words;
    c->strategy = kind < sizeof strategies ? strategies[kind] : (uint8_t)PF_STRATEGY_TRIAL;
    c->n = 0;
    pf_buffer_clear(&c->heap);
    return x->n_columns - 1;
}

/* Room for PIECE_VALUES, or NULL. */
static uint64_t *take_piece(pf_shred *x)
{
    if (!x->pieces_left) {
        uint64_t **slabs = pf_realloc(x->slabs, x->n_slabs + 1, sizeof *slabs);
        if (!slabs)
            return NULL;
        x->slabs = slabs;
        slabs[x->n_slabs] = pf_alloc_large(PIECES * PIECE_VALUES * sizeof(uint64_t));
        if (!slabs[x->n_slabs])
            return NULL;
        x->n_slabs++;
        x->pieces_left = PIECES;
    }
    return x->slabs[x->n_slabs - 1] + (PIECES - x->pieces_left--) * PIECE_VALUES;
}

/* Moves the values to memory for `cap`, which is many. */
static uint64_t *move_values(pf_shred *x, pf_shred_column *c, uint32_t cap)
{
    const bool in_slab = cap <= PIECE_VALUES;
    uint64_t *values = in_slab ? take_piece(x) : pf_alloc_large(cap * sizeof *values);
    if (!values)
        return NULL;
    if (c->n)
        memcpy(values, c->values, c->n * sizeof *values);
    if (!c->in_slab)
        pf_free(c->values);
    c->in_slab = in_slab;
    return values;
}

/* Makes room for one more value. */
static bool grow(pf_shred *x, pf_shred_column *c)
{
    uint32_t cap = c->cap ? 2 * c->cap : FIRST_VALUES;
    const bool many = cap > MANY_VALUES;
    cap = many && cap < PIECE_VALUES ? PIECE_VALUES : cap;
    uint64_t *values = cap <= c->cap ? NULL
                       : many        ? move_values(x, c, cap)
                                     : pf_realloc(c->values, cap, sizeof *values);
    if (!values) {
        x->failed = true;
        return false;
    }
    c->values = values;
    c->cap = cap;
    return true;
}

PF_INLINE void push(pf_shred *x, pf_shred_column *c, uint64_t v)
{
    if (c->n < c->cap || grow(x, c))
        c->values[c->n++] = v;
}

static void push_blob(pf_shred *x, pf_shred_column *c, const uint8_t *bytes, size_t len)
{
    push(x, c, len);
    x->failed |= !pf_buffer_reserve_large(&c->heap, len) || !pf_buffer_append(&c->heap, bytes, len);
}

PF_INLINE uint64_t load(const uint8_t *p, unsigned width, bool swap)
{
    switch (width) {
    case 8:
        return pf_load_u64(p, swap);
    case 4:
        return pf_load_u32(p, swap);
    case 2:
        return pf_load_u16(p, swap);
    default:
        return *p;
    }
}

/* The length of the blob that stands at `p`, behind its prefix; false: it does not fit. */
static bool blob_len(const pf_shred_op *o, const uint8_t *p, const uint8_t *end, bool swap,
                     size_t *len)
{
    const size_t left = (size_t)(end - p);
    if (!o->width) {
        if (left < o->extra)
            return false;
        *len = o->fixed ? o->extra : left - o->extra;
        return true;
    }
    if (left < o->width)
        return false;
    const uint64_t prefix = load(p, o->width, swap);
    if (prefix > UINT16_MAX)
        return false;
    *len = (size_t)(prefix * o->unit + o->extra);
    return *len <= left - o->width;
}

/* True if the word at `p` is the one of the call chain that the operation names. */
static bool repeats(const pf_shred_op *o, const uint8_t *p, const uint8_t *end, bool swap)
{
    return (size_t)(end - p) >= (size_t)o->distance + 8 &&
           pf_load_u64(p + o->distance - o->offset - 8, swap) > o->offset / 8 &&
           memcmp(p, p + o->distance, 8) == 0;
}

/* True if the operations consume the body exactly, and words are as they should be. */
static bool fits(const pf_shred *x, const pf_shred_class *c, const perfile_record *r)
{
    const uint8_t *p = r->body.ptr, *end = p + r->body.len;
    if (r->body.len < c->size || (!c->varies && r->body.len != c->size))
        return false;
    if (!c->checked)
        return true;
    for (const pf_shred_op *o = &x->ops[c->first], *last = o + c->n; o < last; o++) {
        size_t len;
        switch (o->what) {
        case PF_COLUMNS_WORD:
            if (end - p < o->width || (o->guarded && load(p, o->width, x->swapped) != o->value) ||
                (o->unlike && repeats(o, p, end, x->swapped)))
                return false;
            p += o->width;
            break;
        case PF_COLUMNS_BLOB:
            if (!blob_len(o, p, end, x->swapped, &len))
                return false;
            p += o->width + len;
            break;
        default:
            if (!repeats(o, p, end, x->swapped))
                return false;
            p += 8;
        }
    }
    return p == end;
}

/* Moves the values of a record that fits into the columns. */
PF_INLINE void take(pf_shred *x, const pf_shred_class *c, const perfile_record *r, bool swap)
{
    const uint8_t *p = r->body.ptr, *end = p + r->body.len;
    for (const pf_shred_op *o = &x->ops[c->first], *last = o + c->n; o < last; o++) {
        pf_shred_column *column = &x->columns[o->column];
        if (o->what == PF_COLUMNS_WORD) {
            push(x, column, load(p, o->width, swap));
            p += o->width;
        } else if (o->what == PF_COLUMNS_BLOB) {
            size_t len = 0;
            (void)blob_len(o, p, end, swap, &len);
            push_blob(x, column, p + o->width, len);
            p += o->width + len;
        } else {
            p += 8;
        }
    }
}

/* What tells raw data of one tracepoint from that of another: its size and the number it begins
 * with.  0 where it does not stand at a place that is known. */
static uint64_t raw_of(pf_shred *x, const perfile_record *r, const perfile_layout *layout)
{
    if (layout != x->shaped) {
        x->shaped = layout;
        x->shape = pf_sample_shape_of(layout->sample_type);
    }
    if (!x->shape.known || !x->shape.raw || r->body.len < x->shape.least)
        return 0;
    uint64_t at = x->shape.chain_at;
    if (x->shape.chain) {
        const uint64_t nr = pf_load_u64(r->body.ptr + at, x->swapped);
        if (nr > r->body.len / 8)
            return 0;
        at += 8 + 8 * nr;
    }
    if (at > r->body.len || r->body.len - at < 6)
        return 0;
    return (uint64_t)pf_load_u32(r->body.ptr + at, x->swapped) << 16 |
           pf_load_u16(r->body.ptr + at + 4, x->swapped);
}

static unsigned slot_of(const pf_class_key *k)
{
    const uint64_t h =
        ((uint64_t)(uintptr_t)k->layout ^ (uint64_t)k->type << 16 ^ k->misc ^ k->raw << 20) *
        UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)(h >> 55) % PF_SHRED_SLOTS;
}

static bool equal_key(const pf_class_key *a, const pf_class_key *b)
{
    return a->type == b->type && a->misc == b->misc && a->layout == b->layout && a->raw == b->raw;
}

/* The class of the record, made if there is none; NULL: there is no room for it.  A record may fit
 * several, if some of their blobs may be empty: any of them is right. */
static pf_shred_class *class_of(pf_shred *x, const pf_class_key *key, const perfile_record *r)
{
    if (x->last != UINT32_MAX && equal_key(&x->classes[x->last].key, key) &&
        fits(x, &x->classes[x->last], r))
        return &x->classes[x->last];
    uint16_t *slot = &x->slots[slot_of(key)];
    for (unsigned at = *slot; at; at = x->classes[at - 1].next)
        if (equal_key(&x->classes[at - 1].key, key) && fits(x, &x->classes[at - 1], r))
            return &x->classes[at - 1];
    pf_shred_class *c = pf_shred_plan(x, key, r);
    if (!c)
        return NULL;
    c->next = *slot;
    *slot = (uint16_t)(c - x->classes + 1);
    return c;
}

/* Counts the bytes of records between those that are apart. */
static void count_gap(pf_shred *x, const pf_shred_class *c, const perfile_record *r)
{
    if (!c->apart) {
        x->gap += RECORD_HEADER + r->body.len;
    } else if (x->gap) {
        x->failed |= !pf_buffer_append(&x->gaps, &x->gap, sizeof x->gap);
        x->gap = 0;
    }
}

static void add(pf_shred *x, const perfile_record *r)
{
    uint32_t damage;
    const perfile_layout *layout = pf_layout_of(r, &damage);
    const bool raw =
        layout && r->type == PERFILE_RECORD_SAMPLE && layout->sample_type & PERFILE_SAMPLE_RAW;
    const pf_class_key key = {
        .type = r->type, .misc = r->misc, .layout = layout, .raw = raw ? raw_of(x, r, layout) : 0};
    if (r->body.len > MOST_RECORD - RECORD_HEADER) {
        x->refused = true;
        return;
    }
    pf_shred_class *c = class_of(x, &key, r);
    if (!c) {
        x->refused = true;
        return;
    }
    x->last = (uint32_t)(c - x->classes);
    if (x->swapped)
        take(x, c, r, true);
    else
        take(x, c, r, false);
    count_gap(x, c, r);
    x->failed |= !pf_buffer_append_u8(&x->class_of, (uint8_t)x->last);
}

void pf_shred_add(pf_shred *x, const perfile_record *first, size_t n)
{
    for (size_t i = 0; i < n && !x->failed && !x->refused; i++)
        add(x, &first[i]);
}
