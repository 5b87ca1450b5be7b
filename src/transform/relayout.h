/* Relayout: rewrites samples, trailers and READ records from one layout to another.
 *
 * Fields that the new layout lacks are cut out, an id (ID or IDENTIFIER) that only the new layout
 * has is inserted, and every other byte stays as stored.  target.c uses it to remove fields that a
 * version does not know; merging uses it to give all events an id at the same position.  The work
 * is planned once per pair of layouts (pf_relayout); nothing is allocated per record. */
#ifndef PF_TRANSFORM_RELAYOUT_H
#define PF_TRANSFORM_RELAYOUT_H

#include "perfile/event.h"
#include "schema/types.h"

enum {
    PF_RELAYOUT_MAX_GROWTH = 32, /* maximum growth of a record, in bytes */
    PF_RELAYOUT_MOVES = 18       /* more than there are fields of fixed position */
};

/* One move: `n` 64-bit words, from index `from` of the old words; if n is 0, the id is inserted. */
typedef struct pf_relayout_move {
    uint8_t from, n;
} pf_relayout_move;

/* How to compose the 64-bit words of fixed position: those at the beginning of a sample, or those
 * of a trailer. */
typedef struct pf_relayout_words {
    pf_relayout_move moves[PF_RELAYOUT_MOVES]; /* in the order of the new words */
    uint8_t n_moves;
    uint8_t old, new; /* number of words before and after */
    bool same;        /* nothing changes */
    bool adds_first;  /* the only change: the id is inserted as the first word */
} pf_relayout_words;

/* The plan for records of one layout. */
typedef struct pf_relayout {
    perfile_layout from, to;
    /* Contexts for reading the sample fields after the front, without the bits of the front:
     * `reading` has the existing fields, `wanted` those that remain. */
    pf_context reading, wanted;
    pf_relayout_words front, trailer;
    bool same_rest; /* the fields after the front do not change */
    bool same_read; /* the values of READ records do not change */
} pf_relayout;

/* Plans the relayout from one layout to the other.  PERFILE_E_UNSUPPORTED: `to` has a field other
 * than an id that `from` lacks, or other registers, or counter values in another form; err->where
 * names it. */
perfile_status pf_relayout_plan(pf_relayout *plan, const perfile_layout *from,
                                const perfile_layout *to, perfile_error *err);

/* Returns true if records of that type do not change. */
bool pf_relayout_is_unchanged(const pf_relayout *plan, uint32_t type);

/* Writes `r`, which has the layout plan->from, in the layout plan->to to `out`.  `out` has room for
 * perfile_record_size(r) + PF_RELAYOUT_MAX_GROWTH bytes and does not overlap the record.  `id` is
 * inserted if the plan inserts an id.  A tool record has no trailer and gets none.  *len is the new
 * size.
 *
 * PERFILE_E_LIMIT: the record would have more than 65,535 bytes.  PERFILE_E_UNSUPPORTED: the
 * trailer of a kernel record that no table describes would have to change.  Other errors are those
 * of decoders: the record does not match its layout. */
perfile_status pf_relayout_record(const pf_relayout *plan, const perfile_record *r, uint64_t id,
                                  uint8_t *out, size_t *len, perfile_error *err);

/* Writes only the trailer to `out`; `id` must be in the byte order of the record.  Returns the end
 * of the written bytes. */
uint8_t *pf_relayout_trailer(const pf_relayout *plan, perfile_bytes trailer, uint64_t id,
                             uint8_t *out);

#endif
