/* Reading of each stored type.  GET_u64(c, kind) and similar macros return the value as a native
 * number, WORDS_u64(c, n) returns an array that stays as stored.  The expressions of the tables are
 * evaluated in expanded decoders, with the cursor `c`, the context `k` and the struct `o`; they may
 * use LEFT, PEEK_U32 and the functions below. */
#ifndef PF_SCHEMA_TYPES_H
#define PF_SCHEMA_TYPES_H

#include "base/cursor.h"
#include "perfile/abi.h"
#include "perfile/event.h"
#include "perfile/field.h"

#include <stdbool.h>
#include <stdint.h>

/* The context `k`: values that conditions of the tables can use besides the fields of their own
 * layout. */

typedef struct pf_context {
    uint64_t sample_type;
    uint64_t read_format;
    uint64_t branch_sample_type;
    uint64_t sample_regs_user;
    uint64_t sample_regs_intr;
    uint64_t attr_flags;    /* of the current attr, as in a little-endian file */
    uint32_t nr_cpus_avail; /* of feature NRCPUS; 0 if unknown */
    uint32_t schedstat_version;
    uint32_t attr_size; /* attr_size of EVENT_DESC, or the space for an attr */
    uint16_t misc;
    bool no_hw_idx;    /* the branch stack has no hw_idx */
    bool old_build_id; /* BUILD_ID entries have no pid */
    bool as_stored;
    const perfile_layout *layout; /* stored in lists, for decoding their elements */
} pf_context;

/* Returns a context with the values of `layout`, which may be NULL. */
static inline pf_context pf_context_of(const perfile_layout *layout)
{
    pf_context k = {.layout = layout};
    if (layout) {
        k.sample_type = layout->sample_type;
        k.read_format = layout->read_format;
        k.branch_sample_type = layout->branch_sample_type;
        k.sample_regs_user = layout->sample_regs_user;
        k.sample_regs_intr = layout->sample_regs_intr;
    }
    return k;
}

/* The sizes of a perf_event_attr, and the offsets of its members that decide the layout of
 * records. */

enum {
    PF_ATTR_SIZE_AT = 4,         /* u32, its own size; 0 means the first version */
    PF_ATTR_SAMPLE_TYPE_AT = 24, /* u64, like the next two */
    PF_ATTR_READ_FORMAT_AT = 32,
    PF_ATTR_FLAGS_AT = 40, /* bit-fields */
    PF_ATTR_BRANCH_TYPE_AT = 72,
    PF_ATTR_LEAST = 64,               /* the first version: PERF_ATTR_SIZE_VER0 */
    PF_ATTR_OURS = PERFILE_ATTR_SIZE, /* the last version with members in format/structs.def */
    PF_ATTR_MOST = 4096 /* larger ones are invalid: the kernel accepts at most a page */
};

/* PERF_ATTR_SIZE_VER0 and later ones.  A size of 88 never existed. */
static inline bool pf_attr_size_is_known(uint64_t size)
{
    return size == PF_ATTR_LEAST || size == 72 || size == 80 ||
           (size >= 96 && size <= PF_ATTR_OURS && size % 8 == 0);
}

/* Used as the count of a LIST that ends at the end of the bytes.  They set the local `least`, the
 * number of bytes with which an element begins; it remains 0 for lists with a real count.  A
 * reserved count would not work, because counts come from the input and can be any number. */
#define PF_UNTIL_END    (least = 1, UINT64_MAX)
#define PF_UNTIL_HEADER (least = 8, UINT64_MAX) /* while a record header fits */

#define LEFT     pf_cur_left(c)
#define PEEK_U32 pf_peek_u32(c)

/* Counts and lengths.  If one is a member (`o->…`) or one of the next three macros, encoders
 * compute that member; see schema/encode.inc. */
#define PF_AT_MOST(member, bound)    (o->member < (bound) ? o->member : (bound))
#define PF_GIVEN(has, member, other) (o->has ? o->member : (other))
#define PF_BUILD_ID_SIZE(member)     pf_build_id_size(k, c)
/* A field that may be shorter when read, but is always written in full. */
#define PF_UP_TO(bound) (LEFT < (bound) ? LEFT : (bound))
/* The same, but written in its actual length. */
#define PF_LEFT_UP_TO(bound) (LEFT < (bound) ? LEFT : (bound))

#define GET_u8(c, kind)     pf_cur_u8(c)
#define GET_u16(c, kind)    pf_cur_u16(c)
#define GET_u32(c, kind)    pf_cur_u32(c)
#define GET_u64(c, kind)    pf_bit_fields_to_little(pf_cur_u64(c), PERFILE_KIND_##kind, (c)->swap)
#define GET_s32(c, kind)    (int32_t) pf_cur_u32(c)
#define GET_s64(c, kind)    (int64_t) pf_cur_u64(c)
#define GET_string(c, kind) pf_text(pf_cur_string(c))
#define GET_cstr(c, kind)   pf_text(pf_cur_cstr(c))

#define WORDS_u16(c, n)    pf_words(c, n, 2)
#define WORDS_u32(c, n)    pf_words(c, n, 4)
#define WORDS_s32(c, n)    pf_words(c, n, 4)
#define WORDS_u64(c, n)    pf_words(c, n, 8)
#define WORDS_ulong(c, n)  pf_words(c, n, o->long_size == 4 ? 4 : 8)
#define WORDS_string(c, n) pf_strings(c, n)

/* Bytes of a type; VARIABLE if they depend on the input. */
enum {
    PF_VARIABLE = 1 << 20,
    PF_WIDTH_u8 = 1,
    PF_WIDTH_u16 = 2,
    PF_WIDTH_u32 = 4,
    PF_WIDTH_u64 = 8,
    PF_WIDTH_s32 = 4,
    PF_WIDTH_s64 = 8,
    PF_WIDTH_string = PF_VARIABLE,
    PF_WIDTH_cstr = PF_VARIABLE
};

/* The values in perfile_field for a type, for an array of it, and for the form of a USE. */
enum {
    PF_ROW_u8 = PERFILE_STORED_U8,
    PF_ROW_u16 = PERFILE_STORED_U16,
    PF_ROW_u32 = PERFILE_STORED_U32,
    PF_ROW_u64 = PERFILE_STORED_U64,
    PF_ROW_s32 = PERFILE_STORED_S32,
    PF_ROW_s64 = PERFILE_STORED_S64,
    PF_ROW_ulong = PERFILE_STORED_U64,
    PF_ROW_string = PERFILE_STORED_TEXT,
    PF_ROW_cstr = PERFILE_STORED_TEXT,
    PF_ARRAY_u16 = PERFILE_STORED_WORDS,
    PF_ARRAY_u32 = PERFILE_STORED_WORDS,
    PF_ARRAY_s32 = PERFILE_STORED_WORDS,
    PF_ARRAY_u64 = PERFILE_STORED_WORDS,
    PF_ARRAY_ulong = PERFILE_STORED_WORDS,
    PF_ARRAY_string = PERFILE_STORED_STRINGS,
    PF_FORM_GROUP = 0,
    PF_FORM_FLAT = PERFILE_FIELD_FLAT
};

/* Move the parts of `v` from their position in C bit-fields of a big-endian compiler to that of a
 * little-endian one.  format/words.def has the parts of attr_flags and branch_flags. */
uint64_t pf_mirror_attr_flags(uint64_t v);
uint64_t pf_mirror_branch_flags(uint64_t v);
/* The inverse. */
uint64_t pf_mirrored_attr_flags(uint64_t v);
uint64_t pf_mirrored_branch_flags(uint64_t v);

PF_INLINE uint64_t pf_bit_fields_to_little(uint64_t v, unsigned kind, bool swap)
{
    if (swap == (bool)PF_NATIVE_BIG)
        return v;
    if (kind == PERFILE_KIND_ATTR_FLAGS)
        return pf_mirror_attr_flags(v);
    if (kind == PERFILE_KIND_BRANCH_FLAGS)
        return pf_mirror_branch_flags(v);
    return v;
}

/* The same for output; `swap` is its byte order. */
PF_INLINE uint64_t pf_bit_fields_from_little(uint64_t v, unsigned kind, bool swap)
{
    if (swap == (bool)PF_NATIVE_BIG)
        return v;
    if (kind == PERFILE_KIND_ATTR_FLAGS)
        return pf_mirrored_attr_flags(v);
    if (kind == PERFILE_KIND_BRANCH_FLAGS)
        return pf_mirrored_branch_flags(v);
    return v;
}

static inline uint64_t pf_add_lengths(uint16_t a, uint16_t b)
{
    return (uint64_t)a + b;
}

static inline uint64_t pf_words_of_bits(uint64_t bits)
{
    return bits / 64 + (bits % 64 != 0);
}

static inline uint64_t pf_popcount(uint64_t v)
{
    return (uint64_t)__builtin_popcountll(v);
}

static inline uint32_t pf_peek_u32(const pf_cursor *c)
{
    return pf_cur_left(c) >= 4 ? pf_load_u32(c->pos, c->swap) : 0;
}

/* Returns the text in a field, which ends at the first NUL. */
PF_INLINE perfile_bytes pf_text(perfile_bytes field)
{
    if (field.len) {
        const uint8_t *nul = memchr(field.ptr, 0, field.len);
        if (nul)
            field.len = (size_t)(nul - field.ptr);
    }
    return field;
}

PF_INLINE perfile_words pf_words(pf_cursor *c, uint64_t n, unsigned width)
{
    perfile_bytes b = pf_cur_list(c, n, width);
    return (perfile_words){b.ptr, b.len / width, (uint8_t)width, c->swap};
}

static inline perfile_strings pf_strings(pf_cursor *c, uint64_t n)
{
    const uint8_t *start = c->pos;
    uint64_t i = 0;
    while (i < n && !c->bad) {
        pf_cur_string(c);
        i++;
    }
    if (c->bad)
        return (perfile_strings){.swapped = c->swap};
    return (perfile_strings){
        .bytes = {start, (size_t)(c->pos - start)}, .n = (size_t)n, .swapped = c->swap};
}

/* Tests the version of a TRACING_DATA blob: names of threads exist since 0.6. */
static inline bool pf_at_least_0_6(perfile_bytes version)
{
    return version.len >= 3 && memcmp(version.ptr, "0.6", 3) >= 0;
}

/* Returns the length of a build id in a field of 20 bytes.  If misc bit 15 is set, its size byte
 * says it.  Otherwise trailing zeros are removed, because there are ids of 16 bytes; with
 * k->as_stored it is all 20. */
static inline uint64_t pf_build_id_size(const pf_context *k, const pf_cursor *c)
{
    if (pf_cur_left(c) < 21)
        return 20;
    if (k->misc & PERFILE_MISC_BUILD_ID_SIZE)
        return c->pos[20] < 20 ? c->pos[20] : 20;
    uint64_t n = 20;
    while (!k->as_stored && n > 4 && pf_load_u32(c->pos + n - 4, false) == 0)
        n -= 4;
    return n;
}

#endif
