/* Measures whether a mapping or reads of a large file cost less on this machine.
 *
 * Reading copies each byte once more; a mapping costs a page fault for every few pages.  Where the
 * page cache holds large folios a mapping takes half of the time; in a virtual machine whose memory
 * consists of small pages it takes eight times as long.  Only a measurement can decide. */
#ifndef PF_IO_MAP_OR_READ_H
#define PF_IO_MAP_OR_READ_H

#include "perfile/base.h"

/* Tries both ways on a few MiB of the regular file `fd`, whose mapping is `whole`; takes about a
 * millisecond.  Also returns false for files below 32 MiB, where the choice hardly matters, and if
 * the sampled bytes are not in the page cache, where the disk would be measured. */
bool pf_mapping_is_faster(int fd, perfile_bytes whole);

#endif
