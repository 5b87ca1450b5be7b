/* Regular files as sources, and the choice between a mapping and reads.
 *
 * A mapping makes every span a view of the file, but costs page faults.  PERFILE_SOURCE_SEQUENTIAL
 * asks for reads through a window, by several threads if options.threads allows; the file is still
 * mapped next to it, for spans that are long or must stay.  PERFILE_SOURCE_COPIED measures which
 * way is faster here (map_or_read.c).  PERFILE_SOURCE_NO_MAP, or a failed mmap(), means a window
 * only. */
#include "io/source_kind.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "io/source_ahead.h"
#include "io/source_window.h"
#include "io/map_or_read.h"

enum {
    /* Linux maps that many bytes at one fault if they are cached (fault_around_bytes). */
    FAULT_WINDOW = 64 << 10,
    /* Pages are released that far behind a hint: a writer that copies the bytes is at most that far
     * behind the reader. */
    RELEASE_DISTANCE = 1 << 20,
    /* Shorter files are read before a thread has started. */
    WORTH_THREADS = 2 << 20
};

typedef struct pf_map {
    perfile_source base;
    uint8_t *ptr;
    uint64_t released; /* of a source with `passing`: pages below this offset were released */
} pf_map;

static perfile_status map_run(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                              perfile_error *err)
{
    (void)need;
    (void)err;
    const pf_map *m = (const pf_map *)s;
    *run = (perfile_bytes){NULL, 0};
    if (offset < s->size)
        *run = (perfile_bytes){m->ptr + offset, (size_t)(s->size - offset)};
    return PERFILE_OK;
}

/* Releases the pages that lie RELEASE_DISTANCE in front of `offset`, so that a capture that is
 * copied from front to back is never in memory as a whole. */
static void release_passed(pf_map *m, uint64_t offset)
{
    uint64_t end = offset > RELEASE_DISTANCE ? offset - RELEASE_DISTANCE : 0;
    if (offset < m->released) /* the file is read once more from the front */
        m->released = 0;
    if (end <= m->released)
        return;
    pf_map_release((perfile_bytes){m->ptr, (size_t)m->base.size}, m->released, end - m->released);
    m->released = end & ~(uint64_t)(FAULT_WINDOW - 1);
}

/* See pf_source_hint().  Reads one byte per FAULT_WINDOW: the kernel maps all cached pages of such
 * a window at one fault.  Faster than MADV_POPULATE_READ, which visits every page once more. */
static void map_hint(perfile_source *s, uint64_t offset, size_t len)
{
    pf_map *m = (pf_map *)s;
    if (offset >= s->size)
        return;
    if (s->passing)
        release_passed(m, offset);
    uint64_t left = s->size - offset;
    uint64_t end = offset + (len < left ? len : left);
    for (uint64_t at = offset; at < end;
         at += FAULT_WINDOW - (uintptr_t)(m->ptr + at) % FAULT_WINDOW)
        (void)*(const volatile uint8_t *)(m->ptr + at);
}

perfile_status pf_source_pread(int fd, const char *name, uint64_t offset, uint8_t *to, size_t n,
                               perfile_error *err)
{
    for (size_t done = 0; done < n;) {
        const ssize_t r = pread(fd, to + done, n - done, (off_t)(offset + done));
        const int sys = errno;
        if (r > 0) {
            done += (size_t)r;
            continue;
        }
        if (r < 0 && sys == EINTR)
            continue;
        perfile_status st =
            r < 0 ? pf_fail_io(err, sys, "source.read", "cannot read '%s'", name)
                  : pf_fail(err, PERFILE_E_IO, "source.read", "the file was cut while it was read");
        pf_error_at(err, offset + done);
        return st;
    }
    return PERFILE_OK;
}

void pf_map_release(perfile_bytes whole, uint64_t offset, uint64_t len)
{
    /* Rounded inwards: pages that are only partly in the range stay. */
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t from = (offset + page - 1) / page * page;
    uint64_t to = (len < whole.len - offset ? offset + len : whole.len) / page * page;
    if (offset < whole.len && from < to)
        (void)madvise((void *)(uintptr_t)(whole.ptr + from), (size_t)(to - from), MADV_DONTNEED);
}

static void map_release(perfile_source *s, uint64_t offset, uint64_t len)
{
    const pf_map *m = (const pf_map *)s;
    pf_map_release((perfile_bytes){m->ptr, (size_t)s->size}, offset, len);
}

static void map_close(perfile_source *s)
{
    pf_map *m = (pf_map *)s;
    if (m->ptr)
        munmap(m->ptr, (size_t)s->size);
}

static const pf_source_ops map_ops = {
    .run = map_run, .hint = map_hint, .release = map_release, .close = map_close};

/* Makes a source that reads: threads ahead of the caller if that pays, else a window.  `p` is a
 * mapping of the whole file, which the new source owns from success on, or MAP_FAILED; unmapped on
 * failure. */
static perfile_status make_reader(int fd, bool own, void *p, uint64_t size, const char *name,
                                  const perfile_source_options *options, perfile_source **source,
                                  perfile_error *err)
{
    bool ahead = p != MAP_FAILED && options->threads > 1 && size >= WORTH_THREADS;
    perfile_status st = ahead ? pf_source_ahead(fd, own, (perfile_bytes){p, (size_t)size},
                                                PF_AHEAD_BLOCK, name, options, source, err)
                              : pf_source_window(fd, own, size, name, options, source, err);
    if (p == MAP_FAILED || (ahead && st == PERFILE_OK))
        return st;
    if (st == PERFILE_OK)
        pf_window_add_mapping(*source, (perfile_bytes){p, (size_t)size});
    else
        munmap(p, (size_t)size);
    return st;
}

perfile_status pf_source_map(int fd, bool own, uint64_t size, const char *name,
                             const perfile_source_options *options, perfile_source **source,
                             perfile_error *err)
{
    pf_map *m;
    perfile_status st = pf_source_new(sizeof *m, &map_ops, name, options, &m, err);
    if (st != PERFILE_OK)
        return st;
    const uint32_t flags = m->base.options.flags;
    /* An empty file cannot be mapped: it is a mapped source without a mapping. */
    m->base.size = size;
    m->base.stable = true;
    m->base.lasting = true;
    m->base.seekable = true;
    if (size) {
        void *p = MAP_FAILED;
        if (size <= PTRDIFF_MAX && !(flags & PERFILE_SOURCE_NO_MAP))
            p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
        bool window = flags & PERFILE_SOURCE_SEQUENTIAL;
        if (p != MAP_FAILED && flags & PERFILE_SOURCE_COPIED)
            window = !pf_mapping_is_faster(fd, (perfile_bytes){p, (size_t)size});
        if (p == MAP_FAILED || window) {
            perfile_source_close(&m->base);
            return make_reader(fd, own, p, size, name, options, source, err);
        }
        m->ptr = p;
        m->base.passing = flags & PERFILE_SOURCE_COPIED;
        (void)madvise(p, (size_t)size, MADV_SEQUENTIAL); /* the kernel reads further ahead */
    }
    if (own)
        close(fd); /* the mapping keeps the file */
    *source = &m->base;
    return PERFILE_OK;
}
