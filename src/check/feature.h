/* Features that could be read: what they say. */
#ifndef PF_CHECK_FEATURE_H
#define PF_CHECK_FEATURE_H

#include "check/check.h"

/* facts.c: what one says, against the events and records. */
void pf_check_facts(pf_check *c, const perfile_feature *f);
/* Whether the feature alone breaks a rule of severity error although it can be read: a list or a
 * header in it is none.  The other rules need the capture around it. */
bool pf_feature_is_wrong(const perfile_feature *f);
/* Which are there, and which should be. */
void pf_check_flags(pf_check *c);

#endif
