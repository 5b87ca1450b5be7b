/* Writes an archive: chunks into a sink, then the index.  Nothing that was written is changed
 * later, so that the sink may be a pipe, and whatever ends the writer leaves complete chunks. */
#ifndef PF_ARCHIVE_PACK_H
#define PF_ARCHIVE_PACK_H

#include "archive/header.h"
#include "archive/meta.h"
#include "archive/table.h"
#include "columns/columns.h"
#include "columns/encode.h"
#include "core/zone.h"
#include "io/out.h"
#include "perfile/archive.h"
#include "perfile/record.h"

#include <pthread.h>
#include <zstd.h>

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

/* Makes the chunks of a capture from its bytes, and from what is said about its records.
 *
 * The caller writes the bytes of each part in order, and tells which of them are records, as soon
 * as it knows.  Those become RECORDS chunks with columns, all others BYTES chunks.  Nothing is made
 * of a record but its own bytes: where it says something else, the chunk is compressed as a whole.
 *
 * Encoding is a job for threads; chunks are written in order by the caller's. */

/* What a packer says about its capture in META chunks, apart from the parts: its name, when it was
 * packed, how it differs from what was read, its events.  For packer.c only. */

typedef struct pf_about {
    char *name;                     /* of the file or directory; NULL: not known */
    uint64_t modified;              /* ns since 1970, UTC; 0: not known */
    uint64_t created;               /* likewise */
    uint32_t lossy;                 /* PF_LOSSY_… */
    const perfile_session *session; /* `events` are those of its `generation` */
    uint64_t generation;
    pf_meta_event *events; /* names and attrs in `strings` */
    uint32_t n_events;
    pf_arena strings;
} pf_about;

/* Of a capture that is packed now, with these options.  PERFILE_E_USAGE: the name is none that a
 * file can have. */
perfile_status pf_about_init(pf_about *x, const perfile_archive_options *options,
                             perfile_error *err);
void pf_about_free(pf_about *x);

/* Copies names and attrs of the events, when they have changed.  NULL changes nothing. */
perfile_status pf_about_events(pf_about *x, const perfile_session *s, perfile_error *err);

/* Appends a map that says this and the `n` parts; the events only if it is the last one
 * (`complete`). */
perfile_status pf_about_encode(const pf_about *x, pf_meta_part *parts, uint32_t n, bool complete,
                               pf_buffer *out, perfile_error *err);

/* What encoding a chunk needs, and what is large: an encoder with the columns of a chunk, contexts
 * of zstd, a decoder to verify with.  Jobs borrow it while they are encoded, so that there are as
 * many as threads at work, and not as many as chunks that wait. */

typedef struct pf_tools {
    pf_columns_encoder *encoder;
    pf_columns_decoder *decoder; /* NULL without verifying, as `unzstd` */
    ZSTD_CCtx *zstd;
    ZSTD_DCtx *unzstd;
    pf_zone zone;
    pf_buffer again; /* what was encoded, decoded again */
    struct pf_tools *next;
} pf_tools;

typedef struct pf_toolbox {
    bool verify;
    pthread_mutex_t lock; /* of `free` */
    pf_tools *free;
} pf_toolbox;

void pf_toolbox_init(pf_toolbox *box, bool verify);

/* All tools must have been put back. */
void pf_toolbox_free(pf_toolbox *box);

/* In any thread.  Those that were put back last are taken first: their memory is in the cache.
 * NULL: no memory. */
pf_tools *pf_tools_take(pf_toolbox *box);

/* NULL is fine. */
void pf_tools_put_back(pf_toolbox *box, pf_tools *tools);

/* One chunk in the making: filled by the caller's thread, encoded by any.  For packer.c only.
 *
 * With one thread records are taken apart when they are added, while their bytes are in the cache.
 * With several that would be most of what the caller's thread does, and the others would wait for
 * it: so it only notes where they are, and who encodes the chunk takes them apart.  That asks their
 * session, which must not change before: pf_job_catch_up(). */

enum { PF_JOB_AT_ONCE = 64 /* records that are taken apart later */ };

typedef struct pf_job {
    /* Of the packer: */
    pf_toolbox *box;
    int level;
    bool later;   /* records are taken apart when the chunk is encoded */
    bool records; /* else bytes */
    bool swapped, aligned;
    uint16_t flags, part;
    uint64_t raw_off;
    pf_buffer raw;
    size_t n_records;
    /* Bytes of the chunk whose records were taken apart, and those that were added.  What the
     * records between them have in common is in all of `some`. */
    size_t taken, added;
    perfile_record some[PF_JOB_AT_ONCE];
    pf_tools *tools; /* NULL: nothing was taken apart yet */
    /* Results: */
    perfile_status status;
    perfile_error error;
    pf_pack_payload payload; /* in memory of the job */
    pf_buffer meta, columns, packed;
} pf_job;

void pf_job_init(pf_job *j, pf_toolbox *box, int level, bool later);
void pf_job_free(pf_job *j);

/* Begins a chunk of bytes, or of records in the byte order of this machine or the other one. */
void pf_job_begin_bytes(pf_job *j);
void pf_job_begin_records(pf_job *j, bool swapped);

/* True if records of this byte order can be added. */
bool pf_job_accepts(const pf_job *j, bool swapped);

/* Bytes of 1 or more records that lie one after the other. */
static inline size_t pf_job_bytes_of(const perfile_record *first, size_t n)
{
    const perfile_record *last = &first[n - 1];
    return (size_t)(last->body.ptr + last->body.len - first->header);
}

/* Adds records, which follow those before in the chunk.  `raw` has the bytes of the chunk so far,
 * these records included. */
perfile_status pf_job_add(pf_job *j, const uint8_t *raw, const perfile_record *first, size_t n,
                          perfile_error *err);

/* Takes apart all records that were added: the session is not asked for them any more. */
perfile_status pf_job_catch_up(pf_job *j, const uint8_t *raw, perfile_error *err);

/* Makes payload, zone and status from j->raw and what was added.  In any thread. */
void pf_job_encode(pf_job *j);

typedef struct pf_packer pf_packer;

/* Packs a capture, whose chunks get the number `source`, with `pack`, which is borrowed.  The
 * options are complete. */
perfile_status pf_packer_new(pf_pack *pack, uint16_t source, const perfile_archive_options *options,
                             pf_packer **packer, perfile_error *err);

/* NULL is fine. */
void pf_packer_close(pf_packer *p);

/* The capture differs from what was to be packed in these ways, too: PF_LOSSY_… (io/out.h). */
perfile_status pf_packer_mark(pf_packer *p, uint32_t lossy, perfile_error *err);

/* Adds a part: its number is that of the calls before.  `name`: in a directory, else NULL. */
perfile_status pf_packer_part(pf_packer *p, const char *name, perfile_error *err);

/* Gives a part another name. */
perfile_status pf_packer_name(pf_packer *p, uint32_t part, const char *name, perfile_error *err);

/* The bytes in front of the first record of a part may be patched until the end: they are held
 * back. */
void pf_packer_hold(pf_packer *p, uint32_t part, bool hold);

/* The next bytes of a part. */
perfile_status pf_packer_write(pf_packer *p, uint32_t part, perfile_bytes bytes,
                               perfile_error *err);

/* Overwrites bytes; those that are in a chunk already cannot be: PERFILE_E_UNSUPPORTED. */
perfile_status pf_packer_patch(pf_packer *p, uint32_t part, uint64_t offset, perfile_bytes bytes,
                               perfile_error *err);

/* Records that lie one after the other at `offset` of the part, whose bytes have been written.
 * Offsets ascend. */
perfile_status pf_packer_records(pf_packer *p, uint32_t part, uint64_t offset,
                                 const perfile_record *first, size_t n, perfile_error *err);

/* The next bytes of a part are the records of a chunk of another archive, which is copied as it is
 * stored there: range->archive and ->chunk, whose checksum is compared.  What was written before is
 * packed first. */
perfile_status pf_packer_stored(pf_packer *p, uint32_t part, const pf_stored *range,
                                perfile_error *err);

/* Writes all that is left, and the metadata.  Index and end are the caller's. */
perfile_status pf_packer_finish(pf_packer *p, perfile_error *err);

/* The writer of an archive of any number of captures, as its sinks see it.  For sink.c only. */

struct perfile_archive_writer {
    perfile_sink *below; /* owned */
    pf_pack *pack;
    uint32_t next; /* number of the next capture in the headers of chunks */
    bool busy;     /* the sink of a capture is not finished */
};

/* Begins a capture: *packer packs it. */
perfile_status pf_archive_writer_begin(perfile_archive_writer *w,
                                       const perfile_archive_options *options, pf_packer **packer,
                                       perfile_error *err);

/* Ends it: all that is left of it is written. */
perfile_status pf_archive_writer_end(perfile_archive_writer *w, pf_packer *packer,
                                     perfile_error *err);

#endif
