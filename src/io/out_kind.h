/* Functions and sizes for the files of this room that implement a kind of sink. */
#ifndef PF_IO_OUT_KIND_H
#define PF_IO_OUT_KIND_H

#include "io/out.h"

/* Sizes of buffers.  Large writes cost the kernel less per byte; the parts of a directory, of which
 * many are open at once, get smaller buffers. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { PF_SINK_BUFFER = 4 << 10, PF_SINK_PART_BUFFER = 1 << 10 }; /* filled by small outputs, too */
#else
enum { PF_SINK_BUFFER = 1 << 20, PF_SINK_PART_BUFFER = 256 << 10 };
#endif

/* Allocates `bytes` zeroed bytes for a struct that begins with a perfile_sink, and fills in ops, a
 * copy of the name (NULL: "output"), the checked options, their inputs, and a buffer of `buffer`
 * bytes (0: none yet).  `sink` is the address of a pointer to that struct, of any type. */
perfile_status pf_sink_new(size_t bytes, const pf_sink_ops *ops, const char *name,
                           const perfile_sink_options *options, size_t buffer, void *sink,
                           perfile_error *err);

/* Returns PERFILE_E_IO with the message "cannot `what` 'NAME'" and the text of errno `sys`. */
perfile_status pf_sink_fail_io(const perfile_sink *s, int sys, const char *what,
                               perfile_error *err);

/* Keeps the error of a failed write in the sink, unless it holds an earlier one; returns the kept
 * one. */
perfile_status pf_sink_keep_io(perfile_sink *s, int sys, perfile_error *err);

#endif
