/* Checks the options of a split. */
#ifndef PF_FILTER_COMMAND_H
#define PF_FILTER_COMMAND_H

#include "perfile/split.h"
#include "perfile/filter.h"

/* Checks the options.  PERFILE_E_USAGE: they are invalid; err->message tells why. */
PERFILE_MUST_USE perfile_status pf_split_check(const perfile_split_options *options,
                                               perfile_error *err);

/* What perfile_summary() asks of filters. */
void pf_filter_get_summary(const perfile_filter_state *filter, perfile_filter_summary *out,
                           size_t size);
void pf_filter_get_passes(const perfile_filter_state *filter, perfile_filter_passes *out,
                          size_t size);

/* As perfile_filter_wants_pass(). */
bool pf_filter_wants_pass(const perfile_filter_state *filter, bool *needed);

#endif
