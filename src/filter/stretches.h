/* Stretches of a capture of which a pass has selected nothing: the next pass does not read them. */
#ifndef PF_FILTER_STRETCHES_H
#define PF_FILTER_STRETCHES_H

#include "base/buffer.h"
#include "stage/run.h"

/* All zeros is empty. */
typedef struct pf_stretches {
    pf_buffer found; /* pf_stretch, in the order of the stream */
    pf_stretch open; /* the last one, which may still become longer */
    size_t next;     /* of those found, the one that the later pass meets next */
} pf_stretches;

/* Nothing of the run is selected: called for every such run, in order.  Runs that are not samples
 * of the file itself are not noted, nor are stretches that are short. */
void pf_stretches_note(pf_stretches *x, const pf_run *run);

/* At the end of the pass that notes. */
void pf_stretches_settle(pf_stretches *x);

/* Passes over what is left of the stretch in which `s` stands; false: it stands in none.  `s` is
 * asked in order; pf_stretches.next is 0 when it begins. */
bool pf_stretches_pass(pf_stretches *x, perfile_stream *s, pf_stretch *passed);

void pf_stretches_free(pf_stretches *x);

#endif
