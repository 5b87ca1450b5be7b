/* CRC-32 of IEEE 802.3, the one of zlib and gzip. */
#ifndef PF_BASE_CRC32_H
#define PF_BASE_CRC32_H

#include "perfile/base.h"

/* Goes on from `crc`, the value for what stood before; 0 at the beginning. */
uint32_t pf_crc32(uint32_t crc, perfile_bytes bytes);

#endif
