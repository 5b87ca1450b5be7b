/* Bounds of the layouts that the vocabulary of the tables cannot express; see schema/bounds.h. */
#include "schema/bounds.h"
#include "schema/attr_places.h"

enum { BUILD_ID_NAME_AT = 36 };

/* A cursor over the next `n` bytes of `c`; bad when there are fewer. */
static pf_cursor inner(pf_cursor *c, uint64_t n)
{
    pf_cursor in = *c;
    if (n > pf_cur_left(c))
        pf_cur_fail(&in, PERFILE_DAMAGE_SHORT_BODY);
    else
        in.end = c->pos + n;
    return in;
}

/* The flags are read ahead, because WHEN conditions of earlier members depend on them. */
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

/* Decides which form the entries have by looking for the kernel's name where the old form has it.
 */
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
