/* The decoders: format/ expanded to straight-line code, one function per layout
 * (schema/decode.inc).  Elements of lists are decoded one at a time, when the caller asks for them.
 *
 * The caller zeroes the struct, so missing members are 0.  The 48 sample types that tools commonly
 * request have decoders of their own (schema/expand.h).  These write the same members for each
 * sample, so the caller need not clear the struct between samples of one type. */
#include "perfile/encode.h"
#include "schema/expand.h"
#include "base/command.h"

/* Skips the elements of a list and records their location.  Every element has at least one byte, so
 * no count from the input makes this loop longer than the input. */
perfile_list pf_decode_list(const pf_context *k, pf_cursor *c, uint64_t n, size_t least,
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

/* One decoder for each common sample type.  `extra` is reset here because a WHEN writes it only if
 * it is present. */
#define DECODE_SAMPLE(name, type)                                                                  \
    static bool name(perfile_bytes body, perfile_sample *out)                                      \
    {                                                                                              \
        static const pf_context k = {.sample_type = (type)};                                       \
        if (body.len < PF_LEAST_BYTES(type))                                                       \
            return false;                                                                          \
        pf_cursor c = {.pos = body.ptr, .end = body.ptr + body.len};                               \
        out->extra = (perfile_bytes){NULL, 0};                                                     \
        members_sample(&k, &c, out, (type));                                                       \
        return !c.bad;                                                                             \
    }
PF_USUAL_SAMPLES(DECODE_SAMPLE)

#define OF_TYPE(name, type)                                                                        \
    case (type):                                                                                   \
        return name;

pf_usual_fn *pf_usual_sample(uint64_t sample_type)
{
    switch (sample_type) {
        PF_USUAL_SAMPLES(OF_TYPE)
    default:
        return NULL;
    }
}

/* Copies the next struct of a program's array.  `given` is the size of its elements, which may come
 * from an older or newer version of the header: the common part is copied, the rest is 0. */
static perfile_status next_given(perfile_list *list, void *out, size_t size, size_t full_size)
{
    size_t n = list->given < full_size ? list->given : full_size;
    if (n > size)
        n = size;
    memset(out, 0, size);
    memcpy(out, list->bytes.ptr, n);
    list->bytes.ptr += list->given;
    list->bytes.len -= list->given;
    list->n--;
    return PERFILE_OK;
}

/* Decodes the next element of `list` into `full`, copies `size` bytes of it to `out`, and removes
 * it.  The context with which the list was decoded is restored from its members. */
static perfile_status next_of(perfile_list *list, void *out, size_t size, pf_decode_fn *decode,
                              void *full, size_t full_size)
{
    if (list->n == 0 || list->bytes.len == 0)
        return PERFILE_END;
    if (list->given)
        return next_given(list, out, size, full_size);
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
        return pf_damage_status(c.bad);
    list->bytes = (perfile_bytes){c.pos, pf_cur_left(&c)};
    list->n--;
    memcpy(out, full, size < full_size ? size : full_size);
    return PERFILE_OK;
}

/* A struct that lists have. */
typedef struct pf_list_row {
    pf_decode_fn *decode; /* NULL: there is no such struct */
    size_t size;
} pf_list_row;

/* Returns the struct of a number PERFILE_LIST_…. */
static pf_list_row list_row(uint32_t type)
{
    switch (type) {
#define LIST_ROW(id)                                                                               \
    case PERFILE_LIST_##id:                                                                        \
        return (pf_list_row){pf_decode_##id, sizeof(perfile_##id)};
#define STRUCT(id, doc) LIST_ROW(id)
#include "perfile/format/structs.def"
#define STRUCT(id, doc) LIST_ROW(id)
#include "perfile/format/features.def"
    default:
        return (pf_list_row){NULL, 0};
    }
}

/* Room for any of them. */
typedef union pf_any_struct {
#define STRUCT(id, doc) perfile_##id as_##id;
#include "perfile/format/structs.def"
#define STRUCT(id, doc) perfile_##id as_##id;
#include "perfile/format/features.def"
} pf_any_struct;

perfile_status perfile_next(perfile_list *list, uint32_t type, void *out, size_t size)
{
    pf_any_struct full;
    const pf_list_row row = list_row(type);
    return row.decode ? next_of(list, out, size, row.decode, &full, row.size) : PERFILE_E_USAGE;
}

/* Bounds of layouts that the tables cannot express; see schema/expand.h. */

enum { BUILD_ID_NAME_AT = 36 };

/* Returns a cursor over the next `n` bytes of `c`; it is bad if there are fewer. */
static pf_cursor inner(pf_cursor *c, uint64_t n)
{
    pf_cursor in = *c;
    if (n > pf_cur_left(c))
        pf_cur_fail(&in, PERFILE_DAMAGE_SHORT_BODY);
    else
        in.end = c->pos + n;
    return in;
}

/* The flags are read ahead, because conditions (WHEN) of earlier members depend on them. */
pf_bounds pf_bound_attr(const pf_context *k, pf_cursor *c)
{
    pf_bounds b = {*k, *c, NULL};
    uint64_t space = k->attr_size ? k->attr_size : pf_cur_left(c);
    b.c = inner(c, space);
    if (b.c.bad || space < PF_ATTR_LEAST) {
        pf_cur_fail(&b.c, PERFILE_DAMAGE_SHORT_BODY);
        return b;
    }

    uint64_t size = pf_load_u32(c->pos + PF_ATTR_SIZE_AT, c->swap);
    uint64_t flags = pf_load_u64(c->pos + PF_ATTR_FLAGS_AT, c->swap);
    b.k.attr_flags = pf_bit_fields_to_little(flags, PERFILE_KIND_ATTR_FLAGS, c->swap);
    if (size == 0)
        size = PF_ATTR_LEAST;
    if (!k->attr_size && size < PF_ATTR_LEAST)
        pf_cur_fail(&b.c, PERFILE_DAMAGE_BAD_ATTR_SIZE);
    else if (!k->attr_size && size > space)
        pf_cur_fail(&b.c, PERFILE_DAMAGE_SHORT_BODY);
    else if (size < PF_ATTR_LEAST)
        b.c.end = c->pos + PF_ATTR_LEAST;
    else if (size < space)
        b.c.end = c->pos + size;
    b.after = k->attr_size ? c->pos + space : b.c.end;
    return b;
}

pf_bounds pf_bound_build_id_entry(const pf_context *k, pf_cursor *c)
{
    pf_bounds b = {*k, *c, NULL};
    if (!pf_cur_has(&b.c, 8))
        return b;
    b.k.misc = pf_load_u16(c->pos + 4, c->swap);
    uint16_t size = pf_load_u16(c->pos + 6, c->swap);
    b.c = inner(c, size);
    if (!b.c.bad && size < 8)
        pf_cur_fail(&b.c, PERFILE_DAMAGE_BAD_SIZE);
    b.after = b.c.end;
    return b;
}

/* Detects the form of the entries by looking for the kernel's name at its position in the old
 * form. */
pf_bounds pf_bound_build_ids(const pf_context *k, pf_cursor *c)
{
    static const char mark[] = "nel.kallsyms]";
    const size_t n = sizeof mark - 1;
    pf_bounds b = {*k, *c, NULL};
    pf_cursor at = *c;
    while (pf_cur_left(&at) >= 8) {
        uint16_t size = pf_load_u16(at.pos + 6, at.swap);
        if (size < 8 || size > pf_cur_left(&at))
            break;
        if (size >= BUILD_ID_NAME_AT + n && memcmp(at.pos + BUILD_ID_NAME_AT, mark, n) == 0) {
            b.k.old_build_id = true;
            break;
        }
        at.pos += size;
    }
    return b;
}

pf_bounds pf_bound_event_desc(const pf_context *k, pf_cursor *c)
{
    pf_bounds b = {*k, *c, NULL};
    if (pf_cur_left(c) >= 8)
        b.k.attr_size = pf_load_u32(c->pos + 4, c->swap);
    return b;
}

pf_bounds pf_bound_cpu_domain_info(const pf_context *k, pf_cursor *c)
{
    pf_bounds b = {*k, *c, NULL};
    b.k.schedstat_version = pf_peek_u32(c);
    return b;
}

pf_bounds pf_bound_file_entry(const pf_context *k, pf_cursor *c)
{
    pf_bounds b = {*k, *c, NULL};
    if (!pf_cur_has(&b.c, 4))
        return b;
    b.c = inner(c, (uint64_t)4 + pf_peek_u32(c));
    b.after = b.c.end;
    return b;
}

pf_bounds pf_bound_tracing_formats(const pf_context *k, pf_cursor *c)
{
    enum { MAGIC = 10 };
    pf_bounds b = {*k, *c, NULL};
    pf_cursor at = *c;
    pf_cur_span(&at, MAGIC);
    pf_cur_cstr(&at);
    bool big = pf_cur_u8(&at) != 0;
    b.c.swap = big != (bool)PF_NATIVE_BIG;
    return b;
}
