/* The decoder of the codec COLUMNS: rebuilds records from columns.
 *
 * Limits: a number of w bytes becomes w bytes of a record, and each byte of a blob becomes one.  So
 * the size of all columns is compared with the size of the chunk before they are read, and at the
 * end every value must have been used.  Blobs may be empty, so their number is limited, too: one
 * for each PF_COLUMNS_BLOB_BYTES decoded bytes. */
#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "columns/decode.h"

#include <string.h>

pf_columns_decoder *pf_columns_decoder_new(void)
{
    pf_columns_decoder *d = pf_alloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->streams.zstd = ZSTD_createDCtx();
    if (d->streams.zstd)
        return d;
    pf_columns_decoder_free(d);
    return NULL;
}

void pf_columns_decoder_free(pf_columns_decoder *d)
{
    if (!d)
        return;
    pf_free(d->columns);
    pf_pool_free(&d->streams.pool);
    ZSTD_freeDCtx(d->streams.zstd);
    pf_free(d);
}

static void fail(pf_columns_decoder *d, const char *why)
{
    pf_streams_fail(&d->streams, why);
}

static void check_columns_end(pf_columns_decoder *d)
{
    for (uint32_t i = 0; i < d->n_columns && !d->streams.bad; i++)
        if (d->columns[i].apart || !d->apart_only)
            pf_column_check_end(&d->streams, &d->columns[i]);
}

/* Appends the range of records `first` to `end`.  Their `bytes` bytes belong at `offset` in the
 * chunk, and are at out[at]. */
static void add_range(pf_columns_decoder *d, pf_buffer *ranges, uint64_t offset, size_t bytes,
                      size_t at, size_t first, size_t end)
{
    const pf_columns_range range = {.offset = (uint32_t)offset,
                                    .bytes = (uint32_t)bytes,
                                    .at = (uint32_t)at,
                                    .first = (uint32_t)first,
                                    .records = (uint32_t)(end - first)};
    if (d->streams.bad || end == first || pf_buffer_append(ranges, &range, sizeof range))
        return;
    d->streams.bad = "out of memory";
    d->streams.status = PERFILE_E_NOMEM;
}

/* Returns how many records from number `i` on, before number `last`, have the shape of record `i`.
 * Returns 0 if this record does not match `apart` or has an invalid class. */
static size_t count_alike(pf_columns_decoder *d, size_t i, size_t last, bool apart)
{
    if (i >= last || d->streams.bad)
        return 0;
    const uint8_t number = pf_class_of(d, i);
    if (number >= d->n_classes)
        fail(d, "a class that does not exist");
    if (d->streams.bad || d->classes[number].apart != apart)
        return 0;
    const size_t n = pf_class_run(d, i);
    return n < last - i ? n : last - i;
}

/* Decodes records from number `i` on, as long as they are of its kind (side-band or not).  Returns
 * the number of the first other one, at most `last`.  Moves *at to their end. */
static size_t put_same_kind(pf_columns_decoder *d, size_t i, size_t last, bool big, uint8_t **at,
                            uint8_t *end)
{
    const bool apart = d->classes[pf_class_of(d, i)].apart;
    for (size_t n; (n = count_alike(d, i, last, apart)) != 0; i += n) {
        uint8_t *next = pf_put_records(d, i, n, big, *at, end);
        *at = next ? next : *at;
    }
    return i;
}

/* Decodes all records.  Then every column must be used up. */
static void put_all(pf_columns_decoder *d, bool big, uint8_t *out, size_t raw_len)
{
    uint8_t *at = out;
    for (size_t i = 0; i < d->n_records && !d->streams.bad;) {
        const uint8_t *from = at;
        if (pf_class_of(d, i) >= d->n_classes) {
            fail(d, "a class that does not exist");
            return;
        }
        const bool apart = d->classes[pf_class_of(d, i)].apart;
        i = put_same_kind(d, i, d->n_records, big, &at, out + raw_len);
        if (d->has_gaps && !apart && i < d->n_records && !d->streams.bad &&
            pf_next_gap(d) != (uint64_t)(at - from))
            fail(d, "a gap has another size than it should");
    }
    if (at != out + raw_len)
        fail(d, "its records are shorter than the chunk");
    check_columns_end(d);
    if (d->piece && !d->streams.bad && at > d->shown)
        d->piece(d->piece_user, (perfile_bytes){d->shown, (size_t)(at - d->shown)});
}

/* Decodes the side-band records.  The sizes of the others are known from their classes or, if they
 * have blobs, from the sizes of gaps. */
static void put_apart(pf_columns_decoder *d, bool big, uint8_t *out, size_t raw_len,
                      pf_buffer *ranges)
{
    uint64_t at = 0;
    size_t used = 0; /* bytes of `out`; contiguous, to touch few pages */
    if (d->n_records == 0 && raw_len > 0)
        fail(d, "its records are shorter than the chunk");
    for (size_t i = 0; i < d->n_records && d->has_apart && !d->streams.bad;) {
        uint64_t gap = 0;
        const size_t first = pf_class_pass(d, i, false, &gap);
        if (d->has_gaps && first > i && first < d->n_records)
            gap = pf_next_gap(d);
        if (gap > raw_len - at || (first == d->n_records && !d->has_gaps && gap != raw_len - at))
            fail(d, "its records have other sizes than the chunk");
        if (d->streams.bad || first == d->n_records)
            break;
        at += gap;
        uint8_t *from = out + used, *to = from;
        i = put_same_kind(d, first, d->n_records, big, &to, from + (raw_len - at));
        const size_t bytes = (size_t)(to - from);
        add_range(d, ranges, at, bytes, used, first, i);
        used += bytes;
        at += bytes;
        if (i == d->n_records && at != raw_len)
            fail(d, "its records are shorter than the chunk");
    }
    if (d->has_apart)
        check_columns_end(d);
}

perfile_status pf_columns_outcome(const pf_columns_decoder *d, perfile_error *err)
{
    const pf_streams *s = &d->streams;
    if (!s->bad)
        return PERFILE_OK;
    if (s->status == PERFILE_E_CORRUPT)
        return pf_fail(err, PERFILE_E_CORRUPT, "archive.columns", "%s", s->bad);
    return s->status == PERFILE_E_NOMEM ? pf_fail_nomem(err, "archive.columns") : s->status;
}

void pf_columns_begin(pf_columns_decoder *d, const pf_columns_input *input, bool apart_only,
                      size_t raw_len, perfile_error *err)
{
    d->apart_only = apart_only;
    d->budget = (pf_columns_budget){raw_len, raw_len / PF_COLUMNS_BLOB_BYTES};
    d->n_columns = 0;
    pf_streams_open(&d->streams, input, raw_len, err);
    if (raw_len > PF_ARCHIVE_MOST_RAW_LEN)
        fail(d, "it would be of more bytes than a chunk may have");
    if (!d->streams.bad)
        pf_columns_read_head(d);
}

perfile_status pf_columns_decode_apart(pf_columns_decoder *d, const pf_columns_input *input,
                                       bool big, uint8_t *out, size_t raw_len, pf_buffer *ranges,
                                       uint64_t *n_records, perfile_error *err)
{
    const size_t had = ranges->len;
    pf_columns_begin(d, input, true, raw_len, err);
    if (!d->streams.bad)
        put_apart(d, big, out, raw_len, ranges);
    if (d->streams.bad)
        ranges->len = had;
    else
        *n_records = d->n_records;
    return pf_columns_outcome(d, err);
}

static perfile_status read_bytes(void *user, size_t offset, size_t len, perfile_bytes *bytes,
                                 perfile_error *err)
{
    const perfile_bytes *payload = user;
    (void)err;
    *bytes = (perfile_bytes){payload->ptr + offset, len};
    return PERFILE_OK;
}

perfile_status pf_columns_decode_pieces(pf_columns_decoder *d, perfile_bytes payload, bool big,
                                        uint8_t *out, size_t raw_len, pf_columns_piece *piece,
                                        void *user, perfile_error *err)
{
    const pf_columns_input input = {
        .read = read_bytes, .user = &payload, .len = payload.len, .stays = true};
    pf_columns_begin(d, &input, false, raw_len, err);
    d->piece = piece;
    d->piece_user = user;
    d->shown = out;
    if (!d->streams.bad)
        put_all(d, big, out, raw_len);
    d->piece = NULL;
    return pf_columns_outcome(d, err);
}

perfile_status pf_columns_decode(pf_columns_decoder *d, perfile_bytes payload, bool big,
                                 uint8_t *out, size_t raw_len, perfile_error *err)
{
    return pf_columns_decode_pieces(d, payload, big, out, raw_len, NULL, NULL, err);
}

/* Scanning class numbers: runs of records of one shape, and of records that are side-band or not.
 *
 * In a chunk of samples, nearly all class numbers are of one kind and most are equal.  So eight are
 * scanned at once: compared with the first one or, if they differ, looked up in a table with one
 * branch for all eight.  Skipping a sample thus takes 0.1 to 0.3 ns. */

static bool all_equal(const uint8_t *numbers, uint8_t number)
{
    return pf_load_u64(numbers, false) == number * UINT64_C(0x0101010101010101);
}

/* The same for 32 numbers. */
static bool all_equal_32(const uint8_t *numbers, uint8_t number)
{
    const uint64_t all = number * UINT64_C(0x0101010101010101);
    return ((pf_load_u64(numbers, false) ^ all) | (pf_load_u64(numbers + 8, false) ^ all) |
            (pf_load_u64(numbers + 16, false) ^ all) | (pf_load_u64(numbers + 24, false) ^ all)) ==
           0;
}

/* Returns true if the table has `value` for all of eight class numbers. */
static bool all_have(const uint8_t *table, const uint8_t *numbers, uint8_t value)
{
    unsigned differ = 0;
    for (unsigned k = 0; k < 8; k++)
        differ |= table[numbers[k]] ^ value;
    return differ == 0;
}

size_t pf_class_run(const pf_columns_decoder *d, size_t i)
{
    const uint8_t *class_of = d->class_of;
    size_t end = i + 1;
    if (!class_of)
        return d->n_records - i;
    const uint8_t number = class_of[i], shape = d->shape[number];
    while (d->n_records - end >= 8 &&
           (all_equal(class_of + end, number) || all_have(d->shape, class_of + end, shape)))
        end += 8;
    while (end < d->n_records && d->shape[class_of[end]] == shape)
        end++;
    return end - i;
}

/* Skips records of one class, 32 at once.  Returns the number of the first one that is not
 * skipped. */
static size_t pass_equal(const pf_columns_decoder *d, size_t i, bool apart, uint64_t *bytes)
{
    const size_t first = i;
    if (i == d->n_records || d->kind[d->class_of[i]] != apart)
        return i;
    const uint8_t number = d->class_of[i];
    while (d->n_records - i >= 32 && all_equal_32(d->class_of + i, number))
        i += 32;
    *bytes += (i - first) * (uint64_t)d->size[number];
    return i;
}

/* Returns true, and adds their bytes, if eight records are all of this kind. */
PF_INLINE bool pass_eight(const pf_columns_decoder *d, const uint8_t *numbers, uint8_t kind,
                          uint64_t *bytes)
{
    if (all_equal(numbers, numbers[0]) && d->kind[numbers[0]] == kind) {
        *bytes += 8 * (uint64_t)d->size[numbers[0]];
        return true;
    }
    if (!all_have(d->kind, numbers, kind))
        return false;
    for (unsigned k = 0; k < 8; k++)
        *bytes += d->size[numbers[k]];
    return true;
}

size_t pf_class_pass(pf_columns_decoder *d, size_t i, bool apart, uint64_t *bytes)
{
    if (i == d->n_records)
        return i;
    uint64_t sum = 0;
    if (!d->class_of && d->kind[d->class_of_all] == apart) {
        sum = d->size[d->class_of_all] * (uint64_t)(d->n_records - i);
        i = d->n_records;
    } else if (d->class_of) {
        i = pass_equal(d, i, apart, &sum);
        while (d->n_records - i >= 8 && pass_eight(d, d->class_of + i, apart, &sum))
            i = pass_equal(d, i + 8, apart, &sum);
        while (i < d->n_records && d->kind[d->class_of[i]] == apart)
            sum += d->size[d->class_of[i++]];
    }
    *bytes += sum;
    if (i < d->n_records && d->kind[pf_class_of(d, i)] == PF_NO_CLASS)
        pf_streams_fail(&d->streams, "a class that does not exist");
    return i;
}

/* Building records from the values of columns.
 *
 * Consecutive records of one shape are built operation by operation, many at once (put_run()).
 * First the lengths of their blobs give the offset of each record.  Then one loop writes the
 * numbers of one column to all of them.  So bounds are checked once for all, and the loops have no
 * branches.  A run is at most a block of numbers long, so its records stay in the first-level cache
 * until the last operation.
 *
 * The format defines another order: record by record.  The result is the same if no class uses a
 * column twice; see pf_class.regular.  Other classes, and single records, are built one by one
 * (put_one()). */

enum { RUN = PF_NUMBERS_BLOCK, WORTH_A_RUN = 3 /* fewer records are faster one by one */ };

PF_INLINE void store(uint8_t *p, uint64_t v, unsigned width, bool big)
{
    const bool swap = big != (bool)PF_NATIVE_BIG;
    if (width == 8)
        pf_store_u64(p, v, swap);
    else if (width == 4)
        pf_store_u32(p, (uint32_t)v, swap);
    else if (width == 2)
        pf_store_u16(p, (uint16_t)v, swap);
    else
        *p = (uint8_t)v;
}

PF_INLINE void put_header(const pf_class *c, uint8_t *to, size_t size, bool big)
{
    const uint64_t type = c->type, misc = c->misc;
    store(to, big ? type << 32 | misc << 16 | size : type | misc << 32 | (uint64_t)size << 48, 8,
          big);
}

/* Computes the prefix of a blob.  Returns false if the prefix cannot express its length. */
PF_INLINE bool prefix_of(const pf_op *o, uint64_t len, uint64_t *prefix)
{
    const uint64_t rest = len - o->extra;
    if (o->width == 0)
        return true;
    *prefix = o->shift < 64 ? rest >> o->shift : rest / o->unit;
    return len >= o->extra && *prefix * o->unit == rest &&
           (o->width == 8 || *prefix >> 8 * o->width == 0);
}

static const char no_value[] = "a column with too few values";

/* One record, value by value. */

static bool put_word(pf_columns_decoder *d, const pf_op *o, bool big, uint8_t *to)
{
    pf_column *k = &d->columns[o->column];
    if (k->left == 0) {
        pf_streams_fail(&d->streams, no_value);
        return false;
    }
    if (!pf_column_has(&d->streams, k))
        return false;
    store(to, k->block.values[k->at++], o->width, big);
    k->left--;
    return true;
}

/* Yields the next blob without taking it. */
static bool show_blob(pf_columns_decoder *d, pf_column *k, pf_blob *blob)
{
    if (k->left == 0 || !pf_column_has(&d->streams, k)) {
        pf_streams_fail(&d->streams, no_value);
        return false;
    }
    *blob = k->block.blobs[k->at];
    return true;
}

/* Writes prefix and blob.  There must be room for them. */
PF_INLINE void put_blob(const pf_op *o, const pf_column *k, pf_blob blob, uint64_t prefix, bool big,
                        uint8_t *to)
{
    if (o->width)
        store(to, prefix, o->width, big);
    if (blob.len)
        memcpy(to + o->width, k->heap.ptr + blob.offset, blob.len);
}

/* Appends prefix and blob at `to`.  Returns the end, or NULL after a failure. */
static uint8_t *append_blob(pf_columns_decoder *d, const pf_op *o, bool big, uint8_t *to,
                            const uint8_t *end)
{
    pf_column *k = &d->columns[o->column];
    pf_blob blob;
    uint64_t prefix = 0;
    if (!show_blob(d, k, &blob))
        return NULL;
    if (blob.len > (size_t)(end - to) || o->width > (size_t)(end - to) - blob.len ||
        !prefix_of(o, blob.len, &prefix)) {
        pf_streams_fail(&d->streams, "a blob that does not fit");
        return NULL;
    }
    put_blob(o, k, blob, prefix, big, to);
    k->at++;
    k->left--;
    return to + o->width + blob.len;
}

/* Writes a word of the next blob.  It is in the byte order of the records already. */
static bool put_reference(pf_columns_decoder *d, const pf_op *o, uint8_t *to)
{
    pf_column *k = &d->columns[o->column];
    pf_blob blob;
    if (!show_blob(d, k, &blob))
        return false;
    if (blob.len < 8 || o->offset > blob.len - 8) {
        pf_streams_fail(&d->streams, "a reference after the end of its blob");
        return false;
    }
    memcpy(to, k->heap.ptr + blob.offset + o->offset, 8);
    return true;
}

static uint8_t *put_one(pf_columns_decoder *d, size_t number, bool big, uint8_t *to, uint8_t *end)
{
    const pf_class *c = &d->classes[pf_class_of(d, number)];
    uint8_t *at = to + PF_RECORD_HEADER;
    size_t rest = c->size; /* bytes that are known to fit, from `to` on */
    if ((size_t)(end - to) < rest) {
        pf_streams_fail(&d->streams, "its records are longer than the chunk");
        return NULL;
    }
    rest -= PF_RECORD_HEADER;
    for (const pf_op *o = &d->ops[c->first], *last = o + c->n; o < last; o++) {
        const size_t size = o->what == PF_COLUMNS_REF ? 8 : o->width;
        rest -= size;
        if (o->what == PF_COLUMNS_WORD ? !put_word(d, o, big, at)
                                       : o->what == PF_COLUMNS_REF && !put_reference(d, o, at))
            return NULL;
        if (o->what == PF_COLUMNS_BLOB)
            at = append_blob(d, o, big, at, end - rest); /* what follows needs `rest` */
        else
            at += size;
        if (!at)
            return NULL;
    }
    if (at - to > PF_MOST_RECORD) {
        pf_streams_fail(&d->streams, "a record of more bytes than a record may have");
        return NULL;
    }
    put_header(c, to, (size_t)(at - to), big);
    return at;
}

/* Many records of one shape at once.  at[i] is the offset of record i.  Later it also includes the
 * lengths of its blobs so far; the caller adds the sizes that all records have in common. */

typedef struct run {
    uint8_t *to;
    size_t first, n; /* records, at most RUN */
    bool big;
    uint32_t at[RUN];
} run;

/* Returns how many of the records have values in all columns, at most `most`.  In columns of blobs
 * these values are then in the block. */
static size_t available(pf_columns_decoder *d, const pf_class *c, size_t most)
{
    size_t n = most < RUN ? most : RUN;
    for (const pf_op *o = &d->ops[c->first], *last = o + c->n; o < last; o++) {
        pf_column *k = &d->columns[o->column];
        n = n < k->left ? n : k->left;
        if (n && k->width == 0 && !pf_column_has(&d->streams, k))
            n = 0;
        if (k->width == 0 && n > k->ready - k->at)
            n = k->ready - k->at;
    }
    if (n == 0)
        pf_streams_fail(&d->streams, no_value);
    return n;
}

/* Writes the headers of records, which may have different classes. */
static void put_headers(const pf_columns_decoder *d, const run *r, const uint32_t *size)
{
    const uint8_t *numbers = d->class_of ? d->class_of + r->first : NULL;
    for (size_t i = 0; i < r->n; i++) {
        const pf_class *c = &d->classes[numbers ? numbers[i] : d->class_of_all];
        put_header(c, r->to + r->at[i], size[i], r->big);
    }
}

/* Computes the offsets of records from their sizes, and writes the headers.  Returns the bytes of
 * all, or 0 after a failure. */
static size_t place(pf_columns_decoder *d, const pf_class *c, run *r, size_t room)
{
    uint32_t size[RUN], longest = c->size;
    uint64_t sum = 0;
    for (size_t i = 0; i < r->n; i++)
        size[i] = c->size;
    for (const pf_op *o = &d->ops[c->first], *last = o + c->n; o < last && c->n_blobs; o++) {
        const pf_column *k = &d->columns[o->column];
        for (size_t i = 0; i < r->n && o->what == PF_COLUMNS_BLOB; i++) {
            const uint32_t len = k->block.blobs[k->at + i].len;
            size[i] += len < PF_MOST_RECORD ? len : PF_MOST_RECORD;
            longest = longest > size[i] ? longest : size[i];
        }
    }
    for (size_t i = 0; i < r->n; i++) {
        r->at[i] = (uint32_t)sum;
        sum += size[i];
    }
    if (longest > PF_MOST_RECORD || sum > room) {
        pf_streams_fail(&d->streams, "its records are longer than they may be");
        return 0;
    }
    put_headers(d, r, size);
    return (size_t)sum;
}

/* Writes a number to each of n records. */
PF_INLINE void scatter(uint8_t *to, const uint32_t *at, const uint64_t *values, size_t n,
                       unsigned width, bool big)
{
    for (size_t i = 0; i < n; i++)
        store(to + at[i], values[i], width, big);
}

static void scatter_any(uint8_t *to, const uint32_t *at, const uint64_t *values, size_t n,
                        unsigned width, bool big)
{
    if (width == 8 && !big)
        scatter(to, at, values, n, 8, false);
    else if (width == 8)
        scatter(to, at, values, n, 8, true);
    else if (width == 4)
        scatter(to, at, values, n, 4, big);
    else if (width == 2)
        scatter(to, at, values, n, 2, big);
    else
        scatter(to, at, values, n, 1, false);
}

static void put_words(pf_columns_decoder *d, const pf_op *o, const run *r, uint8_t *to)
{
    pf_column *k = &d->columns[o->column];
    for (size_t i = 0, n; i < r->n && pf_column_has(&d->streams, k); i += n) {
        n = r->n - i < k->ready - k->at ? r->n - i : k->ready - k->at;
        scatter_any(to, r->at + i, k->block.values + k->at, n, o->width, r->big);
        k->at += n;
        k->left -= n;
    }
}

static void put_references(pf_columns_decoder *d, const pf_op *o, const run *r, uint8_t *to)
{
    const pf_column *k = &d->columns[o->column];
    const pf_blob *blobs = k->block.blobs + k->at;
    for (size_t i = 0; i < r->n; i++) {
        if (blobs[i].len < 8 || o->offset > blobs[i].len - 8) {
            pf_streams_fail(&d->streams, "a reference after the end of its blob");
            return;
        }
        memcpy(to + r->at[i], k->heap.ptr + blobs[i].offset + o->offset, 8);
    }
}

/* After this operation records have different lengths: at[i] moves by the length of the blob. */
static void put_blobs(pf_columns_decoder *d, const pf_op *o, run *r, uint8_t *to)
{
    pf_column *k = &d->columns[o->column];
    const pf_blob *blobs = k->block.blobs + k->at;
    for (size_t i = 0; i < r->n; i++) {
        uint64_t prefix = 0;
        if (!prefix_of(o, blobs[i].len, &prefix)) {
            pf_streams_fail(&d->streams, "a blob of a length that its prefix cannot say");
            return;
        }
        put_blob(o, k, blobs[i], prefix, r->big, to + r->at[i]);
        r->at[i] += blobs[i].len;
    }
    k->at += r->n;
    k->left -= r->n;
}

/* Builds as many as possible of `most` records, from number `first` on, at `to`.  Returns their
 * number, and their bytes in *bytes.  Returns 0 after a failure. */
static size_t put_run(pf_columns_decoder *d, size_t first, size_t most, bool big, uint8_t *to,
                      size_t room, size_t *bytes)
{
    const pf_class *c = &d->classes[pf_class_of(d, first)];
    run r;
    r.to = to;
    r.first = first;
    r.big = big;
    r.n = available(d, c, most);
    *bytes = r.n ? place(d, c, &r, room) : 0;
    to += PF_RECORD_HEADER;
    for (const pf_op *o = &d->ops[c->first], *last = o + c->n; o < last && !d->streams.bad; o++) {
        if (o->what == PF_COLUMNS_WORD)
            put_words(d, o, &r, to);
        else if (o->what == PF_COLUMNS_REF)
            put_references(d, o, &r, to);
        else
            put_blobs(d, o, &r, to);
        to += o->what == PF_COLUMNS_REF ? 8 : o->width;
    }
    return d->streams.bad ? 0 : r.n;
}

enum { PIECE = 128 << 10 /* bytes that stay in a second-level cache */ };

uint8_t *pf_put_records(pf_columns_decoder *d, size_t i, size_t n, bool big, uint8_t *to,
                        uint8_t *end)
{
    const bool regular = d->classes[pf_class_of(d, i)].regular;
    const size_t last = i + n;
    while (i < last && to) {
        size_t k = 1, bytes;
        if (!regular || last - i < WORTH_A_RUN) {
            to = put_one(d, i, big, to, end);
        } else {
            k = put_run(d, i, last - i, big, to, (size_t)(end - to), &bytes);
            to = k ? to + bytes : NULL;
        }
        i += k;
        if (d->piece && to && to - d->shown >= PIECE) {
            d->piece(d->piece_user, (perfile_bytes){d->shown, (size_t)(to - d->shown)});
            d->shown = to;
        }
    }
    return to;
}
