/* The members of decoded structs as data: format/ expanded once more.
 *
 * Conditions (src/expr/) look a name up here and then read the member at its offset of the decoded
 * struct, without knowing the type.  A shape lists members in stored order; marks between them say
 * under which conditions the members after them exist, and where places in the input stop being
 * fixed. */
#ifndef PF_SCHEMA_SHAPES_H
#define PF_SCHEMA_SHAPES_H

#include "schema/rows.h"

/* pf_member.what */
enum {
    PF_MEMBER_END = 0,
    PF_MEMBER_FIELD,  /* of any type, PERFILE_STORED_LIST and STRUCT too */
    PF_MEMBER_ATTR,   /* a field that is there when attr.size reaches it */
    PF_MEMBER_WHEN,   /* the members up to ELSE or END_WHEN exist if the bool at `at` is true */
    PF_MEMBER_SAMPLE, /* they exist if `present` has `bit` */
    PF_MEMBER_ELSE,
    PF_MEMBER_END_WHEN,
    PF_MEMBER_GAP /* from here on the offsets in the input are not fixed */
};

typedef struct pf_member {
    const char *name;
    const char *doc;
    uint8_t what;
    uint8_t type;    /* PERFILE_STORED_U8 … */
    uint8_t element; /* of WORDS: PERFILE_STORED_U16 … */
    uint8_t kind;
    uint8_t flags; /* PERFILE_FIELD_… */
    uint8_t of;    /* LIST, STRUCT: PF_SHAPE_… */
    uint16_t at;   /* in the decoded struct: the member, or the has_… of a WHEN */
    uint64_t bit;  /* of a SAMPLE */
} pf_member;

/* Takes the next element off a list; `size` is that of the decoded struct. */
typedef perfile_status pf_shape_next_fn(perfile_list *list, void *out, size_t size);

struct pf_row_shape {
    const char *name;
    const pf_member *members; /* up to PF_MEMBER_END */
    uint32_t size;
    pf_shape_next_fn *next; /* NULL: never in a list */
};

enum {
#define STRUCT(id, doc) PF_SHAPE_##id,
#include "perfile/format/structs.def"
#define STRUCT(id, doc) PF_SHAPE_##id,
#include "perfile/format/sample.def"
#define STRUCT(id, doc) PF_SHAPE_##id,
#include "perfile/format/features.def"
/* Records may stand inside other structs, too. */
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) PF_SHAPE_##id,
#include "perfile/format/records.def"
    PF_N_SHAPES
};

extern const pf_row_shape pf_struct_shapes[PF_N_SHAPES];
extern const pf_row_shape pf_row_shapes[PF_N_RECORD_ROWS]; /* as pf_record_table */

/* The shape of a feature's struct, by the position of its row in pf_feature_rows(). */
const pf_row_shape *pf_feature_shape_at(size_t position);

/* The rows of all families as one sequence, family by family; perf's own are at PF_AT_mmap2 …. */
enum { PF_ROWS_MOST = 255 };
unsigned pf_all_rows(void);
const pf_row_shape *pf_shape_at(unsigned position); /* below pf_all_rows() */
const pf_row *pf_row_at(unsigned position);

/* The position of a row of that family in this sequence. */
static inline unsigned pf_row_position(uint8_t family, const pf_row *row)
{
    const pf_family *f = pf_family_of(family);
    if (family == PERFILE_FAMILY_PERF || !f)
        return (unsigned)(row - pf_record_table);
    unsigned at = (unsigned)(row - f->rows);
    for (unsigned i = 0; i < PF_N_FAMILIES && i < family; i++)
        at += pf_families[i] ? pf_families[i]->n_rows : 0;
    return at;
}

/* Bytes of an integer type as stored and as decoded; 0 for others. */
static inline unsigned pf_type_width(unsigned type)
{
    static const uint8_t widths[] = {1, 2, 4, 8, 4, [PERFILE_STORED_S64] = 8};
    return type < sizeof widths ? widths[type] : 0;
}

/* True for integers that may be negative. */
static inline bool pf_is_signed(unsigned type)
{
    return type == PERFILE_STORED_S32 || type == PERFILE_STORED_S64;
}

#endif
