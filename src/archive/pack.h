/* Writes archives: pf_pack writes chunks and the index to a sink, pf_packer makes the chunks of a
 * capture, and jobs encode chunks in threads.
 *
 * Bytes that were written are never changed later.  So the sink may be a pipe, and a writer that is
 * interrupted leaves complete chunks. */
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
#include "archive/command.h"

#include <pthread.h>
#include <zstd.h>

typedef struct pf_pack pf_pack;

enum { PF_PACK_LEVEL_MOST = 19, PF_PACK_LEVEL_DEFAULT = 3 };

typedef struct pf_pack_options {
    uint64_t id;    /* of the archive; 0: a random one is chosen */
    uint64_t needs; /* PF_ARCHIVE_NEEDS_… */
    int level;      /* zstd level, 1 to PF_PACK_LEVEL_MOST; 0: PF_PACK_LEVEL_DEFAULT */
    /* Only to append to a finished archive, which has the same `id`: */
    uint64_t offset;     /* bytes of that archive; 0: begin a new archive */
    uint64_t last_index; /* offset of its last index */
} pf_pack_options;

/* The members of pf_chunk that the caller chooses, and the content of the chunk. */
typedef struct pf_pack_chunk {
    uint8_t kind; /* META, RECORDS, BYTES, or a private kind (128 and above) */
    uint16_t flags;
    uint16_t source, part;
    uint64_t raw_off;
    perfile_bytes raw;     /* decoded payload */
    perfile_bytes columns; /* `raw` encoded with COLUMNS; empty: pf_pack_put() chooses a codec */
    perfile_bytes meta;    /* CBOR, or empty */
} pf_pack_chunk;

/* Makes a writer and writes the file header of a new archive to `sink`, which is borrowed and must
 * be empty.  When an archive is continued, nothing is written yet.  PERFILE_E_USAGE: invalid
 * level. */
perfile_status pf_pack_new(perfile_sink *sink, const pf_pack_options *options, pf_pack **p,
                           perfile_error *err);

/* Writes one chunk.  Without `columns` the payload is compressed with zstd, or stored raw if zstd
 * saves less than 5 %.  PERFILE_E_LIMIT: the chunk is too large.  After a failure only
 * pf_pack_close() may be called. */
perfile_status pf_pack_put(pf_pack *p, const pf_pack_chunk *chunk, perfile_error *err);

/* A payload in its stored form. */
typedef struct pf_pack_payload {
    uint8_t codec; /* PF_CODEC_… */
    uint32_t raw_len, raw_crc;
    perfile_bytes bytes;
} pf_pack_payload;

/* Compresses `raw` with zstd, or leaves it unchanged if that saves less than 5 %.  No pf_pack is
 * involved, so any thread may call it.  out->bytes points to `raw` or into `packed`, a buffer that
 * is reused. */
perfile_status pf_pack_compress(ZSTD_CCtx *zstd, int level, perfile_bytes raw, pf_buffer *packed,
                                pf_pack_payload *out, perfile_error *err);

/* Returns a payload with the codec COLUMNS: `columns` is the encoded form of `raw`. */
pf_pack_payload pf_pack_columns(perfile_bytes raw, perfile_bytes columns);

/* Writes one chunk with a payload that is already encoded.  chunk->raw and chunk->columns are
 * ignored. */
perfile_status pf_pack_put_stored(pf_pack *p, const pf_pack_chunk *chunk,
                                  const pf_pack_payload *payload, perfile_error *err);

/* Copies a chunk of the archive `from` without decoding it.  The new chunk belongs to the capture
 * `source`, holds the same bytes of the same part, and has the metadata `meta`.  PERFILE_E_CORRUPT:
 * the checksum of the payload is wrong; nothing was written. */
perfile_status pf_pack_copy(pf_pack *p, pf_archive *from, const pf_chunk *c, uint16_t source,
                            perfile_bytes meta, perfile_error *err);

/* The same, but source, part, offset in the part and metadata are taken from `to`. */
perfile_status pf_pack_move(pf_pack *p, pf_archive *from, const pf_chunk *c,
                            const pf_pack_chunk *to, perfile_error *err);

/* Returns the offset of the next chunk, which is also the size of the archive so far. */
uint64_t pf_pack_offset(const pf_pack *p);

/* Writes INDEX and END.  The sink is not finished. */
perfile_status pf_pack_finish(pf_pack *p, perfile_error *err);

/* Releases the writer, which may be NULL. */
void pf_pack_close(pf_pack *p);

/* The packer (pf_packer) makes the chunks of a capture from its bytes and records.
 *
 * The caller writes the bytes of each part in order, and reports which of them are records as soon
 * as it knows.  Records become RECORDS chunks with the codec COLUMNS, all other bytes BYTES chunks.
 * Columns are made of the bytes of the records only.  If these are not what the caller reported,
 * the chunk is compressed as a whole instead.
 *
 * Chunks are encoded in threads.  The caller's thread writes them, in order. */

/* What a packer says about its capture in META chunks besides the parts: its name, when it was
 * packed, how it differs from the input, and its events.  For packer.c only. */

typedef struct pf_about {
    char *name;                     /* of the file or directory; NULL: unknown */
    uint64_t modified;              /* ns since 1970, UTC; 0: unknown */
    uint64_t created;               /* ns since 1970, UTC; 0: unknown */
    uint32_t lossy;                 /* PF_LOSSY_… */
    const perfile_session *session; /* `events` were copied from it at `generation` */
    uint64_t generation;
    pf_meta_event *events; /* names and attrs are in `strings` */
    uint32_t n_events;
    pf_arena strings;
} pf_about;

/* Fills *x for a capture that is packed now with these options.  PERFILE_E_USAGE: options->name is
 * not a valid file name. */
perfile_status pf_about_init(pf_about *x, const perfile_archive_options *options,
                             perfile_error *err);
void pf_about_free(pf_about *x);

/* Copies names and attrs of the events if they have changed.  Does nothing if `s` is NULL. */
perfile_status pf_about_events(pf_about *x, const perfile_session *s, perfile_error *err);

/* Appends a map with *x and the `n` parts.  The events are included only in the last map
 * (`complete`). */
perfile_status pf_about_encode(const pf_about *x, pf_meta_part *parts, uint32_t n, bool complete,
                               pf_buffer *out, perfile_error *err);

/* Helpers of a job that need much memory: an encoder that holds the columns of a chunk, zstd
 * contexts, and a decoder to verify the result.  A job borrows them while it encodes.  So there are
 * as many as working threads, not as many as waiting chunks. */

typedef struct pf_tools {
    pf_columns_encoder *encoder;
    pf_columns_decoder *decoder; /* NULL if chunks are not verified; so is `unzstd` */
    ZSTD_CCtx *zstd;
    ZSTD_DCtx *unzstd;
    pf_zone zone;
    pf_buffer again; /* the encoded chunk, decoded to verify it */
    struct pf_tools *next;
} pf_tools;

typedef struct pf_toolbox {
    bool verify;
    pthread_mutex_t lock; /* protects `free` */
    pf_tools *free;
} pf_toolbox;

void pf_toolbox_init(pf_toolbox *box, bool verify);

/* All helpers must have been returned before. */
void pf_toolbox_free(pf_toolbox *box);

/* Takes helpers out of the pool, or makes new ones; any thread may call it.  The helpers returned
 * last are taken first, because their memory is still in the cache.  Returns NULL when out of
 * memory. */
pf_tools *pf_tools_take(pf_toolbox *box);

/* Returns helpers to the pool.  `tools` may be NULL. */
void pf_tools_put_back(pf_toolbox *box, pf_tools *tools);

/* A job encodes one chunk.  The caller's thread fills it, any thread may encode it.  For packer.c
 * only.
 *
 * With one thread, records are split into columns when they are added, while their bytes are in the
 * cache.  With several threads this would be most of the work of the caller's thread, and the
 * others would wait for it.  So that thread only notes the bytes, and the encoding thread splits
 * the records.  To do so it reads their session, which must not change before: see
 * pf_job_catch_up(). */

enum { PF_JOB_AT_ONCE = 64 /* records framed at once in the encoding thread */ };

typedef struct pf_job {
    /* Set by the packer: */
    pf_toolbox *box;
    int level;
    bool later;   /* records are split in the encoding thread */
    bool records; /* false: the chunk has bytes */
    bool swapped, aligned;
    uint16_t flags, part;
    uint64_t raw_off;
    pf_buffer raw;
    size_t n_records;
    /* Bytes of the chunk whose records were split into columns, and bytes that were added.  The
     * records between these two offsets have the same session, part and flags, which are set in
     * every item of `some`. */
    size_t taken, added;
    perfile_record some[PF_JOB_AT_ONCE];
    pf_tools *tools; /* NULL: no record was split yet */
    /* Results: */
    perfile_status status;
    perfile_error error;
    pf_pack_payload payload; /* its bytes belong to the job */
    pf_buffer meta, columns, packed;
} pf_job;

void pf_job_init(pf_job *j, pf_toolbox *box, int level, bool later);
void pf_job_free(pf_job *j);

/* Begin a chunk of bytes, or of records.  `swapped`: the records do not have the byte order of this
 * machine. */
void pf_job_begin_bytes(pf_job *j);
void pf_job_begin_records(pf_job *j, bool swapped);

/* Returns true if records of this byte order can be added. */
bool pf_job_accepts(const pf_job *j, bool swapped);

/* Returns the bytes of 1 or more contiguous records. */
static inline size_t pf_job_bytes_of(const perfile_record *first, size_t n)
{
    const perfile_record *last = &first[n - 1];
    return (size_t)(last->body.ptr + last->body.len - first->header);
}

/* Adds records, which follow those added before.  `raw` points to the bytes of the chunk so far,
 * these records included. */
perfile_status pf_job_add(pf_job *j, const uint8_t *raw, const perfile_record *first, size_t n,
                          perfile_error *err);

/* Splits all records that were added.  Afterwards the job does not read their session any more. */
perfile_status pf_job_catch_up(pf_job *j, const uint8_t *raw, perfile_error *err);

/* Makes payload, zone and status from j->raw and the records.  Any thread may call it. */
void pf_job_encode(pf_job *j);

typedef struct pf_packer pf_packer;

/* Makes a packer that writes a capture to `pack`, which is borrowed, with `source` as the capture
 * number of its chunks.  The options are complete. */
perfile_status pf_packer_new(pf_pack *pack, uint16_t source, const perfile_archive_options *options,
                             pf_packer **packer, perfile_error *err);

/* `p` may be NULL. */
void pf_packer_close(pf_packer *p);

/* Notes that the capture also differs from the original in these ways: PF_LOSSY_… (io/out.h). */
perfile_status pf_packer_mark(pf_packer *p, uint32_t lossy, perfile_error *err);

/* Adds a part.  Parts are numbered from 0 in the order of these calls.  `name` is its name in a
 * directory, or NULL if the capture is a file. */
perfile_status pf_packer_part(pf_packer *p, const char *name, perfile_error *err);

/* Renames a part. */
perfile_status pf_packer_name(pf_packer *p, uint32_t part, const char *name, perfile_error *err);

/* Says whether the bytes before the first record of a part may be patched until the end.  If so,
 * they are not packed before pf_packer_finish(). */
void pf_packer_hold(pf_packer *p, uint32_t part, bool hold);

/* Appends bytes to a part. */
perfile_status pf_packer_write(pf_packer *p, uint32_t part, perfile_bytes bytes,
                               perfile_error *err);

/* Overwrites bytes.  PERFILE_E_UNSUPPORTED: some of them are in a chunk already. */
perfile_status pf_packer_patch(pf_packer *p, uint32_t part, uint64_t offset, perfile_bytes bytes,
                               perfile_error *err);

/* Reports contiguous records at `offset` of the part; their bytes must have been written.  Offsets
 * ascend. */
perfile_status pf_packer_records(pf_packer *p, uint32_t part, uint64_t offset,
                                 const perfile_record *first, size_t n, perfile_error *err);

/* Appends the records of a chunk of another archive (range->archive, range->chunk) to a part.  The
 * chunk is copied without decoding, after its checksum was compared.  Bytes that were written
 * before are packed first. */
perfile_status pf_packer_stored(pf_packer *p, uint32_t part, const pf_stored *range,
                                perfile_error *err);

/* Writes everything that is left, and the metadata.  Index and end are left to the caller. */
perfile_status pf_packer_finish(pf_packer *p, perfile_error *err);

/* A writer of an archive with any number of captures, as its sinks see it.  For sink.c only. */

struct pf_archive_writer {
    perfile_sink *below; /* owned */
    pf_pack *pack;
    uint32_t next; /* capture number of the next capture in chunk headers */
    bool busy;     /* the sink of a capture is not finished yet */
};

/* Begins a capture and makes its packer. */
perfile_status pf_archive_writer_begin(pf_archive_writer *w, const perfile_archive_options *options,
                                       pf_packer **packer, perfile_error *err);

/* Ends a capture: writes everything that is left of it. */
perfile_status pf_archive_writer_end(pf_archive_writer *w, pf_packer *packer, perfile_error *err);

#endif
