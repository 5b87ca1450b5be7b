/* Archives: captures kept byte for byte, in chunks that are compressed, checked and indexed one by
 * one (format/archive.md).
 *
 * Reading needs nothing of this: perfile_open() and all functions that take a source or a path read
 * the capture in an archive as if it were a file of its own. */
#ifndef PERFILE_ARCHIVE_H
#define PERFILE_ARCHIVE_H

#include "session.h"
#include "sink.h"
#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {                                     /* perfile_archive_options.flags */
       PERFILE_ARCHIVE_DIRECTORY = 1 << 0, /* what is packed is a directory: the sink has parts */
       PERFILE_ARCHIVE_NO_VERIFY = 1 << 1, /* do not decode each chunk again to compare */
       /* What is packed differs from the capture that it was made of; the metadata say so.
        * perfile_convert_capture() sets these marks by itself. */
       PERFILE_ARCHIVE_EXPANDED = 1 << 2, /* the content of compressed records is in their place */
       PERFILE_ARCHIVE_SCRUBBED = 1 << 3  /* it is what perfile_scrub() yields */
};

/* Set `size`; zeros are the defaults. */
typedef struct perfile_archive_options {
    size_t size;
    uint32_t flags; /* PERFILE_ARCHIVE_… */
    int32_t level;  /* of zstd, 1 to 19; 0: 3 */
    /* How many threads may work, the caller's included; 0 and 1: only the caller's.  The bytes of
     * the archive are the same. */
    uint32_t threads;
    /* Records of a chunk at most; 0: 65536.  Fewer cost size (16384: about 5 %), and let a reader
     * that needs a small part decode less. */
    uint32_t chunk_records;
    uint64_t id; /* of the archive; 0: random */
    /* For the metadata: the name of the file or directory that is packed, without folders; NULL:
     * none.  Copied. */
    const char *name;
    uint64_t modified; /* when that was last written, ns since 1970; 0: not known */
    uint64_t reserved[4];
} perfile_archive_options;

/* Makes a sink that packs what is written to it into an archive, which it writes to `below`.
 * Finishing it finishes `below`, too.  Functions that write captures tell such a sink where their
 * records are; what a program writes itself is packed as bytes.  With PERFILE_ARCHIVE_DIRECTORY it
 * takes the place of a sink of perfile_sink_directory().
 * *sink owns `below` from success on.
 * PERFILE_E_USAGE: a level that does not exist, or a name that no file can have. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_archive_sink(perfile_sink *below, const perfile_archive_options *options,
                     perfile_sink **sink, perfile_error *err);

/* An archive as an archive: its chunks, what they cost, whether they are intact. */
typedef struct perfile_archive perfile_archive;

/* Writes an archive of several captures, or captures behind those of an archive. */
typedef struct perfile_archive_writer perfile_archive_writer;

/* Makes a writer to `below`, which it owns from success on.  Of the options `id`
 * counts, and `level` for metadata and index.
 *
 * With `after`, an archive, what is written continues that one: `below` appends to its bytes, or
 * has been given a copy of them.  Nothing that is there is changed, so that a reader of the former
 * archive may go on.  `after` is needed during the call only, and `id` does not count.
 *
 * PERFILE_E_CORRUPT: `after` is damaged or was not finished; repair it first.
 * PERFILE_E_UNSUPPORTED: it has features that the library does not know, or its header does not
 * allow several captures. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_writer_new(
    perfile_sink *below, const perfile_archive *after, const perfile_archive_options *options,
    perfile_archive_writer **writer, perfile_error *err);

/* Makes the sink of one more capture, like that of perfile_archive_sink().  It has to be finished
 * before the next call on the writer, and closed before it; if it cannot be, the writer can only be
 * closed.  PERFILE_E_USAGE: a level that there is not, or another capture is not finished. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_writer_capture(
    perfile_archive_writer *writer, const perfile_archive_options *options, perfile_sink **sink,
    perfile_error *err);

/* Adds capture `number` (from 1 on; 0: each) of another archive, chunk by chunk as they are stored
 * there: each checksum is compared, and nothing is decoded.
 *
 * PERFILE_E_USAGE: there is no such capture.  PERFILE_E_UNSUPPORTED: the archive has features that
 * an editor must know.  PERFILE_E_CORRUPT: it is damaged or was not finished; if that was not known
 * when the call began, the writer can only be closed. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_writer_copy(
    perfile_archive_writer *writer, perfile_archive *from, uint32_t number, perfile_error *err);

/* Writes index and end, and finishes the sink below. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_archive_writer_finish(perfile_archive_writer *writer, perfile_error *err);

/* Releases the writer and the sink below.  Without a successful perfile_archive_writer_finish() it
 * has no index, and a file does not appear.  NULL is fine. */
PERFILE_API void perfile_archive_writer_close(perfile_archive_writer *writer);

/* If the bytes of *source are an archive, puts a source in its place that has the capture in it: a
 * file, or a directory; that one owns the former from success on.  Else nothing happens.  The
 * options of the source say which capture (perfile_source_options.capture).
 *
 * An archive that comes through a pipe is copied to a temporary file.  Bytes that are lost, because
 * chunks are damaged or missing, are read as zeros; streams count them as damage (ARCHIVE), and go
 * on where the chunks say that records begin again, with any PERFILE_ON_DAMAGE_….
 * PERFILE_E_USAGE: there is no capture of that number, or there are several and none was chosen.
 * PERFILE_E_UNSUPPORTED: the archive is of another version. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_source(perfile_source **source,
                                                                   perfile_error *err);

/* Reads the table of chunks: by the index, or chunk by chunk if there is none, if it is damaged, or
 * if the source has PERFILE_SOURCE_NO_INDEX.  *archive owns the source from success on.  What comes
 * through a pipe is copied to a temporary file.
 *
 * PERFILE_END: the source is no archive; it stays the caller's.  PERFILE_E_UNSUPPORTED: an archive
 * of another version.  PERFILE_E_CORRUPT: the header is damaged, and no chunk is left.  Other
 * damage is no error. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_open(perfile_source *source,
                                                                 perfile_archive **archive,
                                                                 perfile_error *err);

/* Releases the archive and its source.  NULL is fine. */
PERFILE_API void perfile_archive_close(perfile_archive *archive);

/* What an archive is as a whole. */
typedef struct perfile_archive_summary {
    uint64_t id;        /* random, the same in each of its chunks */
    uint64_t bytes;     /* of the archive */
    uint64_t decoded;   /* bytes of the captures that its chunks hold */
    uint64_t gap_bytes; /* bytes of the archive that are no chunk */
    uint32_t version;   /* major; 0: the header is damaged */
    uint32_t captures;  /* that its chunks name */
    uint32_t chunks;    /* index and end are not counted */
    uint32_t gaps;      /* runs of bytes that are no chunk: perfile_archive_gap_at() */
    bool finished;      /* its end is there */
    bool from_index;    /* the chunks are those that the index names */
    bool head_damaged;  /* the header of the file */
    uint64_t reserved[5];
} perfile_archive_summary;

/* Fills the first `size` bytes of *summary. */
PERFILE_API void perfile_archive_get_summary(const perfile_archive *archive,
                                             perfile_archive_summary *summary, size_t size);

enum { /* perfile_archive_chunk.kind; others are of later versions, or private */
       PERFILE_CHUNK_META = 1,
       PERFILE_CHUNK_RECORDS = 2,
       PERFILE_CHUNK_BYTES = 3
};

/* Records of a type in a chunk. */
typedef struct perfile_archive_count {
    uint64_t records; /* how many */
    uint64_t bytes;   /* of them; UINT64_MAX: not known */
    uint32_t type;    /* PERFILE_RECORD_… */
    uint32_t reserved0;
    uint64_t reserved[1];
} perfile_archive_count;

/* What the header and the metadata of a chunk say. */
typedef struct perfile_archive_chunk {
    uint8_t kind;         /* PERFILE_CHUNK_… */
    uint8_t codec;        /* format/archive.def */
    uint16_t flags;       /* likewise */
    uint32_t part;        /* number of the file of the capture */
    uint32_t capture;     /* from 1 on */
    bool has_zone;        /* what follows `payload` is known, as far as it does not say otherwise */
    bool meta_damaged;    /* the metadata, and what they said of the records */
    uint64_t offset;      /* in the archive */
    uint64_t bytes;       /* in the archive, header, metadata and padding included */
    uint64_t part_offset; /* of its first byte in that file */
    uint64_t part_bytes;  /* decoded; of META: bytes of the map */
    uint64_t payload;     /* bytes of the payload as stored */
    uint64_t records;     /* that it holds */
    uint64_t first_time, last_time; /* above 0; PERFILE_NO_TIME: not known, or none has a time */
    uint32_t n_types;               /* items of `types`; 0: not known */
    uint32_t reserved0;
    const perfile_archive_count *types; /* ascending; valid until the next call of this function */
    uint64_t reserved[4];
} perfile_archive_chunk;

/* The chunk at `position`, in the order of their offsets; fills the first `size` bytes of *chunk.
 * PERFILE_END behind the last.  Damaged metadata are no error. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_chunk_at(perfile_archive *archive,
                                                                     uint32_t position,
                                                                     perfile_archive_chunk *chunk,
                                                                     size_t size,
                                                                     perfile_error *err);

/* "records", "columns": of a chunk; NULL: a number of a later version. */
PERFILE_API const char *perfile_archive_kind_name(unsigned kind);
PERFILE_API const char *perfile_archive_codec_name(unsigned codec);

/* Bytes of the archive that are no chunk: damaged or missing ones.  Known if the chunks were not
 * read from the index. */
typedef struct perfile_archive_gap {
    uint64_t offset, bytes; /* in the archive */
    uint64_t reserved[1];
} perfile_archive_gap;

/* Fills the first `size` bytes of *gap; false behind the last. */
PERFILE_API bool perfile_archive_gap_at(const perfile_archive *archive, uint32_t position,
                                        perfile_archive_gap *gap, size_t size);

/* A file of a capture, as its metadata say.  Strings are NULL where they say nothing. */
typedef struct perfile_archive_part {
    uint32_t number; /* as in perfile_archive_chunk.part */
    uint32_t reserved0;
    uint64_t size;      /* bytes; UINT64_MAX: not said */
    const char *name;   /* in a directory */
    const char *format; /* "perf.data"; "opaque": only its bytes are known */
    uint64_t reserved[2];
} perfile_archive_part;

/* One of the captures in an archive, as its metadata say. */
typedef struct perfile_archive_capture {
    const char *creator;               /* program and version, or NULL */
    const char *host;                  /* where it was packed, or NULL */
    uint64_t created;                  /* ns since 1970; UINT64_MAX: not said */
    uint32_t n_parts;                  /* items of `parts` */
    uint32_t n_lossy;                  /* items of `lossy` */
    const perfile_archive_part *parts; /* in no order */
    /* How the capture differs from what was to be packed: "expanded", "scrubbed", or what other
     * programs say.  Without any it is byte for byte the same. */
    const char *const *lossy;
    const char *name;  /* of the file or directory that was packed, or NULL; for display only */
    uint64_t modified; /* when that was last written, ns since 1970; UINT64_MAX: not known */
    uint64_t reserved[1];
} perfile_archive_capture;

/* What the metadata say about capture `number`, from 1 on; fills the first `size` bytes of
 * *capture, whose pointers are valid until the next call of this function.  PERFILE_END: there are
 * fewer. Damaged metadata are passed over. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_archive_capture_at(perfile_archive *archive, uint32_t number,
                           perfile_archive_capture *capture, size_t size, perfile_error *err);

/* Makes a source of capture `number` (0: the only one), as perfile_archive_source() does, without
 * reading the input or its index again: what came through a pipe is there once.  *source reads what
 * `archive` has, and is closed before it; neither may be used from two threads at once. Errors as
 * of perfile_archive_source(). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_capture_source(perfile_archive *archive,
                                                                           uint32_t number,
                                                                           perfile_source **source,
                                                                           perfile_error *err);

/* A column of a chunk. */
typedef struct perfile_archive_column {
    uint64_t stored;      /* bytes in the archive; of what is compressed together a share */
    uint64_t decoded;     /* bytes of the records that come from it */
    uint64_t values;      /* that it has */
    uint32_t type;        /* of records that it is of; UINT32_MAX: headers and order of all records,
                           * which are no column */
    uint8_t width;        /* of its numbers: 1, 2, 4 or 8; 0: bytes of any length */
    bool trailer;         /* of the fields behind those of the type */
    const char *field;    /* "period", "pid,tid", "data+24" */
    const char *encoding; /* "constant", "delta planes", … */
    uint64_t reserved[2];
} perfile_archive_column;

/* The columns of the chunk at `position`, the headers of the records first.  Their `stored` add up
 * to the payload, their `decoded` to the bytes of the chunk.  `session` (may be NULL) is of the
 * capture, and has its events: fields of samples have no names without it.  *columns are valid
 * until the next call of this function.
 * PERFILE_END: the chunk has no columns.  PERFILE_E_CORRUPT: it is damaged. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_archive_columns(perfile_archive *archive, uint32_t position, const perfile_session *session,
                        const perfile_archive_column **columns, uint32_t *n, perfile_error *err);

/* Something that is wrong with an archive, or that a repaired one lacks. */
typedef struct perfile_archive_finding {
    uint32_t rule;    /* PERFILE_RULE_V_701 … (check.h) */
    uint8_t severity; /* PERFILE_SEVERITY_… */
    bool is_lost;     /* the bytes of a part below cannot be read */
    uint16_t reserved0;
    uint64_t offset;  /* in the archive; PERFILE_NO_OFFSET when no place is meant */
    uint32_t chunk;   /* position of the chunk; UINT32_MAX: about none */
    uint32_t capture; /* from 1 on; 0: about none */
    uint32_t part;    /* a file of it … */
    uint32_t reserved1;
    uint64_t part_offset, part_bytes; /* … and bytes in it; 0 bytes: none are meant */
    const char *text;                 /* a sentence; valid during the call */
    uint64_t reserved[4];
} perfile_archive_finding;

/* Checks all that an archive says: headers, every checksum, that records are complete, that zone
 * maps are true as far as headers of records tell, that each part is there once and without holes,
 * that the index is the one of its chunks.  Reads and decodes all of it.  `finding` is called for
 * everything that is not so, in the order of the archive, then of the parts.
 * PERFILE_OK, also with findings; errors are of reading and of memory. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_verify(
    perfile_archive *archive, void (*finding)(void *user, const perfile_archive_finding *finding),
    void *user, perfile_error *err);

/* What became of an archive that was repaired. */
typedef struct perfile_archive_repaired {
    uint64_t bytes;       /* of the new archive */
    uint64_t lost_bytes;  /* of the captures, as far as it is known */
    uint64_t gap_bytes;   /* of the old archive that are no chunk */
    uint32_t chunks;      /* copied */
    uint32_t chunks_lost; /* left out: their payload is damaged, or there twice */
    uint32_t metas_lost;  /* copied without their damaged metadata */
    uint32_t gaps;        /* runs of bytes that are no chunk */
    bool damaged;         /* something was lost, or the old archive was not finished */
    uint64_t reserved[4];
} perfile_archive_repaired;

/* Writes a sound archive to `sink`, which is finished on success (NULL: only tells what would be
 * lost): all chunks whose checksums are right, unchanged and in their order, with the id of the old
 * archive, then index and end.  A chunk whose metadata alone are damaged is copied without them.
 * `lost` (may be NULL) is called for what is not copied, then for bytes of parts that are in no
 * chunk.  Fills the first `size` bytes of *result, also after a failure.
 * PERFILE_E_UNSUPPORTED: the archive has features that may not be edited.  PERFILE_E_CORRUPT: no
 * chunk is left; nothing was written. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_archive_repair(perfile_archive *archive, perfile_sink *sink,
                       void (*lost)(void *user, const perfile_archive_finding *finding), void *user,
                       perfile_archive_repaired *result, size_t size, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
