/* How much memory a target may use: little, so that an input that asks for more is an error and not
 * a slow run.  The window of zstd is that of its usual levels: with less, no compressed seed would
 * be read. */
#ifndef FUZZ_LIMITS_H
#define FUZZ_LIMITS_H

#include "perfile/base.h"

static const perfile_limits small_limits = {.size = sizeof small_limits,
                                            .inflate_bytes = 1 << 20,
                                            .zstd_window = 21,
                                            .split_bytes = 1 << 20,
                                            .session_bytes = 16 << 20,
                                            .spool_bytes = 1 << 20,
                                            .held_bytes = 4000};

#endif
