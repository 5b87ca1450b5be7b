/* Checks the options of a split. */
#ifndef PF_FILTER_COMMAND_H
#define PF_FILTER_COMMAND_H

#include "perfile/split.h"
#include "perfile/filter.h"

/* Checks the options.  PERFILE_E_USAGE: they are invalid; err->message tells why. */
PERFILE_MUST_USE perfile_status pf_split_check(const perfile_split_options *options,
                                               perfile_error *err);

/* perfile_filter_get_summary(). */
void pf_filter_get_summary(const perfile_filter_state *filter, perfile_filter_summary *out,
                           size_t size);

#endif
