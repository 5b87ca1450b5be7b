/* One chunk in the making: filled by the caller's thread, encoded by any.  For packer.c only. */
#ifndef PF_ARCHIVE_PACKER_JOB_H
#define PF_ARCHIVE_PACKER_JOB_H

#include "archive/columns.h"
#include "archive/columns_encode.h"
#include "archive/pack.h"
#include "archive/zone.h"

typedef struct pf_job {
    /* Of the packer: */
    int level;
    bool verify;
    bool records; /* else bytes */
    bool swapped;
    uint16_t flags, part;
    uint64_t raw_off;
    pf_buffer raw;
    size_t n_records;
    /* Results: */
    perfile_status status;
    perfile_error error;
    pf_pack_payload payload; /* in memory of the job */
    pf_buffer meta;
    /* Tools, used again for each chunk: */
    pf_columns_encoder *encoder;
    pf_columns_decoder *decoder;
    ZSTD_CCtx *zstd;
    ZSTD_DCtx *unzstd;
    pf_zone zone;
    bool aligned;
    pf_buffer columns, packed, again;
} pf_job;

/* False: no memory; pf_job_free() releases what there is. */
bool pf_job_init(pf_job *j, int level, bool verify);
void pf_job_free(pf_job *j);

/* Begins a chunk of bytes, or of records in the byte order of this machine or the other one. */
void pf_job_begin_bytes(pf_job *j);
void pf_job_begin_records(pf_job *j, bool swapped);

/* True if records of this byte order can be added. */
bool pf_job_accepts(const pf_job *j, bool swapped);

/* Adds records to columns and zone. */
perfile_status pf_job_add(pf_job *j, const perfile_record *first, size_t n, perfile_error *err);

/* No more records come: the zone is written to j->meta. */
perfile_status pf_job_end_records(pf_job *j, perfile_error *err);

/* Makes payload and status from j->raw and what was added.  In any thread. */
void pf_job_encode(pf_job *j);

#endif
