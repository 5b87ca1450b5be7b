/* What the contract of `dump` makes of a field, worked out once per row of the tables. */
#ifndef PF_EMIT_PLAN_H
#define PF_EMIT_PLAN_H

#include "perfile/field.h"

typedef enum pf_plan {
    PF_PLAN_SKIP, /* said by other fields already, or no value */
    PF_PLAN_NUMBER,
    PF_PLAN_SIGNED,
    PF_PLAN_DEC, /* 64 bits */
    PF_PLAN_HEX, /* 64 bits */
    PF_PLAN_TEXT,
    PF_PLAN_BYTES,
    PF_PLAN_CRC, /* bytes that are shown as their CRC-32, under that name */
    PF_PLAN_NUMBERS,
    PF_PLAN_SIGNEDS,
    PF_PLAN_DECS,
    PF_PLAN_HEXES,
    PF_PLAN_STRINGS,
    PF_PLAN_FLAGS, /* a list of the bits that are set, the other parts beside it */
    PF_PLAN_PARTS, /* every part a member of the object around it */
    PF_PLAN_OBJECT,
    PF_PLAN_FLAT, /* members of the object around it */
    PF_PLAN_ARRAY,
    PF_PLAN_ITEM
} pf_plan;

pf_plan pf_plan_of(const perfile_field *field);

/* perfile_kind_base() for the compiler: PF_BASE_ADDR … */
enum {
#define KIND(id, number, name, base, words, doc) PF_BASE_##id = PERFILE_BASE_##base,
#include "perfile/format/kinds.def"
};

static inline pf_plan pf_number_plan(unsigned type, unsigned base)
{
    if (type == PERFILE_STORED_S32)
        return PF_PLAN_SIGNED;
    if (type != PERFILE_STORED_U64)
        return PF_PLAN_NUMBER;
    return base == PERFILE_BASE_HEX || base == PERFILE_BASE_SCALE ? PF_PLAN_HEX : PF_PLAN_DEC;
}

static inline pf_plan pf_words_plan(unsigned element, unsigned base)
{
    switch (pf_number_plan(element, base)) {
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

/* The same of what a row says, for rows that the compiler knows. */
static inline pf_plan pf_plan_for(unsigned type, unsigned element, unsigned kind, unsigned base,
                                  unsigned flags)
{
    if (kind == PERFILE_KIND_COUNT || kind == PERFILE_KIND_ZSTD || flags & PERFILE_FIELD_PAD)
        return PF_PLAN_SKIP;
    switch (type) {
    case PERFILE_STORED_TEXT:
        return PF_PLAN_TEXT;
    case PERFILE_STORED_BLOB:
        return kind == PERFILE_KIND_BULK ? PF_PLAN_CRC : PF_PLAN_BYTES;
    case PERFILE_STORED_WORDS:
        return pf_words_plan(element, base);
    case PERFILE_STORED_STRINGS:
        return PF_PLAN_STRINGS;
    case PERFILE_STORED_STRUCT:
        return flags & PERFILE_FIELD_FLAT ? PF_PLAN_FLAT : PF_PLAN_OBJECT;
    case PERFILE_STORED_LIST:
        return PF_PLAN_ARRAY;
    case PERFILE_STORED_ITEM:
        return PF_PLAN_ITEM;
    default:
        break;
    }
    if (kind == PERFILE_KIND_ATTR_FLAGS)
        return PF_PLAN_FLAGS;
    if (kind == PERFILE_KIND_BRANCH_FLAGS)
        return PF_PLAN_PARTS;
    return pf_number_plan(type, base);
}

/* Name and plan of a row, the name as the form writes it. */
typedef struct pf_key {
    const void *row;
    uint8_t plan;
    uint8_t len;
    uint8_t text[38];
} pf_key;

#endif
