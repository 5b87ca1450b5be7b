/* A record taken apart: what its decoder needs. */
#ifndef PF_CORE_PARTS_H
#define PF_CORE_PARTS_H

#include "perfile/record.h"
#include "schema/rows.h"

typedef struct pf_parts {
    const perfile_event *event;   /* NULL: none */
    const perfile_layout *layout; /* NULL: none */
    perfile_bytes body;
    perfile_bytes trailer;
} pf_parts;

/* Fails when it cannot be known how to read the record. */
perfile_status pf_record_parts(const perfile_record *r, pf_parts *p, perfile_error *err);

/* Time, task and processor in fields of the record itself, through its decoder.  `need`: bits
 * PF_HAS_…, all of which its row must have; false when it has not, or cannot be decoded. */
bool pf_record_own(const perfile_record *r, unsigned need, pf_own *own);

/* What the tables may look at besides. */
pf_context pf_record_context(const perfile_record *r, const pf_parts *p);

#endif
