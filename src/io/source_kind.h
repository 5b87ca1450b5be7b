/* Functions that make sources, for the files of this room that implement a kind of source. */
#ifndef PF_IO_SOURCE_KIND_H
#define PF_IO_SOURCE_KIND_H

#include "io/source.h"

/* Allocates `bytes` zeroed bytes for a struct that begins with a perfile_source, and fills in ops,
 * a copy of the name (NULL: "input"), and the checked options with their defaults.  The size is 0.
 * `source` is the address of a pointer to that struct, of any type. */
perfile_status pf_source_new(size_t bytes, const pf_source_ops *ops, const char *name,
                             const perfile_source_options *options, void *source,
                             perfile_error *err);

/* Makes a source of a regular file of `size` bytes: mapped if possible and allowed, otherwise read
 * through a window.  With `own` the source owns `fd` from success on. */
perfile_status pf_source_map(int fd, bool own, uint64_t size, const char *name,
                             const perfile_source_options *options, perfile_source **source,
                             perfile_error *err);

/* Drops the pages of the mapping `whole` that lie completely in [offset, offset + len). */
void pf_map_release(perfile_bytes whole, uint64_t offset, uint64_t len);

/* Makes a source of the directory `fd`.  With `own` the source owns `fd` from success on. */
perfile_status pf_source_dir(int fd, bool own, const char *name,
                             const perfile_source_options *options, perfile_source **source,
                             perfile_error *err);

#endif
