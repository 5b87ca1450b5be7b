/* Which records the selecting pass selected: a bit for each, by its sequence. */
#ifndef PF_FILTER_SELECTED_H
#define PF_FILTER_SELECTED_H

#include "base/buffer.h"
#include "stage/run.h"

/* All zeros is empty. */
typedef struct pf_selected {
    pf_buffer bits;
    uint64_t from;   /* the sequence of the first one */
    bool incomplete; /* not all fit, so the last pass tests again; what is set then is ignored */
} pf_selected;

/* Sets the bits of the records of a run that are in `selected`.  Runs come in the order of their
 * sequences.  False: out of memory. */
bool pf_selected_set(pf_selected *x, const pf_run *run, uint64_t selected);

/* Sets the bits of so many records from `sequence` on.  False: out of memory. */
bool pf_selected_set_range(pf_selected *x, uint64_t sequence, uint64_t records);

/* Returns the records of the run that were selected. */
uint64_t pf_selected_of(const pf_selected *x, const pf_run *run);

/* Returns how many of these records were selected. */
uint64_t pf_selected_count(const pf_selected *x, uint64_t sequence, uint64_t records);

/* Finds the first and the last of these records that was selected; *end is the one behind it, both
 * are counted from `sequence`.  False: none was. */
bool pf_selected_bounds(const pf_selected *x, uint64_t sequence, uint64_t records, uint64_t *first,
                        uint64_t *end);

void pf_selected_free(pf_selected *x);

#endif
