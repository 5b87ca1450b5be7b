#include "schema/rows.h"

const pf_row pf_record_table[] = {
#define PF_RECORD_ROW(id, number, name, fixed, contract, doc)                                      \
    {number, fixed, PF_##contract, #name, doc, sizeof(perfile_##id), PF_ROW_FUNCTIONS(id)},
#define PF_CONTRACT true
#define PF_BEYOND   false
#define RECORD(id, number, name, source, fixed, contract, doc)                                     \
    PF_RECORD_ROW(id, number, name, fixed, contract, doc)
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, doc)                                     \
    PF_RECORD_ROW(id, number, name, fixed, contract, doc)
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, doc)                                     \
    PF_RECORD_ROW(id, number, name, fixed, contract, doc)
#include "perfile/format/simpleperf.def"
};

static const pf_row feature_rows[] = {
#define FEATURE(id, number, name, source, contract, doc)                                           \
    PF_RECORD_ROW(id, number, name, 0, contract, doc)
#include "perfile/format/features.def"
};

/* Positions in feature_rows. */
enum {
#define FEATURE(id, number, name, source, contract, doc) AT_FEATURE_##id,
#include "perfile/format/features.def"
    N_FEATURE_ROWS
};

const pf_row *pf_record_row(uint32_t type)
{
    switch (type) {
#define RECORD(id, number, name, source, fixed, contract, doc)                                     \
    case number:                                                                                   \
        return &pf_record_table[PF_AT_##id];
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, doc)                                     \
    case number:                                                                                   \
        return &pf_record_table[PF_AT_##id];
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, doc)                                     \
    case number:                                                                                   \
        return &pf_record_table[PF_AT_##id];
#include "perfile/format/simpleperf.def"
    default:
        return NULL;
    }
}

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
