/* Memory limits of targets.  They are low, so that an input that asks for more causes an error and
 * not a slow run.  The zstd window is that of its common levels: with a smaller one no compressed
 * seed could be read. */
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
