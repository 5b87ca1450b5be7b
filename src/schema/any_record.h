/* Room for the decoded struct of any record but a sample. */
#ifndef PF_SCHEMA_ANY_RECORD_H
#define PF_SCHEMA_ANY_RECORD_H

#include "perfile/records.h"

typedef union pf_any_record {
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    perfile_##id as_##id;
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    perfile_##id as_##id;
#include "perfile/format/simpleperf.def"
} pf_any_record;

#endif
