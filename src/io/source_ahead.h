/* A regular file that is read from front to back, in blocks, by several threads ahead of the
 * caller. */
#ifndef PF_IO_SOURCE_AHEAD_H
#define PF_IO_SOURCE_AHEAD_H

#include "io/source_kind.h"

enum {
    PF_AHEAD_BLOCK = 512 << 10, /* half of a common second-level cache; not smaller, because each
                                   block costs two or three context switches */
    PF_AHEAD_FRONT = 64 << 10 /* room in front of a block for the tail of the block before: a record
                                 of up to 64 KiB may begin there */
};

/* Makes the source.  `mapping` is that of the complete file, owned by the source from success
 * on: close unmaps it. options->threads must be at least 2.  `block_bytes` is PF_AHEAD_BLOCK, or
 * less in tests.  With `own` the source owns `fd` from success on. */
perfile_status pf_source_ahead(int fd, bool own, perfile_bytes mapping, size_t block_bytes,
                               const char *name, const perfile_source_options *options,
                               perfile_source **source, perfile_error *err);

#endif
