/* Writes to a file by a thread next to the one that produces the bytes.
 *
 * Half of the time of sorting and merging is the kernel copying what is written; with two
 * processors the next bytes are produced meanwhile.  The costs: bytes are copied unless they stay
 * valid, and an error is reported by a later write or by pf_write_behind_wait(). */
#ifndef PF_IO_OUT_BEHIND_H
#define PF_IO_OUT_BEHIND_H

#include "perfile/base.h"

typedef struct pf_write_behind pf_write_behind;

/* Makes the writing thread's state for the regular file `fd`, which stays the caller's and must
 * stay open. */
perfile_status pf_write_behind_new(int fd, pf_write_behind **behind, perfile_error *err);

/* Has `bytes` written at file offset `offset`.  Returns 0, or the negative errno of the first write
 * that is known to have failed.  `stable`: the bytes stay valid and unchanged until
 * pf_write_behind_wait(); otherwise they are copied before the call returns. */
int pf_write_behind_write(pf_write_behind *behind, uint64_t offset, perfile_bytes bytes,
                          bool stable);

/* Waits until everything is written.  Returns 0, or the negative errno of the first write that
 * failed. */
int pf_write_behind_wait(pf_write_behind *behind);

/* Waits for pending writes, then releases the object.  NULL is fine. */
void pf_write_behind_free(pf_write_behind *behind);

/* Writes all of `bytes` at `offset` in the calling thread.  Returns 0 or a negative errno. */
int pf_write_at(int fd, uint64_t offset, perfile_bytes bytes);

#endif
