/* Reads the streams and the head of a payload, and has the memory pool of the decoder.
 *
 * Each size is compared with the bytes that are left, and with the size of the chunk, before
 * anything is allocated or decoded.  The table at the beginning has the size and checksum of each
 * frame.  So unwanted frames are never touched, and those that are read are checked. */
#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/crc32.h"
#include "columns/decode.h"

#include <stddef.h>
#include <string.h>

enum { FIXED = 16 /* bytes before the sizes of frames */ };

/* Fuzzed payloads never have correct checksums: they are computed, but not enforced. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { ENFORCE_CHECKSUMS = false };
#else
enum { ENFORCE_CHECKSUMS = true };
#endif

static const uint8_t nothing[8]; /* what empty streams and failed reads point to */

void pf_streams_fail(pf_streams *s, const char *why)
{
    if (s->bad)
        return;
    s->bad = why;
    s->status = PERFILE_E_CORRUPT;
}

void *pf_streams_memory(pf_streams *s, size_t n)
{
    void *p = s->bad ? NULL : pf_pool_get(&s->pool, n);
    if (!p && !s->bad) {
        s->bad = "out of memory";
        s->status = PERFILE_E_NOMEM;
    }
    return p;
}

static uint32_t load(const uint8_t *p)
{
    return pf_load_u32(p, PF_NATIVE_BIG);
}

/* Reads bytes of the payload; valid until the next call. */
static perfile_bytes read_input(pf_streams *s, size_t offset, size_t len)
{
    perfile_bytes bytes = {nothing, 0};
    if (s->bad || len == 0)
        return bytes;
    const perfile_status st = s->input->read(s->input->user, offset, len, &bytes, s->err);
    if (st == PERFILE_OK)
        return bytes;
    s->bad = "it cannot be read";
    s->status = st;
    return (perfile_bytes){nothing, 0};
}

/* Copies bytes to the pool. */
static perfile_bytes keep(pf_streams *s, perfile_bytes bytes)
{
    uint8_t *copy = pf_streams_memory(s, bytes.len);
    if (!copy)
        return (perfile_bytes){nothing, 0};
    memcpy(copy, bytes.ptr, bytes.len);
    return (perfile_bytes){copy, bytes.len};
}

/* Decompresses one frame to `len` bytes of the pool. */
static perfile_bytes decompress(pf_streams *s, perfile_bytes stored, size_t len)
{
    const perfile_bytes none = {nothing, 0};
    if (ZSTD_getFrameContentSize(stored.ptr, stored.len) != len ||
        ZSTD_findFrameCompressedSize(stored.ptr, stored.len) != stored.len) {
        pf_streams_fail(s, "a frame has another size than it should");
        return none;
    }
    uint8_t *out = pf_streams_memory(s, len);
    if (!out)
        return none;
    const size_t n = ZSTD_decompressDCtx(s->zstd, out, len, stored.ptr, stored.len);
    if (ZSTD_isError(n) || n != len) {
        pf_streams_fail(s, "a frame cannot be decompressed");
        return none;
    }
    return (perfile_bytes){out, len};
}

/* Reads the frame at `offset`, stored as `size` bytes, and decodes it to `len` bytes.  Equal sizes
 * mean that it is not compressed. */
static perfile_bytes read_frame(pf_streams *s, size_t offset, size_t size, uint32_t crc, size_t len)
{
    const perfile_bytes stored = read_input(s, offset, size);
    if (!s->bad && pf_crc32c(0, stored) != crc && ENFORCE_CHECKSUMS)
        pf_streams_fail(s, "the checksum of a frame is wrong");
    if (s->bad)
        return (perfile_bytes){nothing, 0};
    if (size != len)
        return decompress(s, stored, len);
    return s->input->stays ? stored : keep(s, stored);
}

/* Reads the table: the fixed part, the sizes of frames, their checksums, and its own checksum.
 * Returns false if the sizes do not add up. */
static bool read_table(pf_streams *s)
{
    const size_t payload_len = s->input->len;
    if (payload_len < FIXED)
        return false;
    const uint64_t n_frames = load(read_input(s, 0, 4).ptr);
    if (s->bad || n_frames > (payload_len - FIXED) / 8)
        return false;
    const size_t len = FIXED + 8 + 8 * (size_t)n_frames;
    if (len > payload_len)
        return false;
    s->table = keep(s, read_input(s, 0, len)).ptr;
    if (s->bad)
        return false;
    if (pf_crc32c(0, (perfile_bytes){s->table, len - 4}) != load(s->table + len - 4) &&
        ENFORCE_CHECKSUMS)
        pf_streams_fail(s, "the checksum of its table is wrong");
    uint64_t sum = load(s->table + 12);
    for (size_t i = 0; i < n_frames; i++)
        sum += load(s->table + FIXED + 4 * i);
    s->n_frames = (uint32_t)n_frames;
    s->offset = len;
    return sum == payload_len - len && load(s->table) == n_frames;
}

/* Return the stored size or the checksum of frame `i`; frame 0 has the head. */
static uint32_t stored_size(const pf_streams *s, uint32_t i)
{
    return load(s->table + 12 + 4 * (size_t)i);
}

static uint32_t checksum(const pf_streams *s, uint32_t i)
{
    return load(s->table + FIXED + 4 * ((size_t)s->n_frames + i));
}

void pf_streams_open(pf_streams *s, const pf_columns_input *input, size_t raw_len,
                     perfile_error *err)
{
    *s = (pf_streams){.zstd = s->zstd,
                      .pool = s->pool,
                      .input = input,
                      .err = err,
                      .raw_len = raw_len,
                      .head = nothing,
                      .head_end = nothing,
                      .small = nothing,
                      .small_end = nothing};
    pf_pool_reset(&s->pool);
    pf_pool_expect(&s->pool, raw_len < PF_ARCHIVE_MOST_RAW_LEN ? raw_len + raw_len / 8 : 0);
    if (!read_table(s)) {
        pf_streams_fail(s, "its sizes do not add up");
        return;
    }
    const uint32_t head_len = load(s->table + 4), raw0 = load(s->table + 8);
    const uint32_t stored0 = stored_size(s, 0);
    const uint64_t most0 = PF_COLUMNS_HEAD_BYTES + PF_COLUMNS_HEAD_RATIO * (uint64_t)raw_len;
    if (raw0 > PF_ARCHIVE_MOST_RAW_LEN || raw0 > most0 || head_len > raw0) {
        pf_streams_fail(s, "its sizes do not add up");
        return;
    }
    const perfile_bytes first = read_frame(s, s->offset, stored0, checksum(s, 0), raw0);
    if (s->bad)
        return;
    s->offset += stored0;
    s->head = first.ptr;
    s->head_end = s->small = first.ptr + head_len;
    s->small_end = first.ptr + first.len;
}

uint8_t pf_streams_u8(pf_streams *s)
{
    if (s->bad || s->head == s->head_end) {
        pf_streams_fail(s, "its head ends too early");
        return 0;
    }
    return *s->head++;
}

bool pf_leb128(const uint8_t **at, const uint8_t *end, uint64_t *v)
{
    const uint8_t *p = *at;
    *v = 0;
    for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
        const uint8_t byte = *p++;
        if (shift == 63 && byte > 1)
            return false;
        *v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *at = p;
            return true;
        }
    }
    return false;
}

uint64_t pf_streams_v(pf_streams *s)
{
    uint64_t v = 0;
    if (!s->bad && !pf_leb128(&s->head, s->head_end, &v))
        pf_streams_fail(s, "a number of its head is not complete");
    return s->bad ? 0 : v;
}

/* Returns the next frame, decoded to `len` bytes if it is wanted. */
static perfile_bytes next_frame(pf_streams *s, size_t len, bool wanted)
{
    if (s->frame == s->n_frames) {
        pf_streams_fail(s, "it has fewer frames than streams");
        return (perfile_bytes){nothing, 0};
    }
    const uint32_t number = ++s->frame;
    const size_t offset = s->offset, size = stored_size(s, number);
    s->offset += size;
    if (!wanted)
        return (perfile_bytes){NULL, len};
    return read_frame(s, offset, size, checksum(s, number), len);
}

perfile_bytes pf_streams_next(pf_streams *s, size_t least, size_t most, bool wanted)
{
    const uint64_t v = pf_streams_v(s);
    const uint64_t len = v >> 1;
    if (!s->bad && (wanted ? len < least || len > most : len > SIZE_MAX / 2))
        pf_streams_fail(s, "a stream has another size than it should");
    if (s->bad)
        return (perfile_bytes){nothing, 0};
    if (v & 1)
        return next_frame(s, (size_t)len, wanted);
    if (len > (size_t)(s->small_end - s->small)) {
        pf_streams_fail(s, "its small streams end too early");
        return (perfile_bytes){nothing, 0};
    }
    const perfile_bytes bytes = {wanted ? s->small : NULL, (size_t)len};
    s->small += len;
    return bytes;
}

bool pf_streams_at_end(const pf_streams *s)
{
    return s->head == s->head_end && s->small == s->small_end && s->frame == s->n_frames;
}

/* The pool: blocks that are divided into pieces.
 *
 * A reader decodes many chunks of the same size.  The first one may need several blocks.  After
 * pf_pool_reset() the next block is as large as all of them, so later chunks allocate nothing.
 * Under AddressSanitizer each piece is a block of its own, so that reading past its end is
 * detected. */

#if defined(__SANITIZE_ADDRESS__)
#define PIECES_APART 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PIECES_APART 1
#endif
#endif
#ifndef PIECES_APART
#define PIECES_APART 0
#endif

enum {
    LEAST = 256 << 10, /* bytes of a block */
    LARGE = 1 << 20    /* from this size on, use large pages */
};

struct pf_pool_block {
    pf_pool_block *next;
    max_align_t bytes[];
};

static uint8_t *new_block(pf_pool *p, size_t n)
{
    pf_pool_block *block = n > SIZE_MAX - sizeof *block ? NULL
                           : n < LARGE                  ? pf_realloc(NULL, sizeof *block + n, 1)
                                                        : pf_alloc_large(sizeof *block + n);
    if (!block)
        return NULL;
    block->next = p->blocks;
    p->blocks = block;
    return (uint8_t *)block->bytes;
}

void *pf_pool_get(pf_pool *p, size_t n)
{
    const size_t mask = _Alignof(max_align_t) - 1;
    if (PIECES_APART)
        return new_block(p, n ? n : 1);
    if (n > SIZE_MAX / 2)
        return NULL;
    n = (n + mask) & ~mask;
    if (n > p->left || !p->at) {
        /* Without blocks, `total` is the size of all blocks before the last reset, or the expected
         * size. */
        size_t size = p->blocks ? 0 : p->total;
        size = size > LEAST ? size : LEAST;
        size = size > n ? size : n;
        uint8_t *fresh = new_block(p, size);
        if (!fresh)
            return NULL;
        p->total = p->blocks->next ? p->total + size : size;
        p->at = fresh;
        p->left = size;
    }
    uint8_t *piece = p->at;
    p->at += n;
    p->left -= n;
    return piece;
}

static void free_blocks(pf_pool *p)
{
    while (p->blocks) {
        pf_pool_block *next = p->blocks->next;
        pf_free(p->blocks);
        p->blocks = next;
    }
    p->at = NULL;
    p->left = 0;
}

void pf_pool_reset(pf_pool *p)
{
    if (!p->blocks)
        return;
    if (p->blocks->next || PIECES_APART) {
        free_blocks(p);
    } else {
        p->at = (uint8_t *)p->blocks->bytes;
        p->left = p->total;
    }
}

void pf_pool_expect(pf_pool *p, size_t n)
{
    if (!p->blocks && p->total < n)
        p->total = n;
}

void pf_pool_free(pf_pool *p)
{
    free_blocks(p);
    p->total = 0;
}

/* The head of a payload: first its classes, then its columns one by one.
 *
 * The classes say, before any column is read, which of its streams are needed.  Others are
 * skipped. */

static void fail(pf_columns_decoder *d, const char *why)
{
    pf_streams_fail(&d->streams, why);
}

/* Reads a number of the head, which must be at most `most`. */
static uint32_t bounded(pf_columns_decoder *d, uint64_t most, const char *why)
{
    const uint64_t v = pf_streams_v(&d->streams);
    if (v > most)
        fail(d, why);
    return d->streams.bad ? 0 : (uint32_t)v;
}

static uint8_t shift_of(uint64_t unit)
{
    uint8_t shift = 0;
    while (shift < 63 && unit >> shift != 1)
        shift++;
    return (uint64_t)1 << shift == unit ? shift : 255;
}

static void read_op(pf_columns_decoder *d, pf_op *o)
{
    *o = (pf_op){.what = pf_streams_u8(&d->streams)};
    if (o->what == PF_COLUMNS_WORD) {
        o->width = pf_streams_u8(&d->streams);
        if (!pf_is_width(o->width))
            fail(d, "a word of another width than 1, 2, 4 or 8");
    } else if (o->what == PF_COLUMNS_BLOB) {
        o->width = pf_streams_u8(&d->streams);
        o->unit = pf_streams_v(&d->streams);
        o->extra = pf_streams_v(&d->streams);
        if (o->width == 1 || (o->width && !pf_is_width(o->width)) || o->unit == 0)
            fail(d, "a prefix that does not exist");
        o->shift = shift_of(o->unit);
    } else if (o->what != PF_COLUMNS_REF) {
        fail(d, "an operation that is not known");
    }
    o->column = bounded(d, PF_COLUMNS_MOST_COLUMNS - 1, "a column that does not exist");
    if (o->what == PF_COLUMNS_REF)
        o->offset = pf_streams_v(&d->streams);
}

/* Computes the size of a class, and whether its operations are wanted. */
static void choose_ops(pf_columns_decoder *d, pf_class *c)
{
    c->size = PF_RECORD_HEADER;
    c->n_blobs = 0;
    for (uint32_t k = 0; k < c->n; k++) {
        pf_op *o = &d->ops[c->first + k];
        c->size += o->what == PF_COLUMNS_REF ? 8 : o->width;
        c->n_blobs += o->what == PF_COLUMNS_BLOB;
        o->wanted = c->apart || !d->apart_only;
    }
}

static void read_classes(pf_columns_decoder *d)
{
    d->n_ops = 0;
    d->has_apart = false;
    d->n_classes = bounded(d, PF_COLUMNS_MOST_CLASSES, "too many classes");
    bool has_blobs = false;
    for (uint32_t i = 0; i < d->n_classes && !d->streams.bad; i++) {
        pf_class *c = &d->classes[i];
        const uint8_t apart = pf_streams_u8(&d->streams);
        if (apart > 1)
            fail(d, "a class that is neither apart nor not");
        c->apart = apart;
        c->type = bounded(d, UINT32_MAX, "a record type of more than 32 bits");
        c->misc = (uint16_t)bounded(d, UINT16_MAX, "misc of more than 16 bits");
        c->first = d->n_ops;
        c->n = bounded(d, PF_COLUMNS_MOST_OPS - d->n_ops, "too many operations");
        for (uint32_t k = 0; k < c->n && !d->streams.bad; k++)
            read_op(d, &d->ops[d->n_ops++]);
        if (d->streams.bad)
            return;
        choose_ops(d, c);
        d->has_apart |= c->apart;
        has_blobs |= !c->apart && c->n_blobs;
    }
    d->has_gaps = d->has_apart && has_blobs;
}

static bool same_ops(const pf_columns_decoder *d, const pf_class *a, const pf_class *b)
{
    bool same = a->apart == b->apart && a->n == b->n;
    for (uint32_t k = 0; k < a->n && same; k++) {
        const pf_op *o = &d->ops[a->first + k], *p = &d->ops[b->first + k];
        same = o->what == p->what && o->width == p->width && o->column == p->column &&
               o->unit == p->unit && o->extra == p->extra && o->offset == p->offset;
    }
    return same;
}

/* Fills the tables by class number. */
static void tabulate_classes(pf_columns_decoder *d)
{
    memset(d->shape, PF_NO_CLASS, sizeof d->shape);
    memset(d->kind, PF_NO_CLASS, sizeof d->kind);
    for (uint32_t i = 0; i < d->n_classes; i++) {
        uint32_t first = 0;
        while (!same_ops(d, &d->classes[first], &d->classes[i]))
            first++;
        d->shape[i] = (uint8_t)first;
        d->kind[i] = d->classes[i].apart;
        d->size[i] = d->classes[i].size;
    }
}

/* Reads the class of each record.  Uses the stream directly if it has one byte for each. */
static void read_class_numbers(pf_columns_decoder *d)
{
    pf_streams *s = &d->streams;
    pf_numbers numbers;
    const bool wanted = !d->apart_only || d->has_apart;
    pf_numbers_open(s, d->n_records, 1, wanted, &numbers);
    d->class_of = NULL;
    d->class_of_all = 0;
    if (s->bad || !wanted || d->n_records == 0)
        return;
    if (numbers.how == PF_NUMBERS_CONST && !numbers.differences) {
        d->class_of_all = (uint8_t)numbers.constant;
    } else if (!numbers.differences && (numbers.how == PF_NUMBERS_PLAIN ||
                                        (numbers.how == PF_NUMBERS_PLANES && numbers.count == 1))) {
        d->class_of = numbers.planes[0];
    } else {
        uint8_t *bytes = pf_streams_memory(s, d->n_records);
        if (bytes)
            pf_numbers_all(s, &numbers, bytes);
        d->class_of = bytes;
    }
}

/* Reads the sizes of gaps.  A gap is a run of records that are not side-band, followed by one that
 * is. */
static void read_gaps(pf_columns_decoder *d)
{
    pf_streams *s = &d->streams;
    uint64_t bytes = 0;
    size_t i = 0;
    d->n_gaps = 0;
    while (i < d->n_records && !s->bad) {
        const size_t end = pf_class_pass(d, i, false, &bytes);
        d->n_gaps += end > i && end < d->n_records;
        i = pf_class_pass(d, end, true, &bytes);
    }
    d->gaps.width = 4;
    d->gaps.wanted = true;
    d->gaps.at = d->gaps.ready = 0;
    d->gaps.left = d->n_gaps;
    pf_numbers_open(s, d->n_gaps, 4, true, &d->gaps.numbers);
}

uint64_t pf_next_gap(pf_columns_decoder *d)
{
    pf_column *c = &d->gaps;
    return pf_column_has(&d->streams, c) ? (uint32_t)c->block.values[c->at++] : 0;
}

/* Makes room for the columns.  Each takes some KiB, so a payload of few should not need room for
 * the maximum. */
static void make_columns(pf_columns_decoder *d)
{
    if (d->n_columns <= d->cap_columns)
        return;
    pf_free(d->columns);
    d->columns = pf_alloc(d->n_columns, sizeof *d->columns);
    d->cap_columns = d->columns ? d->n_columns : 0;
    if (d->columns)
        return;
    d->n_columns = 0;
    d->streams.bad = "out of memory";
    d->streams.status = PERFILE_E_NOMEM;
}

/* Determines what the operations need of their columns. */
static void mark_columns(pf_columns_decoder *d)
{
    for (uint32_t i = 0; i < d->n_columns; i++) {
        pf_column *k = &d->columns[i];
        k->wanted = k->wants_heap = k->apart = k->other = false;
        k->last_class = UINT32_MAX;
    }
    for (uint32_t i = 0; i < d->n_classes && !d->streams.bad; i++) {
        const pf_class *c = &d->classes[i];
        for (uint32_t j = 0; j < c->n && !d->streams.bad; j++) {
            const pf_op *o = &d->ops[c->first + j];
            if (o->column >= d->n_columns) {
                fail(d, "an operation on a column that does not exist");
                return;
            }
            pf_column *k = &d->columns[o->column];
            *(c->apart ? &k->apart : &k->other) = true;
            k->wanted |= o->wanted;
            k->wants_heap |= o->wanted && o->what != PF_COLUMNS_WORD;
            if (k->apart && k->other)
                fail(d, "a column of records that are apart and of others");
        }
    }
}

/* Checks that each operation names a column of its kind, and determines which classes are
 * regular. */
static void check_ops(pf_columns_decoder *d)
{
    for (uint32_t i = 0; i < d->n_classes && !d->streams.bad; i++) {
        pf_class *c = &d->classes[i];
        c->regular = true;
        for (uint32_t j = c->n; j-- > 0;) {
            const pf_op *o = &d->ops[c->first + j];
            pf_column *k = &d->columns[o->column];
            if (k->width != (o->what == PF_COLUMNS_WORD ? o->width : 0))
                fail(d, "an operation on a column of another kind");
            const bool taken_behind = k->last_class == i;
            c->regular &= taken_behind == (o->what == PF_COLUMNS_REF);
            k->last_class = o->what == PF_COLUMNS_REF ? k->last_class : i;
        }
    }
}

/* Notes where column `i` begins. */
static void mark(pf_columns_decoder *d, uint32_t i)
{
    if (d->marks)
        d->marks[i] = (pf_columns_mark){d->streams.head, d->streams.small, d->streams.offset, 0};
}

void pf_columns_read_head(pf_columns_decoder *d)
{
    pf_streams *s = &d->streams;
    d->n_records =
        bounded(d, d->budget.bytes / PF_RECORD_HEADER, "more records than fit into the chunk");
    d->budget.bytes -= d->n_records * PF_RECORD_HEADER;
    read_classes(d);
    if (s->bad)
        return;
    tabulate_classes(d);
    read_class_numbers(d);
    if (d->has_gaps && !s->bad)
        read_gaps(d);
    d->n_columns = bounded(d, PF_COLUMNS_MOST_COLUMNS, "too many columns");
    make_columns(d);
    mark_columns(d);
    for (uint32_t i = 0; i < d->n_columns && !s->bad; i++) {
        mark(d, i);
        pf_column_open(s, &d->budget, &d->columns[i]);
        if (d->marks)
            d->marks[i].values = d->columns[i].left;
    }
    mark(d, d->n_columns);
    check_ops(d);
    if (!s->bad && !pf_streams_at_end(s))
        fail(d, "there are bytes after its last column");
}
