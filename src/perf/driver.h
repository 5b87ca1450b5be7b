/* The driver of perf.data, and the functions of its table that are not in open.c. */
#ifndef PF_PERF_DRIVER_H
#define PF_PERF_DRIVER_H

#include "core/driver.h"

extern const pf_driver pf_perf_driver;

/* byteswap.c: pf_driver.byteswap_head and pf_driver.byteswap_facts. */
void pf_perf_byteswap_head(perfile_bytes bytes, uint8_t *out);
perfile_status pf_perf_byteswap_facts(const pf_byteswap_copy *t, perfile_error *err);

/* repair.c */
extern const pf_repair_ops pf_perf_repair_ops;

/* write.c */
perfile_status pf_perf_create(perfile_sink *sink, const perfile_writer_options *options,
                              perfile_writer **writer, perfile_error *err);

#endif
