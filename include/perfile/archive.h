/* Archives: captures stored byte for byte, in chunks that are compressed, checksummed and indexed
 * one by one (format/archive.md).
 *
 * Programs that only read captures do not need this header: perfile_open() and all functions that
 * take a source or a path read the capture in an archive as if it were an ordinary file. */
#ifndef PERFILE_ARCHIVE_H
#define PERFILE_ARCHIVE_H

#include "session.h"
#include "sink.h"
#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {                                     /* perfile_archive_options.flags */
       PERFILE_ARCHIVE_DIRECTORY = 1 << 0, /* the input is a directory: the sink has parts */
       PERFILE_ARCHIVE_NO_VERIFY = 1 << 1, /* do not decode each chunk again to compare */
       /* The input differs from the original capture, and the metadata say so.
        * perfile_convert_capture() sets these flags itself. */
       PERFILE_ARCHIVE_EXPANDED = 1 << 2, /* compressed records were replaced by their content */
       PERFILE_ARCHIVE_SCRUBBED = 1 << 3  /* the input is output of perfile_scrub() */
};

/* Set `size`; zeros are the defaults. */
typedef struct perfile_archive_options {
    size_t size;
    uint32_t flags; /* PERFILE_ARCHIVE_… */
    int32_t level;  /* zstd level, 1 to 19; 0: 3 */
    /* Number of threads that may work, including the caller's; 0 and 1: only the caller's.  The
     * bytes of the archive do not depend on it. */
    uint32_t threads;
    /* Maximum records per chunk; 0: 65536.  Smaller chunks make the archive larger (16384: about 5
     * %), but a reader that needs a small part decodes less. */
    uint32_t chunk_records;
    uint64_t id; /* of the archive; 0: random */
    /* For the metadata: the name of the file or directory that is packed, without folders; NULL:
     * none.  Copied. */
    const char *name;
    uint64_t modified; /* when that file was last written, ns since 1970; 0: not known */
    uint64_t reserved[4];
} perfile_archive_options;

/* Makes a sink that packs everything written to it into an archive, which goes to `below`.
 * Finishing the sink also finishes `below`.  Functions that write captures tell such a sink where
 * their records are; data that a program writes directly is packed as bytes.  With
 * PERFILE_ARCHIVE_DIRECTORY it can be used in place of a sink of perfile_sink_directory().  *sink
 * owns `below` on success.  PERFILE_E_USAGE: the level does not exist, or the name is not valid for
 * a file. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_archive_sink(perfile_sink *below, const perfile_archive_options *options,
                     perfile_sink **sink, perfile_error *err);

/* An archive opened as such, to see its chunks, their sizes, and whether they are intact. */
typedef struct perfile_archive perfile_archive;

/* Writes an archive of several captures, or appends captures to an archive. */
typedef struct perfile_archive_writer perfile_archive_writer;

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
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_writer_new(
    perfile_sink *below, const perfile_archive *after, const perfile_archive_options *options,
    perfile_archive_writer **writer, perfile_error *err);

/* Makes the sink for one more capture, like the one of perfile_archive_sink().  Finish the sink
 * before the next call on the writer, and close it before the writer is closed.  If finishing
 * fails, the writer can only be closed.  PERFILE_E_USAGE: the level does not exist, or another
 * capture is not finished. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_writer_capture(
    perfile_archive_writer *writer, const perfile_archive_options *options, perfile_sink **sink,
    perfile_error *err);

/* Copies capture `number` (from 1; 0: all) of another archive, chunk by chunk as stored.  Every
 * checksum is verified, and nothing is decoded.
 *
 * PERFILE_E_USAGE: there is no such capture.  PERFILE_E_UNSUPPORTED: the archive has features that
 * an editor must know.  PERFILE_E_CORRUPT: it is damaged or was not finished; if this was found
 * only during the copy, the writer can only be closed. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_writer_copy(
    perfile_archive_writer *writer, perfile_archive *from, uint32_t number, perfile_error *err);

/* Writes the index and the end, and finishes the sink below. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_archive_writer_finish(perfile_archive_writer *writer, perfile_error *err);

/* Releases the writer and the sink below.  If perfile_archive_writer_finish() has not succeeded,
 * the archive has no index, and a file sink leaves no file.  NULL is fine. */
PERFILE_API void perfile_archive_writer_close(perfile_archive_writer *writer);

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
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_source(perfile_source **source,
                                                                   perfile_error *err);

/* Opens an archive and reads its table of chunks: from the index, or chunk by chunk if the index is
 * missing or damaged, or if the source has PERFILE_SOURCE_NO_INDEX.  *archive owns the source on
 * success.  Input from a pipe is copied to a temporary file.
 *
 * PERFILE_END: the source is not an archive; the caller still owns it.  PERFILE_E_UNSUPPORTED: the
 * archive has another version.  PERFILE_E_CORRUPT: the header is damaged and there is no intact
 * chunk.  Other damage is not an error. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_open(perfile_source *source,
                                                                 perfile_archive **archive,
                                                                 perfile_error *err);

/* Releases the archive and its source.  NULL is fine. */
PERFILE_API void perfile_archive_close(perfile_archive *archive);

/* Properties of a whole archive. */
typedef struct perfile_archive_summary {
    uint64_t id;        /* random, the same in each of its chunks */
    uint64_t bytes;     /* of the archive */
    uint64_t decoded;   /* bytes of the captures in its chunks */
    uint64_t gap_bytes; /* bytes of the archive that are in no chunk */
    uint32_t version;   /* major; 0: the header is damaged */
    uint32_t captures;  /* captures that its chunks belong to */
    uint32_t chunks;    /* index and end are not counted */
    uint32_t gaps;      /* ranges that are in no chunk: perfile_archive_gap_at() */
    bool finished;      /* it has its end */
    bool from_index;    /* the chunks were read from the index */
    bool head_damaged;  /* the header of the archive is damaged */
    uint64_t reserved[5];
} perfile_archive_summary;

/* Fills the first `size` bytes of *summary. */
PERFILE_API void perfile_archive_get_summary(const perfile_archive *archive,
                                             perfile_archive_summary *summary, size_t size);

enum { /* perfile_archive_chunk.kind; other numbers are of later versions, or private */
       PERFILE_CHUNK_META = 1,
       PERFILE_CHUNK_RECORDS = 2,
       PERFILE_CHUNK_BYTES = 3
};

/* The records of one type in a chunk. */
typedef struct perfile_archive_count {
    uint64_t records; /* how many */
    uint64_t bytes;   /* their bytes; UINT64_MAX: not known */
    uint32_t type;    /* PERFILE_RECORD_… */
    uint32_t reserved0;
    uint64_t reserved[1];
} perfile_archive_count;

/* A chunk, as its header and metadata describe it. */
typedef struct perfile_archive_chunk {
    uint8_t kind;         /* PERFILE_CHUNK_… */
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
    const perfile_archive_count *types; /* ascending; valid until the next call of this function */
    uint64_t reserved[4];
} perfile_archive_chunk;

/* Gets the chunk at `position`, in the order of offsets; fills the first `size` bytes of *chunk.
 * PERFILE_END after the last.  Damaged metadata are not an error. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_chunk_at(perfile_archive *archive,
                                                                     uint32_t position,
                                                                     perfile_archive_chunk *chunk,
                                                                     size_t size,
                                                                     perfile_error *err);

/* Return the name of a chunk kind, "records", or codec, "columns"; NULL for a number of a later
 * version. */
PERFILE_API const char *perfile_archive_kind_name(unsigned kind);
PERFILE_API const char *perfile_archive_codec_name(unsigned codec);

/* A range of the archive that is in no chunk: damaged or missing chunks.  Known only if the chunks
 * were not read from the index. */
typedef struct perfile_archive_gap {
    uint64_t offset, bytes; /* in the archive */
    uint64_t reserved[1];
} perfile_archive_gap;

/* Fills the first `size` bytes of *gap; returns false after the last. */
PERFILE_API bool perfile_archive_gap_at(const perfile_archive *archive, uint32_t position,
                                        perfile_archive_gap *gap, size_t size);

/* A file of a capture, as its metadata describe it.  Strings are NULL if the metadata do not have
 * them. */
typedef struct perfile_archive_part {
    uint32_t number; /* as in perfile_archive_chunk.part */
    uint32_t reserved0;
    uint64_t size;      /* bytes; UINT64_MAX: not known */
    const char *name;   /* file name in a directory */
    const char *format; /* "perf.data"; "opaque": only its bytes are known */
    uint64_t reserved[2];
} perfile_archive_part;

/* A capture in an archive, as its metadata describe it. */
typedef struct perfile_archive_capture {
    const char *creator;               /* program and version, or NULL */
    const char *host;                  /* the machine where it was packed, or NULL */
    uint64_t created;                  /* ns since 1970; UINT64_MAX: not known */
    uint32_t n_parts;                  /* items of `parts` */
    uint32_t n_lossy;                  /* items of `lossy` */
    const perfile_archive_part *parts; /* in no order */
    /* How the capture differs from the original: "expanded", "scrubbed", or a word of another
     * program.  Without any it is byte for byte the same. */
    const char *const *lossy;
    const char *name;  /* of the file or directory that was packed, or NULL; for display only */
    uint64_t modified; /* when that file was last written, ns since 1970; UINT64_MAX: not known */
    uint64_t reserved[1];
} perfile_archive_capture;

/* Gets the metadata of capture `number`, from 1; fills the first `size` bytes of *capture.  Its
 * pointers are valid until the next call of this function.  PERFILE_END: there are fewer captures.
 * Damaged metadata are skipped. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_archive_capture_at(perfile_archive *archive, uint32_t number,
                           perfile_archive_capture *capture, size_t size, perfile_error *err);

/* Makes a source for capture `number` (0: the only one), like perfile_archive_source(), but without
 * reading the input or its index again: input from a pipe is copied only once.  *source reads from
 * `archive` and must be closed before it.  The two must not be used from two threads at once.
 * Errors as of perfile_archive_source(). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_capture_source(perfile_archive *archive,
                                                                           uint32_t number,
                                                                           perfile_source **source,
                                                                           perfile_error *err);

/* A column of a chunk. */
typedef struct perfile_archive_column {
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
} perfile_archive_column;

/* Gets the columns of the chunk at `position`, the record headers first.  Their `stored` add up to
 * the payload, their `decoded` to the bytes of the chunk.  `session` has the events of the capture;
 * with NULL, fields of samples have no names.  *columns is valid until the next call of this
 * function.  PERFILE_END: the chunk has no columns.  PERFILE_E_CORRUPT: it is damaged. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_archive_columns(perfile_archive *archive, uint32_t position, const perfile_session *session,
                        const perfile_archive_column **columns, uint32_t *n, perfile_error *err);

/* Something wrong with an archive, or missing from a repaired one. */
typedef struct perfile_archive_finding {
    uint32_t rule;    /* PERFILE_RULE_V_701 … (check.h) */
    uint8_t severity; /* PERFILE_SEVERITY_… */
    bool is_lost;     /* the bytes of the part, below, cannot be read */
    uint16_t reserved0;
    uint64_t offset;  /* in the archive; PERFILE_NO_OFFSET: at no particular offset */
    uint32_t chunk;   /* position of the chunk; UINT32_MAX: about none */
    uint32_t capture; /* from 1 on; 0: about none */
    uint32_t part;    /* number of a file in that capture */
    uint32_t reserved1;
    uint64_t part_offset, part_bytes; /* range in that file; 0 bytes: none */
    const char *text;                 /* a sentence; valid during the call */
    uint64_t reserved[4];
} perfile_archive_finding;

/* Verifies a whole archive.  Checks that headers and checksums are right, that records are
 * complete, that zone maps are true as far as record headers tell, that each part is present once
 * and without gaps, and that the index matches the chunks.  Reads and decodes everything.
 * `finding` is called for each violation, in the order of the archive, then of the parts.  Returns
 * PERFILE_OK also with findings; errors are failures to read and PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_verify(
    perfile_archive *archive, void (*finding)(void *user, const perfile_archive_finding *finding),
    void *user, perfile_error *err);

/* The result of a repair. */
typedef struct perfile_archive_repaired {
    uint64_t bytes;       /* of the new archive */
    uint64_t lost_bytes;  /* bytes of the captures that are lost, as far as known */
    uint64_t gap_bytes;   /* bytes of the old archive that are in no chunk */
    uint32_t chunks;      /* copied */
    uint32_t chunks_lost; /* omitted: their payload is damaged, or present twice */
    uint32_t metas_lost;  /* copied without their damaged metadata */
    uint32_t gaps;        /* ranges of the old archive that are in no chunk */
    bool damaged;         /* something was lost, or the old archive was not finished */
    uint64_t reserved[4];
} perfile_archive_repaired;

/* Writes an intact archive to `sink` and finishes the sink on success.  With `sink` NULL it only
 * reports what would be lost.  The new archive has all chunks with correct checksums, unchanged and
 * in order, and the id of the old archive, then a new index and end.  A chunk with damage only in
 * its metadata is copied without them.  `lost` (may be NULL) is called for everything that is not
 * copied, then for ranges of parts that are in no chunk.  Fills the first `size` bytes of *result,
 * also after a failure.
 *
 * PERFILE_E_UNSUPPORTED: the archive has features that may not be edited.  PERFILE_E_CORRUPT: there
 * is no intact chunk; nothing was written. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_archive_repair(perfile_archive *archive, perfile_sink *sink,
                       void (*lost)(void *user, const perfile_archive_finding *finding), void *user,
                       perfile_archive_repaired *result, size_t size, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
