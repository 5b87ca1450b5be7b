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

#endif
