/* The drivers (one per on-disk format) and the output forms of the emitters that this build has.
 * The rest of src/lib finds formats through these tables and knows none of them by name. */
#ifndef PF_LIB_REGISTRY_H
#define PF_LIB_REGISTRY_H

#include "io/source.h"
#include "perfile/session.h"
#include "perfile/sink.h"
#include "core/driver.h"
#include "emit/emitter.h"

/* Describes files that are often given in place of a capture by mistake (compressed files, ELF
 * files, text), and what to do: "it is compressed by gzip; …".  The text is static; NULL: it is not
 * recognized, a directory, or reading failed. */
const char *pf_foreign_source(perfile_source *source);
/* Format of the error message; its %s is such a text. */
#define PF_FOREIGN_MESSAGE "not a perf.data file: %s"

/* All drivers, in the order of format/families.def, ended by NULL.  The first is the driver of
 * perf.data; it is the default for reading and for writing. */
extern const pf_driver *const pf_drivers[];

/* What `from` is for a dump, which perfile_convert_capture() takes in place of a capture. */
#define PF_FROM_DUMP "cbor"

/* Finds the driver that reads `source`.
 *
 * With `from`, that is the driver of this name.  With NULL each driver probes the first bytes of
 * the source, and the one with the highest score is taken.  If none scores, *driver is the first
 * driver, whose open() reports what is wrong, and *foreign describes what the file looks like
 * instead; in all other cases *foreign is NULL.
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
