/* Makes the chunks of a capture from its bytes, and from what is said about its records.
 *
 * The caller writes the bytes of each part in order, and tells which of them are records, as soon
 * as it knows.  Those become RECORDS chunks with columns, all others BYTES chunks.  Nothing is made
 * of a record but its own bytes: where it says something else, the chunk is compressed as a whole.
 *
 * Encoding is a job for threads; chunks are written in order by the caller's. */
#ifndef PF_ARCHIVE_PACKER_H
#define PF_ARCHIVE_PACKER_H

#include "archive/pack.h"
#include "core/narrow.h"
#include "perfile/archive.h"
#include "perfile/record.h"

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

/* Records that lie one behind the other at `offset` of the part, whose bytes have been written.
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
