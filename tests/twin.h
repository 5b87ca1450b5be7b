/* The twin of a record or feature in the other byte order, made with what the walk says. */
#ifndef TESTS_TWIN_H
#define TESTS_TWIN_H

#include "builder.h"
#include "perfile/perfile.h"

typedef struct twin {
    uint8_t *bytes;        /* what the walk's offsets count from, to be changed in place */
    const uint8_t *stored; /* the same as it was */
    bool from_swapped;     /* the stored one is in the other byte order than this machine's */
} twin;

static inline void twin_reverse(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        uint8_t b = p[i];
        p[i] = p[n - 1 - i];
        p[n - 1 - i] = b;
    }
}

/* u32 length, bytes: `n` times. */
static inline void twin_strings(twin *t, const perfile_value *v)
{
    uint64_t at = v->offset;
    for (size_t i = 0; i < v->u.strings.n; i++) {
        uint32_t len = pf_load_u32(t->stored + at, t->from_swapped);
        twin_reverse(t->bytes + at, 4);
        at += 4 + (uint64_t)len;
    }
}

static inline void twin_on_value(void *user, const perfile_field *f, const perfile_value *v)
{
    twin *t = user;
    uint8_t *at = t->bytes + v->offset;
    if (f->flags & PERFILE_FIELD_CALC)
        return;
    switch (f->type) {
    case PERFILE_STORED_U8:
    case PERFILE_STORED_U16:
    case PERFILE_STORED_U32:
    case PERFILE_STORED_U64:
    case PERFILE_STORED_S32:
    case PERFILE_STORED_S64:
        if (f->kind == PERFILE_KIND_ATTR_FLAGS || f->kind == PERFILE_KIND_BRANCH_FLAGS) {
            uint64_t word = pf_load_u64(t->stored + v->offset, t->from_swapped);
            bool from_big = t->from_swapped != (bool)PF_NATIVE_BIG;
            word = from_big ? build_little_flags(word, f->kind) : build_big_flags(word, f->kind);
            word = t->from_swapped ? word : pf_swap_u64(word);
            memcpy(at, &word, sizeof word);
        } else {
            twin_reverse(at, v->width);
        }
        break;
    case PERFILE_STORED_WORDS:
        for (size_t i = 0; i < v->u.words.n; i++)
            twin_reverse(at + i * v->u.words.width, v->u.words.width);
        break;
    case PERFILE_STORED_STRINGS:
        twin_strings(t, v);
        break;
    case PERFILE_STORED_TEXT: /* with its length in front, where it has one */
        if (v->u.bytes.ptr == t->stored + v->offset + 4)
            twin_reverse(at, 4);
        break;
    default:
        break;
    }
}

static inline void twin_on_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static inline void twin_on_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

static const perfile_visitor twin_visitor = {sizeof twin_visitor, twin_on_value, twin_on_begin,
                                             twin_on_end};

#endif
