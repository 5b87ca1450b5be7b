/* The encodings of columns of numbers.
 *
 * Numbers are decoded in blocks of PF_NUMBERS_BLOCK that stay in the first cache: the streams of a
 * column are the only memory that grows with it.  Each step of an encoding is a plain loop over one
 * block of 64-bit numbers (joining planes, undoing the zigzag, summing up, looking up); for a whole
 * block the compiler knows the count, and makes vector instructions of most of them. */
#include "archive/columns_decode.h"

#include "base/byte_order.h"

enum { BLOCK = PF_NUMBERS_BLOCK };

PF_INLINE uint64_t unzigzag(uint64_t v)
{
    return v >> 1 ^ (0 - (v & 1));
}

/* Number i is byte i of each plane, the lowest first. */
PF_INLINE void join_count(const uint8_t *const *planes, unsigned count, size_t n,
                          uint64_t *restrict out)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t v = 0;
        for (unsigned j = 0; j < count; j++)
            v |= (uint64_t)planes[j][i] << 8 * j;
        out[i] = v;
    }
}

PF_INLINE void join_n(const uint8_t *const *planes, unsigned count, size_t n, uint64_t *out)
{
    switch (count) {
    case 0:
        memset(out, 0, n * sizeof *out);
        break;
    case 1:
        join_count(planes, 1, n, out);
        break;
    case 2:
        join_count(planes, 2, n, out);
        break;
    case 3:
        join_count(planes, 3, n, out);
        break;
    case 4:
        join_count(planes, 4, n, out);
        break;
    default:
        join_count(planes, count, n, out);
    }
}

/* Joins n numbers of the planes of a column. */
static void join(const pf_numbers *c, size_t n, uint64_t *out)
{
    const uint8_t *planes[8];
    for (unsigned j = 0; j < c->count; j++)
        planes[j] = c->planes[j] + c->next;
    if (n == BLOCK)
        join_n(planes, c->count, BLOCK, out);
    else
        join_n(planes, c->count, n, out);
}

/* Loads n numbers of `width` bytes, 1 to 8, that stand one after the other. */
PF_INLINE void load_width(const uint8_t *from, unsigned width, size_t n, uint64_t *restrict out)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t v = 0;
        for (unsigned j = 0; j < width; j++)
            v |= (uint64_t)from[i * width + j] << 8 * j;
        out[i] = v;
    }
}

static void load_all(const uint8_t *from, unsigned width, size_t n, uint64_t *restrict out)
{
    switch (width) {
    case 1:
        load_width(from, 1, n, out);
        break;
    case 2:
        for (size_t i = 0; i < n; i++)
            out[i] = pf_load_u16(from + 2 * i, PF_NATIVE_BIG);
        break;
    case 3:
        load_width(from, 3, n, out);
        break;
    case 4:
        for (size_t i = 0; i < n; i++)
            out[i] = pf_load_u32(from + 4 * i, PF_NATIVE_BIG);
        break;
    case 8:
        for (size_t i = 0; i < n; i++)
            out[i] = pf_load_u64(from + 8 * i, PF_NATIVE_BIG);
        break;
    default:
        memset(out, 0, n * sizeof *out);
    }
}

/* Differences in zigzag form to running sums. */
static void sum_up(pf_numbers *c, size_t n, uint64_t *block)
{
    uint64_t sum = c->before;
    for (size_t i = 0; i < n; i++) {
        sum += unzigzag(block[i]);
        block[i] = sum;
    }
    c->before = sum;
}

/* Indexes to entries of the dictionary.  False: an index is too large. */
static bool look_up(const pf_numbers *c, size_t n, uint64_t *block)
{
    const uint64_t *entries = c->entries, n_entries = c->n_entries;
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        const uint64_t v = block[i];
        const bool inside = v < n_entries;
        block[i] = entries[inside ? v : 0];
        good &= inside;
    }
    return good;
}

/* VINT: n differences of its stream, as they are stored.  False: it ends too early, or too late. */
static bool read_differences(pf_numbers *c, size_t n, uint64_t *block)
{
    const uint8_t *at = c->planes[0], *end = c->end;
    for (size_t i = 0; i < n; i++) {
        if (at < end && *at < 0x80)
            block[i] = *at++;
        else if (!pf_leb128(&at, end, &block[i]))
            return false;
    }
    c->planes[0] = at;
    return n < c->left || at == end;
}

static void fill(uint64_t *block, uint64_t v)
{
    for (size_t i = 0; i < BLOCK; i++)
        block[i] = v;
}

size_t pf_numbers_next(pf_streams *s, pf_numbers *c, uint64_t *block)
{
    const size_t n = c->left < BLOCK ? c->left : BLOCK;
    if (s->bad || n == 0)
        return 0;
    switch (c->how) {
    case PF_NUMBERS_CONST:
        fill(block, c->constant);
        break;
    case PF_NUMBERS_PLAIN:
        load_all(c->planes[0] + c->next * c->width, c->width, n, block);
        break;
    case PF_NUMBERS_PLANES:
        join(c, n, block);
        break;
    case PF_NUMBERS_DICT:
        if (c->packed)
            load_all(c->planes[0] + c->next * c->count, c->count, n, block);
        else
            join(c, n, block);
        if (!look_up(c, n, block))
            pf_streams_fail(s, "an index behind the end of its dictionary");
        break;
    default: /* VINT */
        if (!read_differences(c, n, block))
            pf_streams_fail(s, "a column of differences ends too early or too late");
    }
    if (c->differences && !s->bad)
        sum_up(c, n, block);
    c->next += n;
    c->left -= n;
    return s->bad ? 0 : n;
}

static void store(uint8_t *to, const uint64_t *block, unsigned width, size_t n)
{
    for (size_t i = 0; i < n; i++, to += width) {
        uint8_t bytes[8];
        pf_store_u64(bytes, block[i], PF_NATIVE_BIG);
        memcpy(to, bytes, width);
    }
}

void pf_numbers_all(pf_streams *s, pf_numbers *c, uint8_t *out)
{
    uint64_t block[BLOCK];
    for (size_t n; (n = pf_numbers_next(s, c, block)) > 0; out += n * c->width) {
        if (c->width == 8)
            store(out, block, 8, n);
        else if (c->width == 1)
            store(out, block, 1, n);
        else
            store(out, block, c->width, n);
    }
}

/* Reads `count` planes of n bytes each. */
static void open_planes(pf_streams *s, pf_numbers *c, size_t n, unsigned count, bool wanted)
{
    c->count = (uint8_t)count;
    if (count > c->width)
        pf_streams_fail(s, "more planes than a number has bytes");
    for (unsigned j = 0; j < count && !s->bad; j++)
        c->planes[j] = pf_streams_next(s, n, n, wanted).ptr;
}

/* The entries of a dictionary: sums of the differences in a stream. */
static void read_entries(pf_streams *s, pf_numbers *c, bool wanted)
{
    const size_t m = (size_t)c->n_entries;
    const perfile_bytes stream = pf_streams_next(s, m, 10 * m, wanted);
    uint64_t *entries = wanted ? pf_streams_memory(s, m * sizeof *entries) : NULL;
    if (!entries)
        return;
    const uint8_t *at = stream.ptr, *end = at + stream.len;
    uint64_t sum = 0, v;
    for (size_t i = 0; i < m; i++) {
        if (!pf_leb128(&at, end, &v)) {
            pf_streams_fail(s, "a dictionary ends too early");
            return;
        }
        sum += v;
        entries[i] = sum;
    }
    if (at != end)
        pf_streams_fail(s, "a dictionary ends too late");
    c->entries = entries;
}

static void open_dictionary(pf_streams *s, pf_numbers *c, size_t n, bool wanted)
{
    enum { PACKED = 16, MOST_INDEX = 3 /* bytes: PF_COLUMNS_MOST_ENTRIES needs no more */ };
    c->n_entries = pf_streams_v(s);
    const unsigned form = pf_streams_u8(s), count = form & ~(unsigned)PACKED;
    if (count > MOST_INDEX || count > c->width)
        pf_streams_fail(s, "an index of too many bytes");
    else if (c->n_entries == 0 || c->n_entries > PF_COLUMNS_MOST_ENTRIES ||
             c->n_entries > (uint64_t)1 << 8 * count || (wanted && c->n_entries > n))
        pf_streams_fail(s, "a dictionary of a size that there is not");
    if (s->bad)
        return;
    read_entries(s, c, wanted);
    c->packed = form & PACKED;
    if (!c->packed) {
        open_planes(s, c, n, count, wanted);
    } else if (!s->bad) {
        c->count = (uint8_t)count;
        c->planes[0] = pf_streams_next(s, n * count, n * count, wanted).ptr;
    }
}

static void open_differences(pf_streams *s, pf_numbers *c, size_t n, bool wanted)
{
    /* Bytes of the largest difference between two numbers of this width. */
    const size_t most = c->width == 8 ? 10 : c->width == 4 ? 5 : c->width + 1U;
    c->differences = true;
    c->before = pf_streams_v(s);
    const perfile_bytes stream = pf_streams_next(s, n, most * n, wanted);
    c->planes[0] = stream.ptr;
    c->end = stream.ptr ? stream.ptr + stream.len : NULL;
}

void pf_numbers_open(pf_streams *s, size_t n, unsigned width, bool wanted, pf_numbers *c)
{
    *c = (pf_numbers){.how = pf_streams_u8(s), .width = (uint8_t)width};
    if (c->how == PF_NUMBERS_DELTA) { /* and how the differences are stored */
        c->differences = true;
        c->before = pf_streams_v(s);
        c->how = pf_streams_u8(s);
        if (c->how == PF_NUMBERS_DELTA || c->how == PF_NUMBERS_VINT)
            pf_streams_fail(s, "differences of differences");
    }
    if (s->bad)
        return;
    switch (c->how) {
    case PF_NUMBERS_CONST:
        c->constant = pf_streams_v(s);
        break;
    case PF_NUMBERS_PLAIN:
        c->planes[0] = pf_streams_next(s, n * width, n * width, wanted).ptr;
        break;
    case PF_NUMBERS_PLANES:
        open_planes(s, c, n, pf_streams_u8(s), wanted);
        break;
    case PF_NUMBERS_DICT:
        open_dictionary(s, c, n, wanted);
        break;
    case PF_NUMBERS_VINT:
        open_differences(s, c, n, wanted);
        break;
    default:
        pf_streams_fail(s, "an encoding of numbers that is not known");
    }
    c->left = wanted && !s->bad ? n : 0;
}
