/* Decodes columns of numbers and blobs.
 *
 * Numbers are decoded in blocks of PF_NUMBERS_BLOCK, which stay in the first-level cache; only the
 * streams of a column grow with its size.  Each step of an encoding is a simple loop over one block
 * of 64-bit numbers: join planes, undo zigzag, sum up, look up.  For a full block the compiler
 * knows the count, and vectorizes most of these loops. */
#include "base/byte_order.h"
#include "columns/decode.h"

enum { BLOCK = PF_NUMBERS_BLOCK };

PF_INLINE uint64_t unzigzag(uint64_t v)
{
    return v >> 1 ^ (0 - (v & 1));
}

/* Number i consists of byte i of each plane, the lowest first. */
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

/* Loads n contiguous numbers of `width` bytes, 1 to 8. */
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

/* Converts differences in zigzag form to running sums. */
static void sum_up(pf_numbers *c, size_t n, uint64_t *block)
{
    uint64_t sum = c->before;
    for (size_t i = 0; i < n; i++) {
        sum += unzigzag(block[i]);
        block[i] = sum;
    }
    c->before = sum;
}

/* Converts indexes to entries of the dictionary.  Returns false if an index is too large. */
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

/* VINT: reads n differences in zigzag form.  Returns false if the stream ends too early or too
 * late. */
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
            pf_streams_fail(s, "an index after the end of its dictionary");
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

/* Reads the entries of a dictionary: running sums of the differences in a stream. */
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
        pf_streams_fail(s, "a dictionary of an impossible size");
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
    if (c->how == PF_NUMBERS_DELTA) { /* then the encoding of the differences follows */
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

/* Columns: a block of values that is refilled from the encoded numbers.
 *
 * For blobs, a block has the heap ranges of the next ones.  Blobs that are not decoded yet cost
 * only their encoded ids or lengths.  So a chunk of many small blobs needs no table of them. */

/* Subtracts n values of `width` bytes from the budget. */
static bool spend(pf_streams *s, pf_columns_budget *budget, uint64_t n, unsigned width)
{
    if (!s->bad && n > budget->bytes / width)
        pf_streams_fail(s, "more values than the chunk has bytes");
    if (s->bad)
        return false;
    budget->bytes -= (size_t)n * width;
    return true;
}

/* Reads the bytes of the entries of a dictionary: `len` bytes, in a stream or as words.  In a
 * column that is not wanted `len` is 0, because the lengths were not read. */
static void read_entry_bytes(pf_streams *s, pf_columns_budget *budget, pf_column *c, size_t len)
{
    const unsigned unit = pf_streams_u8(s);
    if (!spend(s, budget, len, 1))
        return;
    if (unit == 1) {
        c->heap = pf_streams_next(s, len, len, c->wants_heap);
    } else if (unit == 8 && len % 8 == 0) {
        pf_numbers words;
        pf_numbers_open(s, len / 8, 8, c->wants_heap, &words);
        uint8_t *bytes = c->wants_heap ? pf_streams_memory(s, len) : NULL;
        if (bytes)
            pf_numbers_all(s, &words, bytes);
        c->heap = (perfile_bytes){bytes, len};
    } else {
        pf_streams_fail(s, "entries in units that do not exist");
    }
}

/* Computes the offsets of entries from their lengths.  Returns the sum of the lengths. */
static size_t read_offsets(pf_streams *s, pf_column *c, pf_numbers *lens)
{
    uint32_t *offsets = pf_streams_memory(s, ((size_t)c->n_entries + 1) * sizeof *offsets);
    uint64_t sum = 0, block[PF_NUMBERS_BLOCK];
    size_t n, k = 0;
    if (!offsets)
        return 0;
    offsets[0] = 0;
    while ((n = pf_numbers_next(s, lens, block)) > 0)
        for (size_t i = 0; i < n; i++) {
            sum += (uint32_t)block[i];
            if (sum > s->raw_len) {
                pf_streams_fail(s, "blobs of more bytes than the chunk has");
                return 0;
            }
            offsets[++k] = (uint32_t)sum;
        }
    c->offsets = offsets;
    return (size_t)sum;
}

static void open_value_dictionary(pf_streams *s, pf_columns_budget *budget, pf_column *c)
{
    pf_numbers lens;
    const uint64_t n_entries = pf_streams_v(s);
    if (n_entries > c->left)
        pf_streams_fail(s, "more entries than blobs");
    if (s->bad)
        return;
    c->n_entries = (uint32_t)n_entries;
    pf_numbers_open(s, c->left, 4, c->wanted, &c->numbers);
    pf_numbers_open(s, c->n_entries, 4, c->wanted, &lens);
    read_entry_bytes(s, budget, c, c->wanted ? read_offsets(s, c, &lens) : 0);
}

static void open_blobs(pf_streams *s, pf_columns_budget *budget, pf_column *c)
{
    if (!s->bad && c->left > budget->blobs)
        pf_streams_fail(s, "more blobs than a chunk of its size may have");
    const unsigned how = pf_streams_u8(s);
    if (s->bad)
        return;
    budget->blobs -= c->left;
    c->by_dictionary = how == PF_BLOBS_DICT;
    if (how == PF_BLOBS_DICT) {
        open_value_dictionary(s, budget, c);
    } else if (how == PF_BLOBS_PLAIN) {
        pf_numbers_open(s, c->left, 4, c->wanted, &c->numbers);
        c->heap = pf_streams_next(s, 0, budget->bytes, c->wants_heap);
        spend(s, budget, c->heap.len, 1);
    } else {
        pf_streams_fail(s, "an encoding of blobs that is not known");
    }
}

void pf_column_open(pf_streams *s, pf_columns_budget *budget, pf_column *c)
{
    c->width = pf_streams_u8(s);
    c->by_dictionary = false;
    c->heap = (perfile_bytes){NULL, 0};
    c->heap_used = c->at = c->ready = c->left = 0;
    c->n_entries = c->n_entered = 0;
    const uint64_t n = pf_streams_v(s);
    if (n > s->raw_len) {
        pf_streams_fail(s, "more values than the chunk has bytes");
        return;
    }
    c->left = (size_t)n;
    if (c->width == 0)
        open_blobs(s, budget, c);
    else if (!pf_is_width(c->width))
        pf_streams_fail(s, "a column of another width than 0, 1, 2, 4 or 8");
    else if (spend(s, budget, n, c->width))
        pf_numbers_open(s, c->left, c->width, c->wanted, &c->numbers);
}

/* Converts ids of the block to blobs.  Id 0 is the next new entry, id k is entry k, counted from 1,
 * which must have been introduced. */
static bool place_entries(pf_column *c, size_t n)
{
    uint32_t n_entered = c->n_entered;
    for (size_t i = 0; i < n; i++) {
        const uint32_t id = (uint32_t)c->block.values[i];
        n_entered += id == 0;
        const uint32_t entry = (id ? id : n_entered) - 1;
        if (entry >= n_entered || n_entered > c->n_entries)
            return false;
        const uint32_t offset = c->offsets[entry];
        c->block.blobs[i] = (pf_blob){offset, c->offsets[entry + 1] - offset};
    }
    c->n_entered = n_entered;
    return true;
}

/* Converts lengths of the block to blobs, which are contiguous in the heap. */
static bool place_plain(pf_column *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t len = (uint32_t)c->block.values[i];
        if (len > c->heap.len - c->heap_used)
            return false;
        c->block.blobs[i] = (pf_blob){(uint32_t)c->heap_used, len};
        c->heap_used += len;
    }
    return true;
}

bool pf_column_fill(pf_streams *s, pf_column *c)
{
    const size_t n = pf_numbers_next(s, &c->numbers, c->block.values);
    if (n && c->width == 0 && !(c->by_dictionary ? place_entries(c, n) : place_plain(c, n)))
        pf_streams_fail(s, c->by_dictionary ? "an id of no entry" : "blobs after the last byte");
    c->at = 0;
    c->ready = s->bad ? 0 : n;
    return c->ready > 0;
}

void pf_column_check_end(pf_streams *s, const pf_column *c)
{
    if (c->left || (c->wanted && c->by_dictionary && c->n_entered != c->n_entries) ||
        (c->wanted && c->width == 0 && !c->by_dictionary && c->heap_used != c->heap.len))
        pf_streams_fail(s, "a column was not used up");
}
