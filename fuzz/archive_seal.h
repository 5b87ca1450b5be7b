/* Corrects the checksums of bytes that look like an archive, so that fuzzed bytes are not rejected
 * by them: those of the file header, of chunk headers, and of payloads that can be decoded. */
#ifndef FUZZ_ARCHIVE_SEAL_H
#define FUZZ_ARCHIVE_SEAL_H

#include "ensure.h"

#include <string.h>

#include "columns/columns.h"
#include "archive/header.h"
#include "base/crc32.h"
#include <zstd.h>

enum {
    ARCHIVE_SEAL_MOST = 1 << 16 /* maximum of decoded bytes of a chunk with a corrected checksum */
};

/* Returns the checksum of the decoded bytes if they can be decoded, otherwise the one in the
 * header. */
static inline uint32_t archive_seal_raw(const pf_chunk *c, perfile_bytes payload)
{
    static pf_columns_decoder *d; /* one for all inputs */
    static ZSTD_DCtx *zstd;       /* the same */
    static uint8_t raw[ARCHIVE_SEAL_MOST + 1];
    const bool big = c->flags & PF_CHUNK_FLAG_BIG_ENDIAN;
    if (c->codec == PF_CODEC_RAW)
        return pf_crc32c(0, payload);
    if (c->raw_len > ARCHIVE_SEAL_MOST)
        return c->raw_crc;
    d = d ? d : pf_columns_decoder_new();
    zstd = zstd ? zstd : ZSTD_createDCtx();
    ENSURE(d && zstd);
    if (c->codec == PF_CODEC_ZSTD
            ? ZSTD_decompressDCtx(zstd, raw, c->raw_len, payload.ptr, payload.len) != c->raw_len
            : pf_columns_decode(d, payload, big, raw, c->raw_len, NULL) != PERFILE_OK)
        return c->raw_crc;
    return pf_crc32c(0, (perfile_bytes){raw, c->raw_len});
}

static inline void archive_seal_chunk(uint8_t *header, uint64_t at, uint64_t behind)
{
    pf_chunk c; /* the sizes differ on a big-endian machine, which is as good */
#define CHUNK(type, name, offset, doc) memcpy(&c.name, header + (offset), sizeof c.name);
#include "perfile/format/archive.def"
    c.offset = at;
    c.id = 1;
    if (c.meta_len <= PF_ARCHIVE_MOST_META_LEN && c.payload_len <= PF_ARCHIVE_MOST_PAYLOAD_LEN &&
        pf_chunk_bytes(&c) - PF_ARCHIVE_HEADER <= behind) {
        const perfile_bytes meta = {header + PF_ARCHIVE_HEADER, pf_chunk_meta_bytes(&c)};
        const perfile_bytes payload = {meta.ptr + meta.len, pf_chunk_payload_bytes(&c)};
        c.meta_crc = pf_crc32c(0, meta);
        c.payload_crc = pf_crc32c(0, payload);
        c.raw_crc = archive_seal_raw(&c, (perfile_bytes){payload.ptr, c.payload_len});
    }
    pf_chunk_encode(&c, header);
}

/* Returns a copy of the bytes, made an archive with the id 1; the caller frees it. */
static inline uint8_t *archive_sealed(perfile_bytes bytes)
{
    const pf_archive_head h = {.major = 1,
                               .length = PF_ARCHIVE_HEADER,
                               .needs = PF_ARCHIVE_NEEDS_COLUMNS | PF_ARCHIVE_NEEDS_SOURCES,
                               .id = 1};
    uint8_t *copy = malloc(bytes.len + 1);
    ENSURE(copy);
    if (bytes.len)
        memcpy(copy, bytes.ptr, bytes.len);
    if (bytes.len >= PF_ARCHIVE_HEADER)
        pf_archive_head_encode(&h, copy);
    for (size_t at = PF_ARCHIVE_HEADER; at < bytes.len && bytes.len - at >= PF_ARCHIVE_HEADER;
         at += PF_ARCHIVE_HEADER)
        if (memcmp(copy + at, "PFCK", 4) == 0)
            archive_seal_chunk(copy + at, at, bytes.len - at - PF_ARCHIVE_HEADER);
    return copy;
}

#endif
