#include "schema/rows.h"

#include "schema/family.h"

/* What a kind and a name, or the length of a string, say of a row: the second word where it is
 * defined, else 0. */
#define PF_SECOND(...)          PF_SECOND_OF(__VA_ARGS__)
#define PF_SECOND_OF(a, b, ...) b
#define PF_IS_TIME_time         ~, PF_HAS_TIME
#define PF_IS_PID_pid           ~, PF_HAS_PID
#define PF_IS_TID_tid           ~, PF_HAS_TID
#define PF_IS_CPU_cpu           ~, PF_HAS_CPU
#define PF_STRING_OF_LEFT       ~, PF_HAS_STRING
enum { PF_HAS_sample = 0 }; /* where its fields stand is known for each event */
#include "schema/has.inc"
#include "perfile/format/records.def"
#include "schema/has.inc"
#include "perfile/format/simpleperf.def"

/* The marks as the tables write them. */
enum {
    NONE = 0,
    FIRST = PF_ROW_FIRST,
    SECTION = PF_ROW_SECTION,
    BEHIND = PF_ROW_BEHIND,
    BEHIND_PADDED = PF_ROW_BEHIND_PADDED,
    ENVELOPE = PF_ROW_ENVELOPE,
    FRAGMENT = PF_ROW_FRAGMENT,
    FRAGMENT_END = PF_ROW_FRAGMENT_END,
    AUX_TRACE = PF_ROW_AUX_TRACE,
    STAT_RUN = PF_ROW_STAT_RUN
};

const pf_row pf_record_table[] = {
#define PF_RECORD_ROW(id, number, name, fixed, contract, role, since, marks, doc)                  \
    {number,                                                                                       \
     fixed,                                                                                        \
     PF_ROLE_##role,                                                                               \
     PF_PERF_##since,                                                                              \
     marks,                                                                                        \
     PF_HAS_##id,                                                                                  \
     PF_HAS_##id ? pf_own_##id : NULL,                                                             \
     PF_##contract,                                                                                \
     #name,                                                                                        \
     doc,                                                                                          \
     sizeof(perfile_##id),                                                                         \
     PF_ROW_FUNCTIONS(id)},
#define PF_CONTRACT true
#define PF_BEYOND   false
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

/* Positions in the table by type, and 1; 0 where there is no row. */
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

const pf_family pf_family_perf = {
    .name = "perf",
    .header = PF_PERF_RECORD_HEADER,
    .rows = pf_record_table,
    .types = {{0, PF_PERF_TYPES, at_type},
              {PERFILE_RECORD_SIMPLEPERF, PF_PERF_TYPES, at_simpleperf_type}},
};

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

size_t perfile_family_header(unsigned family)
{
    const pf_family *f = family < PF_N_FAMILIES ? pf_families[family] : NULL;
    return f ? f->header : 0;
}

const char *perfile_record_type_name(uint32_t type)
{
    const pf_row *row = pf_record_row(type);
    return row ? row->name : NULL;
}

const char *perfile_feature_name(uint32_t number)
{
    const pf_row *row = pf_feature_row(number);
    return row ? row->name : NULL;
}

bool perfile_record_type_in_contract(uint32_t type)
{
    const pf_row *row = pf_record_row(type);
    return row && row->contract;
}

bool perfile_feature_in_contract(uint32_t number)
{
    const pf_row *row = pf_feature_row(number);
    return row && row->contract;
}

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
    for (size_t i = 0; i < PF_N_RECORD_ROWS; i++)
        if (same_name(name, pf_record_table[i].name))
            return pf_record_table[i].number;
    return 0;
}
