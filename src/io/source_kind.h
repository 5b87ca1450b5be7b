/* What the kinds of sources share: making one. */
#ifndef PF_IO_SOURCE_KIND_H
#define PF_IO_SOURCE_KIND_H

#include "io/source.h"

/* A zeroed object of `bytes` that begins with a perfile_source: name copied, options checked and
 * filled in, size 0. */
perfile_status pf_source_new(size_t bytes, const pf_source_ops *ops, const char *name,
                             const perfile_source_options *options, void *source,
                             perfile_error *err);

/* A regular file of `size` bytes; a window where it cannot or must not be mapped.  With `own`,
 * closing the source closes `fd`: from success on. */
perfile_status pf_source_map(int fd, bool own, uint64_t size, const char *name,
                             const perfile_source_options *options, perfile_source **source,
                             perfile_error *err);

/* What of a mapped file lies in [offset, offset + len) leaves memory. */
void pf_map_release(perfile_bytes whole, uint64_t offset, uint64_t len);

perfile_status pf_source_dir(int fd, bool own, const char *name,
                             const perfile_source_options *options, perfile_source **source,
                             perfile_error *err);

#endif
