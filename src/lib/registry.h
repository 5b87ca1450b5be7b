/* The drivers (one per on-disk format) and the output forms of the emitters that this build has.
 * The rest of src/lib finds formats through these tables and knows none of them by name. */
#ifndef PF_LIB_REGISTRY_H
#define PF_LIB_REGISTRY_H

#include "core/driver.h"
#include "emit/emitter.h"

/* All drivers, in the order of format/families.def, ended by NULL.  The first is the driver of
 * perf.data; it is the default for reading and for writing. */
extern const pf_driver *const pf_drivers[];

/* Finds the driver that reads `source`.
 *
 * With `from`, that is the driver of this name.  With NULL each driver probes the first bytes of
 * the source, and the one with the highest score is taken.  If none scores, *driver is the first
 * driver, whose open() reports what is wrong, and *foreign describes what the file looks like
 * instead (see lib/foreign.h); in all other cases *foreign is NULL.
 *
 * PERFILE_E_UNSUPPORTED: no driver has the name `from`, or two have the same score. Errors of
 * reading the source are passed on. */
perfile_status pf_driver_find(perfile_source *source, const char *from, const pf_driver **driver,
                              const char **foreign, perfile_error *err);

/* The driver called `name`, or NULL. */
const pf_driver *pf_driver_named(const char *name);

/* All forms of output (`dump --format`), ended by NULL. */
extern const pf_emit_ops *const pf_emit_forms[];

/* All forms for viewers (`export --to`), ended by NULL. */
extern const pf_emit_ops *const pf_export_forms[];

#endif
