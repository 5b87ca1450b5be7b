/* Holds fragments of simpleperf records above 64 KiB until their joined record is kept or dropped.
 *
 * simpleperf stores a large record as several SIMPLEPERF_SPLIT records.  A stream yields these
 * fragments, followed by the joined record (PERFILE_REC_INNER).  A stage that selects records must
 * treat all fragments like the joined record.  Fragments that are never joined are left out: the
 * stream reports them as damage. */
#ifndef PF_STAGE_FRAGMENTS_H
#define PF_STAGE_FRAGMENTS_H

#include "base/buffer.h"
#include "perfile/record.h"
#include "schema/rows.h"

/* All zeros is empty. */
typedef struct pf_fragments {
    pf_buffer records;    /* perfile_record of each held fragment; header and body are invalid */
    pf_buffer bytes;      /* their bytes, one after the other */
    size_t n_yielded;     /* fragments that were yielded or skipped … */
    size_t yielded_bytes; /* … and their bytes */
    bool giving;          /* pf_fragments_next() must be called until it returns false */
} pf_fragments;

/* Adds a copy of fragment `r`. */
perfile_status pf_fragments_hold(pf_fragments *p, const perfile_record *r, perfile_error *err);

/* Decides about the held fragments, given `next`, the record after them.  If it is their joined
 * record, they will be yielded if it is kept, and are dropped otherwise.  If it is another record,
 * they continue to wait, because other records may come between fragments; but they are dropped if
 * the last fragment has come. */
void pf_fragments_resolve(pf_fragments *p, const perfile_record *next, bool kept);

/* Sets *r to the next fragment.  Its bytes are valid until the next call.  Returns false if there
 * is none left; `p` is empty then.  To be called only if `giving` is set. */
bool pf_fragments_next(pf_fragments *p, perfile_record *r);

void pf_fragments_free(pf_fragments *p);

#endif
