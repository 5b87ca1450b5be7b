/* A regular file that several threads read, in blocks, for one that goes through it from front to
 * back. */
#ifndef PF_IO_SOURCE_AHEAD_H
#define PF_IO_SOURCE_AHEAD_H

#include "io/source_kind.h"

enum {
    PF_AHEAD_BLOCK = 512 << 10, /* half of many a second-level cache; each costs a few switches */
    PF_AHEAD_FRONT = 64 << 10   /* of the block before: the longest record begins there */
};

/* `whole` is the mapping of the file of `whole.len` bytes, which closing the source unmaps; options
 * has threads, 2 at least; a block has `block` bytes.  With `own`, closing the source closes `fd`:
 * from success on. */
perfile_status pf_source_ahead(int fd, bool own, perfile_bytes whole, size_t block,
                               const char *name, const perfile_source_options *options,
                               perfile_source **source, perfile_error *err);

#endif
