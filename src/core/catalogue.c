/* The catalogue: the rows of format/ and the shapes of their structs, for callers of the library.
 *
 * perfile_struct is pf_row_shape (schema/shapes.h), whose members stand between marks that say when
 * they are there; here each member gets the innermost of these conditions. */
#include "perfile/catalogue.h"

#include <string.h>

#include "core/releases.h"
#include "schema/shapes.h"

static const pf_row_shape *shape_of(const perfile_struct *of)
{
    return (const pf_row_shape *)(const void *)of;
}

static const perfile_struct *struct_of(const pf_row_shape *shape)
{
    return (const perfile_struct *)(const void *)shape;
}

/* Copies as much of `full` as a caller of an older or newer header has room for. */
static bool give(void *out, size_t size, const void *full, size_t full_size)
{
    memset(out, 0, size);
    memcpy(out, full, size < full_size ? size : full_size);
    return true;
}

bool perfile_family_at(size_t position, perfile_family *out, size_t size)
{
    for (uint32_t i = 0; i < PF_N_FAMILIES; i++) {
        const pf_family *f = pf_families[i];
        if (!f || position-- > 0)
            continue;
        perfile_family full = {.number = i, .header_bytes = f->header, .name = f->name};
        return give(out, size, &full, sizeof full);
    }
    return false;
}

bool perfile_record_type_at(uint32_t family, size_t position, perfile_record_type *out, size_t size)
{
    const pf_family *f = family < PF_N_FAMILIES ? pf_families[family] : NULL;
    if (!f || position >= f->n_rows)
        return false;
    const pf_row *row = &f->rows[position];
    perfile_record_type full = {.number = row->number,
                                .family = family,
                                .name = row->name,
                                .doc = row->doc,
                                .decoded = struct_of(&f->shapes[position])};
    if (family == PERFILE_FAMILY_PERF && row->since < PF_N_RELEASES)
        full.since = pf_releases[row->since].name;
    return give(out, size, &full, sizeof full);
}

bool perfile_feature_type_at(size_t position, perfile_feature_type *out, size_t size)
{
    size_t n;
    const pf_row *rows = pf_feature_rows(&n);
    if (position >= n)
        return false;
    perfile_feature_type full = {.number = rows[position].number,
                                 .name = rows[position].name,
                                 .doc = rows[position].doc,
                                 .decoded = struct_of(pf_feature_shape_at(position))};
    return give(out, size, &full, sizeof full);
}

const perfile_struct *perfile_struct_find(const char *name)
{
    for (unsigned i = 0; i < PF_N_SHAPES; i++)
        if (strcmp(pf_struct_shapes[i].name, name) == 0)
            return struct_of(&pf_struct_shapes[i]);
    for (unsigned i = 0, n = pf_all_rows(); i < n; i++)
        if (strcmp(pf_shape_at(i)->name, name) == 0)
            return struct_of(pf_shape_at(i));
    size_t n;
    (void)pf_feature_rows(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(pf_feature_shape_at(i)->name, name) == 0)
            return struct_of(pf_feature_shape_at(i));
    return NULL;
}

const char *perfile_struct_name(const perfile_struct *of)
{
    return shape_of(of)->name;
}

size_t perfile_struct_size(const perfile_struct *of)
{
    return shape_of(of)->size;
}

/* Under which conditions the member at hand is there.  Conditions nest a few levels deep: those of
 * a sample, and WHEN inside it. */
typedef struct conditions {
    uint32_t has[8];
    uint64_t bit[8];
    unsigned depth;
} conditions;

static void follow(conditions *c, const pf_member *mark)
{
    switch (mark->what) {
    case PF_MEMBER_WHEN:
    case PF_MEMBER_SAMPLE:
        c->depth++;
        c->has[c->depth] = mark->what == PF_MEMBER_WHEN ? mark->at : PERFILE_NO_MEMBER;
        c->bit[c->depth] = mark->what == PF_MEMBER_SAMPLE ? mark->bit : c->bit[c->depth - 1];
        break;
    case PF_MEMBER_ELSE:
        c->has[c->depth] = mark->at;
        break;
    case PF_MEMBER_END_WHEN:
        c->depth--;
        break;
    default:
        break;
    }
}

bool perfile_struct_member(const perfile_struct *of, size_t position, perfile_member *out,
                           size_t size)
{
    conditions c = {.has = {PERFILE_NO_MEMBER}};
    for (const pf_member *m = shape_of(of)->members; m->what != PF_MEMBER_END; m++) {
        follow(&c, m);
        if (!m->name || position-- > 0)
            continue;
        bool nested = m->type == PERFILE_STORED_LIST || m->type == PERFILE_STORED_STRUCT;
        perfile_member full = {.name = m->name,
                               .doc = m->doc,
                               .of = nested ? struct_of(&pf_struct_shapes[m->of]) : NULL,
                               .type = m->type,
                               .element = m->element,
                               .kind = m->kind,
                               .flags = m->flags,
                               .offset = m->at,
                               .has = c.has[c.depth],
                               .sample_bit = c.bit[c.depth]};
        return give(out, size, &full, sizeof full);
    }
    return false;
}

bool perfile_member_is_there(const perfile_member *member, const void *decoded)
{
    bool has = true;
    if (member->sample_bit) {
        /* `present` stands first in both structs whose members have such bits. */
        perfile_sample_id id;
        memcpy(&id.present, (const uint8_t *)decoded + offsetof(perfile_sample_id, present),
               sizeof id.present);
        has = id.present & member->sample_bit;
    }
    if (has && member->has != PERFILE_NO_MEMBER)
        memcpy(&has, (const uint8_t *)decoded + member->has, sizeof has);
    return has;
}

uint64_t perfile_member_number(const perfile_member *member, const void *decoded)
{
    const uint8_t *at = (const uint8_t *)decoded + member->offset;
    uint16_t half;
    uint32_t word;
    uint64_t two;
    switch (member->type) {
    case PERFILE_STORED_U8:
        return *at;
    case PERFILE_STORED_U16:
        memcpy(&half, at, sizeof half);
        return half;
    case PERFILE_STORED_U32:
        memcpy(&word, at, sizeof word);
        return word;
    case PERFILE_STORED_S32:
        memcpy(&word, at, sizeof word);
        return (uint64_t)(int64_t)(int32_t)word;
    case PERFILE_STORED_U64:
    case PERFILE_STORED_S64:
        memcpy(&two, at, sizeof two);
        return two;
    default:
        return 0;
    }
}

perfile_status perfile_list_next(perfile_list *list, const perfile_struct *of, void *out,
                                 size_t size)
{
    const pf_row_shape *shape = shape_of(of);
    return shape->next ? shape->next(list, out, size) : PERFILE_E_USAGE;
}
