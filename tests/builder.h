/* Bytes of captures, in either byte order. */
#ifndef TESTS_BUILDER_H
#define TESTS_BUILDER_H

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/byte_order.h"
#include "perfile/field.h"

typedef struct builder {
    pf_buffer b; /* released by build_clear() */
    bool swap;
} builder;

static inline void build_clear(builder *b)
{
    pf_buffer_free(&b->b);
}

/* A builder that is released where its scope ends. */
#define BUILDER __attribute__((cleanup(build_clear))) builder

static inline perfile_bytes built(const builder *b)
{
    return (perfile_bytes){b->b.ptr, b->b.len};
}

static inline void build_bytes(builder *b, const void *bytes, size_t n)
{
    if (!pf_buffer_append(&b->b, bytes, n))
        abort();
}

static inline void build_zeros(builder *b, size_t n)
{
    while (n--)
        build_bytes(b, "", 1);
}

static inline void build_u8(builder *b, uint8_t v)
{
    build_bytes(b, &v, 1);
}

static inline void build_u16(builder *b, uint16_t v)
{
    v = b->swap ? pf_swap_u16(v) : v;
    build_bytes(b, &v, sizeof v);
}

static inline void build_u32(builder *b, uint32_t v)
{
    v = b->swap ? pf_swap_u32(v) : v;
    build_bytes(b, &v, sizeof v);
}

static inline void build_u64(builder *b, uint64_t v)
{
    v = b->swap ? pf_swap_u64(v) : v;
    build_bytes(b, &v, sizeof v);
}

/* Puts `v` where something was left open before. */
static inline void build_u64_at(builder *b, size_t at, uint64_t v)
{
    v = b->swap ? pf_swap_u64(v) : v;
    memcpy(b->b.ptr + at, &v, sizeof v);
}

static inline void build_u16_at(builder *b, size_t at, uint16_t v)
{
    v = b->swap ? pf_swap_u16(v) : v;
    memcpy(b->b.ptr + at, &v, sizeof v);
}

/* The text, its NUL, and zeros up to a multiple of 8. */
static inline void build_text(builder *b, const char *text)
{
    size_t n = strlen(text);
    build_bytes(b, text, n);
    build_zeros(b, 8 - n % 8);
}

/* The same behind a u32 of its length. */
static inline void build_string(builder *b, const char *text)
{
    build_u32(b, (uint32_t)(strlen(text) / 8 * 8 + 8));
    build_text(b, text);
}

/* A word of C bit-fields, little-endian, as a big-endian writer has it: a part of `width` bits at
 * `shift` lies at 64 - shift - width. */
static inline uint64_t build_big_flags(uint64_t word, unsigned kind)
{
    const perfile_vocabulary *v = perfile_kind_words(kind);
    uint64_t out = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        uint64_t mask = (UINT64_C(1) << v->bits[i].width) - 1;
        out |= (word >> v->bits[i].shift & mask) << (64 - v->bits[i].shift - v->bits[i].width);
    }
    return out;
}

/* The way back. */
static inline uint64_t build_little_flags(uint64_t word, unsigned kind)
{
    const perfile_vocabulary *v = perfile_kind_words(kind);
    uint64_t out = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        uint64_t mask = (UINT64_C(1) << v->bits[i].width) - 1;
        out |= (word >> (64 - v->bits[i].shift - v->bits[i].width) & mask) << v->bits[i].shift;
    }
    return out;
}

typedef struct build_attr_plan {
    uint32_t type;
    uint32_t size; /* 64 to 144 */
    uint64_t config, period, sample_type, read_format, flags, branch, regs_user, regs_intr;
    uint32_t clockid;
} build_attr_plan;

static inline void build_attr(builder *b, const build_attr_plan *a)
{
    size_t start = b->b.len;
    uint64_t flags = b->swap != (bool)PF_NATIVE_BIG
                         ? build_big_flags(a->flags, PERFILE_KIND_ATTR_FLAGS)
                         : a->flags;
    build_u32(b, a->type);
    build_u32(b, a->size);
    build_u64(b, a->config);
    build_u64(b, a->period);
    build_u64(b, a->sample_type);
    build_u64(b, a->read_format);
    build_u64(b, flags);
    build_u32(b, 0);
    build_u32(b, 0);
    build_u64(b, 0);
    build_u64(b, 0);
    build_u64(b, a->branch);
    build_u64(b, a->regs_user);
    build_u32(b, 0);
    build_u32(b, a->clockid);
    build_u64(b, a->regs_intr);
    build_zeros(b, 144 - (b->b.len - start));
    b->b.len = start + a->size;
}

/* Begins a record; build_end() writes its size. */
static inline size_t build_begin(builder *b, uint32_t type, uint16_t misc)
{
    build_u32(b, type);
    build_u16(b, misc);
    build_u16(b, 0);
    return b->b.len - 8;
}

static inline void build_end(builder *b, size_t start)
{
    build_u16_at(b, start + 6, (uint16_t)(b->b.len - start));
}

static inline void build_record(builder *b, uint32_t type, uint16_t misc, perfile_bytes body)
{
    size_t start = build_begin(b, type, misc);
    build_bytes(b, body.ptr, body.len);
    build_end(b, start);
}

/* Tracepoint formats as perf writes them: version 0.6, one system with two formats.  The blob has a
 * byte order of its own. */
static inline void build_tracing(builder *b, bool big)
{
    static const char format1[] = "name: sched_switch\nID: 316\nformat:\n\tfield:int x;\n";
    static const char format2[] = "name: sched_wakeup\nID:\t317\n";
    const bool swap = b->swap;
    b->swap = big != (bool)PF_NATIVE_BIG;
    build_bytes(b, "\x17\x08\x44tracing", 10);
    build_bytes(b, "0.6", 4);
    build_u8(b, big);
    build_u8(b, 8);
    build_u32(b, 4096);
    build_bytes(b, "header_page", 12);
    build_u64(b, 3);
    build_bytes(b, "abc", 3);
    build_bytes(b, "header_event", 13);
    build_u64(b, 0);
    build_u32(b, 1);
    build_u64(b, 2);
    build_bytes(b, "xy", 2);
    build_u32(b, 1);
    build_bytes(b, "sched", 6);
    build_u32(b, 2);
    build_u64(b, sizeof format1 - 1);
    build_bytes(b, format1, sizeof format1 - 1);
    build_u64(b, sizeof format2 - 1);
    build_bytes(b, format2, sizeof format2 - 1);
    b->swap = swap;
}

#endif
