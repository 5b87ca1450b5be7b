/* What other files need to ask a checking stage about versions of perf. */
#ifndef PF_CHECK_VERSION_H
#define PF_CHECK_VERSION_H

#include "check/check.h"

/* Returns the checking stage that `s` is; NULL if it is another stream.  Borrowed from `s`. */
const pf_check *pf_check_stage(const perfile_stream *s);

#endif
