/* Families of records: what their types mean and how they are framed.
 *
 * A family is a set of record types with one kind of header: perf's own family, or a foreign format
 * (tests/build/toy_family.sh adds one).  Types of two families are different things even with the
 * same number, so a record's row is found by family and type, pf_row_of(), never by the type alone.
 * format/families.def lists the families; family.inc makes the tables of one. */
#ifndef PF_SCHEMA_FAMILY_H
#define PF_SCHEMA_FAMILY_H

#include <stddef.h>

#include "perfile/record.h"
#include "schema/rows.h"

/* The header of perf's own records: u32 type, u16 misc, u16 size, which counts the header. */
enum { PF_PERF_RECORD_HEADER = 8, PF_PERF_SIZE_AT = 6 };

/* See pf_family.ticks. */
#define PF_TICKS_BIAS (UINT64_C(1) << 63)

/* The public number of a type of another family.  The family is in the upper bits, so that numbers
 * of different families never collide. */
#define PF_TYPE_OF(family, number) ((uint32_t)(family) << PERFILE_FAMILY_SHIFT | (number))
#define PF_TYPE_IN(id, number)     PF_TYPE_IN_(id, number)
#define PF_TYPE_IN_(id, number)    PF_TYPE_OF(PF_FAMILY_AT_##id, number)

/* Maps types from .. from + n - 1 to rows: `at[type - from]` is the position of the row plus 1, 0:
 * no row. */
typedef struct pf_family_types {
    uint32_t from, n;
    const uint8_t *at;
} pf_family_types;

typedef struct pf_row_shape pf_row_shape;

/* The decoded header of a record. */
typedef struct pf_frame {
    uint32_t type;
    uint32_t size; /* header included */
    uint16_t misc;
} pf_frame;

struct pf_family {
    const char *name;
    const char *prefix; /* in front of the names of types in `dump --format jsonl`; NULL: none */
    uint32_t header;    /* bytes in front of the body */
    bool rounds; /* has FINISHED_ROUND records, which sort and merge write where a round ends */
    /* perfile_record.time of its records are signed ticks with the top bit flipped (PF_TICKS_BIAS),
     * so that they order as unsigned numbers; the session has their conversion to ns.  Otherwise it
     * is ns. */
    bool ticks;
    /* The fields of a record's header besides type and size, and where they begin in it; NULL: it
     * has none, or `misc` only.  The fields of perfile_part.header; NULL: the container has them.
     */
    uint32_t tag_at;
    pf_walk_fn *walk_tag;
    pf_walk_fn *walk_file_header;
    /* Decode a header (the record is complete in memory); write a byte-swapped header to `out`. */
    pf_frame (*frame_at)(const uint8_t *header, bool swap);
    void (*byteswap_header)(uint8_t *out, const uint8_t *header);
    const pf_row *rows;
    const struct pf_row_shape *shapes; /* of the rows: schema/shapes.h */
    uint32_t n_rows;
    pf_family_types types[2]; /* two ranges: perf's own types and simpleperf's */
};

#define FAMILY(id, number) extern const pf_family pf_family_##id;
#include "perfile/format/families.def"

enum {
#define FAMILY(id, number) PF_FAMILY_AT_##id = (number),
#include "perfile/format/families.def"

    PF_N_FAMILIES
};
extern const pf_family *const pf_families[PF_N_FAMILIES]; /* by number */

/* NULL for PERFILE_FAMILY_DAMAGE, which is no family, and for numbers out of range. */
static inline const pf_family *pf_family_of(uint8_t family)
{
    return family < PF_N_FAMILIES ? pf_families[family] : NULL;
}

/* The row of a type in a family; NULL if there is none. */
static inline const pf_row *pf_family_row(const pf_family *f, uint32_t type)
{
    for (size_t i = 0; i < sizeof f->types / sizeof f->types[0]; i++) {
        const pf_family_types *t = &f->types[i];
        if (type - t->from < t->n)
            return t->at[type - t->from] ? &f->rows[t->at[type - t->from] - 1] : NULL;
    }
    return NULL;
}

/* The row of a record; NULL for damage and for unknown types. */
static inline const pf_row *pf_row_of(const perfile_record *r)
{
    const pf_family *f = pf_family_of(r->family);
    return f ? pf_family_row(f, r->type) : NULL;
}

/* The row of a type of perf's own family; NULL for an unknown one. */
static inline const pf_row *pf_record_row(uint32_t type)
{
    return pf_family_row(&pf_family_perf, type);
}

/* pf_row.marks of a record; 0 for an unknown type. */
static inline unsigned pf_marks_of(const perfile_record *r)
{
    const pf_row *row = pf_row_of(r);
    return row ? row->marks : 0;
}

/* True if the record was written by the recording tool and not by the kernel. */
static inline bool pf_is_of_tool(const perfile_record *r)
{
    return r->family == PERFILE_FAMILY_PERF && r->type >= PERFILE_RECORD_USER;
}

/* PF_ROLE_… of a record.  Unknown types count as data, or, if written by a tool, as about the
 * recording. */
static inline unsigned pf_role_of(const perfile_record *r)
{
    const pf_row *row = pf_row_of(r);
    if (row)
        return row->marks & PF_ROW_STATE && r->misc ? PF_ROLE_DATA : row->role;
    return pf_is_of_tool(r) ? PF_ROLE_RECORDING : PF_ROLE_DATA;
}

/* True for simpleperf's SPLIT records, fragments of a record longer than 64 KiB. */
static inline bool pf_is_fragment(const perfile_record *r)
{
    return pf_marks_of(r) & PF_ROW_FRAGMENT;
}

/* True for a fragment that the stream has joined with others; the joined record follows it. */
static inline bool pf_is_joined_fragment(const perfile_record *r)
{
    return r->flags & PERFILE_REC_ENVELOPE && pf_is_fragment(r);
}

static inline bool pf_is_last_fragment(const perfile_record *r)
{
    return pf_marks_of(r) & PF_ROW_FRAGMENT_END;
}

/* True for simpleperf's own types: their size has 32 bits, the upper half in place of misc. */
static inline bool pf_type_is_wide(uint32_t type)
{
    return type >= PERFILE_RECORD_SIMPLEPERF && type < PERFILE_RECORD_SIMPLEPERF_END;
}

#endif
