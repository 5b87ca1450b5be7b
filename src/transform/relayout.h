/* Relayout: samples, trailers and READ records rewritten from one layout to another.
 *
 * Fields that the new layout lacks are cut out, an id (ID or IDENTIFIER) that only the new one has
 * is inserted, and every other byte stays as stored.  target.c uses it to remove fields that a
 * version does not know, merging to give all events an id at one place.  What is to be done is
 * planned once per pair of layouts (pf_relayout); nothing is allocated per record. */
#ifndef PF_TRANSFORM_RELAYOUT_H
#define PF_TRANSFORM_RELAYOUT_H

#include "perfile/event.h"
#include "schema/types.h"

enum {
    PF_RELAYOUT_MAX_GROWTH = 32, /* bytes by which a record may grow, at most */
    PF_RELAYOUT_MOVES = 18       /* more moves than fields of fixed place exist */
};

/* One move: `n` 64-bit words from index `from` of the old words; n 0: the id is inserted. */
typedef struct pf_relayout_move {
    uint8_t from, n;
} pf_relayout_move;

/* How 64-bit words of fixed place are put together again: those at the front of a sample, or those
 * of a trailer. */
typedef struct pf_relayout_words {
    pf_relayout_move moves[PF_RELAYOUT_MOVES]; /* in the order of the new words */
    uint8_t n_moves;
    uint8_t old, new; /* how many words there are before and after */
    bool same;        /* nothing changes */
    bool adds_first;  /* the only change: the id is inserted in front */
} pf_relayout_words;

/* The plan for records of one layout. */
typedef struct pf_relayout {
    perfile_layout from, to;
    /* Contexts for reading the sample fields behind the front, without the bits of the front: what
     * is there, and what is to stay. */
    pf_context reading, wanted;
    pf_relayout_words front, trailer;
    bool same_rest; /* the fields behind the front do not change */
    bool same_read; /* the values of READ records do not change */
} pf_relayout;

/* Plans the relayout from one layout to the other.  PERFILE_E_UNSUPPORTED: `to` has a field other
 * than an id that `from` lacks, or other registers, or counter values in another form; err->where
 * names it. */
perfile_status pf_relayout_plan(pf_relayout *plan, const perfile_layout *from,
                                const perfile_layout *to, perfile_error *err);

/* True if records of that type do not change. */
bool pf_relayout_is_unchanged(const pf_relayout *plan, uint32_t type);

/* Writes `r`, whose layout is plan->from, in the layout plan->to to `out`, which has room for
 * perfile_record_size(r) + PF_RELAYOUT_MAX_GROWTH bytes and does not overlap it.  `id` is inserted
 * where the plan inserts an id.  A tool record has no trailer and gets none.  *len is the new size.
 *
 * PERFILE_E_LIMIT: the record would have more than 65,535 bytes.  PERFILE_E_UNSUPPORTED: a kernel
 * record that no table describes, whose trailer would have to change.  Other errors are those of
 * decoders: the record does not contain what its layout says. */
perfile_status pf_relayout_record(const pf_relayout *plan, const perfile_record *r, uint64_t id,
                                  uint8_t *out, size_t *len, perfile_error *err);

/* Writes only the trailer to `out`; `id` must be in the byte order of the record.  Returns the
 * end. */
uint8_t *pf_relayout_trailer(const pf_relayout *plan, perfile_bytes trailer, uint64_t id,
                             uint8_t *out);

#endif
