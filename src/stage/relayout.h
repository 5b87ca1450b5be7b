/* Samples and trailers from one layout to another: fields that the new layout lacks go, ids that it
 * has besides come in, every other byte stays as stored.
 *
 * What is to be done is worked out once per pair of layouts; nothing is allocated per record. */
#ifndef PF_STAGE_RELAYOUT_H
#define PF_STAGE_RELAYOUT_H

#include "perfile/event.h"
#include "schema/context.h"

enum {
    PF_RELAYOUT_MORE = 32, /* bytes by which a record may grow */
    PF_RELAYOUT_PIECES = 18
};

/* `n` words from word `from` of the old place, or with `n` 0 the id. */
typedef struct pf_relayout_piece {
    uint8_t from, n;
} pf_relayout_piece;

/* The words of fixed place of a sample, or a trailer. */
typedef struct pf_relayout_words {
    pf_relayout_piece pieces[PF_RELAYOUT_PIECES];
    uint8_t n_pieces;
    uint8_t old, new; /* words */
    bool same;
    bool adds_first; /* the id comes in front, the rest is the same */
} pf_relayout_words;

typedef struct pf_relayout {
    perfile_layout from, to;
    pf_context reading, wanted; /* of the fields behind those of fixed place */
    pf_relayout_words front, trailer;
    bool same_rest; /* the fields behind those of fixed place */
    bool same_read; /* the values of READ records */
} pf_relayout;

/* Plans the way from one layout to the other.
 * PERFILE_E_UNSUPPORTED: `to` has a field that `from` lacks and that is no id, or other registers,
 * or counters in another form; err->where names it. */
perfile_status pf_relayout_plan(pf_relayout *plan, const perfile_layout *from,
                                const perfile_layout *to, perfile_error *err);

/* Whether records of that type stay as they are. */
bool pf_relayout_same(const pf_relayout *plan, uint32_t type);

/* Writes `r`, whose layout is plan->from, to `out`, which has room for perfile_record_size(r) and
 * PF_RELAYOUT_MORE bytes and does not overlap it.  `id` is what comes in: that of its event.  A
 * record of a tool without trailer stays without.
 *
 * PERFILE_E_LIMIT: the record would have more than 65,535 bytes.  PERFILE_E_UNSUPPORTED: a kernel
 * record that no table describes, whose trailer would have to change.  Others as of decoders: the
 * record does not hold what its layout says. */
perfile_status pf_relayout_record(const pf_relayout *plan, const perfile_record *r, uint64_t id,
                                  uint8_t *out, size_t *len, perfile_error *err);

/* The words of a trailer at `out`, `id` (as it is to be stored) where one comes in; returns where
 * they end. */
uint8_t *pf_relayout_trailer(const pf_relayout *plan, perfile_bytes trailer, uint64_t id,
                             uint8_t *out);

#endif
