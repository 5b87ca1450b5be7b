/* A record split into what its decoder needs: event, layout, body and trailer. */
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

/* Fills *p.  Fails if the layout of the record cannot be known; err->damage says why. */
perfile_status pf_record_parts(const perfile_record *r, pf_parts *p, perfile_error *err);

/* Decodes the record and copies time, task and processor from fields of its body.  `need` are bits
 * PF_HAS_…; returns false if the row of the record lacks one of them, or the record cannot be
 * decoded. */
bool pf_record_own(const perfile_record *r, unsigned need, pf_own *own);

/* The context for the record's decoder: layout, misc, options, and whether branch stacks have
 * hw_idx. */
pf_context pf_record_context(const perfile_record *r, const pf_parts *p);

#endif
