/* One chunk in the making: filled by the caller's thread, encoded by any.  For packer.c only.
 *
 * With one thread records are taken apart when they are added, while their bytes are in the cache.
 * With several that would be most of what the caller's thread does, and the others would wait for
 * it: so it only notes where they are, and who encodes the chunk takes them apart.  That asks their
 * session, which must not change before: pf_job_catch_up(). */
#ifndef PF_ARCHIVE_PACKER_JOB_H
#define PF_ARCHIVE_PACKER_JOB_H

#include "archive/packer_tools.h"

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

/* Bytes of 1 or more records that lie one behind the other. */
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

#endif
