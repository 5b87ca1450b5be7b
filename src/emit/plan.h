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

/* Name and plan of a row, the name as the form writes it. */
typedef struct pf_key {
    const void *row;
    uint8_t plan;
    uint8_t len;
    uint8_t text[38];
} pf_key;

#endif
