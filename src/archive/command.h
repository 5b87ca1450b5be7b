/* Archives as the command shows, checks and joins them: chunks, gaps, columns, and several
 * captures in one archive. */
#ifndef PF_ARCHIVE_COMMAND_H
#define PF_ARCHIVE_COMMAND_H

#include "archive/header.h"
#include "perfile/archive.h"

/* Writes an archive of several captures, or appends captures to an archive. */
typedef struct pf_archive_writer pf_archive_writer;

/* Makes a writer to `below`, which it owns on success.  Of the options only `id` is used, and
 * `level` for metadata and index.
 *
 * With `after`, an archive, the output continues that archive: `below` appends to its bytes, or
 * already contains a copy of them.  Existing bytes do not change, so readers of the old archive can
 * continue.  `after` is needed during the call only, and `id` is ignored.
 *
 * PERFILE_E_CORRUPT: `after` is damaged or was not finished; repair it first.
 * PERFILE_E_UNSUPPORTED: it has features that the library does not know, or its header does not
 * allow several captures. */
PERFILE_MUST_USE perfile_status pf_archive_writer_new(perfile_sink *below,
                                                      const perfile_archive *after,
                                                      const perfile_archive_options *options,
                                                      pf_archive_writer **writer,
                                                      perfile_error *err);

/* Makes the sink for one more capture, like the one of perfile_archive_sink().  Finish the sink
 * before the next call on the writer, and close it before the writer is closed.  If finishing
 * fails, the writer can only be closed.  PERFILE_E_USAGE: the level does not exist, or another
 * capture is not finished. */
PERFILE_MUST_USE perfile_status pf_archive_writer_capture(pf_archive_writer *writer,
                                                          const perfile_archive_options *options,
                                                          perfile_sink **sink, perfile_error *err);

/* Copies capture `number` (from 1; 0: all) of another archive, chunk by chunk as stored.  Every
 * checksum is verified, and nothing is decoded.
 *
 * PERFILE_E_USAGE: there is no such capture.  PERFILE_E_UNSUPPORTED: the archive has features that
 * an editor must know.  PERFILE_E_CORRUPT: it is damaged or was not finished; if this was found
 * only during the copy, the writer can only be closed. */
PERFILE_MUST_USE perfile_status pf_archive_writer_copy(pf_archive_writer *writer,
                                                       perfile_archive *from, uint32_t number,
                                                       perfile_error *err);

/* Writes the index and the end, and finishes the sink below. */
PERFILE_MUST_USE perfile_status pf_archive_writer_finish(pf_archive_writer *writer,
                                                         perfile_error *err);

/* Releases the writer and the sink below.  If pf_archive_writer_finish() has not succeeded,
 * the archive has no index, and a file sink leaves no file.  NULL is fine. */
void pf_archive_writer_close(pf_archive_writer *writer);

/* If the bytes of *source are an archive, replaces *source with a source for the capture in it, a
 * file or a directory; the new source owns the old one on success.  Otherwise nothing happens.
 * perfile_source_options.capture of the source selects the capture.
 *
 * An archive from a pipe is copied to a temporary file.  Bytes that are lost, because chunks are
 * damaged or missing, are read as zeros.  Streams count them as damage (ARCHIVE) and continue where
 * the chunks say that records begin again, with any PERFILE_ON_DAMAGE_….
 *
 * PERFILE_E_USAGE: there is no capture with that number, or there are several and none was
 * selected.  PERFILE_E_UNSUPPORTED: the archive has another version. */
PERFILE_MUST_USE perfile_status pf_archive_source(perfile_source **source, perfile_error *err);

/* Properties of a whole archive. */
typedef struct pf_archive_summary {
    uint64_t id;        /* random, the same in each of its chunks */
    uint64_t bytes;     /* of the archive */
    uint64_t decoded;   /* bytes of the captures in its chunks */
    uint64_t gap_bytes; /* bytes of the archive that are in no chunk */
    uint32_t version;   /* major; 0: the header is damaged */
    uint32_t captures;  /* captures that its chunks belong to */
    uint32_t chunks;    /* index and end are not counted */
    uint32_t gaps;      /* ranges that are in no chunk: pf_archive_gap_at() */
    bool finished;      /* it has its end */
    bool from_index;    /* the chunks were read from the index */
    bool head_damaged;  /* the header of the archive is damaged */
    uint64_t reserved[5];
} pf_archive_summary;

/* Fills the first `size` bytes of *summary. */
void pf_archive_get_summary(const perfile_archive *archive, pf_archive_summary *summary,
                            size_t size);

/* The records of one type in a chunk. */
typedef struct pf_archive_count {
    uint64_t records; /* how many */
    uint64_t bytes;   /* their bytes; UINT64_MAX: not known */
    uint32_t type;    /* PERFILE_RECORD_… */
    uint32_t reserved0;
    uint64_t reserved[1];
} pf_archive_count;

/* A chunk, as its header and metadata describe it. */
typedef struct pf_archive_chunk {
    uint8_t kind;         /* PF_CHUNK_…; other numbers are of later versions, or private */
    uint8_t codec;        /* format/archive.def */
    uint16_t flags;       /* likewise */
    uint32_t part;        /* number of the file of the capture */
    uint32_t capture;     /* from 1 on */
    bool has_zone;        /* the members after `payload` are known, unless they say otherwise */
    bool meta_damaged;    /* the metadata are damaged, so what they say of the records is lost */
    uint64_t offset;      /* in the archive */
    uint64_t bytes;       /* in the archive, header, metadata and padding included */
    uint64_t part_offset; /* of its first byte, in that file */
    uint64_t part_bytes;  /* decoded bytes; for META: bytes of the map */
    uint64_t payload;     /* bytes of the payload as stored */
    uint64_t records;     /* records in it */
    uint64_t first_time, last_time; /* above 0; PERFILE_NO_TIME: not known, or none has a time */
    uint32_t n_types;               /* items of `types`; 0: not known */
    uint32_t reserved0;
    const pf_archive_count *types; /* ascending; valid until the next call of this function */
    uint64_t reserved[4];
} pf_archive_chunk;

/* Gets the chunk at `position`, in the order of offsets; fills the first `size` bytes of *chunk.
 * PERFILE_END after the last.  Damaged metadata are not an error. */
PERFILE_MUST_USE perfile_status pf_archive_chunk_at(perfile_archive *archive, uint32_t position,
                                                    pf_archive_chunk *chunk, size_t size,
                                                    perfile_error *err);

/* Return the name of a chunk kind, "records", or codec, "columns"; NULL for a number of a later
 * version. */
const char *pf_archive_kind_name(unsigned kind);
const char *pf_archive_codec_name(unsigned codec);

/* A range of the archive that is in no chunk: damaged or missing chunks.  Known only if the chunks
 * were not read from the index. */
typedef struct pf_archive_gap {
    uint64_t offset, bytes; /* in the archive */
} pf_archive_gap;

/* Gets the gap at `position`; returns false after the last. */
bool pf_archive_gap_at(const perfile_archive *archive, uint32_t position, pf_archive_gap *gap);

/* Makes a source for capture `number` (0: the only one), like pf_archive_source(), but without
 * reading the input or its index again: input from a pipe is copied only once.  *source reads from
 * `archive` and must be closed before it.  The two must not be used from two threads at once.
 * Errors as of pf_archive_source(). */
PERFILE_MUST_USE perfile_status pf_archive_capture_source(perfile_archive *archive, uint32_t number,
                                                          perfile_source **source,
                                                          perfile_error *err);

/* A column of a chunk. */
typedef struct pf_archive_column {
    uint64_t stored;   /* bytes in the archive; of columns compressed together: its share */
    uint64_t decoded;  /* bytes of the records that it decodes to */
    uint64_t values;   /* number of values in it */
    uint32_t type;     /* record type; UINT32_MAX: headers and order of all records, which are not a
                        * column */
    uint8_t width;     /* bytes of its numbers: 1, 2, 4 or 8; 0: byte strings of any length */
    bool trailer;      /* it is a field of the trailer */
    const char *field; /* "period", "pid,tid", "data+24" */
    const char *encoding; /* "constant", "delta planes", … */
    uint64_t reserved[2];
} pf_archive_column;

/* Gets the columns of the chunk at `position`, the record headers first.  Their `stored` add up to
 * the payload, their `decoded` to the bytes of the chunk.  `session` has the events of the capture;
 * with NULL, fields of samples have no names.  *columns is valid until the next call of this
 * function.  PERFILE_END: the chunk has no columns.  PERFILE_E_CORRUPT: it is damaged. */
PERFILE_MUST_USE perfile_status pf_archive_columns(perfile_archive *archive, uint32_t position,
                                                   const perfile_session *session,
                                                   const pf_archive_column **columns, uint32_t *n,
                                                   perfile_error *err);

/* Verifies a whole archive.  Checks that headers and checksums are right, that records are
 * complete, that zone maps are true as far as record headers tell, that each part is present once
 * and without gaps, and that the index matches the chunks.  Reads and decodes everything.
 * `finding` is called for each violation, in the order of the archive, then of the parts.  Returns
 * PERFILE_OK also with findings; errors are failures to read and PERFILE_E_NOMEM. */
PERFILE_MUST_USE perfile_status pf_archive_verify(
    perfile_archive *archive, void (*finding)(void *user, const perfile_archive_finding *finding),
    void *user, perfile_error *err);

/* Writes an intact archive to `sink` and finishes the sink on success.  With `sink` NULL it only
 * reports what would be lost.  The new archive has all chunks with correct checksums, unchanged and
 * in order, and the id of the old archive, then a new index and end.  A chunk with damage only in
 * its metadata is copied without them.  `lost` (may be NULL) is called for everything that is not
 * copied, then for ranges of parts that are in no chunk.  Fills the first `size` bytes of *result,
 * also after a failure.
 *
 * PERFILE_E_UNSUPPORTED: the archive has features that may not be edited.  PERFILE_E_CORRUPT: there
 * is no intact chunk; nothing was written. */
PERFILE_MUST_USE perfile_status
pf_archive_repair(perfile_archive *archive, perfile_sink *sink,
                  void (*lost)(void *user, const perfile_archive_finding *finding), void *user,
                  perfile_archive_repaired *result, size_t size, perfile_error *err);

#endif
