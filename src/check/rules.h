/* What rules.def says besides the rules themselves, and misc.def. */
#ifndef PF_CHECK_RULES_H
#define PF_CHECK_RULES_H

#include "check/check.h"

/* The rule that damage breaks. */
extern const uint16_t pf_rule_of_damage[PERFILE_N_DAMAGES];

/* The rules that a record of this type, or a feature, breaks when its content cannot be read. */
unsigned pf_rule_of_type(uint32_t type);
unsigned pf_rule_of_feature(uint32_t number);

/* Bits of misc that a record of the kernel may have. */
unsigned pf_misc_known(uint32_t type);

/* Types whose records may have any size. */
extern const bool pf_odd_size[PF_CHECK_TYPES];

/* Sets chosen[], of PERFILE_RULE_LIMIT, for the rules that `list` names.  PERFILE_E_USAGE: it names
 * none. */
perfile_status pf_rules_select(const char *list, bool *chosen, const char *option,
                               perfile_error *err);

#endif
