/* The bytes of one part of a capture in an archive, as a source: readers of captures find in it
 * what they would find in the file that was packed. */
#ifndef PF_ARCHIVE_IMAGE_H
#define PF_ARCHIVE_IMAGE_H

#include "archive/table.h"
#include "perfile/sink.h"

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
