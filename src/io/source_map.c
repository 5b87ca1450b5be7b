/* Regular files as sources: mapped, or read through a window.
 *
 * A mapping makes every span a view of the file, but costs page faults.  PERFILE_SOURCE_SEQUENTIAL
 * asks for reads through a window; the file is still mapped next to it, for spans that are long or
 * must stay.  PERFILE_SOURCE_NO_MAP, or a failed mmap(), means a window only. */
#include "io/source_kind.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

typedef struct pf_map {
    perfile_source base;
    uint8_t *ptr;
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

static const pf_source_ops map_ops = {.run = map_run, .release = map_release, .close = map_close};

/* Makes a window over the file.  `p` is a mapping of all of it, which the new source owns from
 * success on, or MAP_FAILED; unmapped on failure. */
static perfile_status make_window(int fd, bool own, void *p, uint64_t size, const char *name,
                                  const perfile_source_options *options, perfile_source **source,
                                  perfile_error *err)
{
    perfile_status st = pf_source_window(fd, own, size, name, options, source, err);
    if (p == MAP_FAILED)
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
        if (p == MAP_FAILED || flags & PERFILE_SOURCE_SEQUENTIAL) {
            perfile_source_close(&m->base);
            return make_window(fd, own, p, size, name, options, source, err);
        }
        m->ptr = p;
        (void)madvise(p, (size_t)size, MADV_SEQUENTIAL); /* the kernel reads further ahead */
    }
    if (own)
        close(fd); /* the mapping keeps the file */
    *source = &m->base;
    return PERFILE_OK;
}
