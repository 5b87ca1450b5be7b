/* What the META chunks of an archive say about one capture (source): the files that it consisted
 * of, its events, who packed it and where.  format/archive.cddl has the map.
 *
 * An archive may have several META chunks of a source.  Each is decoded into the same pf_meta, in
 * their order: what a later one says replaces what an earlier one said, key by key, and the keys of
 * each part likewise.  A writer that learns the size and checksum of a file at its end only says
 * them in a last chunk.
 *
 * Keys that are not known are passed over and not kept: who edits an archive copies META chunks as
 * they are, and adds one. */
#ifndef PF_ARCHIVE_META_H
#define PF_ARCHIVE_META_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cbor.h"
#include "core/zone.h"
#include "perfile/base.h"

/* The zone of a chunk as its metadata: CBOR (format/archive.cddl). */

/* Appends the zone as CBOR, after pf_zone_seal().  PERFILE_E_NOMEM: `out` ends as it did before. */
perfile_status pf_zone_encode(pf_zone *z, pf_buffer *out, perfile_error *err);

/* Reads the metadata of a chunk into `z`, which may have been used; it is sealed then.
 * PERFILE_E_CORRUPT (also for no bytes at all), PERFILE_E_NOMEM: of *z nothing is known. */
perfile_status pf_zone_decode(perfile_bytes cbor, pf_zone *z, perfile_error *err);

enum {
    PF_META_MOST_PARTS = 65536,   /* parts of a source; their numbers are below that */
    PF_META_MOST_NAME = 255,      /* bytes of a part's name */
    PF_META_LOSSY_WORDS = 4,      /* known words of `lossy` */
    PF_META_MOST_BYTES = 64 << 20 /* of all strings and lists that were decoded into one pf_meta */
};

/* A part: one file of the capture.  Strings are NULL where nothing is said. */
typedef struct pf_meta_part {
    uint32_t number;    /* pf_chunk.part */
    const char *format; /* the driver that read it ("perf.data"), or "opaque" */
    const char *form;   /* as the driver calls it: "file", "pipe" … */
    const char *name;   /* in a directory: never "", "." or "..", and no '/' in it */
    bool has_size, has_crc32c, has_mode;
    uint64_t size;   /* bytes */
    uint32_t crc32c; /* of all bytes */
    uint32_t mode;   /* permissions: the low 12 bits of st_mode */
} pf_meta_part;

typedef struct pf_meta_event {
    const char *name;
    perfile_bytes attr; /* as stored in the capture; ptr NULL: not said */
} pf_meta_event;

/* All zeros is one that says nothing.  To be encoded it is filled in by the caller, with arrays and
 * strings of its own.  What was decoded owns its arrays and strings, which live until
 * pf_meta_clear(); the array of parts moves when another map is decoded. */
typedef struct pf_meta {
    const char *creator; /* program and version, or NULL */
    const char *host;    /* where it was packed, or NULL */
    const char *name;    /* of the file or directory that was packed, or NULL */
    bool has_created, has_modified, has_events, has_lossy;
    uint64_t created;  /* ns since 1970, UTC */
    uint64_t modified; /* when what was packed was last written, likewise */
    /* In no order; the numbers differ. */
    pf_meta_part *parts;
    uint32_t n_parts;
    /* A copy for readers, by perfile_event.index; what counts is in the capture. */
    pf_meta_event *events;
    uint32_t n_events;
    /* What was changed, so that the capture is not restored byte for byte: "filtered" … */
    const char **lossy;
    uint32_t n_lossy;
    /* While maps are decoded: */
    uint32_t cap_parts;
    uint32_t *part_at; /* by number: position in `parts` plus 1; 0: no such part */
    uint32_t n_part_at;
    pf_arena arena;
} pf_meta;

/* Appends the map.  PERFILE_E_NOMEM: `out` ends as it did before. */
perfile_status pf_meta_encode(const pf_meta *m, pf_buffer *out, perfile_error *err);

/* Adds a map to what *m says.  PERFILE_E_CORRUPT: *m is as it was.  PERFILE_E_LIMIT
 * (PF_META_MOST_BYTES), PERFILE_E_NOMEM: it says a part of what the map does, too. */
perfile_status pf_meta_decode(perfile_bytes cbor, pf_meta *m, perfile_error *err);

/* The part with this number; NULL: nothing is said of it.  Of what was decoded. */
const pf_meta_part *pf_meta_part_of(const pf_meta *m, uint32_t number);

/* The bits PF_LOSSY_… (io/out.h) of the words in m->lossy; words that are not known have none. */
uint32_t pf_meta_lossy_bits(const pf_meta *m);

/* The words of these bits; returns how many. */
uint32_t pf_meta_lossy_words(uint32_t bits, const char *words[PF_META_LOSSY_WORDS]);

/* Releases what was decoded; *m says nothing then. */
void pf_meta_clear(pf_meta *m);

/* True if a file of a directory may have this name: 1 to PF_META_MOST_NAME bytes without '/' and
 * NUL, not "." or "..". */
bool pf_meta_name_is_safe(perfile_bytes name);

/* The same for a part of a capture, which may also be a companion file in its folder. */
bool pf_meta_part_name_is_safe(perfile_bytes name);

#endif
