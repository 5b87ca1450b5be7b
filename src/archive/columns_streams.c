/* Reading the streams of a payload.  Each size is compared with what is there, and with the bytes
 * that the chunk may have at all, before anything is allocated or decoded. */
#include "archive/columns_streams.h"

#include "archive/header.h"
#include "base/byte_order.h"

enum { FIXED = 16 /* bytes in front of the sizes of frames */ };

void pf_streams_fail(pf_streams *s, const char *why)
{
    if (!s->bad)
        s->bad = why;
}

static uint32_t load(const uint8_t *p)
{
    return pf_load_u32(p, PF_NATIVE_BIG);
}

/* Decodes a frame of `len` bytes, stored as `stored`, to `buffer`; stored as it is if the sizes are
 * equal. */
static perfile_bytes decode_frame(pf_streams *s, perfile_bytes stored, size_t len,
                                  pf_buffer *buffer)
{
    const perfile_bytes none = {NULL, 0};
    if (stored.len == len)
        return stored;
    if (ZSTD_getFrameContentSize(stored.ptr, stored.len) != len ||
        ZSTD_findFrameCompressedSize(stored.ptr, stored.len) != stored.len) {
        pf_streams_fail(s, "a frame has another size than it should");
        return none;
    }
    pf_buffer_clear(buffer);
    if (!pf_buffer_reserve(buffer, len + 1)) {
        s->no_memory = true;
        pf_streams_fail(s, "out of memory");
        return none;
    }
    const size_t n = ZSTD_decompressDCtx(s->zstd, buffer->ptr, len, stored.ptr, stored.len);
    if (ZSTD_isError(n) || n != len) {
        pf_streams_fail(s, "a frame cannot be decompressed");
        return none;
    }
    buffer->len = n;
    return (perfile_bytes){buffer->ptr, n};
}

/* Splits the payload: fixed part, sizes of frames, frame 0, frames.  Returns frame 0 as stored; its
 * ptr is NULL if the sizes do not add up. */
static perfile_bytes split(pf_streams *s, perfile_bytes payload)
{
    const perfile_bytes none = {NULL, 0};
    if (payload.len < FIXED)
        return none;
    const uint32_t n_frames = load(payload.ptr);
    size_t left = payload.len - FIXED;
    if (n_frames > left / 4)
        return none;
    s->sizes = payload.ptr + FIXED;
    left -= 4 * (size_t)n_frames;
    const perfile_bytes first = {s->sizes + 4 * (size_t)n_frames, load(payload.ptr + 12)};
    uint64_t sum = first.len;
    for (uint32_t i = 0; i < n_frames; i++)
        sum += load(s->sizes + 4 * (size_t)i);
    if (sum != left)
        return none;
    s->frames = first.ptr + first.len;
    s->n_frames = n_frames;
    return first;
}

void pf_streams_open(pf_streams *s, perfile_bytes payload, size_t raw_len)
{
    static const uint8_t nothing[1];
    s->bad = NULL;
    s->no_memory = false;
    s->raw_len = raw_len;
    s->n_frames = 0;
    s->head = s->head_end = s->small = s->small_end = nothing;
    const perfile_bytes stored = split(s, payload);
    const uint32_t raw0 = stored.ptr ? load(payload.ptr + 8) : 0;
    const uint32_t head_len = stored.ptr ? load(payload.ptr + 4) : 0;
    if (!stored.ptr || raw0 > PF_ARCHIVE_MOST_RAW_LEN || head_len > raw0) {
        pf_streams_fail(s, "its sizes do not add up");
        return;
    }
    const perfile_bytes first = decode_frame(s, stored, raw0, &s->first);
    if (s->bad || !first.ptr)
        return;
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

perfile_bytes pf_streams_next(pf_streams *s, size_t least, size_t most, pf_buffer *buffer)
{
    const perfile_bytes none = {NULL, 0};
    const uint64_t v = pf_streams_v(s);
    const uint64_t len = v >> 1;
    if (!s->bad && (len < least || len > most))
        pf_streams_fail(s, "a stream has another size than it should");
    if (s->bad)
        return none;
    if (v & 1) {
        if (!s->n_frames) {
            pf_streams_fail(s, "it has fewer frames than streams");
            return none;
        }
        const perfile_bytes stored = {s->frames, load(s->sizes)};
        s->n_frames--;
        s->sizes += 4;
        s->frames += stored.len;
        return decode_frame(s, stored, (size_t)len, buffer);
    }
    if (len > (size_t)(s->small_end - s->small)) {
        pf_streams_fail(s, "its small streams end too early");
        return none;
    }
    const perfile_bytes bytes = {s->small, (size_t)len};
    s->small += len;
    return bytes;
}

bool pf_streams_at_end(const pf_streams *s)
{
    return s->head == s->head_end && s->small == s->small_end && s->n_frames == 0;
}
