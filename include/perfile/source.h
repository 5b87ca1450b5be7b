/* Where bytes come from.
 *
 * A source answers one question: which bytes are at this offset? Regular files are mapped, so that
 * records are views of the file itself, unless they are read sequentially
 * (PERFILE_SOURCE_SEQUENTIAL).  Everything else is read through one window. */
#ifndef PERFILE_SOURCE_H
#define PERFILE_SOURCE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where bytes are read from. */
typedef struct perfile_source perfile_source;

enum {
    /* Read regular files through a window instead of mapping them: for programs that cannot accept
     * SIGBUS when the file is truncated while it is mapped. */
    PERFILE_SOURCE_NO_MAP = 1 << 0,
    /* Records will be read from front to back, once or a few times: regular files are read into a
     * window of 512 KiB to 8 MiB, which causes no page faults.  Longer payloads (AUX traces) and
     * attrs and features are views of a mapping.  Records are valid until the next call, as those
     * of a pipe are.  The files of a directory are mapped. */
    PERFILE_SOURCE_SEQUENTIAL = 1 << 1,
    /* For an archive: find the chunks one by one, even if there is an index. */
    PERFILE_SOURCE_NO_INDEX = 1 << 2
};

/* How bytes are read.  Set `size`; zeros are the defaults. */
typedef struct perfile_source_options {
    size_t size;
    uint32_t flags;   /* PERFILE_SOURCE_… */
    uint32_t capture; /* which capture of an archive that has several, from 1; 0: the only one */
    const perfile_limits *limits; /* NULL: defaults; copied */
    uint64_t reserved[3];
} perfile_source_options;

/* A source made of callbacks.  `read` fills up to `len` bytes at `buf` and returns how many, 0 at
 * the end, or a negative errno.  `seek` sets the offset of the next read and returns 0 or a
 * negative errno; it may be NULL, then the source is a stream.  `total` is the length in bytes and
 * is used only with `seek`.  `close` may be NULL.  Every error is final, even -EINTR: a callback
 * that is interrupted by a signal must retry by itself. */
typedef struct perfile_source_callbacks {
    size_t size;
    void *user;
    int64_t (*read)(void *user, void *buf, size_t len); /* see above */
    int (*seek)(void *user, uint64_t offset);           /* see above */
    uint64_t total;                                     /* in bytes */
    void (*close)(void *user);                          /* called once, at the end */
} perfile_source_callbacks;

/* Opens `path`: a regular file (mapped), a FIFO or device (read as a stream), a directory (its
 * files are opened by the driver that knows it), or "-" for standard input.
 * PERFILE_E_IO with errno. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_source_path(const char *path, const perfile_source_options *options,
                    perfile_source **source, perfile_error *err);

/* Reads from `fd`, which the caller keeps and must keep open.  A regular file is read from its
 * beginning, whatever the file position.  `name` is for messages. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_source_fd(int fd, const char *name,
                                                              const perfile_source_options *options,
                                                              perfile_source **source,
                                                              perfile_error *err);

/* Reads `bytes`, borrowed until the source is closed. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_source_memory(perfile_bytes bytes,
                                                                  const char *name,
                                                                  perfile_source **source,
                                                                  perfile_error *err);

/* Reads from `callbacks`, which are copied.  `name` is for messages.  On failure `close` is not
 * called.  PERFILE_E_USAGE: there is no `read`. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_source_callback(
    const perfile_source_callbacks *callbacks, const char *name,
    const perfile_source_options *options, perfile_source **source, perfile_error *err);

/* Releases the source, which may be NULL.  Do not call it for a source that a stream was opened on:
 * the stream owns that. */
PERFILE_API void perfile_source_close(perfile_source *source);

#ifdef __cplusplus
}
#endif

#endif
