/* Notes about a filter that selects nothing. */
#ifndef PF_LIB_FILTER_EMPTY_H
#define PF_LIB_FILTER_EMPTY_H

#include "lib/passes.h"
#include "stage/filter.h"

/* Once all was filtered: says which terms ask for what no event records, and when nothing is
 * selected what there is instead, which takes one more pass.  Without it (`may_pass`), or when that
 * fails, only that nothing is.  `say` may be NULL. */
void pf_filter_say_empty(const pf_filter *x, pf_passes *passes, bool may_pass,
                         void (*say)(void *user, const perfile_note *note), void *user);

#endif
