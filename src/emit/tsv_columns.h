/* Columns of the form "tsv": what the names in perfile_emit_options.fields stand for.  Names of
 * fields are those of expressions (format/expressions.md); a few more name what belongs to every
 * record. */
#ifndef PF_EMIT_TSV_COLUMNS_H
#define PF_EMIT_TSV_COLUMNS_H

#include "perfile/record.h"

enum { PF_TSV_MOST_COLUMNS = 64, PF_TSV_NAME = 64 };

typedef enum pf_tsv_what {
    PF_TSV_TYPE = 0, /* from the record and its header */
    PF_TSV_MISC,
    PF_TSV_CPUMODE,
    PF_TSV_SIZE,
    PF_TSV_OFFSET,
    PF_TSV_SEQUENCE,
    PF_TSV_EVENT, /* names that are looked up */
    PF_TSV_COMM,
    PF_TSV_DSO,
    PF_TSV_FIELD /* any field */
} pf_tsv_what;

/* A column.  A field is searched in the body of a record, then in its trailer; some fields of
 * samples have a fixed position and need no search. */
typedef struct pf_tsv_column {
    char name[PF_TSV_NAME];
    const char *path; /* points into `name`, behind a leading "record.": "addr" of "mmap2.addr" */
    uint8_t what;     /* PF_TSV_… */
    /* For a field at a fixed position of samples: 32 if it is the upper half of its 64-bit word,
     * whether it is written in hexadecimal, and whether it has 32 bits. */
    uint8_t shift;
    bool is_hex;
    bool is_half;
    bool of_record;  /* only in records of `type` … */
    bool of_trailer; /* … or only in trailers ("sample_id.time") */
    uint32_t type;
    uint32_t bit; /* of sample_type, if samples have the field at a fixed position; else 0 */
} pf_tsv_column;

/* Fills columns[PF_TSV_MOST_COLUMNS] from names separated by commas; *n must be 0 before.
 * PERFILE_E_USAGE: a name is not known (the message has similar ones), or there are too many. */
perfile_status pf_tsv_columns(const char *names, pf_tsv_column *columns, uint32_t *n,
                              perfile_error *err);

#endif
