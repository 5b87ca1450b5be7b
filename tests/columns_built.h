/* Payloads of the codec COLUMNS, put together by hand. */
#ifndef TESTS_COLUMNS_BUILT_H
#define TESTS_COLUMNS_BUILT_H

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "columns/columns.h"
#include "archive/header.h"
#include "base/buffer.h"
#include "base/crc32.h"

enum { BUILT_FRAMES = 400 };

typedef struct built_columns {
    pf_buffer head, small, frames;
    uint32_t sizes[BUILT_FRAMES], crcs[BUILT_FRAMES];
    uint32_t owners[BUILT_FRAMES]; /* `owner` when the frame was made */
    uint32_t n_frames;
    uint32_t owner;     /* a mark of the caller */
    bool frames_packed; /* frames are compressed where that is shorter */
    bool own;           /* the next streams have a frame of their own */
} built_columns;

static inline void built_u8(built_columns *b, unsigned v)
{
    if (!pf_buffer_append_u8(&b->head, (uint8_t)v))
        abort();
}

static inline void built_leb(pf_buffer *to, uint64_t v)
{
    do {
        if (!pf_buffer_append_u8(to, (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0))))
            abort();
    } while (v >>= 7);
}

static inline void built_v(built_columns *b, uint64_t v)
{
    built_leb(&b->head, v);
}

/* A stream, in a frame of its own or among the small ones. */
static inline void built_stream(built_columns *b, const void *bytes, size_t n)
{
    built_v(b, n << 1 | b->own);
    if (!b->own) {
        if (!pf_buffer_append(&b->small, bytes, n))
            abort();
        return;
    }
    if (b->n_frames == BUILT_FRAMES || !pf_buffer_reserve(&b->frames, ZSTD_compressBound(n)))
        abort();
    size_t stored = n;
    if (b->frames_packed) {
        stored = ZSTD_compress(b->frames.ptr + b->frames.len, b->frames.cap - b->frames.len, bytes,
                               n, 3);
        if (stored >= n)
            stored = n;
    }
    if (stored == n && n)
        memcpy(b->frames.ptr + b->frames.len, bytes, n);
    b->crcs[b->n_frames] = pf_crc32c(0, (perfile_bytes){b->frames.ptr + b->frames.len, stored});
    b->frames.len += stored;
    b->owners[b->n_frames] = b->owner;
    b->sizes[b->n_frames++] = (uint32_t)stored;
}

/* The beginning of a class. */
static inline void built_class(built_columns *b, bool apart, uint32_t type, uint16_t misc,
                               uint32_t n_ops)
{
    built_u8(b, apart);
    built_v(b, type);
    built_v(b, misc);
    built_v(b, n_ops);
}

static inline void built_word(built_columns *b, unsigned width, unsigned column)
{
    built_u8(b, PF_COLUMNS_WORD);
    built_u8(b, width);
    built_v(b, column);
}

static inline void built_blob(built_columns *b, unsigned prefix, unsigned unit, unsigned extra,
                              unsigned column)
{
    built_u8(b, PF_COLUMNS_BLOB);
    built_u8(b, prefix);
    built_v(b, unit);
    built_v(b, extra);
    built_v(b, column);
}

static inline void built_ref(built_columns *b, unsigned column, uint64_t offset)
{
    built_u8(b, PF_COLUMNS_REF);
    built_v(b, column);
    built_v(b, offset);
}

static inline void built_u32(uint8_t *to, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)(v >> 8 * i);
}

/* Writes the checksums of frame 0 and of the table to a payload. */
static inline void built_seal(uint8_t *payload)
{
    const uint32_t n_frames = payload[0] | (uint32_t)payload[1] << 8;
    const uint32_t stored0 = payload[12] | (uint32_t)payload[13] << 8 | (uint32_t)payload[14] << 16;
    const size_t table = 24 + 8 * (size_t)n_frames;
    built_u32(payload + 16 + 4 * (size_t)n_frames,
              pf_crc32c(0, (perfile_bytes){payload + table, stored0}));
    built_u32(payload + table - 4, pf_crc32c(0, (perfile_bytes){payload, table - 4}));
}

/* The payload, released by free(). */
static inline uint8_t *built_payload(const built_columns *b, size_t *len)
{
    const size_t raw0 = b->head.len + b->small.len, fixed = 24 + 8 * (size_t)b->n_frames;
    *len = fixed + raw0 + b->frames.len;
    uint8_t *out = malloc(*len);
    if (!out)
        abort();
    built_u32(out, b->n_frames);
    built_u32(out + 4, (uint32_t)b->head.len);
    built_u32(out + 8, (uint32_t)raw0);
    built_u32(out + 12, (uint32_t)raw0);
    for (uint32_t i = 0; i < b->n_frames; i++) {
        built_u32(out + 16 + 4 * (size_t)i, b->sizes[i]);
        built_u32(out + 20 + 4 * ((size_t)b->n_frames + i), b->crcs[i]);
    }
    if (b->head.len)
        memcpy(out + fixed, b->head.ptr, b->head.len);
    if (b->small.len)
        memcpy(out + fixed + b->head.len, b->small.ptr, b->small.len);
    if (b->frames.len)
        memcpy(out + fixed + raw0, b->frames.ptr, b->frames.len);
    built_seal(out);
    return out;
}

static inline void built_clear(built_columns *b)
{
    pf_buffer_free(&b->head);
    pf_buffer_free(&b->small);
    pf_buffer_free(&b->frames);
    *b = (built_columns){.n_frames = 0};
}

/* Three samples of one class (a word that is in the call chain, a time, the call chain with its
 * number of entries) and a record of another, which is apart (two words, a text), behind the first
 * of them: 3 * 48 + 32 bytes. */
enum { BUILT_EXAMPLE = 3 * 48 + 32 };

static inline void built_example(built_columns *b)
{
    static const uint8_t classes[] = {0, 1, 0, 0}, time_low[] = {0, 10, 1};
    static const uint8_t ids[12] = {[4] = 1}; /* 0, 1, 0: an entry, the same, the next */
    built_v(b, 4);
    built_v(b, 2);
    built_class(b, false, 9, 2, 3); /* SAMPLE */
    built_ref(b, 1, 8);
    built_word(b, 8, 0);
    built_blob(b, 8, 8, 0, 1);
    built_class(b, true, 3, 0, 3); /* COMM */
    built_word(b, 8, 2);
    built_word(b, 8, 4);
    built_blob(b, 0, 1, 0, 3);
    built_u8(b, PF_NUMBERS_PLANES);
    built_u8(b, 1);
    built_stream(b, classes, 4);
    built_u8(b, PF_NUMBERS_CONST); /* the gap in front of COMM */
    built_v(b, 48);
    built_v(b, 5);
    built_u8(b, 8); /* 0: times 1000, 1005, 1004 */
    built_v(b, 3);
    built_u8(b, PF_NUMBERS_DELTA);
    built_v(b, 1000);
    built_u8(b, PF_NUMBERS_PLANES);
    built_u8(b, 1);
    built_stream(b, time_low, 3);
    built_u8(b, 0); /* 1: chains a, a, b of two entries, in a dictionary */
    built_v(b, 3);
    built_u8(b, PF_BLOBS_DICT);
    built_v(b, 2);
    built_u8(b, PF_NUMBERS_PLAIN);
    built_stream(b, ids, 12);
    built_u8(b, PF_NUMBERS_CONST);
    built_v(b, 16);
    built_u8(b, 8);
    built_u8(b, PF_NUMBERS_DICT);
    built_v(b, 3);
    built_u8(b, 16 | 1);
    pf_buffer sorted = {0};
    built_leb(&sorted, UINT64_C(0xffffffffffffff80));
    built_leb(&sorted, 16);
    built_leb(&sorted, 16);
    built_stream(b, sorted.ptr, sorted.len);
    pf_buffer_free(&sorted);
    built_stream(b, "\0\1\0\2", 4);
    built_u8(b, 8); /* 2: pid and tid */
    built_v(b, 1);
    built_u8(b, PF_NUMBERS_VINT);
    built_v(b, 40);
    built_stream(b, "\4", 1);
    built_u8(b, 0); /* 3: a text */
    built_v(b, 1);
    built_u8(b, PF_BLOBS_PLAIN);
    built_u8(b, PF_NUMBERS_CONST);
    built_v(b, 8);
    built_stream(b, "gcc\0\0\0\0", 8);
    built_u8(b, 8); /* 4: its time */
    built_v(b, 1);
    built_u8(b, PF_NUMBERS_CONST);
    built_v(b, 1002);
}

#endif
