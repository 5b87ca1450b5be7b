/* Records of simpleperf in pieces: these wait until it is known whether the whole is kept. */
#ifndef PF_STAGE_FILTER_PIECES_H
#define PF_STAGE_FILTER_PIECES_H

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

/* What became of `next`, the record behind the pieces, says what becomes of them; where it is not
 * theirs, they stay. */
void pf_pieces_settle(pf_pieces *p, const perfile_record *next, bool kept);

/* The next piece into *r; false: that was all. */
bool pf_pieces_give(pf_pieces *p, perfile_record *r);

void pf_pieces_free(pf_pieces *p);

#endif
