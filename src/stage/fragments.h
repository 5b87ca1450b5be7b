/* Fragments of simpleperf records above 64 KiB, held until their joined record decides about them.
 *
 * simpleperf stores a large record as several SIMPLEPERF_SPLIT records.  A stream yields these
 * fragments, and behind them the joined record (PERFILE_REC_INNER).  A stage that selects records
 * must keep or drop all fragments as it does the joined record.  Fragments that are joined to no
 * record are left out: the stream reports them as damage. */
#ifndef PF_STAGE_FRAGMENTS_H
#define PF_STAGE_FRAGMENTS_H

#include "base/buffer.h"
#include "perfile/record.h"
#include "schema/rows.h"

/* All zeros is empty. */
typedef struct pf_fragments {
    pf_buffer records;    /* perfile_record of each held fragment; header and body are invalid */
    pf_buffer bytes;      /* their bytes, one after the other */
    size_t n_yielded;     /* fragments that were yielded or passed over … */
    size_t yielded_bytes; /* … and their bytes */
    bool giving;          /* pf_fragments_next() is to be called until it returns false */
} pf_fragments;

/* Holds a copy of fragment `r`. */
perfile_status pf_fragments_hold(pf_fragments *p, const perfile_record *r, perfile_error *err);

/* Decides about the held fragments by `next`, the record behind them.  If it is their joined
 * record, they are yielded if it is kept, else forgotten.  If it is another record, they go on
 * waiting, because other records may stand between fragments; but they are forgotten if the last
 * one has come. */
void pf_fragments_resolve(pf_fragments *p, const perfile_record *next, bool kept);

/* Sets *r to the next fragment, whose bytes are valid until the next call; false: there is none
 * left, and `p` is empty again.  Only while `giving`. */
bool pf_fragments_next(pf_fragments *p, perfile_record *r);

void pf_fragments_free(pf_fragments *p);

#endif
