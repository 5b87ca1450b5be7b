/* Checksums: CRC-32 and CRC-32C. */
#ifndef PF_BASE_CRC32_H
#define PF_BASE_CRC32_H

#include "perfile/base.h"

/* CRC-32 of IEEE 802.3, as used by zlib and gzip.  All functions continue `crc`, the result for the
 * bytes in front of these; 0 at the start. */
uint32_t pf_crc32(uint32_t crc, perfile_bytes bytes);

/* CRC-32C (Castagnoli), the checksum of archives: reflected polynomial 0x82f63b78, initial value
 * and final xor all ones.  "123456789" gives 0xe3069283.  By the instruction of the processor where
 * it has one. */
uint32_t pf_crc32c(uint32_t crc, perfile_bytes bytes);

/* The same by tables, on every processor; for tests. */
uint32_t pf_crc32c_by_tables(uint32_t crc, perfile_bytes bytes);

#endif
