/* Which stage a stream is. */
#ifndef PF_CHECK_VERSION_H
#define PF_CHECK_VERSION_H

#include "check/check.h"

/* The stage that `s` is, NULL when it is none of ours. */
const pf_check *pf_check_stage(const perfile_stream *s);

#endif
