/* Evidence that records between two gaps belong to the capture.  That they fit its events is not
 * enough: a remnant of another capture with the same events would fit as well. */
#ifndef PF_PERF_SALVAGE_EVIDENCE_H
#define PF_PERF_SALVAGE_EVIDENCE_H

#include "perf/record_fit.h"

/* What the chain of records behind a break shows: its times and its first processes. */
typedef struct pf_after_break {
    pf_record_fit times;
    uint32_t pids[16]; /* the first that differ, without the kernel's */
    unsigned n_pids;
} pf_after_break;

/* Adds a record of the chain; `time` is its time. */
void pf_after_break_note(pf_after_break *b, const perfile_record *r, uint64_t time);

/* True if the record `r` between two gaps is proven to belong to the capture: `time` is near the
 * times of other records or the range that SAMPLE_TIME declares.  A record without a time must be
 * of a process that also occurs behind the break `b`; an envelope needs the feature COMPRESSED. */
bool pf_record_belongs(const pf_record_fit *fit, const perfile_record *r, uint64_t time,
                       const pf_after_break *b);

#endif
