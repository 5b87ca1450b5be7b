/* The note about a filter that selects nothing. */
#ifndef PF_LIB_FILTER_EMPTY_H
#define PF_LIB_FILTER_EMPTY_H

#include "stage/filter.h"

/* Reads `s`, the capture once more, to its end (NULL: it cannot be read again) and says what is
 * there. */
perfile_status pf_filter_say_empty(const pf_filter *x, perfile_stream *s,
                                   void (*say)(void *user, const perfile_note *note), void *user,
                                   perfile_error *err);

#endif
