/* Which way to the bytes of a large file costs less on this machine: a mapping or reads.
 *
 * Reading copies each byte once more; a mapping costs a fault for every few pages.  Where the page
 * cache holds large folios a mapping takes half of the time, in a virtual machine whose memory is
 * made of small pages it takes eight times as long: nobody but the machine can say. */
#ifndef PF_IO_WAY_H
#define PF_IO_WAY_H

#include "perfile/base.h"

/* Tries both on a few MiB of the regular file `fd`, which `whole` is the mapping of; about a
 * millisecond.  False, too, for files that are too small to matter, and where it cannot be known:
 * the bytes are not in memory. */
bool pf_mapping_is_faster(int fd, perfile_bytes whole);

#endif
