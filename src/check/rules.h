/* The tables of format/rules.def and format/misc.def, for the files of this room. */
#ifndef PF_CHECK_RULES_H
#define PF_CHECK_RULES_H

#include "check/check.h"

/* The rule that each kind of damage breaks (PERFILE_RULE_…). */
extern const uint16_t pf_rule_of_damage[PERFILE_N_DAMAGES];

/* The rule that a record of this type, or this feature, breaks if its content cannot be decoded. */
unsigned pf_rule_of_type(uint32_t type);
unsigned pf_rule_of_feature(uint32_t number);

/* The bits of misc that a kernel record of this type may have, the cpumode included. */
unsigned pf_misc_known(uint32_t type);

/* True for types whose records may have a size that is no multiple of 8. */
extern const bool pf_odd_size[PF_CHECK_TYPES];

/* Sets chosen[PERFILE_RULE_LIMIT] for the rules that `list` names: ids or beginnings of ids,
 * "V-302,V-4", separated by commas.  `option` names the option in errors.  PERFILE_E_USAGE: an item
 * names no rule. */
perfile_status pf_rules_select(const char *list, bool *chosen, const char *option,
                               perfile_error *err);

#endif
