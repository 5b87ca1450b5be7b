/* The inside of the file form: what its files share.
 *
 * Id sections that share bytes with those of another attr are damage, and so are features with
 * another feature: else a file of n bytes could say n bytes of facts for each attr and feature. */
#ifndef PF_PERF_FILE_H
#define PF_PERF_FILE_H

#include "perf/stream.h"

/* A section among others of its kind. */
typedef struct pf_claim {
    perfile_section section; /* inside the file, not empty */
    uint32_t number;         /* of the attr or feature: of two that overlap the lower one is kept */
} pf_claim;

/* Sets lost[number] of sections that share bytes with one of a lower number, so that those that are
 * kept share none and their bytes are no more than those of the file. */
void pf_perf_settle_claims(pf_claim *claims, uint32_t n, bool *lost);

/* file_attrs.c: attrs and ids, into session and stream (p->ids); event types, into the session. */
perfile_status pf_perf_file_attrs(pf_perf_stream *p, perfile_source *s, const pf_perf_header *h,
                                  perfile_error *err);
perfile_status pf_perf_file_event_types(pf_perf_stream *p, perfile_source *s,
                                        const pf_perf_header *h, perfile_error *err);

#endif
