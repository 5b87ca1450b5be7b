/* The inside of perfile_sink: formatting straight into its buffer, patching, parts.
 *
 * A sink is a buffer and a table of functions that say where its bytes go.  Those of a kind stand
 * in a file of their own: out_memory.c, out_fd.c, out_file.c, out_dir.c, out_callback.c.  The
 * functions are called when the buffer is handed on, not for each write. */
#ifndef PF_IO_OUT_H
#define PF_IO_OUT_H

#include "base/buffer.h"
#include "io/inputs.h"
#include "perfile/sink.h"

/* Errors go to *err; perfile_sink's own functions keep them.  Each may be NULL. */
typedef struct pf_sink_ops {
    /* Takes up to bytes.len bytes, at least 1: how many, or a negative errno.  NULL: bytes stay in
     * the buffer, which is the output. */
    int64_t (*write)(perfile_sink *s, perfile_bytes bytes);
    /* May be NULL.  The same of bytes that stay where they are until settle(). */
    int64_t (*write_lasting)(perfile_sink *s, perfile_bytes bytes);
    /* May be NULL, too: what was taken is written, and nobody's bytes are looked at any more.  0 or
     * a negative errno. */
    int (*settle)(perfile_sink *s);
    /* Replaces up to bytes.len bytes that write() took, the first of them at `offset`: how many, or
     * a negative errno.  Called of a sink that is `patchable`. */
    int64_t (*patch)(perfile_sink *s, uint64_t offset, perfile_bytes bytes);
    /* See pf_sink_part(); NULL: the sink has no parts. */
    perfile_status (*part)(perfile_sink *s, uint32_t n, perfile_sink **part, perfile_error *err);
    /* All that was written has been handed on: 0 or a negative errno. */
    int (*flush)(perfile_sink *s);
    /* See pf_sink_appear(). */
    perfile_status (*appear)(perfile_sink *s, perfile_error *err);
    /* See perfile_sink_finish(); called once, after flush(). */
    perfile_status (*finish)(perfile_sink *s, perfile_error *err);
    /* See perfile_sink_abort(). */
    void (*abort)(perfile_sink *s);
    /* `inputs` has grown: limits the mode of what has appeared, and refuses an output that would
     * change an input. */
    perfile_status (*reads)(perfile_sink *s, perfile_error *err);
    /* See perfile_sink_temporary(). */
    const char *(*temporary)(const perfile_sink *s);
    /* Releases what the kind holds, not `s` itself; removes what has not appeared.  Also called of
     * a sink that could not be made, whose kind holds zeros. */
    void (*close)(perfile_sink *s);
} pf_sink_ops;

struct perfile_sink {
    const pf_sink_ops *ops;
    pf_buffer buffer; /* not handed on yet */
    uint64_t passed;  /* bytes handed on */
    uint32_t flags;
    unsigned threads; /* that may write, the caller's among them */
    bool patchable;   /* see pf_sink_can_patch() */
    bool finished;
    char *name;
    pf_inputs inputs;    /* what must stay as it is */
    perfile_error error; /* status PERFILE_OK while all is well */
};

/* The slow path of pf_sink_reserve(). */
perfile_status pf_sink_room(perfile_sink *s, size_t n);

/* Gives room for `n` bytes at *at, valid until the next call on `s`.  What was written there counts
 * with pf_sink_commit().  The error is kept: pf_sink_status() tells it. */
static inline perfile_status pf_sink_reserve(perfile_sink *s, size_t n, uint8_t **at)
{
    if (s->buffer.cap - s->buffer.len < n || s->finished || s->error.status) {
        perfile_status st = pf_sink_room(s, n);
        if (st != PERFILE_OK)
            return st;
    }
    *at = s->buffer.ptr + s->buffer.len;
    return PERFILE_OK;
}

/* `n` bytes of the room reserved last were filled. */
static inline void pf_sink_commit(perfile_sink *s, size_t n)
{
    s->buffer.len += n;
}

/* Tells the sink what is read to make its output: refuses what would change that, for good, and
 * limits the mode of what appears. */
perfile_status pf_sink_reads(perfile_sink *s, const pf_inputs *inputs, perfile_error *err);

/* The error that was kept, or PERFILE_OK. */
perfile_status pf_sink_status(const perfile_sink *s, perfile_error *err);

/* Whether bytes that were written can be replaced: memory and regular files, not pipes, callbacks
 * and files opened for appending. */
static inline bool pf_sink_can_patch(const perfile_sink *s)
{
    return s->patchable;
}

/* Replaces bytes at `offset` (0 is the first byte of this sink), all of which were written before.
 * PERFILE_E_USAGE when they were not, or when the sink cannot. */
perfile_status pf_sink_patch(perfile_sink *s, uint64_t offset, perfile_bytes bytes,
                             perfile_error *err);

/* perfile_sink_write() of bytes that the caller keeps where they are until pf_sink_settle(): large
 * pieces need not be copied to be written by another thread. */
perfile_status pf_sink_write_lasting(perfile_sink *s, perfile_bytes bytes, perfile_error *err);
perfile_status pf_sink_settle(perfile_sink *s, perfile_error *err);

/* Whether the sink has parts besides its own bytes: a directory with data.N beside `data`. */
static inline bool pf_sink_has_parts(const perfile_sink *s)
{
    return s->ops->part != NULL;
}

/* The sink of part N (data.N), made when it is asked for first; it belongs to `s`.
 * PERFILE_E_USAGE when `s` has no parts, PERFILE_E_LIMIT when N is no number that a recording has.
 */
perfile_status pf_sink_part(perfile_sink *s, uint32_t n, perfile_sink **part, perfile_error *err);

/* Hands on what is buffered and gives the file its name now, unfinished as it is. */
perfile_status pf_sink_appear(perfile_sink *s, perfile_error *err);

#endif
