/* Archives: captures kept byte for byte, in chunks that are compressed, checked and indexed one by
 * one (format/archive.md).
 *
 * Reading needs nothing of this: perfile_open() and all functions that take a source or a path read
 * the capture in an archive as if it were a file of its own. */
#ifndef PERFILE_ARCHIVE_H
#define PERFILE_ARCHIVE_H

#include "sink.h"
#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {                                     /* perfile_archive_options.flags */
       PERFILE_ARCHIVE_DIRECTORY = 1 << 0, /* what is packed is a directory: the sink has parts */
       PERFILE_ARCHIVE_NO_VERIFY = 1 << 1  /* do not decode each chunk again to compare */
};

/* Set `size`; zeros are the defaults. */
typedef struct perfile_archive_options {
    size_t size;
    uint32_t flags; /* PERFILE_ARCHIVE_… */
    int32_t level;  /* of zstd, 1 to 19; 0: 3 */
    /* How many threads may work, the caller's included; 0 and 1: only the caller's.  The bytes of
     * the archive are the same. */
    uint32_t threads;
    uint32_t reserved0;
    uint64_t id; /* of the archive; 0: random */
    uint64_t reserved[6];
} perfile_archive_options;

/* Makes a sink that packs what is written to it into an archive, which it writes to `below`.
 * Finishing it finishes `below`, too.  Functions that write captures tell such a sink where their
 * records are; what a program writes itself is packed as bytes.  With PERFILE_ARCHIVE_DIRECTORY it
 * takes the place of a sink of perfile_sink_directory().
 * *sink owns `below` from success on.
 * PERFILE_E_USAGE: a level that there is not. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_archive_sink(perfile_sink *below, const perfile_archive_options *options,
                     perfile_sink **sink, perfile_error *err);

/* If the bytes of *source are an archive, puts a source in its place that has the capture in it: a
 * file, or a directory; that one owns the former from success on.  Else nothing happens.  The
 * options of the source say which capture (perfile_source_options.capture).
 *
 * An archive that comes through a pipe is copied to a temporary file.  Bytes that are lost, because
 * chunks are damaged or missing, are read as zeros; streams count them as damage (ARCHIVE).
 * PERFILE_E_USAGE: there is no capture of that number, or there are several and none was chosen.
 * PERFILE_E_UNSUPPORTED: the archive is of another version. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_archive_source(perfile_source **source,
                                                                   perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
