/* The defaults behind perfile_limits. */
#ifndef PF_BASE_LIMITS_H
#define PF_BASE_LIMITS_H

#include "perfile/base.h"

/* Fills all of `out`: what `given` (may be NULL) says, and the default where it says 0 or, being
 * of an older header, nothing.  Fails as pf_options_take(). */
perfile_status pf_limits_take(perfile_limits *out, const perfile_limits *given, perfile_error *err);

#endif
