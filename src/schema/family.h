/* Families of records: what their types mean, and how they are stored.  A record's row is found by
 * its family and its type, never by the type alone. */
#ifndef PF_SCHEMA_FAMILY_H
#define PF_SCHEMA_FAMILY_H

#include <stddef.h>

#include "perfile/record.h"
#include "schema/rows.h"

/* The header of perf's own records: u32 type, u16 misc, u16 size, which counts the header. */
enum { PF_PERF_RECORD_HEADER = 8, PF_PERF_SIZE_AT = 6 };

/* A type of another family than perf's own: no number of one family is one of another. */
#define PF_TYPE_OF(family, number) ((uint32_t)(family) << PERFILE_FAMILY_SHIFT | (number))
#define PF_TYPE_IN(id, number)     PF_TYPE_IN_(id, number)
#define PF_TYPE_IN_(id, number)    PF_TYPE_OF(PF_FAMILY_AT_##id, number)

/* Numbers of a family that have rows: `at[type - from]` is the position of the row and 1, or 0. */
typedef struct pf_family_types {
    uint32_t from, n;
    const uint8_t *at;
} pf_family_types;

typedef struct pf_row_shape pf_row_shape;

/* What a header says. */
typedef struct pf_frame {
    uint32_t type;
    uint32_t size; /* header included */
    uint16_t misc;
} pf_frame;

struct pf_family {
    const char *name;
    uint32_t header; /* bytes in front of the body */
    bool rounds; /* FINISHED_ROUND records say how far buffers were read: who sorts makes them */
    /* Reads a header; writes it in the other byte order to `out`. */
    pf_frame (*frame_at)(const uint8_t *header, bool swap);
    void (*turn_header)(uint8_t *out, const uint8_t *header);
    const pf_row *rows;
    const struct pf_row_shape *shapes; /* of the rows: schema/shapes.h */
    uint32_t n_rows;
    pf_family_types types[2];
};

#define FAMILY(id, number) extern const pf_family pf_family_##id;
#include "perfile/format/families.def"

enum {
#define FAMILY(id, number) PF_FAMILY_AT_##id = (number),
#include "perfile/format/families.def"

    PF_N_FAMILIES
};
extern const pf_family *const pf_families[PF_N_FAMILIES]; /* by number */

/* NULL for what is no family: damage. */
static inline const pf_family *pf_family_of(uint8_t family)
{
    return family < PF_N_FAMILIES ? pf_families[family] : NULL;
}

/* NULL: the family has no such type. */
static inline const pf_row *pf_family_row(const pf_family *f, uint32_t type)
{
    for (size_t i = 0; i < sizeof f->types / sizeof f->types[0]; i++) {
        const pf_family_types *t = &f->types[i];
        if (type - t->from < t->n)
            return t->at[type - t->from] ? &f->rows[t->at[type - t->from] - 1] : NULL;
    }
    return NULL;
}

static inline const pf_row *pf_row_of(const perfile_record *r)
{
    const pf_family *f = pf_family_of(r->family);
    return f ? pf_family_row(f, r->type) : NULL;
}

/* Of perf's own family, where nothing but the type is there. */
static inline const pf_row *pf_record_row(uint32_t type)
{
    return pf_family_row(&pf_family_perf, type);
}

static inline unsigned pf_marks_of(const perfile_record *r)
{
    const pf_row *row = pf_row_of(r);
    return row ? row->marks : 0;
}

/* A record that a tool wrote beside those of the kernel. */
static inline bool pf_is_of_tool(const perfile_record *r)
{
    return r->family == PERFILE_FAMILY_PERF && r->type >= PERFILE_RECORD_USER;
}

/* PF_ROLE_…: types without a row are data, but for those of tools. */
static inline unsigned pf_role_of(const perfile_record *r)
{
    const pf_row *row = pf_row_of(r);
    if (row)
        return row->role;
    return pf_is_of_tool(r) ? PF_ROLE_RECORDING : PF_ROLE_DATA;
}

/* A fragment of a larger record of simpleperf. */
static inline bool pf_is_fragment(const perfile_record *r)
{
    return pf_marks_of(r) & PF_ROW_FRAGMENT;
}

/* A fragment that the stream has made a whole of, which follows as a record of its own. */
static inline bool pf_is_joined_fragment(const perfile_record *r)
{
    return r->flags & PERFILE_REC_ENVELOPE && pf_is_fragment(r);
}

static inline bool pf_is_last_fragment(const perfile_record *r)
{
    return pf_marks_of(r) & PF_ROW_FRAGMENT_END;
}

/* Sizes of 32 bits, the upper half in place of misc: all that simpleperf has added. */
static inline bool pf_type_is_wide(uint32_t type)
{
    return type >= PERFILE_RECORD_SIMPLEPERF && type < PERFILE_RECORD_SIMPLEPERF_END;
}

#endif
