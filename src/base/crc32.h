/* CRC-32 of IEEE 802.3, as used by zlib and gzip. */
#ifndef PF_BASE_CRC32_H
#define PF_BASE_CRC32_H

#include "perfile/base.h"

/* Continues `crc`, the result for the bytes in front of these; 0 at the start. */
uint32_t pf_crc32(uint32_t crc, perfile_bytes bytes);

#endif
