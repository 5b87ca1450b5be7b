/* The tables of perf's own family: rows of records and features, the maps from a type or number to
 * its row, and the shapes of all layouts. All of it is expanded from format/.  The public functions
 * that give names to types and features are here, too. */
#include "schema/expand.h"
#include "schema/command.h"

/* Samples have no fields at places that hold for all of them: core/layout.h has the places for each
 * event. */
enum { PF_HAS_sample = PF_HAS_stack_user & PF_HAS_SLACK };
#include "schema/rows.inc"
#include "perfile/format/records.def"
#include "schema/rows.inc"
#include "perfile/format/simpleperf.def"

#define PF_OWN
#include "schema/rows.inc"
#include "perfile/format/records.def"
#include "schema/rows.inc"
#include "perfile/format/simpleperf.def"

const pf_row pf_record_table[] = {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PF_RECORD_ROW(id, number, name, fixed, contract, role, since, marks, doc)
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PF_RECORD_ROW(id, number, name, fixed, contract, role, since, marks, doc)
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PF_RECORD_ROW(id, number, name, fixed, contract, role, since, marks, doc)
#include "perfile/format/simpleperf.def"

};

/* Position in pf_record_table plus 1, by type; 0: no row. */
static const uint8_t at_type[PF_PERF_TYPES] = {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    [number] = PF_AT_##id + 1,
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    [number] = PF_AT_##id + 1,
#include "perfile/format/records.def"

};
static const uint8_t at_simpleperf_type[PF_PERF_TYPES] = {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    [(number)-PERFILE_RECORD_SIMPLEPERF] = PF_AT_##id + 1,
#include "perfile/format/simpleperf.def"

};

const pf_family *const pf_families[PF_N_FAMILIES] = {
#define FAMILY(id, number) [number] = &pf_family_##id,
#include "perfile/format/families.def"

};

#define PF_SHAPES
#include "schema/fields.inc"
#include "perfile/format/structs.def"
#include "schema/fields.inc"
#include "perfile/format/sample.def"
#include "schema/fields.inc"
#include "perfile/format/records.def"
#include "schema/fields.inc"
#include "perfile/format/simpleperf.def"
#include "schema/fields.inc"
#include "perfile/format/features.def"

const pf_row_shape pf_struct_shapes[PF_N_SHAPES] = {
#define STRUCT(id, doc) {#id, sizeof(perfile_##id), shape_##id, PERFILE_LIST_##id},
#include "perfile/format/structs.def"
#define STRUCT(id, doc) PF_ROW_SHAPE(id)
#include "perfile/format/sample.def"
#define STRUCT(id, doc) {#id, sizeof(perfile_##id), shape_##id, PERFILE_LIST_##id},
#include "perfile/format/features.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) PF_ROW_SHAPE(id)
#include "perfile/format/records.def"
};

/* As pf_record_table. */
static const pf_row_shape row_shapes[] = {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) PF_ROW_SHAPE(id)
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) PF_ROW_SHAPE(id)
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) PF_ROW_SHAPE(id)
#include "perfile/format/simpleperf.def"
};

const pf_family pf_family_perf = {
    .name = "perf",
    .prefix = "PERF_RECORD_",
    .header = PF_PERF_RECORD_HEADER,
    .rounds = true,
    .frame_at = pf_frame_at,
    .byteswap_header = pf_swap_header,
    .rows = pf_record_table,
    .shapes = row_shapes,
    .n_rows = PF_N_RECORD_ROWS,
    .types = {{0, PF_PERF_TYPES, at_type},
              {PERFILE_RECORD_SIMPLEPERF, PF_PERF_TYPES, at_simpleperf_type}},
};

/* Features have none of the columns of records: their rows are a number, texts and functions. */
static const pf_row feature_rows[] = {
#define FEATURE(id, number, name, source, contract, doc)                                           \
    {number,                                                                                       \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     NULL,                                                                                         \
     PF_##contract,                                                                                \
     #name,                                                                                        \
     doc,                                                                                          \
     sizeof(perfile_##id),                                                                         \
     PF_ROW_FUNCTIONS(id)},
#include "perfile/format/features.def"

};

/* Positions in feature_rows. */
enum {
#define FEATURE(id, number, name, source, contract, doc) AT_FEATURE_##id,
#include "perfile/format/features.def"

    N_FEATURE_ROWS
};

const pf_row *pf_feature_row(uint32_t number)
{
    switch (number) {
#define FEATURE(id, number, name, source, contract, doc)                                           \
    case number:                                                                                   \
        return &feature_rows[AT_FEATURE_##id];
#include "perfile/format/features.def"

    default:
        return NULL;
    }
}

const pf_row *pf_record_rows(size_t *n)
{
    *n = PF_N_RECORD_ROWS;
    return pf_record_table;
}

const pf_row *pf_feature_rows(size_t *n)
{
    *n = N_FEATURE_ROWS;
    return feature_rows;
}

static const pf_row_shape feature_shapes[] = {
#define FEATURE(id, number, name, source, contract, doc) PF_ROW_SHAPE(id)
#include "perfile/format/features.def"
};

const pf_row_shape *pf_feature_shape_at(size_t position)
{
    return &feature_shapes[position];
}

/* Positions are stored in bytes elsewhere: no more than PF_ROWS_MOST. */
unsigned pf_all_rows(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < PF_N_FAMILIES; i++)
        n += pf_families[i] ? pf_families[i]->n_rows : 0;
    return n < PF_ROWS_MOST ? n : PF_ROWS_MOST;
}

/* The family that the row at *position is of; *position becomes the row's index in that family. */
static const pf_family *family_of(unsigned *position)
{
    unsigned i = 0;
    for (; i + 1 < PF_N_FAMILIES; i++) {
        uint32_t n = pf_families[i] ? pf_families[i]->n_rows : 0;
        if (*position < n)
            break;
        *position -= n;
    }
    return pf_families[i];
}

const pf_row_shape *pf_shape_at(unsigned position)
{
    const pf_family *f = family_of(&position);
    return &f->shapes[position];
}

const pf_row *pf_row_at(unsigned position)
{
    const pf_family *f = family_of(&position);
    return &f->rows[position];
}

size_t pf_family_header(unsigned family)
{
    const pf_family *f = family < PF_N_FAMILIES ? pf_families[family] : NULL;
    return f ? f->header : 0;
}

const char *pf_type_name(unsigned family, uint32_t type)
{
    const pf_family *f = family < PF_N_FAMILIES ? pf_families[family] : NULL;
    const pf_row *row = f ? pf_family_row(f, type) : NULL;
    return row ? row->name : NULL;
}

const char *pf_record_type_name(uint32_t type)
{
    return pf_type_name(PERFILE_FAMILY_PERF, type);
}

const char *pf_feature_name(uint32_t number)
{
    const pf_row *row = pf_feature_row(number);
    return row ? row->name : NULL;
}

bool pf_record_type_in_contract(uint32_t type)
{
    const pf_row *row = pf_record_row(type);
    return row && row->contract;
}

bool pf_feature_in_contract(uint32_t number)
{
    const pf_row *row = pf_feature_row(number);
    return row && row->contract;
}

/* Compares `a`, in any case, with `b`, which is upper case. */
static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        char upper = *a >= 'a' && *a <= 'z' ? (char)(*a - 'a' + 'A') : *a;
        if (upper != *b)
            return false;
    }
    return *a == *b;
}

uint32_t perfile_record_type_number(const char *name)
{
    static const char prefix[] = "PERF_RECORD_";
    if (strncmp(name, prefix, sizeof prefix - 1) == 0)
        name += sizeof prefix - 1;
    for (unsigned family = 0; family < PF_N_FAMILIES; family++) {
        const pf_family *f = pf_families[family];
        for (size_t i = 0; f && i < f->n_rows; i++)
            if (same_name(name, f->rows[i].name))
                return f->rows[i].number;
    }
    return 0;
}
