/* The bytes of one part of a capture in an archive, as a source: readers of captures find in it
 * what they would find in the file that was packed. */
#ifndef PF_ARCHIVE_IMAGE_H
#define PF_ARCHIVE_IMAGE_H

#include "io/source.h"
#include "perfile/archive.h"
#include "archive/table.h"
#include "core/narrow.h"
#include "perfile/sink.h"

/* perfile_archive_source() inside the library. */

/* Closes a source that perfile_archive_source() has put in the place of another one, which is the
 * caller's again.  No stream or entry of it may be open. */
void pf_archive_source_undo(perfile_source *image);

/* Makes another source of the directory in an archive that `source` is; either may be closed
 * first. */
perfile_status pf_archive_source_again(const perfile_source *source, perfile_source **again,
                                       perfile_error *err);

/* Chunks of which only the records that are apart are decoded, or nothing.  For image.c only. */

/* All zeros: everything is needed. */
typedef struct pf_image_narrow {
    bool on;
    const pf_narrow *how; /* NULL: samples are only counted */
    pf_archive *archive;
    const pf_chunk *const *chunks; /* of the part */
    uint32_t n_chunks;
    uint8_t *needs;     /* of each chunk: not known yet, or what is needed of it */
    uint32_t decoded;   /* the chunk that `zone`, `bytes` and `ranges` are of; UINT32_MAX: none */
    uint64_t n_records; /* of that chunk */
    pf_buffer bytes;    /* its records that are apart, one after the other */
    pf_buffer ranges;   /* pf_columns_range: where they are */
    size_t cursor;      /* the range that is looked at */
    pf_zone zone;
    pf_buffer meta;
} pf_image_narrow;

void pf_image_narrow_begin(pf_image_narrow *x, pf_archive *a, const pf_chunk *const *chunks,
                           uint32_t n, const pf_narrow *how);
void pf_image_narrow_free(pf_image_narrow *x);

/* See pf_source_ops.absent; `i` is the first chunk that ends behind `offset`. */
bool pf_image_absent(pf_image_narrow *x, uint32_t i, uint64_t offset, uint64_t sequence,
                     pf_absent *out);

/* Shows records that are needed, from `offset` on.  False: all of the chunk is needed, which it is
 * from then on. */
bool pf_image_shows(pf_image_narrow *x, uint32_t i, uint64_t offset, perfile_bytes *run);

/* Makes a source of part `part` of source `number`, of the archive `a`, which is borrowed and must
 * outlive it.  Its size is the end of the last chunk, or `size` if that is more.
 *
 * Bytes that no chunk holds, and chunks that are damaged: with `lost` they are zeros, and are added
 * to *lost, the latter when they are read.  Without, reading them is an error: PERFILE_E_CORRUPT,
 * with the place in the archive or, of missing bytes, in the part.
 *
 * PERFILE_E_CORRUPT: two chunks hold the same bytes.  PERFILE_E_LIMIT: more bytes are missing than
 * an archive of this size can have lost. */
perfile_status pf_archive_image(pf_archive *a, uint16_t number, uint16_t part, uint64_t size,
                                pf_source_lost *lost, const perfile_source_options *options,
                                perfile_source **image, perfile_error *err);

/* Copies all bytes of an image to a sink.  What is lost is added to *lost as usual, as zeros;
 * PERFILE_E_CORRUPT: a chunk that was checked decodes to other bytes than it should.
 * PERFILE_E_USAGE: `source` is no image. */
perfile_status pf_archive_image_copy(perfile_source *source, perfile_sink *sink,
                                     perfile_error *err);

#endif
