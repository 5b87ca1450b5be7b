/* What the command asks of the rules. */
#ifndef PF_CHECK_COMMAND_H
#define PF_CHECK_COMMAND_H

#include "perfile/check.h"

/* Reports a failure of perfile_open() as a finding.  Returns true if the input is at fault (it is
 * not a capture), false if it could not be read. */
bool pf_check_refused(const perfile_error *failure, const perfile_check_options *options);

/* Returns the names of the perf versions that perfile_check_version() knows, in order; NULL after
 * the last. */
const char *pf_check_version_at(size_t position);

/* What perfile_row() and perfile_name() ask of the rules. */
const perfile_rule *pf_rule_at(size_t position);
const perfile_rule *pf_rule_of(uint32_t number);
const char *pf_severity_name(unsigned severity);
const char *pf_rule_scope_name(unsigned where);
bool pf_rule_verdict_at(uint32_t rule, size_t position, perfile_rule_verdict *verdict, size_t size);

/* Returns the rule with this id ("V-302", case is ignored); NULL if there is none. */
const perfile_rule *pf_rule_find(const char *id);

#endif
