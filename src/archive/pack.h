/* Writes an archive: chunks into a sink, then the index.  Nothing that was written is changed
 * later, so that the sink may be a pipe, and whatever ends the writer leaves complete chunks. */
#ifndef PF_ARCHIVE_PACK_H
#define PF_ARCHIVE_PACK_H

#include <zstd.h>

#include "archive/header.h"
#include "archive/table.h"
#include "io/out.h"

typedef struct pf_pack pf_pack;

enum { PF_PACK_LEVEL_MOST = 19, PF_PACK_LEVEL_DEFAULT = 3 };

typedef struct pf_pack_options {
    uint64_t id;    /* of the archive; 0: random */
    uint64_t needs; /* PF_ARCHIVE_NEEDS_… */
    int level;      /* of zstd, 1 to PF_PACK_LEVEL_MOST; 0: 3 */
    /* To continue a finished archive with that id: */
    uint64_t offset;     /* bytes that it has; 0: it is a new archive */
    uint64_t last_index; /* offset of its last index */
} pf_pack_options;

/* What a chunk is, of the members of pf_chunk that the caller decides. */
typedef struct pf_pack_chunk {
    uint8_t kind; /* META, RECORDS or BYTES, or one of the private kinds from 128 on */
    uint16_t flags;
    uint16_t source, part;
    uint64_t raw_off;
    perfile_bytes raw;     /* the bytes themselves */
    perfile_bytes columns; /* the same with the codec COLUMNS; empty: pf_pack_put() chooses */
    perfile_bytes meta;    /* CBOR, or empty */
} pf_pack_chunk;

/* Writes the header of a new archive to `sink`, which is borrowed and must be empty.  To continue
 * an archive nothing is written yet.
 * PERFILE_E_USAGE: a level that there is not. */
perfile_status pf_pack_new(perfile_sink *sink, const pf_pack_options *options, pf_pack **p,
                           perfile_error *err);

/* Writes one chunk.  Without `columns` it is compressed by zstd, or stored as it is if that saves
 * less than 5 %.  PERFILE_E_LIMIT: more bytes than a chunk may have.  After a failure only
 * pf_pack_close() may be called. */
perfile_status pf_pack_put(pf_pack *p, const pf_pack_chunk *chunk, perfile_error *err);

/* A payload as it is stored. */
typedef struct pf_pack_payload {
    uint8_t codec; /* PF_CODEC_… */
    uint32_t raw_len, raw_crc;
    perfile_bytes bytes;
} pf_pack_payload;

/* Compresses `raw` by zstd, or leaves it as it is if that saves less than 5 %.  Needs no writer:
 * any thread may do it.  out->bytes are `raw`, or in `packed`, whose memory is used again. */
perfile_status pf_pack_compress(ZSTD_CCtx *zstd, int level, perfile_bytes raw, pf_buffer *packed,
                                pf_pack_payload *out, perfile_error *err);

/* The payload whose bytes are `columns`, those of `raw` with the codec COLUMNS. */
pf_pack_payload pf_pack_columns(perfile_bytes raw, perfile_bytes columns);

/* Writes one chunk whose payload is known; `raw` and `columns` of the chunk do not count. */
perfile_status pf_pack_put_stored(pf_pack *p, const pf_pack_chunk *chunk,
                                  const pf_pack_payload *payload, perfile_error *err);

/* Writes a chunk of the archive `from` as it is stored there, as a chunk of the capture `source`
 * that holds the same bytes of the same part, with this metadata.  PERFILE_E_CORRUPT: the checksum
 * of its payload is wrong; nothing was written. */
perfile_status pf_pack_copy(pf_pack *p, pf_archive *from, const pf_chunk *c, uint16_t source,
                            perfile_bytes meta, perfile_error *err);

/* The same at another place: source, part, offset in the part and metadata are those of `to`. */
perfile_status pf_pack_move(pf_pack *p, pf_archive *from, const pf_chunk *c,
                            const pf_pack_chunk *to, perfile_error *err);

/* Offset at which the next chunk will stand: bytes of the archive so far. */
uint64_t pf_pack_offset(const pf_pack *p);

/* Writes INDEX and END.  The sink is not finished. */
perfile_status pf_pack_finish(pf_pack *p, perfile_error *err);

/* Releases the writer; NULL is fine. */
void pf_pack_close(pf_pack *p);

#endif
