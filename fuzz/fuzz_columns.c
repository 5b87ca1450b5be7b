/* Any bytes as a payload of the codec COLUMNS: it decodes inside its bounds or is refused; what
 * decodes is a chain of records, and decodes to records of the same sizes in the other byte order.
 * A part of it decodes to the same bytes as the whole, and so do rows of words. */
#include "ensure.h"

#include <string.h>

#include "archive/columns.h"
#include "archive/crc32c.h"
#include "base/byte_order.h"

static pf_columns_decoder *d; /* one for all inputs, as for all chunks of an archive */

static bool decode(perfile_bytes payload, bool big, uint8_t *out, size_t n)
{
    perfile_error err = {0};
    const perfile_status st = pf_columns_decode(d, payload, big, out, n, &err);
    ENSURE(st == PERFILE_OK || (st == PERFILE_E_CORRUPT && err.message[0]));
    return st == PERFILE_OK;
}

/* Shows a copy of the bytes that were asked for, and takes back the one in front. */
typedef struct input {
    perfile_bytes payload;
    uint8_t *shown;
} input;

static perfile_status show(void *user, size_t offset, size_t len, perfile_bytes *bytes,
                           perfile_error *err)
{
    input *in = user;
    (void)err;
    ENSURE(offset <= in->payload.len && len <= in->payload.len - offset && len > 0);
    free(in->shown);
    in->shown = malloc(len);
    ENSURE(in->shown);
    memcpy(in->shown, in->payload.ptr + offset, len);
    *bytes = (perfile_bytes){in->shown, len};
    return PERFILE_OK;
}

static bool decode_some(perfile_bytes payload, pf_columns_want want, uint8_t *out, size_t n,
                        pf_buffer *ranges)
{
    input in = {payload, NULL};
    const pf_columns_input from = {.read = show, .user = &in, .len = payload.len};
    perfile_error err = {0};
    uint64_t n_records = UINT64_MAX;
    pf_buffer_clear(ranges);
    const perfile_status st =
        pf_columns_decode_some(d, &from, &want, false, out, n, ranges, &n_records, &err);
    ENSURE(st == PERFILE_OK ? n_records <= n / 8
                            : st == PERFILE_E_CORRUPT && err.message[0] && ranges->len == 0);
    free(in.shown);
    return st == PERFILE_OK;
}

/* `whole` and `part` are the same at the headers and the wanted words of every record. */
static void compare_words(const uint8_t *whole, const uint8_t *part, size_t len, uint64_t words)
{
    for (size_t at = 0, n; at < len; at += n) {
        n = pf_load_u16(whole + at + 6, PF_NATIVE_BIG);
        ENSURE(memcmp(whole + at, part + at, 8) == 0);
        for (size_t i = 8; i < n; i++) {
            const size_t word = (i - 8) / 8;
            ENSURE(part[at + i] == whole[at + i] || !(words >> (word < 63 ? word : 63) & 1));
        }
    }
}

/* What was put together stands one behind the other and is the same as in `whole`; the rest is
 * 0xaa. */
static void compare_ranges(const uint8_t *whole, const uint8_t *part, size_t len,
                           const pf_buffer *ranges)
{
    size_t at = 0, end = 0;
    for (size_t i = 0; i < ranges->len / sizeof(pf_columns_range); i++) {
        pf_columns_range r;
        memcpy(&r, ranges->ptr + i * sizeof r, sizeof r);
        ENSURE(r.offset >= end && r.offset <= len && r.bytes <= len - r.offset && r.at == at);
        ENSURE(memcmp(whole + r.offset, part + at, r.bytes) == 0 && r.records > 0);
        end = (size_t)r.offset + r.bytes;
        at += r.bytes;
    }
    for (; at < len; at++)
        ENSURE(part[at] == 0xaa);
}

/* Rows have the words of records of `whole`, or were of none that is known to be good. */
typedef struct row_check {
    const uint8_t *whole; /* NULL: not known */
    size_t at, len;
    uint64_t number; /* of the record at `at` */
    uint64_t words;
} row_check;

static void check_rows(void *user, size_t first, size_t n, const uint64_t *rows)
{
    row_check *x = user;
    const size_t n_words = 64 - (size_t)__builtin_clzll(x->words);
    ENSURE(n > 0 && n <= PF_COLUMNS_MOST_ROWS);
    for (size_t i = 0; i < n && x->whole; x->number++) {
        ENSURE(x->at < x->len);
        const uint8_t *record = x->whole + x->at;
        x->at += pf_load_u16(record + 6, PF_NATIVE_BIG);
        for (size_t k = 0; k < n_words && x->number == first + i; k++)
            ENSURE(!(x->words >> k & 1) ||
                   pf_load_u64(record + 8 + 8 * k, PF_NATIVE_BIG) == rows[i * n_words + k]);
        i += x->number == first + i;
    }
}

static void decode_rows(perfile_bytes payload, uint64_t words, const uint8_t *whole, size_t len)
{
    input in = {payload, NULL};
    const pf_columns_input from = {.read = show, .user = &in, .len = payload.len};
    row_check check = {.whole = whole, .len = len, .words = words};
    const pf_columns_rows want = {.words = words, .least = 8, .show = check_rows, .user = &check};
    perfile_error err = {0};
    const perfile_status st = pf_columns_decode_rows(d, &from, len, &want, &err);
    ENSURE(st == PERFILE_OK || st == PERFILE_E_UNSUPPORTED || st == PERFILE_E_CORRUPT);
    ENSURE((st == PERFILE_OK || err.message[0]) && (st != PERFILE_E_CORRUPT || !whole));
    free(in.shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    const size_t raw_len = (size_t)choose(&c, 2);
    const perfile_bytes payload = {data, c.left};
    const uint64_t words = pf_crc32c(0, payload) * UINT64_C(0x9e3779b97f4a7c15);
    const pf_columns_want apart = {.apart_only = true},
                          some = {.words = words & words << 13 & words >> 17},
                          span = {.words = PF_COLUMNS_ALL_WORDS,
                                  .first = (uint32_t)(words >> 8 & 15),
                                  .end = (uint32_t)((words >> 8 & 15) + (words >> 16 & 31)) + 1,
                                  .to_apart = words & 1,
                                  .and_apart = words & 2};
    d = d ? d : pf_columns_decoder_new();
    uint8_t *little = malloc(raw_len + 1), *other = malloc(raw_len + 1);
    pf_buffer ranges = {0};
    ENSURE(d && little && other);
    const bool good = decode(payload, false, little, raw_len);
    const bool words_good = decode_some(payload, some, other, raw_len, &ranges);
    ENSURE(words_good || !good);
    if (good)
        compare_words(little, other, raw_len, some.words);
    memset(other, 0xaa, raw_len);
    const bool span_good = decode_some(payload, span, other, raw_len, &ranges);
    ENSURE(span_good || !good);
    if (good)
        compare_ranges(little, other, raw_len, &ranges);
    decode_rows(payload, words & 7 ? words & 7 : 1, good ? little : NULL, raw_len);
    memset(other, 0xaa, raw_len);
    const bool apart_good = decode_some(payload, apart, other, raw_len, &ranges);
    ENSURE(apart_good || !good);
    if (good) {
        compare_ranges(little, other, raw_len, &ranges);
        ENSURE(decode(payload, true, other, raw_len));
        for (size_t at = 0, n; at < raw_len; at += n) {
            ENSURE(raw_len - at >= 8);
            n = pf_load_u16(little + at + 6, PF_NATIVE_BIG);
            ENSURE(n >= 8 && n <= raw_len - at);
            ENSURE(n == pf_load_u16(other + at + 6, !PF_NATIVE_BIG));
            ENSURE(pf_load_u32(little + at, PF_NATIVE_BIG) ==
                   pf_load_u32(other + at, !PF_NATIVE_BIG));
        }
    }
    pf_buffer_free(&ranges);
    free(little);
    free(other);
    return 0;
}
