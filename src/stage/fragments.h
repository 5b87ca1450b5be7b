/* Records of simpleperf in pieces: these wait for the record that they make, which says what
 * becomes of them.  Pieces that make none are left out: the stream tells them as damage. */
#ifndef PF_STAGE_FRAGMENTS_H
#define PF_STAGE_FRAGMENTS_H

#include "base/buffer.h"
#include "perfile/record.h"
#include "schema/family.h"

/* All zeros is empty. */
typedef struct pf_fragments {
    pf_buffer records; /* perfile_record, … */
    pf_buffer bytes;   /* … and their bytes, one behind the other */
    size_t given, given_bytes;
    bool giving;
} pf_fragments;

perfile_status pf_fragments_hold(pf_fragments *p, const perfile_record *r, perfile_error *err);

/* Whether `next`, a record behind the pieces, is what they make; then they are given, or forgotten
 * when it is not kept.  Other records may stand between the pieces: these go on waiting, until the
 * last of them has come. */
void pf_fragments_settle(pf_fragments *p, const perfile_record *next, bool kept);

/* The next piece into *r; false: that was all.  Only while `giving`. */
bool pf_fragments_give(pf_fragments *p, perfile_record *r);

void pf_fragments_free(pf_fragments *p);

#endif
