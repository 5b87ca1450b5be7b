/* The internals of perfile_sink: buffered output bytes, with patching and parts.
 *
 * A sink is a buffer and a table of functions (pf_sink_ops), which receive the bytes when the
 * buffer is full, not at each write.  The kinds are: memory (out.c), a descriptor of the caller
 * (out_fd.c), a file that appears when it is finished (out_file.c), a directory of such files
 * (out_dir.c), a folder (out_folder.c), and callbacks (out.c).  Formatters write directly into the
 * buffer with pf_sink_reserve() and pf_sink_commit().
 *
 * The sink stores its first error, and every later call returns it, so a writer may check once. */
#ifndef PF_IO_OUT_H
#define PF_IO_OUT_H

#include "base/buffer.h"
#include "io/inputs.h"
#include "perfile/record.h"
#include "perfile/sink.h"

struct pf_batch; /* core/stream.h */

typedef enum pf_sink_end {
    PF_SINK_FLUSH,  /* sync the bytes written so far if the options ask for it */
    PF_SINK_APPEAR, /* give the output its final name; writing continues */
    PF_SINK_LAST    /* the output is complete; see perfile_sink_finish() */
} pf_sink_end;

/* Functions of one kind of sink; each may be NULL.  They report errors through *err or their
 * result; the caller in out.c stores the error in the sink. */
typedef struct pf_sink_ops {
    /* Writes up to bytes.len bytes; bytes.len is at least 1.  Returns how many were written, or a
     * negative errno.  NULL if the buffer itself is the output (memory). */
    int64_t (*write)(perfile_sink *s, perfile_bytes bytes);
    /* Overwrites up to bytes.len bytes that write() has written; `offset` 0 is the first byte of
     * the sink.  Returns how many were overwritten, or a negative errno.  Only called if the sink
     * is `patchable`. */
    int64_t (*patch)(perfile_sink *s, uint64_t offset, perfile_bytes bytes);
    /* With a name: names file `file`, which is the sink itself (0) or part `file` - 1; see
     * pf_sink_name_file().  With `name` NULL: yields the sink of that part; see pf_sink_part().
     * NULL if the sink has no parts. */
    perfile_status (*part)(perfile_sink *s, uint32_t file, const char *name, perfile_sink **part,
                           perfile_error *err);
    /* See pf_sink_records(); called when the buffer is empty.  NULL if this kind does not
     * distinguish records from other bytes. */
    perfile_status (*records)(perfile_sink *s, uint64_t offset, const struct pf_batch *batch,
                              perfile_error *err);
    /* Called when the buffer is empty: first with PF_SINK_FLUSH, and once with PF_SINK_LAST. */
    perfile_status (*finish)(perfile_sink *s, pf_sink_end how, perfile_error *err);
    /* See pf_sink_abort(). */
    void (*abort)(perfile_sink *s);
    /* Called when `inputs` has grown.  Restricts the mode of an output that has already appeared,
     * and fails if the output would replace or change an input. */
    perfile_status (*reads)(perfile_sink *s, perfile_error *err);
    /* Releases the members of the kind, but not `s` itself, and removes an output that has not
     * appeared.  Also called if making the sink failed: members of the kind may then still be
     * zero. */
    void (*close)(perfile_sink *s);
} pf_sink_ops;

/* The members that all kinds share; the struct of each kind begins with it. */
struct perfile_sink {
    const pf_sink_ops *ops;
    pf_buffer buffer;      /* bytes that ops->write() has not received yet; in memory, the output
                            * itself */
    uint64_t passed;       /* number of bytes that ops->write() has written */
    uint32_t flags;        /* PERFILE_SINK_… */
    bool patchable;        /* see pf_sink_can_patch() */
    bool takes_stored;     /* accepts stored ranges of another archive; see pf_sink_records() */
    bool finished;         /* perfile_sink_finish() succeeded */
    uint32_t n_parts;      /* number of parts that were requested or named, counted from part 0 */
    uint32_t lossy;        /* PF_LOSSY_…; see pf_sink_mark() */
    char *name;            /* for messages: the path, or a name from the caller */
    const char *temporary; /* see pf_sink_temporary() */
    pf_inputs inputs;      /* the files that are read to make the output, which must not change
                            * them */
    perfile_error error;   /* the first error; its status is PERFILE_OK if there was none */
};

/* The slow path of pf_sink_reserve(): makes room for `n` bytes by emptying or growing the
 * buffer. */
perfile_status pf_sink_grow(perfile_sink *s, size_t n);

/* Yields room for `n` bytes at *at, valid until the next call on `s`. pf_sink_commit() makes bytes
 * written there part of the output.  An error is stored in the sink; pf_sink_status() reports
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

/* Adds the first `n` bytes of the room that was reserved last to the output. */
static inline void pf_sink_commit(perfile_sink *s, size_t n)
{
    s->buffer.len += n;
}

/* Adds `inputs` to the inputs of this output, and restricts the output's mode to what all inputs
 * grant.  Fails if the output would replace one of them; the sink stores that error. */
perfile_status pf_sink_add_inputs(perfile_sink *s, const pf_inputs *inputs, perfile_error *err);

/* Returns the stored error, or PERFILE_OK. */
perfile_status pf_sink_status(const perfile_sink *s, perfile_error *err);

/* Returns true if written bytes can be overwritten: in memory and in regular files, but not in
 * pipes, callbacks and files opened with O_APPEND. */
static inline bool pf_sink_can_patch(const perfile_sink *s)
{
    return s->patchable;
}

/* Overwrites bytes at `offset`; 0 is the first byte of this sink.  Fails with PERFILE_E_USAGE
 * unless the sink can patch and all of those bytes were already written. */
perfile_status pf_sink_patch(perfile_sink *s, uint64_t offset, perfile_bytes bytes,
                             perfile_error *err);

/* Returns true if the sink has parts in addition to its own bytes: a directory has data.N next to
 * `data`. */
static inline bool pf_sink_has_parts(const perfile_sink *s)
{
    return s->ops->part != NULL;
}

/* Yields the sink of part `n` (data.n), which is made at the first request; `s` owns it.  Fails
 * with PERFILE_E_USAGE if `s` has no parts, and with PERFILE_E_LIMIT if `n` is larger than in any
 * recording. */
perfile_status pf_sink_part(perfile_sink *s, uint32_t n, perfile_sink **part, perfile_error *err);

/* Names a file of a directory something other than `data` (file 0) or data.N (file N + 1).  Must be
 * called before anything is written to the file.  Fails with PERFILE_E_USAGE if `s` has no parts,
 * or if `name` is not a name of an output file. */
perfile_status pf_sink_name_file(perfile_sink *s, uint32_t file, const char *name,
                                 perfile_error *err);

/* Makes the sink of a companion file (pf_is_companion_file()), which has no records; `s` owns
 * it.  Call it after all parts with records were requested.  Fails with PERFILE_E_USAGE if `s` has
 * no parts. */
perfile_status pf_sink_companion(perfile_sink *s, const char *name, perfile_sink **file,
                                 perfile_error *err);

/* As perfile_sink_count(). */
uint64_t pf_sink_count(const perfile_sink *sink);

/* Opens a sink for files in a folder: perfile_sink_directory() with PERFILE_SINK_FOLDER. */
perfile_status pf_sink_folder(const char *path, const perfile_sink_options *options,
                              perfile_sink **sink, perfile_error *err);

/* Returns true if the sink is such a folder. */
bool pf_sink_is_folder(const perfile_sink *s);

/* Makes the sink of a file in such a folder; `name` is its path relative to the folder, such as
 * "samples/host=a/x".  The caller finishes and closes it before it finishes `s`.  The file appears
 * then, and replaces an existing file of that name.  Fails with PERFILE_E_NOMEM or PERFILE_E_IO. */
perfile_status pf_sink_folder_file(perfile_sink *s, const char *name, perfile_sink **file,
                                   perfile_error *err);

/* Says that the output also replaces all files whose path relative to the folder matches `pattern`,
 * see glob(3), even if the new files have other names.  The old files are removed when `s` is
 * finished.  Fails with PERFILE_E_NOMEM. */
perfile_status pf_sink_folder_replaces(perfile_sink *s, const char *pattern, perfile_error *err);

/* Returns true if this kind of sink needs to know which bytes are records; see
 * pf_sink_records(). */
static inline bool pf_sink_wants_records(const perfile_sink *s)
{
    return s->ops->records != NULL;
}

/* Reports that the records of a batch (at least 1) were written at `offset`, one after the other
 * and unchanged; in memory they are contiguous, too.  Offsets ascend from call to call.  Bytes that
 * are not reported only make the output larger.  If s->takes_stored, the batch may be a range of
 * records as another archive stores it (batch->stored); this call writes it. */
perfile_status pf_sink_records(perfile_sink *s, uint64_t offset, const struct pf_batch *batch,
                               perfile_error *err);

/* Ways in which a capture differs from the original.  Each is a word in an archive's metadata:
 * `lossy` in format/archive.cddl. */
enum {
    PF_LOSSY_EXPANDED = 1 << 0,
    PF_LOSSY_SCRUBBED = 1 << 1,
    PF_LOSSY_FILTERED = 1 << 2,
    PF_LOSSY_RECOVERED = 1 << 3
};

/* Records that the output differs from the original in these ways (PF_LOSSY_…).  Call it before the
 * first byte is written, so that an archive that is never finished has the mark, too.  Kinds other
 * than archives ignore it. */
static inline void pf_sink_mark(perfile_sink *s, uint32_t lossy)
{
    s->lossy |= lossy;
}

/* Writes the buffer and gives the file its final name now, before it is finished.  For captures
 * that can be read while they are being written. */
perfile_status pf_sink_appear(perfile_sink *s, perfile_error *err);

#endif
