/* Checksums: CRC-32 and CRC-32C. */
#ifndef PF_BASE_CRC32_H
#define PF_BASE_CRC32_H

#include "perfile/base.h"

/* CRC-32 of IEEE 802.3, as used by zlib and gzip.  In all these functions `crc` is the result for
 * the bytes before these, or 0 at the start. */
uint32_t pf_crc32(uint32_t crc, perfile_bytes bytes);

/* CRC-32C (Castagnoli), the checksum of archives: reflected polynomial 0x82f63b78, initial value
 * and final xor all ones.  "123456789" gives 0xe3069283.  Uses the CPU's instruction if it has
 * one. */
uint32_t pf_crc32c(uint32_t crc, perfile_bytes bytes);

/* Computes the same with tables, on every CPU; for tests. */
uint32_t pf_crc32c_by_tables(uint32_t crc, perfile_bytes bytes);

#endif
