/* The interior of perfile_sink: output bytes, buffered, with patching and parts.
 *
 * A sink is a buffer and a table of functions (pf_sink_ops) that take the bytes when the buffer is
 * full, not at each write.  The kinds: memory (out.c), the caller's descriptor (out_fd.c), a
 * file that appears when it is finished (out_file.c), a directory of such files (out_dir.c),
 * callbacks (out.c).  Formatters write directly into the buffer: pf_sink_reserve(),
 * pf_sink_commit().
 *
 * The first error is kept in the sink: every later call returns it, so that a writer may check
 * once. */
#ifndef PF_IO_OUT_H
#define PF_IO_OUT_H

#include "base/buffer.h"
#include "io/inputs.h"
#include "perfile/record.h"
#include "perfile/sink.h"

struct pf_batch; /* core/stream.h */

typedef enum pf_sink_end {
    PF_SINK_FLUSH,  /* what was written is synced if the options ask for it */
    PF_SINK_APPEAR, /* the output gets its final name, and is still written */
    PF_SINK_LAST    /* the output is complete: see perfile_sink_finish() */
} pf_sink_end;

/* Functions of one kind of sink; each may be NULL.  They report errors through *err or their
 * result; the caller in out.c keeps the error in the sink. */
typedef struct pf_sink_ops {
    /* Takes up to bytes.len bytes, bytes.len being at least 1.  Returns how many were taken, or a
     * negative errno.  NULL: the buffer itself is the output (memory). */
    int64_t (*write)(perfile_sink *s, perfile_bytes bytes);
    /* Overwrites up to bytes.len bytes that write() took before; `offset` 0 is the first byte of
     * the sink.  Returns how many, or a negative errno.  Only called if the sink is `patchable`. */
    int64_t (*patch)(perfile_sink *s, uint64_t offset, perfile_bytes bytes);
    /* With a name: file `file`, which is the sink itself (0) or part `file` - 1, is called so; see
     * pf_sink_name_file().  Without: yields the sink of that part; see pf_sink_part().  NULL: the
     * sink has no parts. */
    perfile_status (*part)(perfile_sink *s, uint32_t file, const char *name, perfile_sink **part,
                           perfile_error *err);
    /* See pf_sink_records(); called when the buffer is empty.  NULL: it does not matter to the kind
     * what the bytes are. */
    perfile_status (*records)(perfile_sink *s, uint64_t offset, const struct pf_batch *batch,
                              perfile_error *err);
    /* Called when the buffer is empty, with PF_SINK_FLUSH first, and once with PF_SINK_LAST. */
    perfile_status (*finish)(perfile_sink *s, pf_sink_end how, perfile_error *err);
    /* See perfile_sink_abort(). */
    void (*abort)(perfile_sink *s);
    /* `inputs` has grown: restricts the mode of an output that has appeared already, and fails if
     * the output would replace or change an input. */
    perfile_status (*reads)(perfile_sink *s, perfile_error *err);
    /* Releases what the kind holds, but not `s` itself; removes an output that has not appeared.
     * Also called if making the sink failed: then members of the kind may still be zero. */
    void (*close)(perfile_sink *s);
} pf_sink_ops;

/* What all kinds share; the struct of a kind begins with it. */
struct perfile_sink {
    const pf_sink_ops *ops;
    pf_buffer buffer;      /* not passed to ops->write() yet; in memory the output itself */
    uint64_t passed;       /* bytes that ops->write() has taken */
    uint32_t flags;        /* PERFILE_SINK_… */
    bool patchable;        /* see pf_sink_can_patch() */
    bool takes_stored;     /* records can be written as another archive stores them */
    bool finished;         /* perfile_sink_finish() succeeded */
    uint32_t n_parts;      /* parts from 0 on that were asked for or named */
    uint32_t lossy;        /* see pf_sink_mark() */
    char *name;            /* for messages: the path, or the name that the caller gave */
    const char *temporary; /* see perfile_sink_temporary() */
    pf_inputs inputs;      /* what is read to make the output; must not be changed by it */
    perfile_error error;   /* the first error; status PERFILE_OK if there was none */
};

/* Slow path of pf_sink_reserve(): makes room for `n` bytes by emptying or growing the buffer. */
perfile_status pf_sink_grow(perfile_sink *s, size_t n);

/* Yields room for `n` bytes at *at, valid until the next call on `s`.  Bytes written there become
 * part of the output with pf_sink_commit().  An error is kept in the sink; pf_sink_status() reports
 * it. */
static inline perfile_status pf_sink_reserve(perfile_sink *s, size_t n, uint8_t **at)
{
    if (s->buffer.cap - s->buffer.len < n || s->finished || s->error.status) {
        perfile_status st = pf_sink_grow(s, n);
        if (st != PERFILE_OK)
            return st;
    }
    *at = s->buffer.ptr + s->buffer.len;
    return PERFILE_OK;
}

/* Adds to the output the first `n` bytes of the room that was reserved last. */
static inline void pf_sink_commit(perfile_sink *s, size_t n)
{
    s->buffer.len += n;
}

/* Adds `inputs` to what is read to make this output.  Fails if the output would replace one of
 * them, and the sink keeps that error; restricts the mode of the output to what all inputs grant.
 */
perfile_status pf_sink_add_inputs(perfile_sink *s, const pf_inputs *inputs, perfile_error *err);

/* Returns the kept error, or PERFILE_OK. */
perfile_status pf_sink_status(const perfile_sink *s, perfile_error *err);

/* True if written bytes can be overwritten: memory and regular files.  False for pipes, callbacks
 * and files opened with O_APPEND. */
static inline bool pf_sink_can_patch(const perfile_sink *s)
{
    return s->patchable;
}

/* Overwrites bytes at `offset`, 0 being the first byte of this sink.  PERFILE_E_USAGE unless all of
 * those bytes were written before and the sink can patch. */
perfile_status pf_sink_patch(perfile_sink *s, uint64_t offset, perfile_bytes bytes,
                             perfile_error *err);

/* True if the sink has parts next to its own bytes: a directory has data.N next to `data`. */
static inline bool pf_sink_has_parts(const perfile_sink *s)
{
    return s->ops->part != NULL;
}

/* Yields the sink of part `n` (data.n), made at the first request; `s` owns it.  PERFILE_E_USAGE:
 * `s` has no parts.  PERFILE_E_LIMIT: `n` is larger than in any recording. */
perfile_status pf_sink_part(perfile_sink *s, uint32_t n, perfile_sink **part, perfile_error *err);

/* Gives a file of a directory another name than `data` (file 0) or data.N (file N + 1), before
 * anything is written to it.  PERFILE_E_USAGE: `s` has no parts, or files with records are not
 * called so. */
perfile_status pf_sink_name_file(perfile_sink *s, uint32_t file, const char *name,
                                 perfile_error *err);

/* Makes the sink of a file without records, perfile_is_companion_file(), after all parts with
 * records have been asked for; `s` owns it.  PERFILE_E_USAGE: `s` has no parts. */
perfile_status pf_sink_companion(perfile_sink *s, const char *name, perfile_sink **file,
                                 perfile_error *err);

/* True if the sink is a folder of files (perfile_sink_folder()). */
bool pf_sink_is_folder(const perfile_sink *s);

/* Makes the sink of a file in such a folder; `name` is its path from there, "samples/host=a/x".
 * The caller finishes and closes it before `s` is finished, and it appears then, in the place of a
 * file of that name.  PERFILE_E_NOMEM, PERFILE_E_IO. */
perfile_status pf_sink_folder_file(perfile_sink *s, const char *name, perfile_sink **file,
                                   perfile_error *err);

/* The files of the folder whose path from there fits a pattern of glob(3) are replaced, too, by
 * files of other names: they are removed when `s` is finished.  PERFILE_E_NOMEM. */
perfile_status pf_sink_folder_replaces(perfile_sink *s, const char *pattern, perfile_error *err);

/* True if the kind wants to know which of the bytes are records: see pf_sink_records(). */
static inline bool pf_sink_wants_records(const perfile_sink *s)
{
    return s->ops->records != NULL;
}

/* Says that a batch, of at least 1 record, is one after the other at `offset` of what was written:
 * its bytes, unchanged, in memory contiguous as well.  Offsets ascend from call to call.  What is
 * not said costs nothing but size.  A range of records as it is stored in another archive
 * (batch->stored) is written by this call, if s->takes_stored. */
perfile_status pf_sink_records(perfile_sink *s, uint64_t offset, const struct pf_batch *batch,
                               perfile_error *err);

/* Ways in which a capture differs from what was packed.  Each is a word of an archive's metadata:
 * `lossy` of format/archive.cddl. */
enum {
    PF_LOSSY_EXPANDED = 1 << 0,
    PF_LOSSY_SCRUBBED = 1 << 1,
    PF_LOSSY_FILTERED = 1 << 2,
    PF_LOSSY_RECOVERED = 1 << 3
};

/* Says that what is written differs in these ways (PF_LOSSY_…).  Before the first byte: an archive
 * that is never finished has the mark, too.  Other kinds have no place for it. */
static inline void pf_sink_mark(perfile_sink *s, uint32_t lossy)
{
    s->lossy |= lossy;
}

/* Writes what is buffered and gives the file its final name now, before it is finished.  For
 * captures that are readable while they are being written. */
perfile_status pf_sink_appear(perfile_sink *s, perfile_error *err);

#endif
