/* Ranges of a file in which the selecting pass selected no record: the last pass skips them
 * without reading them. */
#ifndef PF_FILTER_STRETCHES_H
#define PF_FILTER_STRETCHES_H

#include "base/buffer.h"
#include "stage/run.h"

/* All zeros is empty. */
typedef struct pf_stretches {
    pf_buffer found;      /* pf_record_range, in the order of the stream */
    pf_record_range open; /* the last range, which may still grow; bytes 0: none */
    size_t next;          /* index in `found` of the next one that the later pass can reach */
} pf_stretches;

/* Adds a run of which nothing is selected; call it for every such run, in order. Ignored: runs
 * that are not only samples stored in the file itself, and ranges too short to be worth it. */
void pf_stretches_note(pf_stretches *x, const pf_run *run);

/* Call it at the end of the selecting pass. */
void pf_stretches_finish(pf_stretches *x);

/* Skips the rest of the range in which `s` stands and gives what was skipped; false: it stands in
 * none. `s` has to be the same capture, read in order; set `next` to 0 when it begins. */
bool pf_stretches_skip(pf_stretches *x, perfile_stream *s, pf_record_range *passed);

void pf_stretches_free(pf_stretches *x);

#endif
