/* The two headers of an archive: of the file and of a chunk, 64 bytes each (format/archive.def). */
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

/* Writes the header of a file to `out`, PF_ARCHIVE_HEADER bytes. */
void pf_archive_head_encode(const pf_archive_head *h, uint8_t *out);

/* Reads the header of a file from the first bytes of it.  PERFILE_E_TRUNCATED: fewer than
 * PF_ARCHIVE_HEADER.  PERFILE_E_CORRUPT: magic, checksum or id are wrong.  PERFILE_E_UNSUPPORTED:
 * another major version, or a feature that this reader does not know; *h is filled then. */
perfile_status pf_archive_head_decode(perfile_bytes bytes, pf_archive_head *h, perfile_error *err);

/* True if the bytes begin like an archive. */
bool pf_archive_has_magic(perfile_bytes bytes);

/* Writes the header of a chunk to `out`, PF_ARCHIVE_HEADER bytes. */
void pf_chunk_encode(const pf_chunk *c, uint8_t *out);

/* True if the PF_ARCHIVE_HEADER bytes at `bytes` are the header of a chunk that stands at `offset`
 * of the archive `id` (0: of any), and keeps the limits; then *c is filled.  An archive that is
 * stored in a chunk of another does not pass: its chunks stand elsewhere and have another id. */
bool pf_chunk_decode(const uint8_t *bytes, uint64_t offset, uint64_t id, pf_chunk *c);

/* Bytes of the metadata, and of the payload, with padding. */
uint32_t pf_chunk_meta_bytes(const pf_chunk *c);
uint32_t pf_chunk_payload_bytes(const pf_chunk *c);

/* Bytes of the whole chunk, header and padding included: a multiple of PF_ARCHIVE_HEADER. */
uint64_t pf_chunk_bytes(const pf_chunk *c);

/* "records", "zstd"; NULL: a number that this version does not know. */
const char *pf_chunk_kind_name(unsigned kind);
const char *pf_chunk_codec_name(unsigned codec);

#endif
