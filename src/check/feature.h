/* Features that could be read: what they say. */
#ifndef PF_CHECK_FEATURE_H
#define PF_CHECK_FEATURE_H

#include "check/check.h"

/* facts.c: what one says, against the events and records. */
void pf_check_facts(pf_check *c, const perfile_feature *f);
/* Which are there, and which should be. */
void pf_check_flags(pf_check *c);

#endif
