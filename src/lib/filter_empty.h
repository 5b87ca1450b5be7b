/* Notes about a filter that selects nothing: most often a typing error, or a wrong unit. */
#ifndef PF_LIB_FILTER_EMPTY_H
#define PF_LIB_FILTER_EMPTY_H

#include "perfile/copy.h"
#include "filter/filter.h"

/* After the last pass: notes each term on a field that no event records, and if no sample was
 * selected, what the samples of the capture have instead.  The texts of the notes are valid during
 * the call of note(), which may be NULL. */
void pf_filter_note_empty(const pf_filter *x, void (*note)(void *user, const perfile_note *note),
                          void *user);

#endif
