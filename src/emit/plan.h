/* How a field is written by the machine-readable forms (jsonl, cbor, tsv), derived from its row in
 * the format tables: type, kind and flags.  This is the output contract of `dump`
 * (format/dump.cddl).  The inline functions are used twice: at run time through pf_plan_of(),
 * cached per field in a pf_key, and at compile time by sample.inc, where all arguments are
 * constants. */
#ifndef PF_EMIT_PLAN_H
#define PF_EMIT_PLAN_H

#include "perfile/field.h"

typedef enum pf_plan {
    PF_PLAN_SKIP,   /* padding, and counts that follow from the length of a list */
    PF_PLAN_NUMBER, /* up to 32 bits: a JSON number is exact */
    PF_PLAN_SIGNED,
    PF_PLAN_DEC,        /* 64 bits: in JSON a decimal string, because readers use doubles */
    PF_PLAN_HEX,        /* 64 bits: in JSON a string with 0x */
    PF_PLAN_SIGNED_DEC, /* DEC of a number that may be negative */
    PF_PLAN_TEXT,
    PF_PLAN_BYTES,
    PF_PLAN_CRC,     /* bytes that are shown as their CRC-32, under that name */
    PF_PLAN_NUMBERS, /* arrays of the numbers above */
    PF_PLAN_SIGNEDS,
    PF_PLAN_DECS,
    PF_PLAN_HEXES,
    PF_PLAN_STRINGS,
    PF_PLAN_FLAGS,  /* an array of the names of set bits; wider bit fields become members */
    PF_PLAN_PARTS,  /* each bit field becomes a member of the enclosing object */
    PF_PLAN_OBJECT, /* a struct */
    PF_PLAN_FLAT,   /* a struct whose fields become members of the enclosing object */
    PF_PLAN_ARRAY,  /* a list of structs … */
    PF_PLAN_ITEM    /* … and one of them, an object without a key */
} pf_plan;

/* The plan of a field; slow enough that callers cache it. */
pf_plan pf_plan_of(const perfile_field *field);

/* perfile_kind_base() as constants, for pf_plan_for(): PF_BASE_ADDR … */
enum {
#define KIND(id, number, name, base, words, doc) PF_BASE_##id = PERFILE_BASE_##base,
#include "perfile/format/kinds.def"
};

/* The plan of a number.  `type`: PERFILE_STORED_…, `base`: PERFILE_BASE_… */
static inline pf_plan pf_number_plan(unsigned type, unsigned base)
{
    if (type == PERFILE_STORED_S32)
        return PF_PLAN_SIGNED;
    if (type == PERFILE_STORED_S64)
        return PF_PLAN_SIGNED_DEC;
    if (type != PERFILE_STORED_U64)
        return PF_PLAN_NUMBER;
    return base == PERFILE_BASE_HEX || base == PERFILE_BASE_SCALE ? PF_PLAN_HEX : PF_PLAN_DEC;
}

/* The plan of an array of numbers of type `element`. */
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

/* The plan of a row; the compiler reduces it to a constant where the arguments are. */
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

/* Cache entry: the plan and the name of a field, the latter as the form writes it ("name": in
 * jsonl). */
typedef struct pf_key {
    const void *row; /* of the tables, which are constant: its address identifies it; NULL: free */
    uint8_t plan;    /* pf_plan */
    uint8_t len;     /* of text */
    uint8_t text[38];
} pf_key;

#endif
