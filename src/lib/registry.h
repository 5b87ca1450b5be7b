/* The drivers (one per on-disk format) and the output forms of the emitters in this build.  The
 * rest of src/lib finds formats through these tables and knows none of them by name. */
#ifndef PF_LIB_REGISTRY_H
#define PF_LIB_REGISTRY_H

#include "io/source.h"
#include "perfile/session.h"
#include "perfile/sink.h"
#include "core/driver.h"
#include "emit/emitter.h"

/* Describes files that are often passed instead of a capture by mistake (compressed files, ELF
 * files, text), and what to do: "it is compressed by gzip; …".  The text is static.  Returns NULL
 * if the file is not recognized or is a directory, or if reading fails. */
const char *pf_foreign_source(perfile_source *source);
/* Format of the error message; its %s is such a text. */
#define PF_FOREIGN_MESSAGE "not a perf.data file: %s"

/* All drivers, in the order of format/families.def, terminated by NULL.  The first is the driver of
 * perf.data; it is the default for reading and writing. */
extern const pf_driver *const pf_drivers[];

/* The value of `from` for a dump, which perfile_convert_capture() accepts instead of a capture. */
#define PF_FROM_DUMP "cbor"

/* Finds the driver that reads `source`.
 *
 * If `from` is not NULL, that is the driver of this name.  Otherwise each driver probes the first
 * bytes of the source, and the one with the highest score is chosen.  If all scores are 0, *driver
 * is the first driver, whose open() reports the error, and *foreign describes what the file looks
 * like instead.  In all other cases *foreign is NULL.
 *
 * Fails with PERFILE_E_UNSUPPORTED if no driver has the name `from`, or if two have the same score.
 * Passes on errors of reading the source. */
perfile_status pf_driver_find(perfile_source *source, const char *from, const pf_driver **driver,
                              const char **foreign, perfile_error *err);

/* Returns the driver called `name`, or NULL. */
const pf_driver *pf_driver_named(const char *name);

/* All output forms of dumps, terminated by NULL. */
extern const pf_emit_ops *const pf_emit_forms[];

/* All export forms for viewers, terminated by NULL. */
extern const pf_emit_ops *const pf_export_forms[];

#endif
