/* The decoders: format/ expanded to straight-line code, one function per layout. */
#include "schema/bounds.h"
#include "schema/rows.h"

/* PF_WIDTH_branch_entry …: bytes of each layout; PF_VARIABLE and more when the input decides. */
enum {
#include "schema/widths.inc"
#include "perfile/format/structs.def"
#include "schema/widths.inc"
#include "perfile/format/sample.def"
#include "schema/widths.inc"
#include "perfile/format/records.def"
#include "schema/widths.inc"
#include "perfile/format/features.def"
    PF_WIDTH_none
};

/* Passes over the elements of a list and keeps where they are.  Every element has at least one
 * byte, so that no count from the input makes this loop longer than the input. */
static perfile_list list_of(const pf_context *k, pf_cursor *c, uint64_t n, size_t least,
                            unsigned width, pf_decode_fn *decode, void *scratch, size_t size)
{
    perfile_list list = {.layout = k->layout, .misc = k->misc, .swapped = c->swap};
    const uint8_t *start = c->pos;
    list.context = k->attr_size ? k->attr_size : k->schedstat_version;
    list.old_build_id = k->old_build_id;
    list.as_stored = k->as_stored;
    if (width < PF_VARIABLE) {
        list.n = least ? pf_cur_left(c) / width : n;
        list.bytes = pf_cur_list(c, list.n, width);
        return list;
    }
    while (!c->bad && (least ? pf_cur_left(c) >= least : list.n < n)) {
        memset(scratch, 0, size);
        decode(k, c, scratch);
        list.n++;
    }
    if (!c->bad)
        list.bytes = (perfile_bytes){start, (size_t)(c->pos - start)};
    return list;
}

#include "schema/decode.inc"
#include "perfile/format/structs.def"
#include "schema/decode.inc"
#include "perfile/format/sample.def"
#include "schema/decode.inc"
#include "perfile/format/records.def"
#include "schema/decode.inc"
#include "perfile/format/simpleperf.def"
#include "schema/decode.inc"
#include "perfile/format/features.def"

/* The sample types that tools usually ask for, each with X(name, type): a letter for each bit that
 * it has beside the first three. */
#define WITH_ID(X, name, type)                                                                     \
    X(name, type)                                                                                  \
    X(name##i, (type) | PERFILE_SAMPLE_ID)                                                         \
    X(name##I, (type) | PERFILE_SAMPLE_IDENTIFIER)
#define WITH_CPU(X, name, type)                                                                    \
    WITH_ID(X, name, type)                                                                         \
    WITH_ID(X, name##C, (type) | PERFILE_SAMPLE_CPU)
#define WITH_PERIOD(X, name, type)                                                                 \
    WITH_CPU(X, name, type)                                                                        \
    WITH_CPU(X, name##P, (type) | PERFILE_SAMPLE_PERIOD)
#define WITH_RAW(X, name, type)                                                                    \
    WITH_PERIOD(X, name, type)                                                                     \
    WITH_PERIOD(X, name##R, (type) | PERFILE_SAMPLE_RAW)
#define WITH_CHAIN(X, name, type)                                                                  \
    WITH_RAW(X, name, type)                                                                        \
    WITH_RAW(X, name##G, (type) | PERFILE_SAMPLE_CALLCHAIN)
#define USUAL_SAMPLES(X)                                                                           \
    WITH_CHAIN(X, usual_, PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME)

/* Each has a word at least.  Said once, it need not be asked again for every field. */
#define LEAST_BYTES(type) (8 * (size_t)__builtin_popcountll((type) & ~PERFILE_SAMPLE_RAW))

#define DECODE_SAMPLE(name, type)                                                                  \
    static bool name(perfile_bytes body, perfile_sample *out)                                      \
    {                                                                                              \
        static const pf_context k = {.sample_type = (type)};                                       \
        if (body.len < LEAST_BYTES(type))                                                          \
            return false;                                                                          \
        pf_cursor c = {.pos = body.ptr, .end = body.ptr + body.len};                               \
        out->extra = (perfile_bytes){NULL, 0};                                                     \
        members_sample(&k, &c, out, (type));                                                       \
        return !c.bad;                                                                             \
    }
USUAL_SAMPLES(DECODE_SAMPLE)

#define OF_TYPE(name, type)                                                                        \
    case (type):                                                                                   \
        return name;

pf_usual_fn *pf_usual_sample(uint64_t sample_type)
{
    switch (sample_type) {
        USUAL_SAMPLES(OF_TYPE)
    default:
        return NULL;
    }
}

/* Takes the next element off the list. */
static perfile_status next_of(perfile_list *list, void *out, size_t size, pf_decode_fn *decode,
                              void *full, size_t full_size)
{
    if (list->n == 0 || list->bytes.len == 0)
        return PERFILE_END;
    pf_context k = pf_context_of(list->layout);
    k.misc = list->misc;
    k.attr_size = list->context;
    k.schedstat_version = list->context;
    k.old_build_id = list->old_build_id;
    k.as_stored = list->as_stored;
    pf_cursor c = pf_cur(list->bytes, list->swapped);
    memset(full, 0, full_size);
    decode(&k, &c, full);
    if (c.bad)
        return perfile_damage_status(c.bad);
    list->bytes = (perfile_bytes){c.pos, pf_cur_left(&c)};
    list->n--;
    memcpy(out, full, size < full_size ? size : full_size);
    return PERFILE_OK;
}

#define PF_NEXT_OF(id)                                                                             \
    perfile_status perfile_##id##_next(perfile_list *list, perfile_##id *out, size_t size)         \
    {                                                                                              \
        perfile_##id one;                                                                          \
        return next_of(list, out, size, pf_decode_##id, &one, sizeof one);                         \
    }
#define STRUCT(id, doc) PF_NEXT_OF(id)
#include "perfile/format/structs.def"
#define STRUCT(id, doc) PF_NEXT_OF(id)
#include "perfile/format/features.def"
