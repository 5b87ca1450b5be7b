/* The decoder of the codec COLUMNS: what others call.
 *
 * Bounds.  A number of w bytes becomes w bytes of a record, and so does each byte of a blob; all
 * columns together are therefore compared with the size of the chunk before they are read, and
 * every value must have been used at the end.  Blobs may be empty: of these there is one for each
 * PF_COLUMNS_BLOB_BYTES decoded bytes at most. */
#include "archive/columns_decode.h"

#include <string.h>

#include "archive/header.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/byte_order.h"

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

/* Appends the range of records first to end, whose `bytes` bytes belong at `offset` and are at
 * out[at]. */
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

/* How many records from number `i` on have its shape and stand in front of number `last`; 0: they
 * are not apart, or are, as `apart` says, or their class is none. */
static size_t count_alike(pf_columns_decoder *d, size_t i, size_t last, bool apart)
{
    if (i >= last || d->streams.bad)
        return 0;
    const uint8_t number = pf_class_of(d, i);
    if (number >= d->n_classes)
        fail(d, "a class that there is not");
    if (d->streams.bad || d->classes[number].apart != apart)
        return 0;
    const size_t n = pf_class_run(d, i);
    return n < last - i ? n : last - i;
}

/* Puts together records from number `i` on that are all apart, or are all not; returns the number
 * of the first other one, `last` at most.  *at moves to their end. */
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

/* All records; then every column must be used up. */
static void put_all(pf_columns_decoder *d, bool big, uint8_t *out, size_t raw_len)
{
    uint8_t *at = out;
    for (size_t i = 0; i < d->n_records && !d->streams.bad;) {
        const uint8_t *from = at;
        if (pf_class_of(d, i) >= d->n_classes) {
            fail(d, "a class that there is not");
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

/* The records that are apart.  The sizes of the others are known from their classes or, if they
 * have blobs, by the sizes of gaps. */
static void put_apart(pf_columns_decoder *d, bool big, uint8_t *out, size_t raw_len,
                      pf_buffer *ranges)
{
    uint64_t at = 0;
    size_t used = 0; /* of `out`: what is spread over a chunk would touch a page for each record */
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

/* Looking through the class numbers: runs of records that are put together alike, and of records
 * that are apart or not.
 *
 * In a chunk of samples nearly all class numbers are of one kind, and mostly equal.  They are
 * looked at eight at once: compared with eight of the first, and if they differ, in a table, where
 * one branch decides for all eight.  So passing by samples costs a tenth to a third of a nanosecond
 * each. */

static bool all_equal(const uint8_t *numbers, uint8_t number)
{
    return pf_load_u64(numbers, false) == number * UINT64_C(0x0101010101010101);
}

/* The same for 32. */
static bool all_equal_32(const uint8_t *numbers, uint8_t number)
{
    const uint64_t all = number * UINT64_C(0x0101010101010101);
    return ((pf_load_u64(numbers, false) ^ all) | (pf_load_u64(numbers + 8, false) ^ all) |
            (pf_load_u64(numbers + 16, false) ^ all) | (pf_load_u64(numbers + 24, false) ^ all)) ==
           0;
}

/* True if the table has `value` for all of eight class numbers. */
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

/* Passes by records of one class, 32 at once; returns the number of the first that it leaves. */
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

/* Passes by eight records of the kind, if they are. */
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
        pf_streams_fail(&d->streams, "a class that there is not");
    return i;
}
