/* Fragments of simpleperf records larger than 64 KiB, held until the joined record decides what
 * becomes of them.
 *
 * simpleperf stores a large record as several SIMPLEPERF_SPLIT records.  A stream yields these
 * fragments, and after them the joined record (PERFILE_REC_INNER).  A stage that selects records
 * must select either the joined record and all its fragments, or none of them.  Fragments that are
 * never joined are left out: the stream reports them as damage. */
#ifndef PF_STAGE_FRAGMENTS_H
#define PF_STAGE_FRAGMENTS_H

#include "base/buffer.h"
#include "perfile/record.h"
#include "schema/rows.h"

/* A struct that is all zeros is empty. */
typedef struct pf_fragments {
    pf_buffer records;    /* perfile_record of each held fragment; header and body are invalid */
    pf_buffer bytes;      /* their bytes, one after another */
    size_t n_yielded;     /* number of fragments that were yielded or skipped … */
    size_t yielded_bytes; /* … and their bytes */
    bool giving;          /* pf_fragments_next() must be called until it returns false */
} pf_fragments;

/* Holds a copy of fragment `r`. */
perfile_status pf_fragments_hold(pf_fragments *p, const perfile_record *r, perfile_error *err);

/* Decides about the held fragments.  `next` is the record after them, `kept` says whether it is
 * selected.  If it is their joined record, the fragments are yielded if it is selected, and dropped
 * otherwise.  If it is another record, they continue to wait, because other records may come
 * between fragments; but if the last fragment has come, they are dropped. */
void pf_fragments_resolve(pf_fragments *p, const perfile_record *next, bool kept);

/* Sets *r to the next fragment; its bytes are valid until the next call.  Returns false if there is
 * none left; `p` is then empty.  Must be called only while `giving`. */
bool pf_fragments_next(pf_fragments *p, perfile_record *r);

void pf_fragments_free(pf_fragments *p);

#endif
