/* Encodes and decodes the two headers of an archive: the file header and the chunk header.  Both
 * have 64 bytes; format/archive.def lists their fields. */
#ifndef PF_ARCHIVE_HEADER_H
#define PF_ARCHIVE_HEADER_H

#include <stdbool.h>

#include "columns/columns.h"
#include "perfile/base.h"

enum {
    PF_ARCHIVE_HEADER = 64 /* bytes of either header; every chunk begins at a multiple of it */
};

#define PF_ARCHIVE_C_u8  uint8_t
#define PF_ARCHIVE_C_u16 uint16_t
#define PF_ARCHIVE_C_u32 uint32_t
#define PF_ARCHIVE_C_u64 uint64_t

typedef struct pf_archive_head {
#define HEAD(type, name, offset, doc) PF_ARCHIVE_C_##type name; /* doc */
#include "perfile/format/archive.def"
} pf_archive_head;

typedef struct pf_chunk {
#define CHUNK(type, name, offset, doc) PF_ARCHIVE_C_##type name; /* doc */
#include "perfile/format/archive.def"
} pf_chunk;

#define CHUNK_KIND(id, number, name, doc) PF_CHUNK_##id = number,
enum {
#include "perfile/format/archive.def"
};
#define CHUNK_CODEC(id, number, name, doc) PF_CODEC_##id = number,
enum {
#include "perfile/format/archive.def"
};
#define CHUNK_FLAG(id, bit, doc) PF_CHUNK_FLAG_##id = 1 << (bit),
enum {
#include "perfile/format/archive.def"
};
#define ARCHIVE_NEEDS(id, bit, doc) PF_ARCHIVE_NEEDS_##id = 1 << (bit),
enum {
    PF_ARCHIVE_MAJOR = 1,
    PF_ARCHIVE_MINOR = 0,
#include "perfile/format/archive.def"
};

/* Writes a file header to `out`, PF_ARCHIVE_HEADER bytes. */
void pf_archive_head_encode(const pf_archive_head *h, uint8_t *out);

/* Reads the file header from the first bytes of an archive.
 *
 * PERFILE_E_TRUNCATED: there are fewer than PF_ARCHIVE_HEADER bytes.  PERFILE_E_CORRUPT: the magic
 * number, the checksum or the id is wrong.  PERFILE_E_UNSUPPORTED: the archive has another major
 * version, or needs a feature that this reader does not know; *h is filled in this case, too. */
perfile_status pf_archive_head_decode(perfile_bytes bytes, pf_archive_head *h, perfile_error *err);

/* Returns true if the bytes begin with the magic number of an archive. */
bool pf_archive_has_magic(perfile_bytes bytes);

/* Writes a chunk header to `out`, PF_ARCHIVE_HEADER bytes. */
void pf_chunk_encode(const pf_chunk *c, uint8_t *out);

/* Returns true, and fills *c, if the PF_ARCHIVE_HEADER bytes at `bytes` are a valid header of a
 * chunk at `offset` in the archive `id` (0: any archive), with sizes within the limits.  A header
 * of an archive that is stored inside a chunk of this one is rejected: its offset and id differ. */
bool pf_chunk_decode(const uint8_t *bytes, uint64_t offset, uint64_t id, pf_chunk *c);

/* Return the bytes of the metadata or of the payload in the archive, padding included. */
uint32_t pf_chunk_meta_bytes(const pf_chunk *c);
uint32_t pf_chunk_payload_bytes(const pf_chunk *c);

/* Returns the bytes of the whole chunk, header and padding included: a multiple of
 * PF_ARCHIVE_HEADER. */
uint64_t pf_chunk_bytes(const pf_chunk *c);

/* Return the name of a kind ("records") or codec ("zstd"), or NULL if this version does not know
 * the number. */
const char *pf_chunk_kind_name(unsigned kind);
const char *pf_chunk_codec_name(unsigned codec);

#endif
