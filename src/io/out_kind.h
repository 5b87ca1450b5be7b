/* What the kinds of sinks share: making one, and the message of a failed call. */
#ifndef PF_IO_OUT_KIND_H
#define PF_IO_OUT_KIND_H

#include "io/out.h"

/* Larger writes cost the kernel less for each byte; of many files at once each has less. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { PF_SINK_BUFFER = 4 << 10, PF_SINK_PART_BUFFER = 1 << 10 }; /* small outputs fill them, too */
#else
enum { PF_SINK_BUFFER = 1 << 20, PF_SINK_PART_BUFFER = 256 << 10 };
#endif

/* A zeroed object of `bytes` that begins with a perfile_sink: name copied, options checked, inputs
 * looked at, and, unless it is 0, a buffer of that size. */
perfile_status pf_sink_new(size_t bytes, const pf_sink_ops *ops, const char *name,
                           const perfile_sink_options *options, size_t buffer, void *sink,
                           perfile_error *err);

/* PERFILE_E_IO: "cannot `what` 'NAME'" and what errno `sys` means. */
perfile_status pf_sink_cannot(const perfile_sink *s, int sys, const char *what, perfile_error *err);

/* Keeps the error of a failed write, unless one is kept already, and hands the kept one out. */
perfile_status pf_sink_keep_io(perfile_sink *s, int sys, perfile_error *err);

#endif
