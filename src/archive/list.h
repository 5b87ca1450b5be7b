/* The handle of an archive that is looked at as an archive.  For list.c, list_columns.c, verify*.c,
 * repair.c and source.c only. */
#ifndef PF_ARCHIVE_LIST_H
#define PF_ARCHIVE_LIST_H

#include "archive/meta.h"
#include "archive/table.h"
#include "archive/zone.h"
#include "perfile/archive.h"

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

#endif
