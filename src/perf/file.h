/* Interface between file.c and file_attrs.c, which read the sections of a perf.data file.
 *
 * Id sections of two attrs that overlap are damage, and so are sections of two features.  Otherwise
 * a hostile file of n bytes could claim n bytes of facts for each attr and each feature, and memory
 * would grow with their product. */
#ifndef PF_PERF_FILE_H
#define PF_PERF_FILE_H

#include "perf/stream.h"

/* One of several sections of a kind (all ids, or all features) that must not overlap. */
typedef struct pf_claim {
    perfile_section section; /* inside the file, not empty */
    uint32_t number; /* of the attr or feature; of two that overlap, the lower number is kept */
} pf_claim;

/* Sets lost[number] for each section that overlaps one of a lower number.  The others do not
 * overlap, so together they have no more bytes than the file.  Sorts `claims` by offset. */
void pf_perf_settle_claims(pf_claim *claims, uint32_t n, bool *lost);

/* file_attrs.c.  pf_perf_file_attrs(): reads attrs and ids into the session, and where the ids are
 * into p->ids.  pf_perf_file_event_types(): names of event types (old versions of perf) into the
 * session. */
perfile_status pf_perf_file_attrs(pf_perf_stream *p, perfile_source *s, const pf_perf_header *h,
                                  perfile_error *err);
perfile_status pf_perf_file_event_types(pf_perf_stream *p, perfile_source *s,
                                        const pf_perf_header *h, perfile_error *err);

#endif
