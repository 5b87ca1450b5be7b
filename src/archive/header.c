/* The headers of archives, from the tables in format/archive.def.
 *
 * A header ends with the checksum of the bytes in front of it.  A chunk header has its own offset
 * and the id of the archive as well: so it is recognised wherever a reader meets it, also behind
 * damage, and no bytes of a payload can be taken for one. */
#include "archive/header.h"
#include "base/crc32.h"

#include <string.h>

#include "base/byte_order.h"
#include "base/error.h"

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
    if (!h->id) /* of chunks it would be any */
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

/* True if the sizes keep the limits, and say of a raw payload the same twice. */
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
