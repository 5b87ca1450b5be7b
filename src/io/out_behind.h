/* Writes to a file that a thread makes beside who produces the bytes.
 *
 * Half of the time of sorting and merging is the kernel's, which copies what is written: with two
 * processors the next bytes are put together meanwhile.  The price is a copy to memory of its own,
 * and that an error is told at a later write, or when all is settled. */
#ifndef PF_IO_OUT_BEHIND_H
#define PF_IO_OUT_BEHIND_H

#include "perfile/base.h"

typedef struct pf_behind pf_behind;

/* For a regular file, which stays the caller's and must stay open. */
perfile_status pf_behind_new(int fd, pf_behind **behind, perfile_error *err);

/* Has `bytes` written at `offset` of the file: 0, or the negative errno of this write or one before
 * it.  `lasting`: they stay where they are until pf_behind_settle(); else they are copied, and the
 * caller's again. */
int pf_behind_write(pf_behind *behind, uint64_t offset, perfile_bytes bytes, bool lasting);

/* Waits until all is written: 0, or the negative errno of the first write that failed. */
int pf_behind_settle(pf_behind *behind);

/* Waits for what is being written; NULL is fine. */
void pf_behind_free(pf_behind *behind);

/* All of `bytes` at `offset`, here and now: 0 or a negative errno. */
int pf_write_at(int fd, uint64_t offset, perfile_bytes bytes);

#endif
