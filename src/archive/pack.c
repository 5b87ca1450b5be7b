/* Writes archives: chunks, the index and the end.
 *
 * A chunk is passed to the sink when it is complete, checksums included.  Its header and metadata
 * are also kept until they are repeated in the index.  An index is a chunk, with the same limits.
 * So a very large archive has several, each with the offset of the previous one. */
#include "archive/header.h"
#include "archive/pack.h"
#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/crc32.h"
#include "base/error.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

enum {
    SAVES_PERCENT = 5,    /* a smaller saving is not worth the time to decompress */
    LEAST_WINDOW_LOG = 10 /* least window of zstd */
};

/* An index is written when it would exceed this size.  Builds for fuzzing write several indexes
 * even in small archives. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { INDEX_BYTES = 512 };
#else
enum { INDEX_BYTES = 32 << 20 };
#endif

struct pf_pack {
    perfile_sink *sink;
    uint64_t id;
    int level;
    uint64_t at; /* offset in the archive */
    ZSTD_CCtx *zstd;
    pf_buffer packed;       /* of one chunk */
    pf_buffer index;        /* header and metadata of the chunks since the last index */
    pf_buffer index_packed; /* not `packed`, which may have the chunk after the index */
    uint64_t last_index;    /* its offset; 0: none yet */
};

static perfile_status choose_id(uint64_t *id, perfile_error *err)
{
    while (*id == 0) {
        ssize_t n = getrandom(id, sizeof *id, 0);
        if (n < 0 && errno != EINTR)
            return pf_fail_io(err, errno, "archive.id", "no random number");
        if (n != sizeof *id)
            *id = 0;
    }
    return PERFILE_OK;
}

static perfile_status write_head(pf_pack *p, uint64_t needs, perfile_error *err)
{
    uint8_t header[PF_ARCHIVE_HEADER];
    const pf_archive_head h = {.major = PF_ARCHIVE_MAJOR,
                               .minor = PF_ARCHIVE_MINOR,
                               .length = PF_ARCHIVE_HEADER,
                               .needs = needs,
                               .id = p->id};
    pf_archive_head_encode(&h, header);
    p->at = sizeof header;
    return perfile_sink_write(p->sink, (perfile_bytes){header, sizeof header}, err);
}

perfile_status pf_pack_new(perfile_sink *sink, const pf_pack_options *options, pf_pack **pack,
                           perfile_error *err)
{
    if (options->level < 0 || options->level > PF_PACK_LEVEL_MOST)
        return pf_fail(err, PERFILE_E_USAGE, "archive.level", "level %d; there are 1 to %d",
                       options->level, PF_PACK_LEVEL_MOST);
    pf_pack *p = pf_alloc(1, sizeof *p);
    if (!p)
        return pf_fail_nomem(err, "archive");
    p->sink = sink;
    p->id = options->id;
    p->at = options->offset;
    p->last_index = options->last_index;
    p->level = options->level ? options->level : PF_PACK_LEVEL_DEFAULT;
    p->zstd = ZSTD_createCCtx();
    perfile_status st = p->zstd ? choose_id(&p->id, err) : pf_fail_nomem(err, "archive");
    if (st == PERFILE_OK && !p->at)
        st = write_head(p, options->needs, err);
    if (st == PERFILE_OK)
        *pack = p;
    else
        pf_pack_close(p);
    return st;
}

/* Returns the exponent of the least power of two that is at least `n`, within the limits of
 * windows. */
static int log_of(size_t n)
{
    int log = LEAST_WINDOW_LOG;
    while (log < PF_ARCHIVE_MOST_WINDOW_LOG && (size_t)1 << log < n)
        log++;
    return log;
}

perfile_status pf_pack_compress(ZSTD_CCtx *zstd, int level, perfile_bytes raw, pf_buffer *packed,
                                pf_pack_payload *out, perfile_error *err)
{
    const size_t bound = ZSTD_compressBound(raw.len);
    pf_buffer_clear(packed);
    if (!pf_buffer_reserve_large(packed, bound))
        return pf_fail_nomem(err, "archive");
    (void)ZSTD_CCtx_reset(zstd, ZSTD_reset_session_and_parameters);
    (void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level);
    /* A window of the size of the chunk finds all repetitions in it. */
    (void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, log_of(raw.len));
    const size_t n = ZSTD_compress2(zstd, packed->ptr, bound, raw.ptr, raw.len);
    if (ZSTD_isError(n))
        return pf_fail_nomem(err, "archive");
    packed->len = n;
    const bool saves = n < raw.len - raw.len * SAVES_PERCENT / 100;
    *out = (pf_pack_payload){.codec = saves ? PF_CODEC_ZSTD : PF_CODEC_RAW,
                             .raw_len = (uint32_t)raw.len,
                             .raw_crc = pf_crc32c(0, raw),
                             .bytes = saves ? (perfile_bytes){packed->ptr, n} : raw};
    return PERFILE_OK;
}

pf_pack_payload pf_pack_columns(perfile_bytes raw, perfile_bytes columns)
{
    return (pf_pack_payload){.codec = PF_CODEC_COLUMNS,
                             .raw_len = (uint32_t)raw.len,
                             .raw_crc = pf_crc32c(0, raw),
                             .bytes = columns};
}

/* Writes `bytes`, then zeros up to `padded` bytes. */
static perfile_status write_padded(pf_pack *p, perfile_bytes bytes, size_t padded,
                                   perfile_error *err)
{
    static const uint8_t zeros[PF_ARCHIVE_HEADER];
    perfile_status st = bytes.len ? perfile_sink_write(p->sink, bytes, err) : PERFILE_OK;
    if (st == PERFILE_OK && padded > bytes.len)
        st = perfile_sink_write(p->sink, (perfile_bytes){zeros, padded - bytes.len}, err);
    return st;
}

static uint32_t crc_padded(perfile_bytes bytes, size_t padded)
{
    static const uint8_t zeros[PF_ARCHIVE_HEADER];
    return pf_crc32c(pf_crc32c(0, bytes), (perfile_bytes){zeros, padded - bytes.len});
}

/* Completes the header and writes the chunk. */
static perfile_status write_chunk(pf_pack *p, pf_chunk *c, perfile_bytes meta,
                                  perfile_bytes payload, uint8_t *header, perfile_error *err)
{
    c->id = p->id;
    c->offset = p->at;
    c->meta_len = (uint32_t)meta.len;
    c->payload_len = (uint32_t)payload.len;
    c->meta_crc = crc_padded(meta, pf_chunk_meta_bytes(c));
    c->payload_crc = crc_padded(payload, pf_chunk_payload_bytes(c));
    pf_chunk_encode(c, header);
    p->at += pf_chunk_bytes(c);
    perfile_status st =
        perfile_sink_write(p->sink, (perfile_bytes){header, PF_ARCHIVE_HEADER}, err);
    if (st == PERFILE_OK)
        st = write_padded(p, meta, pf_chunk_meta_bytes(c), err);
    return st == PERFILE_OK ? write_padded(p, payload, pf_chunk_payload_bytes(c), err) : st;
}

/* Adds header and metadata of a chunk to the index. */
static perfile_status add_to_index(pf_pack *p, const uint8_t *header, const pf_chunk *c,
                                   perfile_bytes meta, perfile_error *err)
{
    static const uint8_t zeros[8];
    if (!pf_buffer_append(&p->index, header, PF_ARCHIVE_HEADER) ||
        !pf_buffer_append(&p->index, meta.ptr, meta.len) ||
        !pf_buffer_append(&p->index, zeros, pf_chunk_meta_bytes(c) - meta.len))
        return pf_fail_nomem(err, "archive");
    return PERFILE_OK;
}

static perfile_status write_index(pf_pack *p, perfile_error *err)
{
    uint8_t header[PF_ARCHIVE_HEADER];
    const perfile_bytes none = {NULL, 0}, entries = {p->index.ptr, p->index.len};
    const uint64_t at = p->at;
    pf_pack_payload payload;
    perfile_status st =
        pf_pack_compress(p->zstd, p->level, entries, &p->index_packed, &payload, err);
    if (st != PERFILE_OK)
        return st;
    pf_chunk c = {.kind = PF_CHUNK_INDEX,
                  .flags = PF_CHUNK_FLAG_SKIP_OK,
                  .codec = payload.codec,
                  .raw_len = payload.raw_len,
                  .raw_crc = payload.raw_crc,
                  .raw_off = p->last_index};
    st = write_chunk(p, &c, none, payload.bytes, header, err);
    p->last_index = at;
    pf_buffer_clear(&p->index);
    return st;
}

perfile_status pf_pack_put_stored(pf_pack *p, const pf_pack_chunk *chunk,
                                  const pf_pack_payload *payload, perfile_error *err)
{
    uint8_t header[PF_ARCHIVE_HEADER];
    if (payload->raw_len > PF_ARCHIVE_MOST_RAW_LEN || chunk->meta.len > PF_ARCHIVE_MOST_META_LEN ||
        payload->bytes.len > PF_ARCHIVE_MOST_PAYLOAD_LEN ||
        chunk->raw_off > (uint64_t)INT64_MAX - payload->raw_len)
        return pf_fail(err, PERFILE_E_LIMIT, "archive.chunk",
                       "a chunk of %u bytes with %zu of metadata", payload->raw_len,
                       chunk->meta.len);
    pf_chunk c = {.kind = chunk->kind,
                  .codec = payload->codec,
                  .flags = chunk->flags,
                  .raw_len = payload->raw_len,
                  .raw_crc = payload->raw_crc,
                  .raw_off = chunk->raw_off,
                  .source = chunk->source,
                  .part = chunk->part};
    perfile_status st = PERFILE_OK;
    if (p->index.len && p->index.len + PF_ARCHIVE_HEADER + chunk->meta.len > INDEX_BYTES)
        st = write_index(p, err);
    if (st == PERFILE_OK)
        st = write_chunk(p, &c, chunk->meta, payload->bytes, header, err);
    return st == PERFILE_OK ? add_to_index(p, header, &c, chunk->meta, err) : st;
}

perfile_status pf_pack_put(pf_pack *p, const pf_pack_chunk *chunk, perfile_error *err)
{
    pf_pack_payload payload;
    perfile_status st = PERFILE_OK;
    if (chunk->raw.len > PF_ARCHIVE_MOST_RAW_LEN || chunk->meta.len > PF_ARCHIVE_MOST_META_LEN)
        return pf_fail(err, PERFILE_E_LIMIT, "archive.chunk",
                       "a chunk of %zu bytes with %zu of metadata", chunk->raw.len,
                       chunk->meta.len);
    if (chunk->columns.len)
        payload = pf_pack_columns(chunk->raw, chunk->columns);
    else
        st = pf_pack_compress(p->zstd, p->level, chunk->raw, &p->packed, &payload, err);
    return st == PERFILE_OK ? pf_pack_put_stored(p, chunk, &payload, err) : st;
}

perfile_status pf_pack_copy(pf_pack *p, pf_archive *from, const pf_chunk *c, uint16_t source,
                            perfile_bytes meta, perfile_error *err)
{
    const pf_pack_chunk to = {
        .source = source, .part = c->part, .raw_off = c->raw_off, .meta = meta};
    return pf_pack_move(p, from, c, &to, err);
}

perfile_status pf_pack_move(pf_pack *p, pf_archive *from, const pf_chunk *c,
                            const pf_pack_chunk *to, perfile_error *err)
{
    pf_pack_chunk chunk = *to;
    pf_pack_payload payload = {.codec = c->codec, .raw_len = c->raw_len, .raw_crc = c->raw_crc};
    chunk.kind = c->kind;
    chunk.flags = c->flags;
    perfile_status st = pf_archive_stored(from, c, &payload.bytes, err);
    return st == PERFILE_OK ? pf_pack_put_stored(p, &chunk, &payload, err) : st;
}

uint64_t pf_pack_offset(const pf_pack *p)
{
    return p->at;
}

perfile_status pf_pack_finish(pf_pack *p, perfile_error *err)
{
    uint8_t header[PF_ARCHIVE_HEADER];
    const perfile_bytes none = {NULL, 0};
    perfile_status st = write_index(p, err);
    pf_chunk end = {.kind = PF_CHUNK_END, .flags = PF_CHUNK_FLAG_SKIP_OK, .raw_off = p->last_index};
    return st == PERFILE_OK ? write_chunk(p, &end, none, none, header, err) : st;
}

void pf_pack_close(pf_pack *p)
{
    if (!p)
        return;
    ZSTD_freeCCtx(p->zstd);
    pf_buffer_free(&p->packed);
    pf_buffer_free(&p->index);
    pf_buffer_free(&p->index_packed);
    pf_free(p);
}

/* The two headers, encoded and decoded with the tables in format/archive.def.
 *
 * A header ends with the checksum of all bytes before it.  A chunk header also has its own offset
 * and the id of the archive.  So a reader recognizes it anywhere, even after damage, and never
 * takes bytes of a payload for a header. */

enum { CRC_AT = PF_ARCHIVE_HEADER - 4, META_PAD = 8 };

static const uint8_t file_magic[8] = {0x89, 'P', 'F', 'C', 0x0d, 0x0a, 0x1a, 0x0a};
static const uint8_t chunk_magic[4] = {'P', 'F', 'C', 'K'};

/* Little-endian numbers. */
static void store_u8(uint8_t *p, uint8_t v)
{
    *p = v;
}

static void store_u16(uint8_t *p, uint16_t v)
{
    pf_store_u16(p, v, PF_NATIVE_BIG);
}

static void store_u32(uint8_t *p, uint32_t v)
{
    pf_store_u32(p, v, PF_NATIVE_BIG);
}

static void store_u64(uint8_t *p, uint64_t v)
{
    pf_store_u64(p, v, PF_NATIVE_BIG);
}

static uint8_t load_u8(const uint8_t *p)
{
    return *p;
}

static uint16_t load_u16(const uint8_t *p)
{
    return pf_load_u16(p, PF_NATIVE_BIG);
}

static uint32_t load_u32(const uint8_t *p)
{
    return pf_load_u32(p, PF_NATIVE_BIG);
}

static uint64_t load_u64(const uint8_t *p)
{
    return pf_load_u64(p, PF_NATIVE_BIG);
}

static void seal(uint8_t *header)
{
    store_u32(header + CRC_AT, pf_crc32c(0, (perfile_bytes){header, CRC_AT}));
}

static bool is_sealed(const uint8_t *header)
{
    return load_u32(header + CRC_AT) == pf_crc32c(0, (perfile_bytes){header, CRC_AT});
}

void pf_archive_head_encode(const pf_archive_head *h, uint8_t *out)
{
    memset(out, 0, PF_ARCHIVE_HEADER);
    memcpy(out, file_magic, sizeof file_magic);
#define HEAD(type, name, offset, doc) store_##type(out + (offset), h->name);
#include "perfile/format/archive.def"
    seal(out);
}

bool pf_archive_has_magic(perfile_bytes bytes)
{
    return bytes.len >= sizeof file_magic && memcmp(bytes.ptr, file_magic, sizeof file_magic) == 0;
}

perfile_status pf_archive_head_decode(perfile_bytes bytes, pf_archive_head *h, perfile_error *err)
{
    const uint64_t known = 0
#define ARCHIVE_NEEDS(id, bit, doc) | UINT64_C(1) << (bit)
#include "perfile/format/archive.def"
        ;
    if (bytes.len < PF_ARCHIVE_HEADER)
        return pf_fail(err, PERFILE_E_TRUNCATED, "archive.header", "%zu bytes, a header has %d",
                       bytes.len, PF_ARCHIVE_HEADER);
    if (!pf_archive_has_magic(bytes))
        return pf_fail(err, PERFILE_E_CORRUPT, "archive.magic", "not an archive");
    if (!is_sealed(bytes.ptr))
        return pf_fail(err, PERFILE_E_CORRUPT, "archive.header", "its checksum is wrong");
#define HEAD(type, name, offset, doc) h->name = load_##type(bytes.ptr + (offset));
#include "perfile/format/archive.def"
    if (h->major != PF_ARCHIVE_MAJOR || h->length != PF_ARCHIVE_HEADER)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "archive.major",
                       "version %u.%u with a header of %u bytes; this library reads version %d",
                       h->major, h->minor, h->length, PF_ARCHIVE_MAJOR);
    if (!h->id) /* for chunks, id 0 means any archive */
        return pf_fail(err, PERFILE_E_CORRUPT, "archive.id", "an archive has no id 0");
    if (h->needs & ~known)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "archive.needs",
                       "it needs features that this library does not know: 0x%llx",
                       (unsigned long long)(h->needs & ~known));
    return PERFILE_OK;
}

void pf_chunk_encode(const pf_chunk *c, uint8_t *out)
{
    memset(out, 0, PF_ARCHIVE_HEADER);
    memcpy(out, chunk_magic, sizeof chunk_magic);
#define CHUNK(type, name, offset, doc) store_##type(out + (offset), c->name);
#include "perfile/format/archive.def"
    seal(out);
}

/* Returns true if all sizes are within the limits, and both sizes of a raw payload are equal. */
static bool has_valid_sizes(const pf_chunk *c)
{
    return c->meta_len <= PF_ARCHIVE_MOST_META_LEN &&
           c->payload_len <= PF_ARCHIVE_MOST_PAYLOAD_LEN && c->raw_len <= PF_ARCHIVE_MOST_RAW_LEN &&
           (c->codec != PF_CODEC_RAW || c->raw_len == c->payload_len) &&
           c->raw_off <= (uint64_t)INT64_MAX - c->raw_len;
}

bool pf_chunk_decode(const uint8_t *bytes, uint64_t offset, uint64_t id, pf_chunk *c)
{
    if (memcmp(bytes, chunk_magic, sizeof chunk_magic) != 0 || offset % PF_ARCHIVE_HEADER ||
        !is_sealed(bytes))
        return false;
#define CHUNK(type, name, offset, doc) c->name = load_##type(bytes + (offset));
#include "perfile/format/archive.def"
    return c->offset == offset && (!id || c->id == id) && has_valid_sizes(c);
}

static uint32_t padded(uint32_t n, uint32_t to)
{
    return (n + to - 1) / to * to;
}

uint32_t pf_chunk_meta_bytes(const pf_chunk *c)
{
    return padded(c->meta_len, META_PAD);
}

uint32_t pf_chunk_payload_bytes(const pf_chunk *c)
{
    const uint32_t meta = pf_chunk_meta_bytes(c);
    return padded(meta + c->payload_len, PF_ARCHIVE_HEADER) - meta;
}

uint64_t pf_chunk_bytes(const pf_chunk *c)
{
    return (uint64_t)PF_ARCHIVE_HEADER + pf_chunk_meta_bytes(c) + pf_chunk_payload_bytes(c);
}

const char *pf_chunk_kind_name(unsigned kind)
{
    switch (kind) {
#define CHUNK_KIND(id, number, name, doc)                                                          \
    case number:                                                                                   \
        return name;
#include "perfile/format/archive.def"
    default:
        return NULL;
    }
}

const char *pf_chunk_codec_name(unsigned codec)
{
    switch (codec) {
#define CHUNK_CODEC(id, number, name, doc)                                                         \
    case number:                                                                                   \
        return name;
#include "perfile/format/archive.def"
    default:
        return NULL;
    }
}
