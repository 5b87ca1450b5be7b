/* The inside of perfile_source: spans of bytes by offset. */
#ifndef PF_IO_SOURCE_H
#define PF_IO_SOURCE_H

#include "base/buffer.h"
#include "io/inputs.h"
#include "perfile/source.h"

#define PF_SIZE_UNKNOWN UINT64_MAX

/* What somebody looks for in bytes that other threads read: a stretch of them that nobody else has
 * to look at again. */
typedef struct pf_scanned {
    uint64_t start, end; /* offsets of the stretch; equal: nothing was found */
    void *notes;         /* about it, see pf_scan */
} pf_scanned;

typedef struct pf_scan {
    /* Looks at bytes that begin at `offset`, in any thread, and fills *scanned, which is zero but
     * for the notes: note_bytes of a block of the file, which are zero before their first use. */
    void (*look)(const struct pf_scan *scan, perfile_bytes bytes, uint64_t offset,
                 pf_scanned *scanned);
    size_t note_bytes;
} pf_scan;

typedef struct pf_source_ops {
    /* See pf_source_run(). */
    perfile_status (*run)(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                          perfile_error *err);
    /* See pf_source_view(); NULL: as run(). */
    perfile_status (*view)(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                           perfile_error *err);
    /* See pf_source_hint(); may be NULL. */
    void (*hint)(perfile_source *s, uint64_t offset, size_t len);
    /* See pf_source_release(); may be NULL. */
    void (*release)(perfile_source *s, uint64_t offset, uint64_t len);
    /* See pf_source_scanned() and pf_source_settle(); NULL: nobody but the caller reads. */
    bool (*scanned)(perfile_source *s, const pf_scan *scan, uint64_t offset, pf_scanned *scanned);
    void (*settle)(perfile_source *s);
    /* Of a source of several entries, which has no bytes of its own: a directory.  NULL: the source
     * has no entries. */
    /* Appends the names that begin with `prefix` to `names`, each with its NUL, in any order, and
     * adds their number to *n.  See pf_source_list(). */
    perfile_status (*list)(const perfile_source *s, const char *prefix, pf_buffer *names, size_t *n,
                           perfile_error *err);
    /* See pf_source_entry(); `entry` is a plain name. */
    perfile_status (*entry)(const perfile_source *s, const char *entry, perfile_source **source,
                            perfile_error *err);
    /* Releases what the kind holds, not `s` itself; may be NULL. */
    void (*close)(perfile_source *s);
} pf_source_ops;

struct perfile_source {
    const pf_source_ops *ops;
    char *name;
    uint64_t size; /* PF_SIZE_UNKNOWN for a stream that has not ended */
    bool stable;   /* what run() gave stays valid until close (mapped, memory) */
    bool lasting;  /* what view() gave does: also of a window with a mapping beside it */
    bool seekable; /* any offset may be asked for; else never one below the last released */
    bool passing;  /* of a mapped file: what lies behind a hint leaves memory */
    bool live;     /* what is behind the bytes at hand may never come: run() that needs none of it
                    * does not ask for it */
    void (*waiting)(void *user); /* before a stream waits for bytes; may be NULL */
    void *waiting_user;
    perfile_source_options options; /* as given, defaults filled in; limits points to `limits` */
    perfile_limits limits;
    pf_inputs inputs; /* what is read: no output takes its place */
};

/* The longest contiguous span at `offset`, at least `need` bytes of it unless the input ends
 * before: then what is there, perhaps nothing (run->len < need means the end of input, and
 * s->size is known from then on).  On a stream, bytes below `offset` are released by this call:
 * asking for them again is PERFILE_E_USAGE.  Reading stops as soon as `need` bytes are there, so
 * that the records of a live pipe are seen when they arrive.  A span of a source that is not
 * `stable` is valid until the next call.  PERFILE_E_LIMIT when a window would have to hold more
 * than limits.window_bytes; what is in memory anyway (mapped, memory) has no such limit. */
perfile_status pf_source_run(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                             perfile_error *err);

/* The same for what is looked at for long: attrs, ids, features.  It stays valid until close where
 * the source is `lasting`. */
perfile_status pf_source_view(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                              perfile_error *err);

/* Tells that [offset, offset + len) will be wanted soon (mapped files are touched in one go).  Of a
 * source that is `passing` what lies a few MiB in front of `offset` will not be: it leaves memory.
 */
void pf_source_hint(perfile_source *s, uint64_t offset, size_t len);

/* Tells that [offset, offset + len) will not be wanted soon: what is mapped of it leaves memory,
 * and comes back when it is read all the same. */
void pf_source_release(perfile_source *s, uint64_t offset, uint64_t len);

/* Copies a stream, from offset 0 to its end, into an unlinked temporary file (in TMPDIR) and makes
 * a seekable source of that.  Nothing may have been released before.  `from` stays open. */
perfile_status pf_source_spool(perfile_source *from, perfile_source **spooled, perfile_error *err);

/* What was found by `scan` in the block of the file in which `offset` lies, for one who goes on
 * from there; false when nothing was, at or behind it.  It is valid until the next call that goes
 * on.  From the first such call on `scan` looks at all that other threads read; it stays where it
 * is until the source is closed, and is the only one. */
static inline bool pf_source_scanned(perfile_source *s, const pf_scan *scan, uint64_t offset,
                                     pf_scanned *scanned)
{
    return s->ops->scanned && s->ops->scanned(s, scan, offset, scanned);
}

/* From here to the next call on `s` no other thread is at work for it. */
static inline void pf_source_settle(perfile_source *s)
{
    if (s->ops->settle)
        s->ops->settle(s);
}

/* Whether the source is a directory: it has no bytes of its own, the driver opens what is in it. */
static inline bool pf_source_has_entries(const perfile_source *s)
{
    return s->ops->list != NULL;
}

/* Opens `entry` inside the directory that `dir` is: a regular file, with the options of `dir`.
 * PERFILE_E_USAGE when `dir` has no entries or `entry` is not a plain name, PERFILE_E_UNSUPPORTED
 * when it is a symbolic link, which is not followed, or no regular file. */
perfile_status pf_source_entry(const perfile_source *dir, const char *entry,
                               perfile_source **source, perfile_error *err);

/* Names in the directory that begin with `prefix`, regular files and links only, sorted: all-digit
 * remainders first, by number, then the others by bytes.  One block, released with pf_free(). */
perfile_status pf_source_list(const perfile_source *dir, const char *prefix, char ***names,
                              size_t *n, perfile_error *err);

#endif
