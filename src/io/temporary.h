/* Files without a name: gone when they are closed, however that happens. */
#ifndef PF_IO_TEMPORARY_H
#define PF_IO_TEMPORARY_H

#include "perfile/base.h"

/* Opens one in `dir` (NULL: TMPDIR, or /tmp).  `what` is perfile_error.where of what fails. */
perfile_status pf_temporary_open(const char *dir, const char *what, int *fd, perfile_error *err);

/* Writes all of `b` at `offset`; reads up to `len` bytes there, *got of them, less only at the end.
 */
perfile_status pf_temporary_write(int fd, uint64_t offset, perfile_bytes b, const char *what,
                                  perfile_error *err);
perfile_status pf_temporary_read(int fd, uint64_t offset, void *buf, size_t len, size_t *got,
                                 const char *what, perfile_error *err);

#endif
