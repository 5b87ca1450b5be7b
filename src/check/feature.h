/* Rules for feature sections (V-6xx), between feature.c and facts.c, and for lib/recover. */
#ifndef PF_CHECK_FEATURE_H
#define PF_CHECK_FEATURE_H

#include "check/check.h"

/* facts.c: compares a feature that can be decoded with the events and the records. */
void pf_check_facts(pf_check *c, const perfile_feature *f);
/* True if the feature, taken alone, breaks a rule of severity error although it can be decoded: an
 * unterminated name in BUILD_ID, a wrong beginning of TRACING_DATA. recover leaves such features
 * out. */
bool pf_feature_is_wrong(const perfile_feature *f);
/* facts.c: features that must be there because of the events or records, or must not (V-610). */
void pf_check_flags(pf_check *c);

#endif
