/* Metadata of archives: the CBOR maps of META chunks, which describe a capture, and of zones, which
 * describe the records of a chunk.  format/archive.cddl specifies both.
 *
 * A META chunk says which files a capture (source) consists of, which events it has, and who packed
 * it and where.  A capture may have several META chunks.  All are decoded in order into the same
 * pf_meta: a later value replaces an earlier one, key by key; this also holds for the keys of each
 * part.  So a writer that learns the size and checksum of a file only at its end puts them into a
 * last chunk.
 *
 * Unknown keys are skipped and not stored.  A program that edits an archive therefore copies META
 * chunks unchanged, and adds another one. */
#ifndef PF_ARCHIVE_META_H
#define PF_ARCHIVE_META_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cbor.h"
#include "core/zone.h"
#include "perfile/base.h"

/* Zones (core/zone.h) as CBOR: the metadata of a chunk. */

/* Seals the zone with pf_zone_seal() and appends it as CBOR.  PERFILE_E_NOMEM: `out` is
 * unchanged. */
perfile_status pf_zone_encode(pf_zone *z, pf_buffer *out, perfile_error *err);

/* Reads the metadata of a chunk into `z`, which may have been used before, and is sealed
 * afterwards.  On PERFILE_E_CORRUPT (also if `cbor` is empty) and PERFILE_E_NOMEM nothing in *z is
 * known. */
perfile_status pf_zone_decode(perfile_bytes cbor, pf_zone *z, perfile_error *err);

enum {
    PF_META_MOST_PARTS = 65536,   /* parts of a source; part numbers are less than this */
    PF_META_MOST_NAME = 255,      /* bytes of the name of a part */
    PF_META_LOSSY_WORDS = 4,      /* number of known words of `lossy` */
    PF_META_MOST_BYTES = 64 << 20 /* bytes of all strings and lists of one pf_meta */
};

/* One file of the capture.  Strings are NULL if the metadata do not have them. */
typedef struct pf_meta_part {
    uint32_t number;    /* pf_chunk.part */
    const char *format; /* driver that read it ("perf.data"), or "opaque" */
    const char *form;   /* name that the driver gives to the form: "file", "pipe" … */
    const char *name;   /* in a directory; not "", "." or ".."; has no '/' */
    bool has_size, has_crc32c, has_mode;
    uint64_t size;   /* bytes */
    uint32_t crc32c; /* CRC-32C of all bytes */
    uint32_t mode;   /* permissions: the low 12 bits of st_mode */
} pf_meta_part;

typedef struct pf_meta_event {
    const char *name;
    perfile_bytes attr; /* as stored in the capture; ptr is NULL if unknown */
} pf_meta_event;

/* The metadata of one capture; all zeros is empty.
 *
 * To encode: the caller fills it in and owns all arrays and strings.  When decoded: the struct owns
 * its arrays and strings, which live until pf_meta_clear(); `parts` moves when another map is
 * decoded. */
typedef struct pf_meta {
    const char *creator; /* program and version, or NULL */
    const char *host;    /* machine on which the capture was packed, or NULL */
    const char *name;    /* name of the file or directory that was packed, or NULL */
    bool has_created, has_modified, has_events, has_lossy;
    uint64_t created;  /* ns since 1970, UTC */
    uint64_t modified; /* last change of what was packed; ns since 1970, UTC */
    /* In any order; part numbers are distinct. */
    pf_meta_part *parts;
    uint32_t n_parts;
    /* A copy for readers, indexed by perfile_event.index.  The capture itself is authoritative. */
    pf_meta_event *events;
    uint32_t n_events;
    /* Why the capture is not the original byte for byte: "filtered" … */
    const char **lossy;
    uint32_t n_lossy;
    /* Used while maps are decoded: */
    uint32_t cap_parts;
    uint32_t *part_at; /* by part number: index in `parts` plus 1; 0: no such part */
    uint32_t n_part_at;
    pf_arena arena;
} pf_meta;

/* Appends the map.  PERFILE_E_NOMEM: `out` is unchanged. */
perfile_status pf_meta_encode(const pf_meta *m, pf_buffer *out, perfile_error *err);

/* Decodes a map and merges it into *m.  PERFILE_E_CORRUPT: *m is unchanged.  PERFILE_E_LIMIT
 * (PF_META_MOST_BYTES) and PERFILE_E_NOMEM: *m may have a part of the new map. */
perfile_status pf_meta_decode(perfile_bytes cbor, pf_meta *m, perfile_error *err);

/* Returns the part with this number, or NULL if the metadata do not mention it.  Works on decoded
 * metadata only. */
const pf_meta_part *pf_meta_part_of(const pf_meta *m, uint32_t number);

/* Returns the bits PF_LOSSY_… (io/out.h) of the words in m->lossy.  Unknown words are ignored. */
uint32_t pf_meta_lossy_bits(const pf_meta *m);

/* Stores the words of these bits; returns how many there are. */
uint32_t pf_meta_lossy_words(uint32_t bits, const char *words[PF_META_LOSSY_WORDS]);

/* Releases decoded metadata; *m is empty afterwards. */
void pf_meta_clear(pf_meta *m);

/* Returns true if a file in a directory may have this name: 1 to PF_META_MOST_NAME bytes without
 * '/' and NUL, and neither "." nor "..". */
bool pf_meta_name_is_safe(perfile_bytes name);

/* The same for a part of a capture, which may also be a companion file in its subfolder. */
bool pf_meta_part_name_is_safe(perfile_bytes name);

#endif
