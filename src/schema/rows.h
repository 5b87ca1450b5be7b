/* The rows of format/ as data: one pf_row for each record type and each feature.
 *
 * A pf_row has what the columns of the table say (role, marks, first version of perf), what follows
 * from its fields
 * (`has`), and the functions made from its fields: decode, walk, settle, encode, same, byteswap.
 * Code that has to tell kinds of records apart asks the row (pf_row_of() finds it), never a
 * list of types.  The prototypes of all these functions are at the end. */
#ifndef PF_SCHEMA_ROWS_H
#define PF_SCHEMA_ROWS_H

#include "base/cursor.h"
#include "perfile/abi.h"
#include "perfile/event.h"
#include "perfile/record.h"
#include "schema/types.h"

#include <stddef.h>

typedef struct pf_put pf_put;
typedef struct pf_family pf_family;

/* A bit for each kernel record type that has a row (they are all below 64), and the highest such
 * type. */
#define PF_BIT_K(number) | UINT64_C(1) << (number)
#define PF_BIT_P(number)
static const uint64_t pf_perf_kernel_types = 0
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PF_BIT_##source(number)
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PF_BIT_##source(number)
#include "perfile/format/records.def"
    ;
#define PF_PERF_LAST_KERNEL_TYPE (63U - (unsigned)__builtin_clzll(pf_perf_kernel_types))

/* Record types of perf are below this; those of simpleperf too, counted from
 * PERFILE_RECORD_SIMPLEPERF. */
enum { PF_PERF_TYPES = 128 };

/* A walk: whom the fields are shown to, and how their offsets are counted. */

typedef struct pf_walker {
    const perfile_visitor *visitor;
    void *user;
    const uint8_t *base; /* what offsets count from */
    uint64_t shift;      /* added to them: 8 for the body of a record */
    uint32_t flags;      /* PERFILE_WALK_… */
} pf_walker;

/* Specialised versions of pf_decode_sample() for usual sample types in this machine's byte order;
 * NULL for other types.  Each is compiled with a constant sample_type, so that absent fields cost
 * nothing.  The function writes the members of its type and `present`, no others.  It returns false
 * if the body is too short; *out must not be used then. */
typedef bool pf_usual_fn(perfile_bytes body, perfile_sample *out);
pf_usual_fn *pf_usual_sample(uint64_t sample_type);

/* Decodes into a zeroed struct of the row.  c->bad is the damage at which it stopped, 0 without
 * one. */
typedef void pf_decode_fn(const pf_context *k, pf_cursor *c, void *out);
/* Decodes likewise and shows each field to the visitor of `w`. */
typedef void pf_walk_fn(const pf_context *k, pf_cursor *c, const pf_walker *w);

/* Sets the counts of a struct from what they count, and the second of two `has_…` members that
 * exclude each other. */
typedef void pf_set_counts_fn(void *in);
/* Writes a struct.  w->wrong and w->full are set where something does not fit. */
typedef void pf_encode_fn(const pf_context *k, pf_put *w, const void *in);
/* The name of the first member that differs, NULL if the structs are equal.  `a` has been settled.
 */
typedef const char *pf_same_fn(const void *a, const void *b);
/* Writes each number from c->pos on in the other byte order to the same offset of `out`, which
 * holds a copy of the bytes.  c->bad as for decoders. */
typedef void pf_byteswap_fn(const pf_context *k, pf_cursor *c, uint8_t *out);

/* What a record is for stages that filter, split, sort or merge. */
enum {                    /* pf_row.role */
       PF_ROLE_DATA = 0,  /* what was measured */
       PF_ROLE_TASK,      /* side-band of a process, whose number is the first word of the record */
       PF_ROLE_KERNEL,    /* side-band of the system, true from its time on */
       PF_ROLE_RECORDING, /* about the recording */
       PF_ROLE_FACT,      /* nothing can be read without it */
       PF_ROLE_LOSS,      /* what is missing */
       PF_ROLE_AUX        /* bytes of a processor or thread */
};

enum { /* pf_row.marks, bits */
       /* States something about the capture as a whole: readers need it before the records it is
          about. */
       PF_ROW_FIRST = 1 << 0,
       /* Carries in a pipe what a file has in its attrs or in a feature section. */
       PF_ROW_SECTION = 1 << 1,
       /* Bytes follow that the record's size does not count; the first field, 64 bits, says how
          many. */
       PF_ROW_BEHIND = 1 << 2,
       /* The same with a first field of 32 bits; the bytes are padded to 8.  If the record itself
        * is long enough to hold that many bytes, they are in it and none follow. */
       PF_ROW_BEHIND_PADDED = 1 << 3,
       PF_ROW_ENVELOPE = 1 << 4, /* holds compressed records */
       PF_ROW_FRAGMENT = 1 << 5, /* holds bytes of a record that is longer than a size can say */
       PF_ROW_FRAGMENT_END = 1 << 6, /* marks the end of a series of fragments */
       PF_ROW_AUX_TRACE =
           1 << 7,               /* of AUX traces: a capture can hold those of one recording only */
       PF_ROW_STAT_RUN = 1 << 8, /* of perf stat: likewise */
       /* Sets a value for all records behind it, such as the time.  The driver has copied the value
        * into these records (PERFILE_REC_TIMED); a writer writes such a record wherever the value
        * changes.  One whose `misc` is not 0 is data as well. */
       PF_ROW_STATE = 1 << 9,
       PF_ROW_HAS_BEHIND = PF_ROW_BEHIND | PF_ROW_BEHIND_PADDED
};

/* Versions of perf, in ascending order: PF_PERF_V6_1 …. */
enum {
#define PERF(id, name, attr_size, feature) PF_PERF_##id,
#include "perfile/format/versions.def"
    PF_N_RELEASES,
    PF_PERF_NEVER = PF_N_RELEASES /* pf_row.since: no perf knows it */
};

/* Time, task and processor from fields of the record's body, as opposed to its trailer. */
typedef struct pf_own {
    bool has_time, has_pid, has_tid, has_cpu;
    uint32_t pid, tid, cpu;
    uint64_t time;
} pf_own;
typedef void pf_own_fn(const void *decoded, pf_own *own);

enum {                       /* pf_row.has, bits */
       PF_HAS_TIME = 1 << 0, /* the body has such a field: see PF_IS_… in schema/expand.h */
       PF_HAS_PID = 1 << 1,
       PF_HAS_TID = 1 << 2,
       PF_HAS_CPU = 1 << 3,
       PF_HAS_STRING = 1 << 4, /* the last field is a string, up to the trailer or the end */
       /* It may have bytes that mean nothing: padding, what is behind the NUL of a string or behind
          the valid part of a stack. */
       PF_HAS_SLACK = 1 << 5
};

typedef struct pf_row {
    uint32_t number; /* record type or feature number; of other families with the family in it */
    uint16_t fixed;  /* records: bytes of the fixed part behind the header */
    uint8_t role;    /* PF_ROLE_… */
    uint8_t since;   /* PF_PERF_…: the first version that knows it */
    uint16_t marks;  /* PF_ROW_… */
    uint8_t has;     /* PF_HAS_… */
    pf_own_fn *own;  /* of the decoded struct; NULL: it has none */
    bool contract;   /* named by the contract of `dump --format jsonl` */
    const char *name;
    const char *doc;
    uint32_t size; /* of the decoded struct */
    pf_decode_fn *decode;
    pf_walk_fn *walk;
    pf_set_counts_fn *settle;
    pf_encode_fn *encode;
    pf_same_fn *same;
    pf_byteswap_fn *byteswap;
} pf_row;

/* The functions of a row or struct, in the order of pf_row. */
#define PF_ROW_FUNCTIONS(id)                                                                       \
    pf_decode_##id, pf_walk_##id, pf_settle_##id, pf_encode_##id, pf_same_##id, pf_byteswap_##id

/* Positions in pf_record_table: PF_AT_mmap2 … */
enum {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) PF_AT_##id,
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) PF_AT_##id,
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) PF_AT_##id,
#include "perfile/format/simpleperf.def"
    PF_N_RECORD_ROWS
};
extern const pf_row pf_record_table[PF_N_RECORD_ROWS];

#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    pf_own_fn pf_own_##id;
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    pf_own_fn pf_own_##id;
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    pf_own_fn pf_own_##id;
#include "perfile/format/simpleperf.def"

/* Room for the decoded struct of any record but a sample. */
typedef union pf_any_record {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    perfile_##id as_##id;
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    perfile_##id as_##id;
#include "perfile/format/simpleperf.def"
} pf_any_record;

/* NULL for numbers without a row. */
const pf_row *pf_feature_row(uint32_t number);

/* All rows in the order of the tables: for tests that hold for every row. */
const pf_row *pf_record_rows(size_t *n);
const pf_row *pf_feature_rows(size_t *n);

#define PF_ROW_DECLARATIONS(id)                                                                    \
    pf_decode_fn pf_decode_##id;                                                                   \
    pf_walk_fn pf_walk_##id;                                                                       \
    pf_set_counts_fn pf_settle_##id;                                                               \
    pf_encode_fn pf_encode_##id;                                                                   \
    pf_same_fn pf_same_##id;                                                                       \
    pf_byteswap_fn pf_byteswap_##id;
#define STRUCT(id, doc) PF_ROW_DECLARATIONS(id)
#include "perfile/format/structs.def"
/* Show all bytes that are left as one BLOB field, called "data" or "pad". */
pf_walk_fn pf_walk_unknown, pf_walk_padding;

#define STRUCT(id, doc) PF_ROW_DECLARATIONS(id)
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PF_ROW_DECLARATIONS(id)
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PF_ROW_DECLARATIONS(id)
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PF_ROW_DECLARATIONS(id)
#include "perfile/format/simpleperf.def"
#define STRUCT(id, doc)                                  PF_ROW_DECLARATIONS(id)
#define FEATURE(id, number, name, source, contract, doc) PF_ROW_DECLARATIONS(id)
#include "perfile/format/features.def"

/* Families of records: what their types mean and how they are framed.
 *
 * A family is a set of record types with one kind of header: perf's own family, or a foreign format
 * (tests/build/toy_family.sh adds one).  Types of two families are different things even with the
 * same number, so a record's row is found by family and type, pf_row_of(), never by the type alone.
 * format/families.def lists the families; family.inc makes the tables of one. */

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
    const pf_row_shape *shapes; /* of the rows */
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

/* The members of decoded structs as data.
 *
 * Conditions (src/expr/) look a name up here and then read the member at its offset of the decoded
 * struct, without knowing the type.  A shape lists members in stored order; marks between them say
 * under which conditions the members after them exist, and where places in the input stop being
 * fixed. */

/* pf_member.what */
enum {
    PF_MEMBER_END = 0,
    PF_MEMBER_FIELD,  /* of any type, PERFILE_STORED_LIST and STRUCT too */
    PF_MEMBER_ATTR,   /* a field that is there when attr.size reaches it */
    PF_MEMBER_WHEN,   /* the members up to ELSE or END_WHEN exist if the bool at `at` is true */
    PF_MEMBER_SAMPLE, /* they exist if `present` has `bit` */
    PF_MEMBER_ELSE,
    PF_MEMBER_END_WHEN,
    PF_MEMBER_GAP,   /* from here on the offsets in the input are not fixed */
    PF_MEMBER_BEYOND /* from here on dumps show the bytes, because their contract has no fields */
};

typedef struct pf_member {
    const char *name; /* of a member or a WHEN; NULL for other marks */
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

/* Begins with perfile_struct, which programs see of it. */
struct pf_row_shape {
    const char *name;
    size_t size;
    const pf_member *members; /* up to PF_MEMBER_END */
    uint32_t list;            /* PERFILE_LIST_…; 0: never in a list */
};

enum {
#define STRUCT(id, doc) PF_SHAPE_##id,
#include "perfile/format/structs.def"
#define STRUCT(id, doc) PF_SHAPE_##id,
#include "perfile/format/sample.def"
#define STRUCT(id, doc) PF_SHAPE_##id,
#include "perfile/format/features.def"
/* Records may be inside other structs, too. */
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) PF_SHAPE_##id,
#include "perfile/format/records.def"
    PF_N_SHAPES
};

extern const pf_row_shape pf_struct_shapes[PF_N_SHAPES];

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

/* Framing: the header of a record, and the bytes that follow a record without being part of its
 * size. */

/* Decodes the header at `p` (8 bytes) of a record of perf's own family.  simpleperf's types have
 * the two halves of a 32-bit size in place of misc and size. */
static inline pf_frame pf_frame_at(const uint8_t *p, bool swap)
{
    pf_frame f;
    f.type = pf_load_u32(p, swap);
    f.misc = pf_load_u16(p + 4, swap);
    f.size = pf_load_u16(p + 6, swap);
    if (pf_type_is_wide(f.type)) {
        f.size |= (uint32_t)f.misc << 16;
        f.misc = 0;
    }
    return f;
}

/* How many bytes follow the record at `rec` without being part of its size (AUXTRACE,
 * HEADER_TRACING_DATA). `f` is its header; the record is complete. */
static inline uint64_t pf_frame_extra(const uint8_t *rec, const pf_frame *f, bool swap)
{
    const pf_row *row = f->type < PERFILE_RECORD_USER ? NULL : pf_record_row(f->type);
    if (!row)
        return 0;
    if (row->marks & PF_ROW_BEHIND && f->size >= 16)
        return pf_load_u64(rec + 8, swap);
    if (row->marks & PF_ROW_BEHIND_PADDED && f->size >= 12) {
        uint32_t n = pf_load_u32(rec + 8, swap);
        return n <= f->size - 12 ? 0 : ((uint64_t)n + 7) & ~UINT64_C(7);
    }
    return 0;
}

/* Decodes the header of a record of any family; not of PERFILE_FAMILY_DAMAGE. */
static inline pf_frame pf_frame_of(uint8_t family, const uint8_t *p, bool swap)
{
    const pf_family *f = pf_family_of(family);
    if (family == PERFILE_FAMILY_PERF || !f)
        return pf_frame_at(p, swap);
    return f->frame_at(p, swap);
}

/* Where the body of a kernel record ends and its trailer (sample_id) begins.  No other code decides
 * that. */

/* By type: size of the fixed part of a kernel record plus 1; 0 for types without a row. */
extern const uint8_t pf_record_fixed_plus_one[PERFILE_RECORD_USER];

static inline bool pf_record_known(uint32_t type)
{
    return type < PERFILE_RECORD_USER && pf_record_fixed_plus_one[type] != 0;
}

/* True for types of the kernel, also of kernels to come. */
static inline bool pf_record_of_kernel(uint32_t type)
{
    return type - 1 < PERFILE_RECORD_USER - 1;
}

/* The part of pf_record_split() that is not inlined.  The record is no sample and its layout has a
 * trailer. */
bool pf_record_split_trailer(const perfile_record *r, const perfile_layout *l, bool as_stored,
                             perfile_bytes *body, perfile_bytes *trailer);

/* Splits r->body into *body and *trailer.  `l` is the record's layout (NULL: none).  Returns false
 * if the record has no trailer: then *body is all of r->body.  With `as_stored` a trailer is
 * assumed wherever the layout has one, even where the record looks as if a tool had left it out. */
static inline bool pf_record_split(const perfile_record *r, const perfile_layout *l, bool as_stored,
                                   perfile_bytes *body, perfile_bytes *trailer)
{
    *body = r->body;
    *trailer = (perfile_bytes){NULL, 0};
    if (!l || !l->trailer_size || r->type == PERFILE_RECORD_SAMPLE)
        return false;
    return pf_record_split_trailer(r, l, as_stored, body, trailer);
}

/* Byte-swapping of records and features: format/ expanded once more, to code that writes each
 * number in the other byte order to the same offset of a copy.  core/swap.h is the interface for
 * whole records. */

/* pf_byteswap_sample() for the sample types that are usual, each compiled for itself; see
 * pf_usual_sample().  `out` holds a copy of the body; false when the body cannot be read: then
 * *out is byte-swapped up to the first field that could not be read. */
typedef bool pf_usual_swap_fn(perfile_bytes body, bool swapped, uint8_t *out);
pf_usual_swap_fn *pf_usual_swap(uint64_t sample_type);

/* Byte-swaps the 8-byte header (u32 type, u16 misc, u16 size) of a record of perf's own family. */
static inline void pf_swap_header(uint8_t *out, const uint8_t *in)
{
    pf_store_u32(out, pf_load_u32(in, true), false);
    pf_store_u16(out + 4, pf_load_u16(in + 4, true), false);
    pf_store_u16(out + 6, pf_load_u16(in + 6, true), false);
}

#endif
