/* Defaults of perfile_limits. */
#ifndef PF_BASE_LIMITS_H
#define PF_BASE_LIMITS_H

#include "perfile/base.h"

/* Copies the limits that `given` (may be NULL) sets into *out, and the default for each that is 0
 * or, in a struct of an older header, missing.  Fails like pf_options_copy(). */
perfile_status pf_limits_copy(perfile_limits *out, const perfile_limits *given, perfile_error *err);

#endif
