/* The internals of perfile_source: spans of input bytes by offset.
 *
 * A source answers one question: which bytes are at this offset?  It is a table of functions
 * (pf_source_ops) and a few properties that drivers read.  The kinds are: mapped file (source.c),
 * window over a file, pipe or callback (source_window.c), memory (source.c), directory
 * (source_dir.c), and a tee on another source (tee.c).  Readers call pf_source_run() for records
 * and pf_source_view() for bytes that they keep.  They check `stable` and `lasting` before they
 * keep a pointer. */
#ifndef PF_IO_SOURCE_H
#define PF_IO_SOURCE_H

#include "base/buffer.h"
#include "io/inputs.h"
#include "perfile/source.h"

#define PF_SIZE_UNKNOWN UINT64_MAX

/* A reader's request: the records that it needs (core/zone.h). */
typedef struct pf_narrow pf_narrow;

/* A range of contiguous records that a source skips, or of bytes that are lost. */
typedef struct pf_absent {
    /* If not 0, the bytes are lost in a damaged archive and read as zeros: they count as `lost`
     * places in pf_source_lost, and `records` is 0. */
    uint32_t lost;
    bool at_record; /* for lost bytes: a record begins after them */
    uint64_t bytes, records;
    const struct pf_zone *zone; /* zone of the range that contains them; also set if the request is
                                 * NULL */
    /* If this is a stored range that can be passed on as it is (core/zone.h): its position,
     * otherwise NULL.  If `records` is 0, the range is reported once, and some of its records are
     * still shown. */
    struct pf_archive *archive;
    const struct pf_chunk *chunk;
} pf_absent;

/* Functions of one kind of source. */
typedef struct pf_source_ops {
    /* See pf_source_run(). */
    perfile_status (*run)(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                          perfile_error *err);
    /* See pf_source_view(); if NULL, run() is used. */
    perfile_status (*view)(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                           perfile_error *err);
    /* See pf_source_release(); may be NULL. */
    void (*release)(perfile_source *s, uint64_t offset, uint64_t len);
    /* list() and entry() belong to a directory, which has entries instead of bytes.  Both are NULL
     * in all other kinds.
     *
     * Appends the names that begin with `prefix` to `names`, each with its NUL, in any order, and
     * adds their number to *n.  See pf_source_list(). */
    perfile_status (*list)(const perfile_source *s, const char *prefix, pf_buffer *names, size_t *n,
                           perfile_error *err);
    /* See pf_source_entry().  The caller has checked that `entry` is a plain name without slashes,
     * or the name of a companion file. */
    perfile_status (*entry)(const perfile_source *s, const char *entry, perfile_source **source,
                            perfile_error *err);
    /* Returns true if the records from `offset` on are skipped, because s->narrow does not need
     * them, and describes them in *absent.  `sequence` is the number of the record at `offset`.  A
     * reader may still read their bytes, and then gets them.  If `sequence` is PERFILE_NO_SEQUENCE:
     * returns true if the byte at `offset`, which has been read, is lost.  NULL if this kind does
     * not know records, and loses nothing. */
    bool (*absent)(perfile_source *s, uint64_t offset, uint64_t sequence, pf_absent *absent);
    /* Makes another source of the same entries.  If NULL, perfile_source_path() is called with the
     * name. */
    perfile_status (*again)(const perfile_source *s, perfile_source **source, perfile_error *err);
    /* Releases the members of the kind, not `s` itself; may be NULL. */
    void (*close)(perfile_source *s);
} pf_source_ops;

/* The losses of a capture that is read from a damaged archive. */
typedef struct pf_source_lost {
    uint64_t places; /* number of lost ranges */
    uint64_t bytes;  /* bytes of the capture that are lost */
    uint64_t offset; /* offset of the first lost byte */
    uint32_t part;   /* and its part */
} pf_source_lost;

/* State that sources of the same archive share.  It is reference-counted, because streams read it
 * after their sources are closed. */
typedef struct pf_source_origin {
    uint32_t users;
    void (*release)(struct pf_source_origin *o); /* called when there are no users left */
    pf_source_lost lost;                         /* losses found so far */
    uint32_t lossy;                              /* PF_LOSSY_… (io/out.h), as recorded in the
                                                  * archive */
} pf_source_origin;

/* Adds a user, who later calls pf_source_origin_leave().  Both functions accept NULL. */
static inline pf_source_origin *pf_source_origin_join(pf_source_origin *o)
{
    if (o)
        o->users++;
    return o;
}

static inline void pf_source_origin_leave(pf_source_origin *o)
{
    if (o && --o->users == 0)
        o->release(o);
}

/* The members that all kinds share; the struct of each kind begins with it. */
struct perfile_source {
    const pf_source_ops *ops;
    char *name;    /* for messages: the path, or a name from the caller */
    uint64_t size; /* PF_SIZE_UNKNOWN for a stream until its end is reached */
    bool stable;   /* spans of run() stay valid until close (mapping, memory) */
    bool lasting;  /* spans of view() stay valid until close; also true of a window with a
                    * mapping */
    bool seekable; /* run() accepts any offset; otherwise only offsets not below the last one
                    * requested */
    bool ordered;  /* the caller chose the order of the entries, and list() preserves it */
    bool live;     /* bytes come from a running program and may be delayed for long: run() must not
                    * wait for more bytes if `need` is already met */
    void (*waiting)(void *user); /* called before a read from a pipe blocks; may be NULL */
    void *waiting_user;
    perfile_source_options options; /* the caller's options with defaults filled in; `limits` points
                                     * to the member below */
    perfile_limits limits;
    pf_inputs inputs; /* files and directories that this source reads; no output may replace them */
    uint32_t held;    /* calls of perfile_source_close() that do not close it: pf_source_hold() */
    pf_source_origin *origin; /* NULL unless the source is a capture in an archive */
    /* Set by a reader: from now on, records that *narrow does not need are skipped.  If `narrow` is
     * NULL, samples in ranges without other data are skipped, for readers that only count. absent()
     * clears `narrows`. */
    bool narrows;
    const pf_narrow *narrow;
};

/* An operation on a capture closes its source wherever it ends, but after a failure the source must
 * still belong to the caller.  So the operation begins with pf_source_hold(): the next
 * perfile_source_close() then does nothing.  It ends with pf_source_settle(), which closes the
 * source after success.  Both accept NULL. */
static inline void pf_source_hold(perfile_source *source)
{
    if (source)
        source->held++;
}
static inline void pf_source_settle(perfile_source *source, perfile_status st)
{
    if (st == PERFILE_OK)
        perfile_source_close(source);
}

/* Yields the longest contiguous span at `offset`.  It has at least `need` bytes unless the input
 * ends first: run->len < need means the end of input, and s->size is known from then on.
 *
 * On a stream this call releases all bytes below `offset`; requesting them again fails with
 * PERFILE_E_USAGE.  Reading stops as soon as `need` bytes have arrived, so that the records of a
 * live pipe are seen when they arrive.  A span of a source that is not `stable` is valid until the
 * next call.  Fails with PERFILE_E_LIMIT if a window would need more than limits.window_bytes;
 * mapped files and memory have no such limit. */
perfile_status pf_source_run(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                             perfile_error *err);

/* Like pf_source_run(), for bytes to which the caller keeps pointers: attrs, ids, features.  The
 * span stays valid until close if the source is `lasting`. */
perfile_status pf_source_view(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                              perfile_error *err);

/* Copies `n` bytes of a seekable source to `to`.  Fails with PERFILE_E_IO if there are fewer. */
perfile_status pf_source_read(perfile_source *s, uint64_t offset, uint8_t *to, size_t n,
                              perfile_error *err);

/* Announces that [offset, offset + len) will not be read soon: mapped pages in the range are
 * released from memory.  A later read of the range is still correct; it faults the pages in
 * again. */
void pf_source_release(perfile_source *s, uint64_t offset, uint64_t len);

/* Copies a stream, from offset 0 to its end, to an unlinked temporary file in TMPDIR and makes a
 * seekable source of that file.  No byte of `from` may have been released before.  `from` stays
 * open. */
perfile_status pf_source_spool(perfile_source *from, perfile_source **spooled, perfile_error *err);

/* Returns true if the source is a directory: it has no bytes of its own, and the driver opens the
 * files in it. */
static inline bool pf_source_has_entries(const perfile_source *s)
{
    return s->ops->list != NULL;
}

/* Opens `entry`, a regular file in the directory `dir`, with the options of `dir`.  Fails with
 * PERFILE_E_USAGE if `dir` has no entries or `entry` is neither a plain name nor the name of a
 * companion file.  Fails with PERFILE_E_UNSUPPORTED if it is a symbolic link, which is not
 * followed, or not a regular file. */
perfile_status pf_source_entry(const perfile_source *dir, const char *entry,
                               perfile_source **source, perfile_error *err);

/* Makes another source of the same directory, independent of `dir`. */
perfile_status pf_source_again(const perfile_source *dir, perfile_source **source,
                               perfile_error *err);

/* Lists the names in the directory that begin with `prefix`: only regular files, symbolic links,
 * and companion files with their folders, such as "kcore_dir/kallsyms".  Names that are digits
 * after the prefix come first, by number, then the others by bytes.  An `ordered` source keeps its
 * own order.  *names is one block, which the caller releases with pf_free(). */
perfile_status pf_source_list(const perfile_source *dir, const char *prefix, char ***names,
                              size_t *n, perfile_error *err);

/* Lists the companion files in the directory (pf_is_companion_file()), like
 * pf_source_list(). */
perfile_status pf_source_companions(const perfile_source *dir, char ***names, size_t *n,
                                    perfile_error *err);

#endif
