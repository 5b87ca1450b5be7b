#include "expr/rows.h"

#include "schema/types.h"

#define PF_MEMBER(id, name, doc, what, type, element, kind, flags, of)                             \
    {                                                                                              \
        #name, doc,     what,                                                                      \
        type,  element, PERFILE_KIND_##kind,                                                       \
        flags, of,      offsetof(perfile_##id, name),                                              \
        0},
#define PF_MARK(what, at, bit) {NULL, NULL, what, 0, 0, 0, 0, 0, at, bit},

#define PF_MEMBERS_BEGIN(id) static const pf_member members_##id[] = {
#define PF_MEMBERS_END(id)                                                                         \
    PF_MARK(PF_MEMBER_END, 0, 0)                                                                   \
    }                                                                                              \
    ;

#include "expr/rows.inc"
#include "perfile/format/structs.def"
#include "expr/rows.inc"
#include "perfile/format/sample.def"
#include "expr/rows.inc"
#include "perfile/format/records.def"
#include "expr/rows.inc"
#include "perfile/format/simpleperf.def"

/* The steps through lists take structs of their own: one type of function for all. */
#define STRUCT(id, doc)                                                                            \
    static perfile_status next_##id(perfile_list *list, void *out, size_t size)                    \
    {                                                                                              \
        return perfile_##id##_next(list, out, size);                                               \
    }
#include "perfile/format/structs.def"

const pf_row_shape pf_struct_shapes[PF_N_SHAPES] = {
#define STRUCT(id, doc) {#id, members_##id, sizeof(perfile_##id), next_##id},
#include "perfile/format/structs.def"
#define STRUCT(id, doc) {#id, members_##id, sizeof(perfile_##id), NULL},
#include "perfile/format/sample.def"
};

#define PF_ROW_SHAPE(id) {#id, members_##id, sizeof(perfile_##id), NULL},
const pf_row_shape pf_row_shapes[PF_N_RECORD_ROWS] = {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) PF_ROW_SHAPE(id)
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) PF_ROW_SHAPE(id)
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) PF_ROW_SHAPE(id)
#include "perfile/format/simpleperf.def"
};
