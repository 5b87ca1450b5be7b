/* Any bytes as a payload of the codec COLUMNS.  It decodes within its bounds or is rejected.
 * Decoded bytes are a chain of records, and in the other byte order records of the same sizes.
 * Decoding only the side-band gives the same bytes for it as decoding everything. */
#include "ensure.h"

#include <string.h>

#include "columns/columns.h"
#include "base/byte_order.h"

static pf_columns_decoder *d; /* one for all inputs, as for all chunks of an archive */

static bool decode(perfile_bytes payload, bool big, uint8_t *out, size_t n)
{
    perfile_error err = {0};
    const perfile_status st = pf_columns_decode(d, payload, big, out, n, &err);
    ENSURE(st == PERFILE_OK || (st == PERFILE_E_CORRUPT && err.message[0]));
    return st == PERFILE_OK;
}

/* Returns a copy of the requested bytes and frees the previous copy. */
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

static bool decode_apart(perfile_bytes payload, uint8_t *out, size_t n, pf_buffer *ranges)
{
    input in = {payload, NULL};
    const pf_columns_input from = {.read = show, .user = &in, .len = payload.len};
    perfile_error err = {0};
    uint64_t n_records = UINT64_MAX;
    pf_buffer_clear(ranges);
    const perfile_status st =
        pf_columns_decode_apart(d, &from, false, out, n, ranges, &n_records, &err);
    ENSURE(st == PERFILE_OK ? n_records <= n / 8
                            : st == PERFILE_E_CORRUPT && err.message[0] && ranges->len == 0);
    free(in.shown);
    return st == PERFILE_OK;
}

/* Checks that decoded ranges follow one another and equal those in `whole`; all other bytes are
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    const size_t raw_len = (size_t)choose(&c, 2);
    const perfile_bytes payload = {data, c.left};
    d = d ? d : pf_columns_decoder_new();
    uint8_t *little = malloc(raw_len + 1), *other = malloc(raw_len + 1);
    pf_buffer ranges = {0};
    ENSURE(d && little && other);
    const bool good = decode(payload, false, little, raw_len);
    memset(other, 0xaa, raw_len);
    const bool apart_good = decode_apart(payload, other, raw_len, &ranges);
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
