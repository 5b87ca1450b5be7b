/* The interior of perfile_source: spans of input bytes by offset.
 *
 * A source is a table of functions (pf_source_ops) and a few properties that drivers read.  The
 * kinds are: mapped file (source.c), window over a file, pipe or callback (source_window.c),
 * memory (source.c), directory (source_dir.c), and a tee on another source (tee.c).  Readers
 * call pf_source_run() for records and pf_source_view() for what they keep; they check `stable` and
 * `lasting` before they keep a pointer. */
#ifndef PF_IO_SOURCE_H
#define PF_IO_SOURCE_H

#include "base/buffer.h"
#include "io/inputs.h"
#include "perfile/source.h"

#define PF_SIZE_UNKNOWN UINT64_MAX

/* What a reader needs: core/zone.h. */
typedef struct pf_narrow pf_narrow;

/* Contiguous records that a source does not show, or bytes that are lost. */
typedef struct pf_absent {
    /* Not 0: the bytes are lost in a damaged archive and read as zeros; `lost` places of
     * pf_source_lost, `records` are 0. */
    uint32_t lost;
    bool at_record; /* of lost bytes: a record begins after them */
    uint64_t bytes, records;
    const struct pf_zone *zone; /* of the range that they are in; NULL: with narrow() of NULL */
    /* If they are such a range, to be passed on as it is stored (core/zone.h): where that is.  No
     * records: some of it are shown all the same, and it is given once.  NULL: else. */
    struct pf_archive *archive;
    const struct pf_chunk *chunk;
} pf_absent;

/* Functions of one kind of source. */
typedef struct pf_source_ops {
    /* See pf_source_run(). */
    perfile_status (*run)(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                          perfile_error *err);
    /* See pf_source_view(); NULL: as run(). */
    perfile_status (*view)(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                           perfile_error *err);
    /* See pf_source_release(); may be NULL. */
    void (*release)(perfile_source *s, uint64_t offset, uint64_t len);
    /* list() and entry() belong to a directory, which has entries instead of bytes; both are NULL
     * in all other kinds.
     *
     * Appends the names that begin with `prefix` to `names`, each with its NUL, in any order, and
     * adds their number to *n.  See pf_source_list(). */
    perfile_status (*list)(const perfile_source *s, const char *prefix, pf_buffer *names, size_t *n,
                           perfile_error *err);
    /* See pf_source_entry(); the caller has checked that `entry` is a plain name without slashes,
     * or that of a companion file. */
    perfile_status (*entry)(const perfile_source *s, const char *entry, perfile_source **source,
                            perfile_error *err);
    /* True if the records from `offset` on are not shown, since s->narrow does not need them; how
     * many is in *absent.  `sequence` is the number of the record at `offset`.  Reading them is
     * allowed and shows them.  With PERFILE_NO_SEQUENCE: true if the byte at `offset`, which has
     * been read, is lost.  NULL: the kind does not know records, and loses nothing. */
    bool (*absent)(perfile_source *s, uint64_t offset, uint64_t sequence, pf_absent *absent);
    /* Makes a source of the same entries; NULL: perfile_source_path() of its name does. */
    perfile_status (*again)(const perfile_source *s, perfile_source **source, perfile_error *err);
    /* Releases what the kind holds, not `s` itself; may be NULL. */
    void (*close)(perfile_source *s);
} pf_source_ops;

/* What is lost of a capture that is read out of an archive. */
typedef struct pf_source_lost {
    uint64_t places; /* stretches of bytes */
    uint64_t bytes;  /* of the capture */
    uint64_t offset; /* of the first … */
    uint32_t part;   /* … in this part */
} pf_source_lost;

/* What sources of the same archive have in common.  Counted, for streams ask after their sources
 * are closed. */
typedef struct pf_source_origin {
    uint32_t users;
    void (*release)(struct pf_source_origin *o); /* called when there are no users any more */
    pf_source_lost lost;                         /* found so far */
    uint32_t lossy;                              /* PF_LOSSY_… (io/out.h), as the archive says */
} pf_source_origin;

/* Another user, who calls pf_source_origin_leave().  NULL is fine for both. */
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

/* What all kinds share; the struct of a kind begins with it. */
struct perfile_source {
    const pf_source_ops *ops;
    char *name;    /* for messages: the path, or the name that the caller gave */
    uint64_t size; /* PF_SIZE_UNKNOWN for a stream whose end was not reached yet */
    bool stable;   /* spans of run() stay valid until close (mapping, memory) */
    bool lasting;  /* spans of view() stay valid until close; also of a window with a mapping */
    bool seekable; /* run() accepts any offset; otherwise none below the last one asked for */
    bool ordered;  /* its entries are in an order of the caller's, which list() keeps */
    bool live;     /* bytes come from a running program and may not arrive for long: run() with a
                    * `need` that is already met must not wait for more */
    void (*waiting)(void *user); /* called before a read from a pipe blocks; may be NULL */
    void *waiting_user;
    perfile_source_options options; /* as given by the caller with defaults filled in; `limits`
                                       points to the member below */
    perfile_limits limits;
    pf_inputs inputs; /* files and directories this source reads: no output may replace them */
    pf_source_origin *origin; /* NULL: the source is no capture in an archive */
    /* Set by a reader: from now on records that *narrow does not need are not shown; with NULL the
     * samples of ranges without other data are not, for whom counts only.  absent() clears
     * `narrows`. */
    bool narrows;
    const pf_narrow *narrow;
};

/* Yields the longest contiguous span at `offset`: at least `need` bytes unless the input ends
 * before. run->len < need means the end of input, and s->size is known from then on.
 *
 * On a stream this call releases all bytes below `offset`: asking for them again is
 * PERFILE_E_USAGE.  Reading stops as soon as `need` bytes are there, so that the records of a live
 * pipe are seen when they arrive.  A span of a source that is not `stable` is valid until the next
 * call.  PERFILE_E_LIMIT: a window would have to hold more than limits.window_bytes; mapped files
 * and memory have no such limit. */
perfile_status pf_source_run(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                             perfile_error *err);

/* Like pf_source_run(), for bytes that the caller keeps pointers to: attrs, ids, features.  The
 * span stays valid until close if the source is `lasting`. */
perfile_status pf_source_view(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                              perfile_error *err);

/* Copies `n` bytes of a seekable source to `to`; fewer are there: PERFILE_E_IO.  */
perfile_status pf_source_read(perfile_source *s, uint64_t offset, uint8_t *to, size_t n,
                              perfile_error *err);

/* Announces that [offset, offset + len) will not be read soon: mapped pages of the range are
 * released from memory.  A later read of the range is still correct, and faults the pages in again.
 */
void pf_source_release(perfile_source *s, uint64_t offset, uint64_t len);

/* Copies a stream, from offset 0 to its end, to an unlinked temporary file in TMPDIR and makes a
 * seekable source of it.  No byte of `from` may have been released before.  `from` stays open. */
perfile_status pf_source_spool(perfile_source *from, perfile_source **spooled, perfile_error *err);

/* True if the source is a directory: it has no bytes of its own, the driver opens the files in it.
 */
static inline bool pf_source_has_entries(const perfile_source *s)
{
    return s->ops->list != NULL;
}

/* Opens `entry` inside the directory that `dir` is: a regular file, with the options of `dir`.
 * PERFILE_E_USAGE when `dir` has no entries or `entry` is neither a plain name nor that of a
 * companion file, PERFILE_E_UNSUPPORTED
 * when it is a symbolic link, which is not followed, or no regular file. */
perfile_status pf_source_entry(const perfile_source *dir, const char *entry,
                               perfile_source **source, perfile_error *err);

/* Makes another source of the same directory, which is independent of `dir`. */
perfile_status pf_source_again(const perfile_source *dir, perfile_source **source,
                               perfile_error *err);

/* Lists the names in the directory that begin with `prefix`; regular files and symbolic links only,
 * and companion files with their folders: "kcore_dir/kallsyms".
 * Sorted: names whose remainder behind the prefix is all digits first, by number, then the others
 * by bytes; of an `ordered` source in its own order.  *names is one block, which the caller
 * releases with pf_free(). */
perfile_status pf_source_list(const perfile_source *dir, const char *prefix, char ***names,
                              size_t *n, perfile_error *err);

/* Lists the companion files in the directory (perfile_is_companion_file()), as pf_source_list(). */
perfile_status pf_source_companions(const perfile_source *dir, char ***names, size_t *n,
                                    perfile_error *err);

#endif
