/* The columns of tab-separated values: what their names stand for. */
#ifndef PF_EMIT_TSV_COLUMNS_H
#define PF_EMIT_TSV_COLUMNS_H

#include "perfile/record.h"

enum { PF_TSV_MOST_COLUMNS = 64, PF_TSV_NAME = 64 };

typedef enum pf_tsv_what {
    PF_TSV_TYPE = 0, /* of the record and its header */
    PF_TSV_MISC,
    PF_TSV_CPUMODE,
    PF_TSV_SIZE,
    PF_TSV_OFFSET,
    PF_TSV_SEQUENCE,
    PF_TSV_EVENT, /* resolved */
    PF_TSV_COMM,
    PF_TSV_DSO,
    PF_TSV_FIELD
} pf_tsv_what;

/* A field is sought in the body, then in the trailer; of samples some have a fixed place. */
typedef struct pf_tsv_column {
    char name[PF_TSV_NAME];
    const char *path; /* in `name`, behind the record if one stands in front: "mmap2.addr" */
    uint8_t what;     /* PF_TSV_… */
    uint8_t shift;    /* of a fixed place: 32 for the upper half of the word */
    bool is_hex;      /* likewise: how it is written */
    bool is_half;
    bool of_record;  /* only of records of `type` … */
    bool of_trailer; /* … or only of trailers */
    uint32_t type;
    uint32_t bit; /* of sample_type when samples have it at a fixed place, else 0 */
} pf_tsv_column;

/* Columns by their names, separated by commas; room for PF_TSV_MOST_COLUMNS. */
perfile_status pf_tsv_columns(const char *names, pf_tsv_column *columns, uint32_t *n,
                              perfile_error *err);

#endif
