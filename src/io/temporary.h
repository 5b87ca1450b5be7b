/* Temporary files without a name: created and unlinked at once, so that they vanish when they are
 * closed, even if the process is killed. */
#ifndef PF_IO_TEMPORARY_H
#define PF_IO_TEMPORARY_H

#include "perfile/base.h"

/* Opens a new one in `dir` (NULL: TMPDIR, or /tmp).  `what` is perfile_error.where of a failure.
 * The caller closes *fd. */
perfile_status pf_temporary_open(const char *dir, const char *what, int *fd, perfile_error *err);

/* Writes all of `b` at `offset`.  `dir` is that of pf_temporary_open(), for the message. */
perfile_status pf_temporary_write(int fd, const char *dir, uint64_t offset, perfile_bytes b,
                                  const char *what, perfile_error *err);

/* Reads up to `len` bytes at `offset`; *got is less than `len` only at the end of the file. */
perfile_status pf_temporary_read(int fd, uint64_t offset, void *buf, size_t len, size_t *got,
                                 const char *what, perfile_error *err);

#endif
