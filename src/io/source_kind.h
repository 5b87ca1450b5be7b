/* Shared by the kinds of sources: functions that make them, and the window that reads
 * (pf_window). */
#ifndef PF_IO_SOURCE_KIND_H
#define PF_IO_SOURCE_KIND_H

#include "io/source.h"
#include "perfile/base.h"
#include "perfile/sink.h"

/* Allocates `bytes` zeroed bytes for a struct that begins with a perfile_source.  Fills in ops, a
 * copy of the name ("input" if NULL), and the checked options with their defaults.  The size is 0.
 * `source` is the address of a pointer to that struct, of any type. */
perfile_status pf_source_new(size_t bytes, const pf_source_ops *ops, const char *name,
                             const perfile_source_options *options, void *source,
                             perfile_error *err);

/* Makes a source of a regular file of `size` bytes: mapped if possible and allowed, otherwise read
 * through a window.  With `own` the source owns `fd` once this succeeds. */
perfile_status pf_source_map(int fd, bool own, uint64_t size, const char *name,
                             const perfile_source_options *options, perfile_source **source,
                             perfile_error *err);

/* Drops the pages of the mapping `whole` that are completely inside [offset, offset + len). */
void pf_map_release(perfile_bytes whole, uint64_t offset, uint64_t len);

/* Makes a source of the directory `fd`.  With `own` the source owns `fd` once this succeeds. */
perfile_status pf_source_dir(int fd, bool own, const char *name,
                             const perfile_source_options *options, perfile_source **source,
                             perfile_error *err);

/* A window: input that is read, not mapped, through one buffer that moves forward over it.
 *
 * Used for pipes, callbacks, and regular files that are read from start to end.  A regular file may
 * have a mapping in addition (pf_window_add_mapping()). */

typedef struct pf_window pf_window;

struct pf_window {
    perfile_source base;
    /* Reads up to `len` bytes at input offset `at`.  Returns the count, 0 at the end, or a negative
     * errno.  For a stream (not seekable) `at` is always where the last read ended. */
    int64_t (*read)(pf_window *w, uint64_t at, void *buf, size_t len);
    void (*release)(pf_window *w); /* closes the input; may be NULL */

    /* buf[head, head + len) holds input bytes [at, at + len).  The n_before bytes before buf[head]
     * still hold the input before `at`, so that a small step back needs no read. */
    uint8_t *memory; /* the allocation; buf is its first page boundary */
    uint8_t *buf;
    size_t cap; /* bytes of buf */
    size_t head;
    size_t len;
    uint64_t at;
    size_t n_before;
    size_t next_read; /* with a mapping: maximum size of the next read; 0 means WINDOW_HEAD */

    /* Mapping of the whole file, if it is a regular one.  It serves view(), and run() of more than
     * WINDOW_MOST bytes.  If empty, everything goes through the buffer. */
    perfile_bytes mapping;

    int fd;                             /* descriptor of a file or pipe; not used by callbacks */
    perfile_source_callbacks callbacks; /* for perfile_source_callback() */
    uint64_t position;                  /* input offset of the callback's next read() */
};

extern const pf_source_ops pf_window_ops;

/* Makes a window over `fd`.  `size` is PF_SIZE_UNKNOWN for a stream.  With `own` the source owns
 * `fd` once this succeeds. */
perfile_status pf_source_window(int fd, bool own, uint64_t size, const char *name,
                                const perfile_source_options *options, perfile_source **source,
                                perfile_error *err);

/* Adds a mapping of the whole file, made with mmap().  The source owns it: close unmaps it. */
void pf_window_add_mapping(perfile_source *window, perfile_bytes mapping);

/* A source that yields the bytes of another source and copies each byte once, in order, to a sink
 * while it is in memory.  This reads the records and copies the file in one pass. */

/* Belongs to the caller and must outlive the source made of it.  Closing that source closes neither
 * `below` nor `sink`. */
typedef struct pf_tee {
    perfile_source *below; /* the source of the bytes */
    perfile_sink *sink;    /* NULL if nothing is to be copied */
    uint64_t copied;       /* number of bytes written to `sink`: all of [0, copied) */
} pf_tee;

/* Returns true if reading through the tee copies.  False for a mapped source: its bytes are always
 * in memory, and the caller copies them itself in large pieces. */
static inline bool pf_tee_copies(const pf_tee *t)
{
    return t->sink && !t->below->stable;
}

/* Makes the source that reads through `tee`. */
perfile_status pf_source_tee(pf_tee *tee, perfile_source **source, perfile_error *err);

/* Copies the bytes that were not read, up to the end of input.  Only for a tee with
 * pf_tee_copies(). */
perfile_status pf_tee_rest(pf_tee *tee, perfile_error *err);

/* Temporary files without a name: created and unlinked at once, so that they disappear when they
 * are closed, even if the process is killed. */

/* Opens a new temporary file in `dir` (if NULL: TMPDIR, or /tmp).  `what` is perfile_error.where of
 * a failure.  The caller closes *fd. */
perfile_status pf_temporary_open(const char *dir, const char *what, int *fd, perfile_error *err);

/* Writes all of `b` at `offset`.  `dir` is the same as in pf_temporary_open(), for the message. */
perfile_status pf_temporary_write(int fd, const char *dir, uint64_t offset, perfile_bytes b,
                                  const char *what, perfile_error *err);

/* Reads up to `len` bytes at `offset`.  *got is less than `len` only at the end of the file. */
perfile_status pf_temporary_read(int fd, uint64_t offset, void *buf, size_t len, size_t *got,
                                 const char *what, perfile_error *err);

#endif
