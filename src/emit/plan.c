#include "emit/plan.h"

static pf_plan number_plan(unsigned type, unsigned kind)
{
    if (type == PERFILE_S32)
        return PF_PLAN_SIGNED;
    if (type != PERFILE_U64)
        return PF_PLAN_NUMBER;
    unsigned base = perfile_kind_base(kind);
    return base == PERFILE_BASE_HEX || base == PERFILE_BASE_SCALE ? PF_PLAN_HEX : PF_PLAN_DEC;
}

static pf_plan words_plan(const perfile_field *f)
{
    switch (number_plan(f->element, f->kind)) {
    case PF_PLAN_SIGNED:
        return PF_PLAN_SIGNEDS;
    case PF_PLAN_HEX:
        return PF_PLAN_HEXES;
    case PF_PLAN_DEC:
        return PF_PLAN_DECS;
    default:
        return PF_PLAN_NUMBERS;
    }
}

pf_plan pf_plan_of(const perfile_field *f)
{
    if (f->kind == PERFILE_KIND_COUNT || f->kind == PERFILE_KIND_ZSTD ||
        f->flags & PERFILE_FIELD_PAD)
        return PF_PLAN_SKIP;
    switch (f->type) {
    case PERFILE_TEXT:
        return PF_PLAN_TEXT;
    case PERFILE_BLOB:
        return f->kind == PERFILE_KIND_BULK ? PF_PLAN_CRC : PF_PLAN_BYTES;
    case PERFILE_WORDS:
        return words_plan(f);
    case PERFILE_STRINGS:
        return PF_PLAN_STRINGS;
    case PERFILE_STRUCT:
        return f->flags & PERFILE_FIELD_FLAT ? PF_PLAN_FLAT : PF_PLAN_OBJECT;
    case PERFILE_LIST:
        return PF_PLAN_ARRAY;
    case PERFILE_ITEM:
        return PF_PLAN_ITEM;
    default:
        break;
    }
    if (f->kind == PERFILE_KIND_ATTR_FLAGS)
        return PF_PLAN_FLAGS;
    if (f->kind == PERFILE_KIND_BRANCH_FLAGS)
        return PF_PLAN_PARTS;
    return number_plan(f->type, f->kind);
}
