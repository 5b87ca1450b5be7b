/* Columns: a block of values that is refilled from the encoded numbers.
 *
 * Of blobs a block has the places of the next ones in the heap.  Blobs that were not decoded cost
 * nothing but their encoded ids or lengths, so that a chunk of many small blobs needs no table of
 * them. */
#include "archive/columns_decode.h"

#include "base/byte_order.h"

/* Counts n values of `width` bytes against what the chunk may have. */
static bool spend(pf_streams *s, pf_columns_budget *budget, uint64_t n, unsigned width)
{
    if (!s->bad && n > budget->bytes / width)
        pf_streams_fail(s, "more values than the chunk has bytes");
    if (s->bad)
        return false;
    budget->bytes -= (size_t)n * width;
    return true;
}

/* The bytes of the entries of a dictionary: `len` of them, in a stream or as words.  Of a column
 * that is not wanted nobody has read the lengths, and `len` is 0. */
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
        pf_streams_fail(s, "entries in units that there are not");
    }
}

/* The offsets of entries from their lengths; returns the sum of these. */
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

static void open_dictionary(pf_streams *s, pf_columns_budget *budget, pf_column *c)
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
        open_dictionary(s, budget, c);
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

/* Ids of the block to places of entries: 0 is the next entry, k the entry k, counted from 1, which
 * must have been introduced. */
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

/* Lengths of the block to places of blobs that stand one after the other. */
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
        pf_streams_fail(s, c->by_dictionary ? "an id of no entry" : "blobs behind the last byte");
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
