/* Shapes of all layouts: format/ expanded to arrays of pf_member (schema/shapes.inc). */
#include "schema/shapes.h"

#include "schema/expand.h"

#include "schema/shapes.inc"
#include "perfile/format/structs.def"
#include "schema/shapes.inc"
#include "perfile/format/sample.def"
#include "schema/shapes.inc"
#include "perfile/format/records.def"
#include "schema/shapes.inc"
#include "perfile/format/simpleperf.def"
#include "schema/shapes.inc"
#include "perfile/format/features.def"

/* perfile_NAME_next() with one type for all layouts. */
#define STRUCT(id, doc)                                                                            \
    static perfile_status next_##id(perfile_list *list, void *out, size_t size)                    \
    {                                                                                              \
        return perfile_##id##_next(list, out, size);                                               \
    }
#include "perfile/format/structs.def"
#define STRUCT(id, doc)                                                                            \
    static perfile_status next_##id(perfile_list *list, void *out, size_t size)                    \
    {                                                                                              \
        return perfile_##id##_next(list, out, size);                                               \
    }
#include "perfile/format/features.def"

const pf_row_shape pf_struct_shapes[PF_N_SHAPES] = {
#define STRUCT(id, doc) {#id, shape_##id, sizeof(perfile_##id), next_##id},
#include "perfile/format/structs.def"
#define STRUCT(id, doc) {#id, shape_##id, sizeof(perfile_##id), NULL},
#include "perfile/format/sample.def"
#define STRUCT(id, doc) {#id, shape_##id, sizeof(perfile_##id), next_##id},
#include "perfile/format/features.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) PF_ROW_SHAPE(id)
#include "perfile/format/records.def"
};

const pf_row_shape pf_row_shapes[PF_N_RECORD_ROWS] = {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) PF_ROW_SHAPE(id)
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) PF_ROW_SHAPE(id)
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) PF_ROW_SHAPE(id)
#include "perfile/format/simpleperf.def"
};

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
