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

/* A file of a capture, as its metadata describe it.  Strings are NULL if the metadata do not have
 * them. */
typedef struct perfile_archive_part {
    uint32_t number; /* number of the file in its directory */
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
    const char *message;              /* a sentence; valid during the call */
    uint64_t reserved[4];
} perfile_archive_finding;

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

#ifdef __cplusplus
}
#endif

#endif
