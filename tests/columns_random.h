/* Random payloads of the codec COLUMNS, with what they have to decode to.
 *
 * random_payload() draws classes and columns, then record by record a value for each operation: the
 * value goes to its column, and to the expected bytes of both byte orders.  So the expected bytes
 * owe nothing to the decoder.  At last each column is encoded in a way that is drawn, too. */
#ifndef TESTS_COLUMNS_RANDOM_H
#define TESTS_COLUMNS_RANDOM_H

#include "columns_built.h"
#include "random.h"

enum {
    DRAWN_COLUMNS = 9, /* the first are of classes that are not apart */
    DRAWN_APART = 5,   /* the first of the others */
    DRAWN_VALUES = 6000,
    DRAWN_BLOB = 72,
    DRAWN_CLASSES = 6,
    DRAWN_OPS = 8,
    DRAWN_RECORDS = 700
};

/* Owners of frames. */
enum { OWNER_CLASSES, OWNER_GAPS, OWNER_COLUMNS /* of its numbers; + 1: of its heap */ };

typedef struct drawn_column {
    unsigned width; /* 0: blobs */
    bool repeats;   /* blobs of few kinds, of 16 bytes or more, in multiples of 8 */
    unsigned style;
    uint32_t n;
    uint64_t values[DRAWN_VALUES]; /* of blobs their lengths */
    uint8_t blobs[DRAWN_VALUES][DRAWN_BLOB];
} drawn_column;

typedef struct drawn_op {
    unsigned what, prefix, unit, extra, column, offset;
} drawn_op;

typedef struct drawn_class {
    bool apart;
    uint32_t type, misc, n_ops;
    drawn_op ops[DRAWN_OPS];
} drawn_class;

typedef struct drawn {
    drawn_column columns[DRAWN_COLUMNS];
    drawn_class classes[DRAWN_CLASSES];
    uint32_t n_classes, n_records;
    bool has_head; /* classes that are not apart begin with the words of columns 0 and 1 */
    uint64_t class_of[DRAWN_RECORDS];
    uint32_t at[DRAWN_RECORDS + 1]; /* where the records are */
    pf_buffer little, big;          /* the decoded bytes */
    built_columns built;
} drawn;

static inline void draw_columns(drawn *m)
{
    static const uint8_t widths[] = {1, 2, 4, 8, 8, 8, 0, 0};
    for (unsigned i = 0; i < DRAWN_COLUMNS; i++) {
        drawn_column *c = &m->columns[i];
        c->width = widths[random_below(sizeof widths)];
        c->repeats = random_below(2);
        c->style = random_below(4);
        c->n = 0;
    }
}

static inline void draw_ops(drawn *m, drawn_class *k)
{
    const unsigned end = k->apart ? DRAWN_COLUMNS : DRAWN_APART;
    unsigned first = k->apart ? DRAWN_APART : 0;
    k->n_ops = 0;
    for (; m->has_head && !k->apart && k->n_ops < 2; first++)
        k->ops[k->n_ops++] = (drawn_op){.what = PF_COLUMNS_WORD, .column = first};
    for (unsigned n = random_below(DRAWN_OPS - 1); k->n_ops < n;) {
        drawn_op *o = &k->ops[k->n_ops++];
        *o = (drawn_op){.what = PF_COLUMNS_WORD, .column = first + random_below(end - first)};
        const drawn_column *c = &m->columns[o->column];
        if (c->width)
            continue;
        if (c->repeats && random_below(2)) {
            *o = (drawn_op){PF_COLUMNS_REF, .column = o->column, .offset = random_below(9)};
            k->ops[k->n_ops] = *o;
            o = &k->ops[k->n_ops++];
        }
        o->what = PF_COLUMNS_BLOB;
        o->prefix = 1U << random_below(4);
        o->prefix = o->prefix == 1 ? 0 : o->prefix;
        o->unit = c->repeats ? 1U << random_below(4) : 1;
        o->extra = c->repeats ? 8 * random_below(3) : 0;
    }
}

static inline void draw_classes(drawn *m)
{
    m->n_classes = 1 + random_below(DRAWN_CLASSES);
    for (unsigned i = 0; i < m->n_classes; i++) {
        drawn_class *k = &m->classes[i];
        k->apart = random_below(3) == 0;
        draw_ops(m, k);
        if (i && random_below(3) == 0) /* as another one, but for its header */
            *k = m->classes[i - 1];
        k->type = random_below(100);
        k->misc = random_below(70000) & 0xffff;
    }
}

static inline uint64_t draw_number(drawn_column *c)
{
    uint64_t v = c->n ? c->values[c->n - 1] : random_below(1000);
    if (c->style == 1)
        v = random_below(20) * 77;
    else if (c->style == 2)
        v += random_below(300);
    else if (c->style == 3)
        v = (uint64_t)random_below(1 << 24) << 40 ^ (uint64_t)random_below(1 << 24) << 20;
    v = c->width < 8 ? v & (((uint64_t)1 << 8 * c->width) - 1) : v;
    return c->values[c->n++] = v;
}

static inline void draw_blob(drawn_column *c)
{
    const unsigned kind = random_below(7);
    /* At least 4 bytes: of shorter ones there may be fewer (PF_COLUMNS_BLOB_BYTES). */
    const size_t len = c->repeats ? 16 + 8 * kind : 4 + random_below(DRAWN_BLOB - 4);
    for (size_t i = 0; i < len; i++)
        c->blobs[c->n][i] = (uint8_t)(c->repeats ? kind * 3 + i / 8 : random_below(256));
    c->values[c->n++] = len;
}

static inline void expect_number(drawn *m, uint64_t v, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        if (!pf_buffer_append_u8(&m->little, (uint8_t)(v >> 8 * i)) ||
            !pf_buffer_append_u8(&m->big, (uint8_t)(v >> 8 * (width - 1 - i))))
            abort();
}

static inline void expect_bytes(drawn *m, const uint8_t *bytes, size_t n)
{
    if (!pf_buffer_append(&m->little, bytes, n) || !pf_buffer_append(&m->big, bytes, n))
        abort();
}

/* A value for each operation of a record.  A REF is always followed by the BLOB of its column. */
static inline void draw_record(drawn *m, const drawn_class *k)
{
    const size_t at = m->little.len;
    expect_number(m, k->type, 4);
    expect_number(m, k->misc, 2);
    expect_number(m, 0, 2);
    for (unsigned i = 0; i < k->n_ops; i++) {
        const drawn_op *o = &k->ops[i];
        drawn_column *c = &m->columns[o->column];
        if (o->what == PF_COLUMNS_WORD) {
            expect_number(m, draw_number(c), c->width);
            continue;
        }
        if (o->what == PF_COLUMNS_REF || i == 0 || o[-1].what != PF_COLUMNS_REF)
            draw_blob(c);
        const uint8_t *blob = c->blobs[c->n - 1];
        const size_t len = c->values[c->n - 1];
        if (o->what == PF_COLUMNS_REF) {
            expect_bytes(m, blob + o->offset, 8);
        } else {
            expect_number(m, (len - o->extra) / o->unit, o->prefix);
            expect_bytes(m, blob, len);
        }
    }
    const size_t size = m->little.len - at;
    m->little.ptr[at + 6] = m->big.ptr[at + 7] = (uint8_t)size;
    m->little.ptr[at + 7] = m->big.ptr[at + 6] = (uint8_t)(size >> 8);
}

/* Encodings. */

static inline void write_planes(built_columns *b, const uint64_t *v, size_t n, unsigned count)
{
    uint8_t plane[DRAWN_VALUES];
    for (unsigned j = 0; j < count; j++) {
        for (size_t i = 0; i < n; i++)
            plane[i] = (uint8_t)(v[i] >> 8 * j);
        built_stream(b, plane, n);
    }
}

static inline uint64_t zigzag(uint64_t difference, unsigned width)
{
    const unsigned spare = 64 - 8 * width;
    const uint64_t sign = difference << spare >> 63 ? UINT64_MAX : 0;
    const uint64_t v =
        spare ? (difference & (UINT64_MAX >> spare)) | (sign << 8 * width) : difference;
    return v << 1 ^ sign;
}

static inline int compare_numbers(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static inline void write_dictionary(built_columns *b, const uint64_t *v, size_t n, unsigned width)
{
    static uint64_t entries[DRAWN_VALUES], index[DRAWN_VALUES];
    uint8_t packed[2 * DRAWN_VALUES];
    pf_buffer stream = {0};
    size_t m = 0;
    memcpy(entries, v, n * sizeof *v);
    qsort(entries, n, sizeof *v, compare_numbers);
    for (size_t i = 0; i < n; i++)
        if (!m || entries[m - 1] != entries[i])
            entries[m++] = entries[i];
    for (size_t i = 0; i < n; i++)
        for (index[i] = 0; entries[index[i]] != v[i];)
            index[i]++;
    const unsigned bytes = m == 1 ? 0 : m > 256 || (width > 1 && random_below(2)) ? 2 : 1;
    const unsigned pack = random_below(2) ? 16 : 0;
    built_u8(b, PF_NUMBERS_DICT);
    built_v(b, m);
    built_u8(b, bytes | pack);
    for (size_t i = 0; i < m; i++)
        built_leb(&stream, entries[i] - (i ? entries[i - 1] : 0));
    built_stream(b, stream.ptr, stream.len);
    pf_buffer_free(&stream);
    for (size_t i = 0; i < n * bytes; i++)
        packed[i] = (uint8_t)(index[i / bytes] >> 8 * (i % bytes));
    if (pack)
        built_stream(b, packed, n * bytes);
    else
        write_planes(b, index, n, bytes);
}

/* CONST, PLAIN, PLANES and DICT. */
static inline void write_values(built_columns *b, const uint64_t *v, size_t n, unsigned width)
{
    bool equal = true;
    for (size_t i = 1; i < n; i++)
        equal &= v[i] == v[0];
    const unsigned how = random_below(4);
    if (equal && (n == 0 || random_below(4))) {
        built_u8(b, PF_NUMBERS_CONST);
        built_v(b, n ? v[0] : 0);
    } else if (how < 2) {
        built_u8(b, PF_NUMBERS_PLANES);
        built_u8(b, width);
        write_planes(b, v, n, width);
    } else if (how == 2) {
        uint8_t bytes[8 * DRAWN_VALUES];
        for (size_t i = 0; i < n * width; i++)
            bytes[i] = (uint8_t)(v[i / width] >> 8 * (i % width));
        built_u8(b, PF_NUMBERS_PLAIN);
        built_stream(b, bytes, n * width);
    } else {
        write_dictionary(b, v, n, width);
    }
}

/* DELTA and VINT. */
static inline void write_differences(built_columns *b, const uint64_t *v, size_t n, unsigned width,
                                     bool vint)
{
    static uint64_t d[DRAWN_VALUES];
    pf_buffer stream = {0};
    for (size_t i = 0; i < n; i++)
        d[i] = zigzag(v[i] - (i ? v[i - 1] : 5), width);
    built_u8(b, vint ? PF_NUMBERS_VINT : PF_NUMBERS_DELTA);
    built_v(b, 5);
    for (size_t i = 0; i < n && vint; i++)
        built_leb(&stream, d[i]);
    if (vint)
        built_stream(b, stream.ptr, stream.len);
    else
        write_values(b, d, n, width);
    pf_buffer_free(&stream);
}

static inline void write_numbers(built_columns *b, const uint64_t *v, size_t n, unsigned width)
{
    const unsigned how = random_below(6);
    b->own = random_below(4) > 0;
    if (how < 4 || n == 0)
        write_values(b, v, n, width);
    else
        write_differences(b, v, n, width, how == 4);
}

static inline void write_blobs(built_columns *b, const drawn_column *c)
{
    static uint64_t ids[DRAWN_VALUES], lens[DRAWN_VALUES], words[DRAWN_VALUES * DRAWN_BLOB / 8];
    uint32_t seen[7] = {0}, m = 0;
    pf_buffer heap = {0};
    const uint32_t owner = b->owner;
    for (uint32_t i = 0; i < c->n; i++) {
        const size_t len = c->values[i];
        uint32_t *kind = &seen[(len - 16) / 8 % 7]; /* one of each length */
        ids[i] = c->repeats ? *kind : 0;
        if (c->repeats && *kind)
            continue;
        if (!pf_buffer_append(&heap, c->blobs[i], len))
            abort();
        lens[m++] = len;
        *kind = m;
    }
    built_u8(b, c->repeats ? PF_BLOBS_DICT : PF_BLOBS_PLAIN);
    if (c->repeats) {
        built_v(b, m);
        write_numbers(b, ids, c->n, 4);
        write_numbers(b, lens, m, 4);
        const bool as_words = random_below(2);
        built_u8(b, as_words ? 8 : 1);
        b->owner = owner + 1;
        if (as_words && heap.len)
            memcpy(words, heap.ptr, heap.len); /* tests run on little-endian machines */
        if (as_words)
            write_numbers(b, words, heap.len / 8, 8);
        else
            built_stream(b, heap.ptr, heap.len);
    } else {
        write_numbers(b, c->values, c->n, 4);
        b->owner = owner + 1;
        built_stream(b, heap.ptr, heap.len);
    }
    pf_buffer_free(&heap);
}

static inline void write_classes(drawn *m, built_columns *b)
{
    built_v(b, m->n_classes);
    for (unsigned i = 0; i < m->n_classes; i++) {
        const drawn_class *k = &m->classes[i];
        built_class(b, k->apart, k->type, (uint16_t)k->misc, k->n_ops);
        for (unsigned j = 0; j < k->n_ops; j++) {
            const drawn_op *o = &k->ops[j];
            if (o->what == PF_COLUMNS_WORD)
                built_word(b, m->columns[o->column].width, o->column);
            else if (o->what == PF_COLUMNS_REF)
                built_ref(b, o->column, o->offset);
            else
                built_blob(b, o->prefix, o->unit, o->extra, o->column);
        }
    }
}

static inline bool has_blobs(const drawn_class *k)
{
    bool has = false;
    for (unsigned j = 0; j < k->n_ops; j++)
        has |= k->ops[j].what == PF_COLUMNS_BLOB;
    return has;
}

/* The sizes of gaps, if there are classes of which they have to be said. */
static inline void write_gaps(drawn *m, built_columns *b)
{
    static uint64_t gaps[DRAWN_RECORDS];
    bool apart = false, blobs = false;
    size_t n = 0;
    for (unsigned i = 0; i < m->n_classes; i++) {
        apart |= m->classes[i].apart;
        blobs |= !m->classes[i].apart && has_blobs(&m->classes[i]);
    }
    if (!apart || !blobs)
        return;
    for (uint32_t i = 0, from = 0; i < m->n_records; i++) {
        if (!m->classes[m->class_of[i]].apart)
            continue;
        if (m->at[i] > from)
            gaps[n++] = m->at[i] - from;
        from = m->at[i + 1];
    }
    b->owner = OWNER_GAPS;
    write_numbers(b, gaps, n, 4);
}

/* Draws a payload: m->built and what is expected of it. */
static inline void random_payload(drawn *m)
{
    built_columns *b = &m->built;
    built_clear(b);
    b->frames_packed = random_below(2);
    pf_buffer_clear(&m->little);
    pf_buffer_clear(&m->big);
    draw_columns(m);
    m->has_head = random_below(2);
    for (unsigned i = 0; i < 2 && m->has_head; i++)
        m->columns[i].width = 8;
    draw_classes(m);
    m->n_records = random_below(random_below(2) ? DRAWN_RECORDS : 20);
    const unsigned often = 1 + random_below(60);
    for (uint32_t i = 0; i < m->n_records; i++) {
        const bool other = i == 0 || random_below(often) == 0;
        m->class_of[i] = other ? random_below(m->n_classes) : m->class_of[i - 1];
        m->at[i] = (uint32_t)m->little.len;
        draw_record(m, &m->classes[m->class_of[i]]);
        m->at[i + 1] = (uint32_t)m->little.len;
    }
    built_v(b, m->n_records);
    write_classes(m, b);
    b->owner = OWNER_CLASSES;
    write_numbers(b, m->class_of, m->n_records, 1);
    write_gaps(m, b);
    built_v(b, DRAWN_COLUMNS);
    for (unsigned i = 0; i < DRAWN_COLUMNS; i++) {
        const drawn_column *c = &m->columns[i];
        b->owner = OWNER_COLUMNS + 2 * i;
        built_u8(b, c->width);
        built_v(b, c->n);
        if (c->width)
            write_numbers(b, c->values, c->n, c->width);
        else
            write_blobs(b, c);
    }
}

#endif
