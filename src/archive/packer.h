/* Makes the chunks of a capture from its bytes, and from what is said about its records.
 *
 * The caller writes the bytes of each part in order, and tells which of them are records, as soon
 * as it knows.  Those become RECORDS chunks with columns, all others BYTES chunks.  Nothing is made
 * of a record but its own bytes: where it says something else, the chunk is compressed as a whole.
 *
 * Encoding is a job for threads; chunks are written in order by the caller's. */
#ifndef PF_ARCHIVE_PACKER_H
#define PF_ARCHIVE_PACKER_H

#include <pthread.h>

#include "archive/meta.h"
#include "perfile/archive.h"
#include "archive/columns.h"
#include "archive/columns_encode.h"
#include "archive/pack.h"
#include "core/narrow.h"
#include "perfile/record.h"

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
 * many as threads at work, and not as many as chunks that wait.  For packer_job.c. */

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

#endif
