/* Parquet's encodings of numbers (encodings.h). */
#include "parquet/encodings.h"

#include "base/byte_order.h"

enum { MOST_VARINT = 10 };

/* Writes a varint at `p`, which has room for MOST_VARINT bytes.  Returns its end. */
static uint8_t *put_varint(uint8_t *p, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *p++ = (uint8_t)(value | 0x80);
    *p++ = (uint8_t)value;
    return p;
}

static size_t varint_size(uint64_t value)
{
    size_t n = 1;
    for (; value >= 0x80; value >>= 7)
        n++;
    return n;
}

bool pf_varint(pf_buffer *out, uint64_t value)
{
    if (!pf_buffer_reserve(out, MOST_VARINT))
        return false;
    out->len = (size_t)(put_varint(out->ptr + out->len, value) - out->ptr);
    return true;
}

/* Packs bits, from the lowest of each byte.  Stores eight bytes at a time, so there must be room
 * for eight bytes after the last bits. */
typedef struct bit_writer {
    uint8_t *at;
    uint64_t word; /* its lowest `n` bits are pending; n < 64 */
    unsigned n;
} bit_writer;

PF_INLINE void put_bits(bit_writer *w, uint64_t value, unsigned width)
{
    w->word |= value << w->n;
    const unsigned n = w->n + width;
    if (n < 64) {
        w->n = n;
        return;
    }
    pf_store_u64(w->at, w->word, PF_NATIVE_BIG);
    w->at += 8;
    w->n = n - 64;
    w->word = w->n ? value >> (width - w->n) : 0;
}

/* Stores the pending bits, padded to a byte.  Returns the end. */
static uint8_t *end_bits(bit_writer *w)
{
    pf_store_u64(w->at, w->word, PF_NATIVE_BIG);
    return w->at + (w->n + 7) / 8;
}

/* Runs and packed bits. */

bool pf_hybrid_same(pf_buffer *out, uint32_t value, size_t n, unsigned width)
{
    if (!n)
        return true;
    if (!pf_buffer_reserve(out, MOST_VARINT + 4))
        return false;
    uint8_t *p = put_varint(out->ptr + out->len, (uint64_t)n << 1);
    for (unsigned bit = 0; bit < width; bit += 8)
        *p++ = (uint8_t)(value >> bit);
    out->len = (size_t)(p - out->ptr);
    return true;
}

/* Packs `n` numbers, padded with zeros to a multiple of eight. */
static bool pack(pf_buffer *out, const uint32_t *values, size_t n, unsigned width)
{
    if (!n)
        return true;
    const size_t eights = (n + 7) / 8;
    if (!pf_buffer_reserve(out, MOST_VARINT + eights * width + 8))
        return false;
    bit_writer w = {.at = put_varint(out->ptr + out->len, (uint64_t)eights << 1 | 1)};
    uint8_t *const end = w.at + eights * width;
    for (size_t i = 0; i < n; i++)
        put_bits(&w, values[i], width);
    uint8_t *p = end_bits(&w);
    memset(p, 0, (size_t)(end - p));
    out->len = (size_t)(end - out->ptr);
    return true;
}

bool pf_hybrid(pf_buffer *out, const uint32_t *values, size_t n, unsigned width)
{
    /* Packed bits are shorter than a run of fewer numbers. */
    const size_t least = width < 2 ? 32 : width < 4 ? 16 : 8;
    size_t from = 0, i = 0;
    while (i < n) {
        size_t same = 1;
        while (i + same < n && values[i + same] == values[i])
            same++;
        if (same < least) {
            /* The packed numbers before a run are a multiple of eight. */
            const size_t next = i + (same + 7) / 8 * 8;
            i = next < n ? next : n;
            continue;
        }
        if (!pack(out, values + from, i - from, width) ||
            !pf_hybrid_same(out, values[i], same, width))
            return false;
        from = i += same;
    }
    return pack(out, values + from, n - from, width);
}

/* Differences: blocks of 128 numbers in four parts, each with its own width. */

enum { BLOCK = 128, PARTS = 4, PART = BLOCK / PARTS };

typedef struct delta_block {
    uint64_t deltas[BLOCK]; /* minus the least one; padded with zeros to a whole part */
    uint64_t least;
    size_t n;
    size_t parts; /* used parts */
    unsigned widths[PARTS];
} delta_block;

/* Plans a block of the differences of values[from] … to their predecessors. */
static void plan_block(delta_block *b, const uint64_t *values, size_t from, size_t n, bool narrow)
{
    b->n = n - from < BLOCK ? n - from : BLOCK;
    b->parts = (b->n + PART - 1) / PART;
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < b->n; i++) {
        uint64_t delta = values[from + i] - values[from + i - 1];
        if (narrow)
            delta = (uint64_t)(int64_t)(int32_t)(uint32_t)delta;
        b->deltas[i] = delta;
        least = (int64_t)delta < least ? (int64_t)delta : least;
    }
    b->least = (uint64_t)least;
    for (size_t part = 0; part < PARTS; part++) {
        uint64_t all = 0;
        for (size_t i = part * PART; i < (part + 1) * PART && i < b->n; i++) {
            b->deltas[i] -= b->least;
            if (narrow)
                b->deltas[i] = (uint32_t)b->deltas[i];
            all |= b->deltas[i];
        }
        b->widths[part] = pf_bits_of(all);
    }
    for (size_t i = b->n; i < b->parts * PART; i++)
        b->deltas[i] = 0;
}

bool pf_delta(pf_buffer *out, const uint64_t *values, size_t n, bool narrow)
{
    if (!pf_varint(out, BLOCK) || !pf_varint(out, PARTS) || !pf_varint(out, n) ||
        !pf_varint(out, n ? pf_zigzag(values[0]) : 0))
        return false;
    delta_block b;
    for (size_t i = 1; i < n; i += b.n) {
        plan_block(&b, values, i, n, narrow);
        if (!pf_buffer_reserve(out, MOST_VARINT + PARTS + 8 * BLOCK + 8))
            return false;
        bit_writer w = {.at = put_varint(out->ptr + out->len, pf_zigzag(b.least))};
        for (size_t part = 0; part < PARTS; part++)
            *w.at++ = (uint8_t)b.widths[part];
        for (size_t part = 0; part < b.parts; part++) {
            for (size_t k = part * PART; k < (part + 1) * PART; k++)
                put_bits(&w, b.deltas[k], b.widths[part]);
        }
        out->len = (size_t)(end_bits(&w) - out->ptr);
    }
    return true;
}

size_t pf_delta_size(const uint64_t *values, size_t n, bool narrow)
{
    size_t size = varint_size(BLOCK) + varint_size(PARTS) + varint_size(n) +
                  varint_size(n ? pf_zigzag(values[0]) : 0);
    delta_block b;
    for (size_t i = 1; i < n; i += b.n) {
        plan_block(&b, values, i, n, narrow);
        size += varint_size(pf_zigzag(b.least)) + PARTS;
        for (size_t part = 0; part < b.parts; part++)
            size += b.widths[part] * (size_t)(PART / 8);
    }
    return size;
}
