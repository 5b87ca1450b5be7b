/* Where bytes go.
 *
 * Writes are buffered: an output of up to 1 MiB reaches its file or callbacks all at once, when it
 * is flushed or finished.  An error is final: every later call on the sink returns it again, so a
 * writer may check once, at perfile_sink_finish(). */
#ifndef PERFILE_SINK_H
#define PERFILE_SINK_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where bytes are written to. */
typedef struct perfile_sink perfile_sink;

enum {
    PERFILE_SINK_REPLACE = 1 << 0,  /* an existing file may be replaced */
    PERFILE_SINK_SYNC = 1 << 1,     /* perfile_sink_finish() waits until the file is on disk */
    PERFILE_SINK_SYNC_ALL = 1 << 2, /* so does every perfile_sink_flush(), and with it every round
                                       of a progressive writer */
    PERFILE_SINK_FOLDER = 1 << 3    /* perfile_sink_directory(): files of several captures */
};

/* Options of the output.  An input is never changed, and the output is never readable by users who
 * cannot read an input.
 *
 * Opening and finishing fail with PERFILE_E_IO (err->sys is 0) if the sink would write to an input,
 * replace it, be inside a directory that is an input, or replace a directory that holds one.
 * Inputs are identified by device and inode, whatever the path or link.  A descriptor that is an
 * input (standard output, for example) counts too.  Functions that take a source or stream and a
 * sink or writer register with the sink what they read.  `inputs` names what else the program
 * reads.
 *
 * Mode of the output: the mode of the file that it replaces, else the mode that the umask allows.
 * Every input that is a file or directory limits this to the permissions that it grants itself.  If
 * the group of the output differs from the group of an input, the group gets no more than others.
 * A directory can be entered by its owner and by those who may read its files.  Until a file or
 * directory has its final name, only its owner has access. */
typedef struct perfile_sink_options {
    size_t size;
    uint32_t flags; /* PERFILE_SINK_… */
    uint32_t reserved0;
    /* Paths that must not be overwritten; "-" is standard input.  They are examined when the sink
     * is opened. */
    const char *const *inputs;
    size_t n_inputs; /* items of `inputs` */
    uint64_t reserved[4];
} perfile_sink_options;

/* A sink made of callbacks.  `write` takes up to `len` bytes and returns how many it took (at least
 * 1), or a negative errno.  `flush` (may be NULL) returns 0 or a negative errno.  `close` may be
 * NULL.  `patch` overwrites up to `len` bytes at `offset`, all of which `write` took before, and
 * returns like `write`; with NULL the output cannot go back, as a pipe, and a writer needs the form
 * PIPE.  Every error is final, even -EINTR: a callback that is interrupted by a signal must retry
 * by itself. */
typedef struct perfile_sink_callbacks {
    size_t size;
    void *user;
    int64_t (*write)(void *user, const void *bytes, size_t len); /* see above */
    int (*flush)(void *user);                                    /* see above */
    void (*close)(void *user);                                   /* called once, at the end */
    int64_t (*patch)(void *user, uint64_t offset, const void *bytes, size_t len); /* see above */
} perfile_sink_callbacks;

/* Writes a file that appears under `path` when perfile_sink_finish() succeeds, complete or not at
 * all.  Until then the bytes are in a temporary file in the same folder.  Symbolic links are
 * followed.  If `path` exists and is not a regular file (a FIFO, a device), it is written directly.
 * "-" is standard output.
 * PERFILE_E_IO without PERFILE_SINK_REPLACE: with EEXIST if the file exists; with EPERM if it is a
 * block device, or a FIFO or device of a user who is neither this one nor root. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_path(const char *path,
                                                              const perfile_sink_options *options,
                                                              perfile_sink **sink,
                                                              perfile_error *err);

/* Writes to `fd` from its current position.  The caller keeps the descriptor and must keep it
 * open. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_fd(int fd, const char *name,
                                                            const perfile_sink_options *options,
                                                            perfile_sink **sink,
                                                            perfile_error *err);

/* Writes a directory that appears under `path` when perfile_sink_finish() succeeds, complete or not
 * at all.  What it replaces stays until then; if the system can exchange names (Linux), `path`
 * exists at every moment.  Bytes written to this sink go to the file `data` of the directory; a
 * perfile_writer on the sink adds `data.N`.  With PERFILE_SINK_REPLACE another capture of that name
 * may exist: a file, or a directory that holds only `data` and `data.N`.  PERFILE_E_IO with EEXIST
 * otherwise.
 *
 * With PERFILE_SINK_FOLDER the sink is for formats of several files (perfile_format.folder), which
 * it writes into the directory and its subdirectories.  Existing files stay, except those of the
 * same names: these are replaced with or without PERFILE_SINK_REPLACE.  The files all appear when
 * perfile_sink_finish() succeeds, or none does.  Missing directories are created.  PERFILE_E_IO
 * with ENOTDIR: `path` exists and is not a directory. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_directory(
    const char *path, const perfile_sink_options *options, perfile_sink **sink, perfile_error *err);

/* Makes a sink that passes its bytes to `callbacks`, which are copied.  `name` is for messages.  On
 * failure `close` is not called.  PERFILE_E_USAGE: there is no `write`. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_sink_callback(const perfile_sink_callbacks *callbacks, const char *name,
                      perfile_sink **sink, perfile_error *err);

/* Collects bytes in memory, for perfile_sink_bytes(). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_memory(const char *name,
                                                                perfile_sink **sink,
                                                                perfile_error *err);

/* Flushes the buffer to the file, descriptor or callbacks. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_flush(perfile_sink *sink,
                                                               perfile_error *err);

/* Writes all of `bytes`. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_write(perfile_sink *sink,
                                                               perfile_bytes bytes,
                                                               perfile_error *err);

/* Flushes the buffer and makes the file appear under its name.  After that the sink can only be
 * closed, and the bytes of a memory sink can be read.  Calling it again is allowed. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_finish(perfile_sink *sink,
                                                                perfile_error *err);

/* What a sink has accepted. */
typedef struct perfile_sink_summary {
    uint64_t count;       /* bytes so far */
    perfile_bytes memory; /* bytes that a memory sink has collected, valid until the next call on
                           * it; empty for other kinds */
    uint64_t reserved[4];
} perfile_sink_summary;

#ifndef PERFILE_DECLARATIONS
/* Returns the number of bytes accepted so far. */
static inline uint64_t perfile_sink_count(const perfile_sink *sink)
{
    perfile_sink_summary sum;
    perfile_summary(PERFILE_SUMMARY_SINK, sink, &sum, sizeof sum);
    return sum.count;
}

/* Returns the bytes that a memory sink has collected, valid until the next call on it.  Empty for
 * other kinds. */
static inline perfile_bytes perfile_sink_bytes(const perfile_sink *sink)
{
    perfile_sink_summary sum;
    perfile_summary(PERFILE_SUMMARY_SINK, sink, &sum, sizeof sum);
    return sum.memory;
}
#endif

/* Releases the sink.  Without a successful perfile_sink_finish() no file appears, and buffered
 * bytes are discarded.  `sink` may be NULL. */
PERFILE_API void perfile_sink_close(perfile_sink *sink);

#ifdef __cplusplus
}
#endif

#endif
