/* Notes about a filter that selects nothing. */
#ifndef PF_LIB_FILTER_EMPTY_H
#define PF_LIB_FILTER_EMPTY_H

#include "perfile/copy.h"
#include "filter/filter.h"

/* Once all was filtered: says which terms ask for what no event records, and when nothing is
 * selected what there is instead.  `say` may be NULL. */
void pf_filter_say_empty(const pf_filter *x, void (*say)(void *user, const perfile_note *note),
                         void *user);

#endif
