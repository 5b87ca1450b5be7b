/* What ties records between two breaks to the capture: that they fit its events is not enough where
 * a piece of another capture may stand. */
#ifndef PF_PERF_SALVAGE_EVIDENCE_H
#define PF_PERF_SALVAGE_EVIDENCE_H

#include "perf/record_fit.h"

/* What the chain of records behind a break says of the capture. */
typedef struct pf_after_break {
    pf_record_fit times;
    uint32_t pids[16]; /* its first processes */
    unsigned n_pids;
} pf_after_break;

/* Remembers a record of the chain, whose time is `time`. */
void pf_after_break_note(pf_after_break *b, const perfile_record *r, uint64_t time);

/* Whether the record between two breaks, whose time is `time`, is known to be of the capture `v`:
 * its time is near to others or one that the file declares; what has none is of a process that goes
 * on behind the break. */
bool pf_record_belongs(const pf_record_fit *v, const perfile_record *r, uint64_t time, const pf_after_break *b);

#endif
