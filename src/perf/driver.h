#ifndef PF_PERF_DRIVER_H
#define PF_PERF_DRIVER_H

#include "core/driver.h"

extern const pf_driver pf_perf_driver;

/* write.c */
perfile_status pf_perf_create(perfile_sink *sink, const perfile_writer_options *options,
                              perfile_writer **writer, perfile_error *err);

#endif
