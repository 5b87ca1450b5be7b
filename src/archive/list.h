/* The handle of an archive that is looked at as an archive.  For list.c, list_columns.c, verify*.c,
 * repair.c and source.c only. */
#ifndef PF_ARCHIVE_LIST_H
#define PF_ARCHIVE_LIST_H

#include "archive/meta.h"
#include "archive/table.h"
#include "perfile/archive.h"
#include "perfile/check.h"

struct perfile_archive {
    pf_archive table;       /* its source is that of the handle, or the copy of a pipe */
    perfile_source *source; /* owned */
    perfile_source *copy;   /* of a pipe, owned; NULL: none */
    uint16_t *numbers;      /* of the captures in the headers of chunks, ascending */
    uint32_t n_captures;
    uint64_t decoded; /* bytes that RECORDS and BYTES chunks hold */
    pf_zone zone;     /* of the chunk that was shown last */
    pf_buffer bytes;  /* metadata or payload of a chunk */
    pf_buffer counts;
    pf_meta meta; /* of the capture that was shown last */
    pf_buffer parts;
    pf_buffer columns, names, listed; /* of the chunk whose columns were shown last */
};

/* The capture, from 1 on, that the number `source` in chunk headers stands for; 0: none. */
uint32_t pf_archive_capture_of(const perfile_archive *a, uint16_t source);

/* True if the header of a chunk stands at the beginning of the gap: then *c is the chunk, of which
 * the end is missing. */
bool pf_archive_cut_chunk(const pf_archive *a, const pf_archive_gap *gap, pf_chunk *c);

/* Puts together the metadata of the capture with the number `source` in chunk headers, those that
 * can be read. */
perfile_status pf_archive_read_meta(perfile_archive *a, uint16_t source, pf_meta *meta,
                                    perfile_error *err);

/* Which bytes of the parts of captures the chunks of an archive hold: holes, and bytes that are
 * there twice. */

/* Bytes of a part. */
typedef struct pf_cover_range {
    uint16_t source, part;
    uint64_t offset, bytes;
    uint32_t chunk; /* bytes that are there twice: the chunk that stands behind in the archive … */
    uint32_t other; /* … and the one in front */
} pf_cover_range;

typedef void pf_cover_fn(void *user, const pf_cover_range *range);

/* Calls `twice` for chunks that hold bytes of another one.  leave_out[] has an item for each chunk
 * of a->table: chunks with true are passed over, and those that were told become true. */
perfile_status pf_cover_twice(const perfile_archive *a, bool *leave_out, pf_cover_fn *twice,
                              void *user, perfile_error *err);

/* Calls `hole` for bytes that no chunk holds, up to the size of the part if the metadata say it;
 * chunks with leave_out[] (may be NULL) do not count. */
perfile_status pf_cover_holes(perfile_archive *a, const bool *leave_out, pf_cover_fn *hole,
                              void *user, perfile_error *err);

/* The check of an archive.  For verify.c, verify_records.c and verify_index.c only. */

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
