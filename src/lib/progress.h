/* How far reading a capture has come, in bytes of its files, for the progress callbacks of the
 * options.  Offsets of records start at 0 in each part (file) of a directory; this adds the sizes
 * of the parts before. */
#ifndef PF_LIB_PROGRESS_H
#define PF_LIB_PROGRESS_H

#include "perfile/stream.h"

typedef struct pf_progress {
    const perfile_container *container;
    uint32_t part;     /* part of the last record */
    uint64_t behind;   /* sum of the sizes of all parts before `part` */
    uint64_t total;    /* sum of the sizes of all parts; 0: not known, the input is a pipe */
    uint64_t done;     /* bytes up to the last record */
    uint64_t reported; /* value of `done` when pf_progress_at() returned true last */
} pf_progress;

/* Starts counting at 0 for the capture `c`, which must live as long as *p is used. */
void pf_progress_begin(pf_progress *p, const perfile_container *c);

/* Sets p->done to the position of the record `at`.  Returns true if a callback is due: every 8
 * MiB. */
bool pf_progress_at(pf_progress *p, const perfile_record *at);

/* Progress of a capture of `total` bytes that is read `passes` times: `before` passes are complete,
 * and the next one has come to byte `done`.  The result is scaled to 0..total, so that each pass
 * moves it by total / passes.  With an unknown total (0) it is `done`. */
static inline uint64_t pf_progress_share(uint64_t before, uint64_t passes, uint64_t done,
                                         uint64_t total)
{
    return total ? (before * total + done) / passes : done;
}

#endif
