#ifndef PF_LIB_REGISTRY_H
#define PF_LIB_REGISTRY_H

#include "core/driver.h"
#include "emit/emitter.h"

/* All drivers, NULL behind the last; the first is perf.data's. */
extern const pf_driver *const pf_drivers[];

/* The driver for a source: the one called `from`, or if that is NULL the one with the most
 * evidence; the first of all when there is none: it says what is wrong, and *foreign what the file
 * may be instead.  Fails when nobody has that name, and when several are as likely. */
perfile_status pf_driver_find(perfile_source *source, const char *from, const pf_driver **driver,
                              const char **foreign, perfile_error *err);

/* NULL: none has that name. */
const pf_driver *pf_driver_named(const char *name);

/* All forms of output, likewise. */
extern const pf_emit_ops *const pf_emit_forms[];

#endif
