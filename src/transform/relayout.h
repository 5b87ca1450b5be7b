/* Relayout: rewrites samples, trailers and READ records from one layout to another.
 *
 * Fields that the new layout does not have are cut out.  An id (ID or IDENTIFIER) that only the new
 * layout has is inserted.  All other bytes are copied.  target.c removes fields in this way that a
 * version does not know; merging gives all events an id at the same offset.  The work is planned
 * once per pair of layouts (pf_relayout).  Nothing is allocated per record. */
#ifndef PF_TRANSFORM_RELAYOUT_H
#define PF_TRANSFORM_RELAYOUT_H

#include "perfile/event.h"
#include "schema/types.h"

enum {
    PF_RELAYOUT_MAX_GROWTH = 32, /* bytes by which a record may grow, at most */
    PF_RELAYOUT_MOVES = 18       /* more than there are fields at fixed offsets */
};

/* One move: `n` 64-bit words from index `from` of the old words.  If n is 0, the id is inserted. */
typedef struct pf_relayout_move {
    uint8_t from, n;
} pf_relayout_move;

/* How to rebuild the 64-bit words at fixed offsets: those at the front of a sample, or those of a
 * trailer. */
typedef struct pf_relayout_words {
    pf_relayout_move moves[PF_RELAYOUT_MOVES]; /* in the order of the new words */
    uint8_t n_moves;
    uint8_t old, new; /* number of words before and after */
    bool same;        /* nothing changes */
    bool adds_first;  /* the only change: the id is inserted first */
} pf_relayout_words;

/* The plan for records of one layout. */
typedef struct pf_relayout {
    perfile_layout from, to;
    /* Contexts to read the sample fields after the front: old and new fields, without the bits of
     * the front. */
    pf_context reading, wanted;
    pf_relayout_words front, trailer;
    bool same_rest; /* the fields after the front do not change */
    bool same_read; /* the values of READ records do not change */
} pf_relayout;

/* Plans the relayout from one layout to the other.  PERFILE_E_UNSUPPORTED: `to` has a field, other
 * than an id, that `from` does not have; or other registers; or counter values in another form.
 * err->where names it. */
perfile_status pf_relayout_plan(pf_relayout *plan, const perfile_layout *from,
                                const perfile_layout *to, perfile_error *err);

/* Returns true if records of this type do not change. */
bool pf_relayout_is_unchanged(const pf_relayout *plan, uint32_t type);

/* Writes `r`, which has the layout plan->from, in the layout plan->to to `out`.  `out` must have
 * room for perfile_record_size(r) + PF_RELAYOUT_MAX_GROWTH bytes and must not overlap it.  `id` is
 * used where the plan inserts an id.  A tool record has no trailer and gets none.  *len is the new
 * size.
 *
 * PERFILE_E_LIMIT: the record would have more than 65,535 bytes.  PERFILE_E_UNSUPPORTED: no table
 * describes this kernel record, and its trailer would have to change.  Other errors are those of
 * decoders: the record does not match its layout. */
perfile_status pf_relayout_record(const pf_relayout *plan, const perfile_record *r, uint64_t id,
                                  uint8_t *out, size_t *len, perfile_error *err);

/* Writes only the trailer to `out`.  `id` must be in the byte order of the record.  Returns the
 * end. */
uint8_t *pf_relayout_trailer(const pf_relayout *plan, perfile_bytes trailer, uint64_t id,
                             uint8_t *out);

#endif
