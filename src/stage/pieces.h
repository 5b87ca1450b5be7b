/* Records of simpleperf in pieces: these wait for the record that they make, which says what
 * becomes of them.  Pieces that make none are left out: the stream tells them as damage. */
#ifndef PF_STAGE_PIECES_H
#define PF_STAGE_PIECES_H

#include "base/buffer.h"
#include "perfile/record.h"

/* All zeros is empty. */
typedef struct pf_pieces {
    pf_buffer records; /* perfile_record, … */
    pf_buffer bytes;   /* … and their bytes, one behind the other */
    size_t given, given_bytes;
    bool giving;
} pf_pieces;

static inline bool pf_pieces_is_one(const perfile_record *r)
{
    return r->flags & PERFILE_REC_ENVELOPE && (r->type == PERFILE_RECORD_SIMPLEPERF_SPLIT ||
                                               r->type == PERFILE_RECORD_SIMPLEPERF_SPLIT_END);
}

perfile_status pf_pieces_hold(pf_pieces *p, const perfile_record *r, perfile_error *err);

/* Whether `next`, a record behind the pieces, is what they make; then they are given, or forgotten
 * when it is not kept.  Other records may stand between the pieces: these go on waiting, until the
 * last of them has come. */
void pf_pieces_settle(pf_pieces *p, const perfile_record *next, bool kept);

/* The next piece into *r; false: that was all.  Only while `giving`. */
bool pf_pieces_give(pf_pieces *p, perfile_record *r);

void pf_pieces_free(pf_pieces *p);

#endif
