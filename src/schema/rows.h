/* The rows of format/ as data: one per record type and feature. */
#ifndef PF_SCHEMA_ROWS_H
#define PF_SCHEMA_ROWS_H

#include "schema/context.h"

struct pf_put;

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
typedef void pf_turn_fn(const pf_context *k, pf_cursor *c, uint8_t *out);

typedef struct pf_row {
    uint32_t number;
    uint16_t fixed; /* records: bytes of the fixed part behind the header */
    bool contract;  /* named by the contract of `dump --format jsonl` */
    const char *name;
    const char *doc;
    uint32_t size; /* of the decoded struct */
    pf_decode_fn *decode;
    pf_walk_fn *walk;
    pf_settle_fn *settle;
    pf_encode_fn *encode;
    pf_same_fn *same;
    pf_turn_fn *turn;
} pf_row;

/* The functions of a row or struct, in the order of pf_row. */
#define PF_ROW_FUNCTIONS(id)                                                                       \
    pf_decode_##id, pf_walk_##id, pf_settle_##id, pf_encode_##id, pf_same_##id, pf_turn_##id

/* Positions in pf_record_table: PF_AT_mmap2 … */
enum {
#define RECORD(id, number, name, source, fixed, contract, doc) PF_AT_##id,
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, doc) PF_AT_##id,
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, doc) PF_AT_##id,
#include "perfile/format/simpleperf.def"
    PF_N_RECORD_ROWS
};
extern const pf_row pf_record_table[PF_N_RECORD_ROWS];

/* NULL for numbers without a row. */
const pf_row *pf_record_row(uint32_t type);
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
    pf_turn_fn pf_turn_##id;
#define STRUCT(id, doc) PF_ROW_DECLARATIONS(id)
#include "perfile/format/structs.def"
/* One BLOB of all that is left, called "data"; the same called "pad". */
pf_walk_fn pf_walk_unknown, pf_walk_padding;

#define STRUCT(id, doc)                                        PF_ROW_DECLARATIONS(id)
#define RECORD(id, number, name, source, fixed, contract, doc) PF_ROW_DECLARATIONS(id)
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, doc) PF_ROW_DECLARATIONS(id)
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, doc) PF_ROW_DECLARATIONS(id)
#include "perfile/format/simpleperf.def"
#define STRUCT(id, doc)                                  PF_ROW_DECLARATIONS(id)
#define FEATURE(id, number, name, source, contract, doc) PF_ROW_DECLARATIONS(id)
#include "perfile/format/features.def"

#endif
