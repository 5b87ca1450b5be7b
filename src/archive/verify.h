/* The check of an archive.  For verify.c, verify_records.c and verify_index.c only. */
#ifndef PF_ARCHIVE_VERIFY_H
#define PF_ARCHIVE_VERIFY_H

#include "archive/list.h"
#include "perfile/check.h"

typedef struct pf_verify {
    perfile_archive *a;
    void (*finding)(void *user, const perfile_archive_finding *finding);
    void *user;
    pf_archive walked;   /* the same archive, its chunks found one by one */
    pf_buffer books;     /* INDEX and END chunks of it, pf_chunk each, by offset */
    uint64_t last_index; /* offset of the last INDEX; 0: there was none */
    uint32_t named;      /* chunks of `walked` that are in front of it */
    pf_buffer payload, meta;
    pf_zone zone;          /* of a chunk, as it says */
    pf_zone_counts counts; /* of the same, counted */
} pf_verify;

/* Tells a finding about the chunk `c`, of the table of the archive or not; NULL: about none.
 * `is_lost`: what the chunk holds cannot be read. */
void pf_verify_tell(pf_verify *v, unsigned rule, unsigned severity, const pf_chunk *c, bool is_lost,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Checks the records of a chunk, decoded in v->payload, and what v->meta say about them if
 * `has_meta`.  PERFILE_E_NOMEM. */
perfile_status pf_verify_records(pf_verify *v, const pf_chunk *c, bool has_meta,
                                 perfile_error *err);

/* Checks an INDEX, decoded in v->payload, against the chunks in front of it; and an END. */
perfile_status pf_verify_index(pf_verify *v, const pf_chunk *c, perfile_error *err);
void pf_verify_end(pf_verify *v, const pf_chunk *c);

#endif
