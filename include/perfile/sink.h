/* Where bytes go.
 *
 * Writes are buffered.  An error is kept: every later call on the sink returns it again, so that a
 * writer may look once, at perfile_sink_finish(). */
#ifndef PERFILE_SINK_H
#define PERFILE_SINK_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where bytes are written to. */
typedef struct perfile_sink perfile_sink;

enum {
    PERFILE_SINK_REPLACE = 1 << 0, /* a file of that name may exist */
    PERFILE_SINK_SYNC = 1 << 1,    /* finish waits until the file is on the disk */
    PERFILE_SINK_SYNC_ALL = 1 << 2 /* so does every perfile_sink_flush(), and with it every round of
                                      a progressive writer */
};

/* What the output is made of.  An input is never changed, and what it keeps from others the output
 * keeps from them, too.
 *
 * Opening and finishing fail with PERFILE_E_IO (err->sys is 0) when the sink would write to an
 * input, take its place, stand inside a directory that is one, or take the place of a directory
 * that holds one.  Inputs are known by device and inode, under whatever path or link, and a
 * descriptor that is one of them (standard output) counts.  Functions that take a source or
 * stream and a sink or writer register what they read with the sink; `inputs` names what the
 * program reads besides.
 *
 * Mode of the output: the mode of the file that is replaced, else what the umask allows, limited to
 * what every input that is a file or directory grants.  If the group of the output is not that of
 * an input, the group gets no more than others.  A directory can be entered by its owner and by
 * those who may read its files.  Until a file or directory has its final name only its owner has
 * access. */
typedef struct perfile_sink_options {
    size_t size;
    uint32_t flags; /* PERFILE_SINK_… */
    uint32_t reserved0;
    /* Paths that must not be overwritten, "-" for standard input; examined when the sink is opened.
     */
    const char *const *inputs;
    size_t n_inputs; /* items of `inputs` */
    uint64_t reserved[4];
} perfile_sink_options;

/* Bytes by callback.  `write` takes up to `len` bytes, returns how many (at least 1) or a negative
 * errno.  `flush` (may be NULL) returns 0 or a negative errno.  `close` may be NULL.  Every error
 * is final, -EINTR too: a callback that a signal interrupts and that wants to go on tries again
 * itself. */
typedef struct perfile_sink_callbacks {
    size_t size;
    void *user;
    int64_t (*write)(void *user, const void *bytes, size_t len); /* see above */
    int (*flush)(void *user);                                    /* see above */
    void (*close)(void *user);                                   /* called once, at the end */
} perfile_sink_callbacks;

/* Writes a file that appears under `path` when perfile_sink_finish() succeeds, complete or not
 * at all: until then the bytes are in a temporary file in the same folder.  A symbolic link is
 * followed.  What is there and is no regular file (FIFO, device) is written to directly; "-" is
 * standard output. PERFILE_E_IO without PERFILE_SINK_REPLACE: with EEXIST when the file exists,
 * with EPERM when it is a block device, or a FIFO or device of a user who is neither this one nor
 * root.
 */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_path(const char *path,
                                                              const perfile_sink_options *options,
                                                              perfile_sink **sink,
                                                              perfile_error *err);

/* Writes behind the bytes of the file `path`, which exists.  What it has is not changed; what is
 * written counts from perfile_sink_finish() on: without it, closing cuts the file to the size that
 * it had.  Until then other programs cannot append to it with this function.  The file loses the
 * mode bits that inputs do not grant.
 * PERFILE_E_USAGE: it is no regular file.  PERFILE_E_IO with EBUSY: another program appends. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_append(const char *path,
                                                                const perfile_sink_options *options,
                                                                perfile_sink **sink,
                                                                perfile_error *err);

/* Writes to `fd` from where it stands.  It stays the caller's and must stay open. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_fd(int fd, const char *name,
                                                            const perfile_sink_options *options,
                                                            perfile_sink **sink,
                                                            perfile_error *err);

/* Writes a directory that appears under `path` when perfile_sink_finish() succeeds, complete or not
 * at all; what it replaces is there until then, and where the system can exchange names (Linux)
 * there is no time between.  What is written here goes to its file `data`; a perfile_writer on it
 * writes `data.N` beside. With PERFILE_SINK_REPLACE another capture of that name may exist: a file,
 * or a directory that holds nothing but `data` and `data.N`.  PERFILE_E_IO with EEXIST otherwise.
 */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_directory(
    const char *path, const perfile_sink_options *options, perfile_sink **sink, perfile_error *err);

/* Writes files into a folder and folders in it, for forms that write several
 * (perfile_export_format_is_directory()).  What is there stays, but for files of the same names,
 * which are replaced with or without PERFILE_SINK_REPLACE.  The files appear together when
 * perfile_sink_finish() succeeds, or none does; folders are made where they are missing.
 * PERFILE_E_IO with ENOTDIR: what is there is no directory. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_folder(const char *path,
                                                                const perfile_sink_options *options,
                                                                perfile_sink **sink,
                                                                perfile_error *err);

/* Checks that an output to `path` ("-" is standard output), or with NULL to `fd`, would not
 * overwrite one of these inputs: see perfile_sink_options.inputs.  For programs that write without
 * a sink. PERFILE_E_IO when it would. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_output_check(const char *path, int fd,
                                                                 const char *const *inputs,
                                                                 size_t n_inputs,
                                                                 perfile_error *err);

/* Hands bytes to `callbacks`, which are copied; `name` is for messages.  On failure `close` is not
 * called.  PERFILE_E_USAGE: there is no `write`. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_sink_callback(const perfile_sink_callbacks *callbacks, const char *name,
                      perfile_sink **sink, perfile_error *err);

/* Collects bytes in memory, for perfile_sink_bytes() or perfile_sink_take(). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_memory(const char *name,
                                                                perfile_sink **sink,
                                                                perfile_error *err);

/* Appends `bytes`, all of them. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_write(perfile_sink *sink,
                                                               perfile_bytes bytes,
                                                               perfile_error *err);

/* Flushes what is buffered to the file, descriptor or callbacks. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_flush(perfile_sink *sink,
                                                               perfile_error *err);

/* Flushes, and makes the file appear under its name.  Only closing is left after that, and what
 * memory collected.  Calling it again is fine. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_finish(perfile_sink *sink,
                                                                perfile_error *err);

/* Gives up what was written: the file or directory is removed, also one that a progressive writer
 * shows already, memory is emptied.  Only closing is left after that.  After a successful
 * perfile_sink_finish() it does nothing. */
PERFILE_API void perfile_sink_abort(perfile_sink *sink);

/* What a memory sink has collected, valid until the next call on it; nothing for other kinds. */
PERFILE_API perfile_bytes perfile_sink_bytes(const perfile_sink *sink);

/* Hands over what a memory sink has collected, to be released with free(), and leaves it empty.
 * *bytes may be NULL when *len is 0.  PERFILE_E_USAGE for other kinds. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sink_take(perfile_sink *sink, void **bytes,
                                                              size_t *len, perfile_error *err);

/* Bytes accepted so far. */
PERFILE_API uint64_t perfile_sink_count(const perfile_sink *sink);

/* The name given or the path, for messages.  Valid until the sink is closed. */
PERFILE_API const char *perfile_sink_name(const perfile_sink *sink);

/* The path of the temporary file, for a signal handler that removes it, or of the temporary
 * directory, with `data`, data.0, data.1 … in it; NULL when there is none, also from
 * perfile_sink_finish() on.  Valid until the sink is closed. */
PERFILE_API const char *perfile_sink_temporary(const perfile_sink *sink);

/* Releases the sink.  Without a successful perfile_sink_finish() no file appears, and what is
 * buffered is dropped.  NULL is fine. */
PERFILE_API void perfile_sink_close(perfile_sink *sink);

#ifdef __cplusplus
}
#endif

#endif
