/* The rows of format/ as data: one pf_row for each record type and each feature.
 *
 * A pf_row has what the columns of the table say (role, marks, first version of perf), what follows
 * from its fields
 * (`has`), and the functions made from its fields: decode, walk, settle, encode, same, byteswap.
 * Code that has to tell kinds of records apart asks the row (schema/family.h finds it), never a
 * list of types.  The prototypes of all these functions are at the end. */
#ifndef PF_SCHEMA_ROWS_H
#define PF_SCHEMA_ROWS_H

#include "schema/context.h"

struct pf_put;
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
typedef void pf_encode_fn(const pf_context *k, struct pf_put *w, const void *in);
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

#endif
