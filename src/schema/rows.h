/* The rows of format/ as data: one per record type and feature. */
#ifndef PF_SCHEMA_ROWS_H
#define PF_SCHEMA_ROWS_H

#include "schema/context.h"

struct pf_put;
typedef struct pf_family pf_family;

/* A bit for each number of the kernel's that has a row, and the last of them. */
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

enum { PF_PERF_TYPES = 128 }; /* numbers of records are less; of simpleperf's from the first on */

typedef struct pf_walker {
    const perfile_visitor *visitor;
    void *user;
    const uint8_t *base; /* what offsets count from */
    uint64_t shift;      /* added to them: 8 for the body of a record */
    uint32_t flags;      /* PERFILE_WALK_… */
} pf_walker;

/* pf_decode_sample(), from the same rows, for the sample types that are usual, in this machine's
 * byte order: each compiled for itself, so that what is absent costs nothing.  NULL for other
 * types. What it returns writes the members of that type and `present`, no others; it returns
 * false, and *out is worthless, when the body is too short. */
typedef bool pf_usual_fn(perfile_bytes body, perfile_sample *out);
pf_usual_fn *pf_usual_sample(uint64_t sample_type);

/* Decodes into a zeroed struct of the row; c->bad says whether that went well. */
typedef void pf_decode_fn(const pf_context *k, pf_cursor *c, void *out);
typedef void pf_walk_fn(const pf_context *k, pf_cursor *c, const pf_walker *w);

/* Sets the counts of a struct from what they count, and the second of two `has_…` members that
 * exclude each other. */
typedef void pf_settle_fn(void *in);
/* Writes a struct; w->wrong and w->full say whether that went well. */
typedef void pf_encode_fn(const pf_context *k, struct pf_put *w, const void *in);
/* NULL when both hold the same, else the first member that differs.  `a` was settled. */
typedef const char *pf_same_fn(const void *a, const void *b);
/* Writes each number that stands at c->pos in the other byte order to the same place of `out`,
 * which holds a copy of the bytes; c->bad says whether that went well. */
typedef void pf_byteswap_fn(const pf_context *k, pf_cursor *c, uint8_t *out);

/* What a record is when captures are made smaller, put in order or put together. */
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
       /* Says something of the capture as a whole: readers want it in front of what it is about. */
       PF_ROW_FIRST = 1 << 0,
       /* A file says the same in its attrs or in a feature section. */
       PF_ROW_SECTION = 1 << 1,
       /* Bytes follow that its size does not count: so many as its first word, 64 bits, says. */
       PF_ROW_BEHIND = 1 << 2,
       /* The same, where the first word has 32 bits and the bytes are padded to 8.  None when the
        * record has room for them: then they are in it. */
       PF_ROW_BEHIND_PADDED = 1 << 3,
       PF_ROW_ENVELOPE = 1 << 4, /* holds compressed records */
       PF_ROW_FRAGMENT = 1 << 5, /* holds bytes of a record that is longer than a size can say */
       PF_ROW_FRAGMENT_END = 1 << 6, /* a fragment that says: these were all */
       PF_ROW_AUX_TRACE = 1 << 7, /* of AUX traces, of which a capture has those of one recording */
       PF_ROW_STAT_RUN = 1 << 8,  /* of perf stat: likewise */
       /* Says what holds for the records behind it: the driver has put it into them
        * (PERFILE_REC_TIMED), and a writer says it anew where it changes. */
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

/* Time, task and processor that a record has in fields of its own. */
typedef struct pf_own {
    bool has_time, has_pid, has_tid, has_cpu;
    uint32_t pid, tid, cpu;
    uint64_t time;
} pf_own;
typedef void pf_own_fn(const void *decoded, pf_own *own);

enum {                       /* pf_row.has, bits */
       PF_HAS_TIME = 1 << 0, /* fields of its own, of the kind and name that pf_own says */
       PF_HAS_PID = 1 << 1,
       PF_HAS_TID = 1 << 2,
       PF_HAS_CPU = 1 << 3,
       PF_HAS_STRING = 1 << 4 /* a string up to the trailer, or to the end */
};

typedef struct pf_row {
    uint32_t number;
    uint16_t fixed; /* records: bytes of the fixed part behind the header */
    uint8_t role;   /* PF_ROLE_… */
    uint8_t since;  /* PF_PERF_…: the first version that knows it */
    uint16_t marks; /* PF_ROW_… */
    uint8_t has;    /* PF_HAS_… */
    pf_own_fn *own; /* of the decoded struct; NULL: it has none */
    bool contract;  /* named by the contract of `dump --format jsonl` */
    const char *name;
    const char *doc;
    uint32_t size; /* of the decoded struct */
    pf_decode_fn *decode;
    pf_walk_fn *walk;
    pf_settle_fn *settle;
    pf_encode_fn *encode;
    pf_same_fn *same;
    pf_byteswap_fn *turn;
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

/* All rows, in the order of the tables: for laws over them. */
const pf_row *pf_record_rows(size_t *n);
const pf_row *pf_feature_rows(size_t *n);

#define PF_ROW_DECLARATIONS(id)                                                                    \
    pf_decode_fn pf_decode_##id;                                                                   \
    pf_walk_fn pf_walk_##id;                                                                       \
    pf_settle_fn pf_settle_##id;                                                                   \
    pf_encode_fn pf_encode_##id;                                                                   \
    pf_same_fn pf_same_##id;                                                                       \
    pf_byteswap_fn pf_byteswap_##id;
#define STRUCT(id, doc) PF_ROW_DECLARATIONS(id)
#include "perfile/format/structs.def"
/* One BLOB of all that is left, called "data"; the same called "pad". */
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
