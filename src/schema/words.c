/* Names of values and meanings of fields: format/words.def and format/kinds.def as data; the
 * bit-fields of attr and branch flags, which a big-endian compiler lays out from the other end; and
 * access to arrays of numbers and strings. */
#include "perfile/encode.h"
#include "schema/types.h"
#include "base/command.h"
#include "schema/command.h"

/* Parts may refer to sets that are defined further down. */
#define BITS_SET(set) static const perfile_vocabulary set_##set;
#define ENUM_SET(set) static const perfile_vocabulary set_##set;
#include "perfile/format/words.def"

static const perfile_vocabulary set_none = {"none", NULL, NULL, 0};

#define BITS_SET(set)                                  static const perfile_bits rows_##set[] = {
#define BITS(set, id, shift, width, values, name, doc) {name, &set_##values, shift, width, {0}},
#define END_BITS(set)                                                                              \
    }                                                                                              \
    ;                                                                                              \
    static const perfile_vocabulary set_##set = {#set, rows_##set, NULL,                           \
                                                 sizeof rows_##set / sizeof rows_##set[0]};
#define ENUM_SET(set)                   static const perfile_word_name rows_##set[] = {
#define ENUM(set, id, value, name, doc) {value, name},
#define END_ENUM(set)                                                                              \
    }                                                                                              \
    ;                                                                                              \
    static const perfile_vocabulary set_##set = {#set, NULL, rows_##set,                           \
                                                 sizeof rows_##set / sizeof rows_##set[0]};
#include "perfile/format/words.def"

static const perfile_vocabulary *const sets[] = {
#define BITS_SET(set) &set_##set,
#define ENUM_SET(set) &set_##set,
#include "perfile/format/words.def"
};

typedef struct pf_kind_row {
    const char *name;
    const char *doc;
    const perfile_vocabulary *words;
    uint8_t base;
} pf_kind_row;

static const pf_kind_row kinds[PERFILE_N_KINDS] = {
#define KIND(id, number, name, base, words, doc)                                                   \
    [number] = {name, doc, &set_##words, PERFILE_BASE_##base},
#include "perfile/format/kinds.def"
};

const char *pf_kind_name(unsigned kind)
{
    return kind < PERFILE_N_KINDS ? kinds[kind].name : "";
}

const char *pf_kind_doc(unsigned kind)
{
    return kind < PERFILE_N_KINDS ? kinds[kind].doc : "";
}

unsigned pf_kind_base(unsigned kind)
{
    return kind < PERFILE_N_KINDS ? kinds[kind].base : PERFILE_BASE_HEX;
}

/* Returns NULL for kinds without words: their vocabulary is the empty set_none. */
const perfile_vocabulary *pf_kind_words(unsigned kind)
{
    return kind < PERFILE_N_KINDS && kinds[kind].words->n ? kinds[kind].words : NULL;
}

const perfile_vocabulary *pf_vocabulary_find(const char *name)
{
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        if (strcmp(sets[i]->name, name) == 0)
            return sets[i];
    return NULL;
}

/* A part of width w at shift s (little-endian numbering) is at shift 64 - s - w in big-endian. */
static uint64_t mirror(const perfile_vocabulary *v, uint64_t word)
{
    uint64_t out = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        const perfile_bits *b = &v->bits[i];
        uint64_t mask = (UINT64_C(1) << b->width) - 1;
        out |= (word >> (64 - b->shift - b->width) & mask) << b->shift;
    }
    return out;
}

/* The inverse of mirror(). */
static uint64_t mirrored(const perfile_vocabulary *v, uint64_t word)
{
    uint64_t out = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        const perfile_bits *b = &v->bits[i];
        uint64_t mask = (UINT64_C(1) << b->width) - 1;
        out |= (word >> b->shift & mask) << (64 - b->shift - b->width);
    }
    return out;
}

uint64_t pf_mirror_attr_flags(uint64_t v)
{
    return mirror(&set_attr_flags, v);
}

uint64_t pf_mirror_branch_flags(uint64_t v)
{
    return mirror(&set_branch_flags, v);
}

uint64_t pf_mirrored_attr_flags(uint64_t v)
{
    return mirrored(&set_attr_flags, v);
}

uint64_t pf_mirrored_branch_flags(uint64_t v)
{
    return mirrored(&set_branch_flags, v);
}

/* Access to arrays that decoded structs leave as stored (perfile_words, perfile_strings). */

uint64_t perfile_word(const perfile_words *w, size_t i)
{
    const uint8_t *at = w->ptr + i * w->width;
    switch (w->width) {
    case 8:
        return pf_load_u64(at, w->swapped);
    case 4:
        return pf_load_u32(at, w->swapped);
    case 2:
        return pf_load_u16(at, w->swapped);
    default:
        return *at;
    }
}

/* Strings of a program are an array of perfile_bytes; before each stored one is its length. */
perfile_status perfile_strings_next(perfile_strings *s, perfile_bytes *text)
{
    if (s->n == 0)
        return PERFILE_END;
    if (s->given) {
        memcpy(text, s->bytes.ptr, sizeof *text);
        s->bytes.ptr += sizeof *text;
        s->bytes.len -= sizeof *text;
        s->n--;
        return PERFILE_OK;
    }
    pf_cursor c = pf_cur(s->bytes, s->swapped);
    perfile_bytes t = pf_text(pf_cur_string(&c));
    if (c.bad)
        return pf_damage_status(c.bad);
    *text = t;
    s->bytes = (perfile_bytes){c.pos, pf_cur_left(&c)};
    s->n--;
    return PERFILE_OK;
}
