/* How far the stream of a capture has come, for those who want to be told. */
#ifndef PF_LIB_PROGRESS_H
#define PF_LIB_PROGRESS_H

#include "perfile/stream.h"

typedef struct pf_progress {
    const perfile_container *container;
    uint32_t part;
    uint64_t behind; /* bytes of the parts before that … */
    uint64_t total;  /* … and of all; 0: not known */
    uint64_t done, told;
} pf_progress;

void pf_progress_begin(pf_progress *p, const perfile_container *c);

/* It is at this record: p->done bytes of p->total.  True now and then, when it is worth telling. */
bool pf_progress_at(pf_progress *p, const perfile_record *at);

/* Of a capture that is read `passes` times: how many of its `total` bytes are done when `before`
 * passes are, and `done` bytes of the next one.  A byte counts once, a share of it in each pass. */
static inline uint64_t pf_progress_share(uint64_t before, uint64_t passes, uint64_t done,
                                         uint64_t total)
{
    return total ? (before * total + done) / passes : done;
}

#endif
