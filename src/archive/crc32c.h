/* CRC-32C (Castagnoli), the checksum of archives: reflected polynomial 0x82f63b78, initial value
 * and final xor all ones.  "123456789" gives 0xe3069283. */
#ifndef PF_ARCHIVE_CRC32C_H
#define PF_ARCHIVE_CRC32C_H

#include "perfile/base.h"

/* Continues `crc`, the result for the bytes in front of these; 0 at the start.  Uses the
 * instruction of the processor where it has one. */
uint32_t pf_crc32c(uint32_t crc, perfile_bytes bytes);

/* The same by tables, on every processor; for tests. */
uint32_t pf_crc32c_by_tables(uint32_t crc, perfile_bytes bytes);

#endif
