/* Opens a source by path or descriptor, and calls the functions of its kind.  Also sources of
 * memory and mapped files, spooling, and temporary files.
 *
 * The kind follows from the file type: directory (source_dir.c), regular file (mapped, or read
 * through a window), and for everything else a window over a stream.  The opened file is also
 * recorded as an input (inputs.c), so that no output replaces it. */
#ifdef __linux__
#define _GNU_SOURCE /* O_TMPFILE */
#endif
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "io/source.h"
#include "io/source_kind.h"
#include "io/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <signal.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Copies and checks the caller's options. options.limits then points to the copy inside `s`. */
static perfile_status fill_options(perfile_source *s, const perfile_source_options *given,
                                   perfile_error *err)
{
    perfile_source_options o;
    perfile_status st = pf_options_copy(&o, given, "source.options", err);
    if (st != PERFILE_OK)
        return st;
    st = pf_limits_copy(&s->limits, o.limits, err);
    o.limits = &s->limits; /* the caller's struct need not outlive this call */
    s->options = o;
    return st;
}

perfile_status pf_source_new(size_t bytes, const pf_source_ops *ops, const char *name,
                             const perfile_source_options *options, void *source,
                             perfile_error *err)
{
    perfile_source *s = pf_alloc(1, bytes);
    if (!s)
        return pf_fail_nomem(err, "source");
    perfile_status st = fill_options(s, options, err);
    if (st != PERFILE_OK) {
        pf_free(s);
        return st;
    }
    if (!name)
        name = "input";
    size_t n = strlen(name) + 1;
    s->name = pf_alloc(n, 1);
    if (!s->name) {
        pf_free(s);
        return pf_fail_nomem(err, "source");
    }
    memcpy(s->name, name, n);
    s->ops = ops;
    memcpy(source, &s, sizeof s); /* `source` points to a pointer of the kind's own type */
    return PERFILE_OK;
}

/* Makes a source of the kind that suits the type of the file. */
static perfile_status source_by_file_type(int fd, bool own, const char *name,
                                          const perfile_source_options *options,
                                          perfile_source **source, perfile_error *err)
{
    struct stat sb;
    if (fstat(fd, &sb) < 0)
        return pf_fail_io(err, errno, "source.open", "cannot open '%s'", name ? name : "input");
    if (S_ISDIR(sb.st_mode))
        return pf_source_dir(fd, own, name, options, source, err);
    if (S_ISREG(sb.st_mode))
        return pf_source_map(fd, own, (uint64_t)sb.st_size, name, options, source, err);
    return pf_source_window(fd, own, PF_SIZE_UNKNOWN, name, options, source, err);
}

/* Makes a source of `fd` and records its inputs.  `path` is the path of `fd`, NULL if unknown.
 * With a path, the directories above the file are recorded, too, so that none of them is
 * replaced. */
static perfile_status open_descriptor(int fd, bool own, const char *path, const char *name,
                                      const perfile_source_options *options,
                                      perfile_source **source, perfile_error *err)
{
    pf_inputs inputs = {0};
    perfile_status st = PERFILE_OK;
    if (!pf_inputs_add_fd(&inputs, fd) ||
        (inputs.n && path && !pf_inputs_add_parents(&inputs, path)))
        st = pf_fail_nomem(err, "source.inputs");
    /* Inputs first: a mapped source closes `fd` when it is made. */
    if (st == PERFILE_OK)
        st = source_by_file_type(fd, own, name, options, source, err);
    if (st == PERFILE_OK)
        (*source)->inputs = inputs;
    else
        pf_inputs_free(&inputs);
    return st;
}

perfile_status perfile_source_fd(int fd, const char *name, const perfile_source_options *options,
                                 perfile_source **source, perfile_error *err)
{
    return open_descriptor(fd, false, NULL, name, options, source, err);
}

perfile_status perfile_source_path(const char *path, const perfile_source_options *options,
                                   perfile_source **source, perfile_error *err)
{
    if (!path)
        return pf_fail(err, PERFILE_E_USAGE, "source.path", "no path given");
    if (strcmp(path, "-") == 0)
        return perfile_source_fd(STDIN_FILENO, path, options, source, err);

    /* O_NOCTTY: reading from a terminal device must not make it the controlling terminal. */
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return pf_fail_io(err, errno, "source.open", "cannot open '%s'", path);
    perfile_status st = open_descriptor(fd, true, path, path, options, source, err);
    if (st != PERFILE_OK)
        close(fd);
    return st;
}

perfile_status pf_source_run(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                             perfile_error *err)
{
    return s->ops->run(s, offset, need, run, err);
}

perfile_status pf_source_view(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                              perfile_error *err)
{
    return (s->ops->view ? s->ops->view : s->ops->run)(s, offset, need, run, err);
}

perfile_status pf_source_read(perfile_source *s, uint64_t offset, uint8_t *to, size_t n,
                              perfile_error *err)
{
    perfile_bytes run;
    for (size_t done = 0; done < n; done += run.len) {
        perfile_status st = pf_source_run(s, offset + done, 1, &run, err);
        if (st != PERFILE_OK)
            return st;
        if (run.len == 0)
            return pf_fail(err, PERFILE_E_IO, "source.read", "'%s' was cut while it was read",
                           s->name);
        run.len = run.len < n - done ? run.len : n - done;
        memcpy(to + done, run.ptr, run.len);
    }
    return PERFILE_OK;
}

void pf_source_release(perfile_source *s, uint64_t offset, uint64_t len)
{
    if (s->ops->release)
        s->ops->release(s, offset, len);
}

const char *pf_source_name(const perfile_source *source)
{
    return source->name;
}

bool pf_source_is_directory(const perfile_source *source)
{
    return pf_source_has_entries(source);
}

void perfile_source_close(perfile_source *source)
{
    if (!source || (source->held && source->held--))
        return;
    if (source->ops->close)
        source->ops->close(source);
    pf_source_origin_leave(source->origin);
    pf_inputs_free(&source->inputs);
    pf_free(source->name);
    pf_free(source);
}

/* Bytes in the caller's memory as a source; nothing is copied. */

typedef struct pf_memory {
    perfile_source base;
    const uint8_t *ptr;
} pf_memory;

/* See pf_source_run().  Yields everything from `offset` on, regardless of `need`. */
static perfile_status memory_run(perfile_source *s, uint64_t offset, size_t need,
                                 perfile_bytes *run, perfile_error *err)
{
    (void)need;
    (void)err;
    const pf_memory *m = (const pf_memory *)s;
    *run = (perfile_bytes){NULL, 0};
    if (offset < s->size)
        *run = (perfile_bytes){m->ptr + offset, (size_t)(s->size - offset)};
    return PERFILE_OK;
}

static const pf_source_ops memory_ops = {.run = memory_run};

perfile_status perfile_source_memory(perfile_bytes bytes, const char *name, perfile_source **source,
                                     perfile_error *err)
{
    if (bytes.len && !bytes.ptr)
        return pf_fail(err, PERFILE_E_USAGE, "source.memory", "%zu bytes at NULL", bytes.len);
    pf_memory *m = NULL;
    perfile_status st = pf_source_new(sizeof *m, &memory_ops, name, NULL, &m, err);
    if (st != PERFILE_OK)
        return st;
    m->ptr = bytes.ptr;
    m->base.size = bytes.len;
    m->base.stable = true;
    m->base.lasting = true;
    m->base.seekable = true;
    *source = &m->base;
    return PERFILE_OK;
}

/* Spooling: a stream is copied to a temporary file, so that it can be read more than once. */

/* Copies all of `s` to `fd` and sets *size to the length. limits.spool_bytes bounds it. */
static perfile_status copy_to_file(perfile_source *s, int fd, uint64_t *size, perfile_error *err)
{
    uint64_t limit = s->limits.spool_bytes;
    for (uint64_t at = 0;;) {
        perfile_bytes run;
        perfile_status st = pf_source_run(s, at, 1, &run, err);
        if (st != PERFILE_OK)
            return st;
        if (!run.len) {
            *size = at;
            return PERFILE_OK;
        }
        if (run.len > limit - at)
            return pf_fail(err, PERFILE_E_LIMIT, "spool_bytes",
                           "'%s' is longer than the limit for temporary files, %" PRIu64 " bytes",
                           s->name, limit);
        st = pf_temporary_write(fd, NULL, at, run, "spool", err);
        if (st != PERFILE_OK)
            return st;
        at += run.len;
    }
}

/* The new source has the same inputs as the stream, although it reads from the temporary file. */
perfile_status pf_source_spool(perfile_source *from, perfile_source **spooled, perfile_error *err)
{
    if (pf_source_has_entries(from)) /* a directory has no bytes to copy */
        return pf_fail_io(err, EISDIR, "spool", "cannot read '%s'", from->name);
    int fd = -1;
    perfile_status st = pf_temporary_open(NULL, "spool", &fd, err);
    if (st != PERFILE_OK)
        return st;
    uint64_t size = 0;
    pf_inputs inputs = {0};
    st = copy_to_file(from, fd, &size, err);
    if (st == PERFILE_OK && !pf_inputs_join(&inputs, &from->inputs))
        st = pf_fail_nomem(err, "spool");
    if (st == PERFILE_OK)
        st = pf_source_map(fd, true, size, from->name, &from->options, spooled, err);
    if (st == PERFILE_OK) {
        (*spooled)->inputs = inputs;
        (*spooled)->origin = pf_source_origin_join(from->origin);
    } else {
        /* pf_source_map() has failed or was not called, so `fd` is still owned here. */
        pf_inputs_free(&inputs);
        close(fd);
    }
    return st;
}

/* Regular files as sources: mapped, or read through a window.
 *
 * With a mapping every span is a view of the file, but it costs page faults.
 * PERFILE_SOURCE_SEQUENTIAL asks for reads through a window.  The file is still mapped in addition,
 * for spans that are long or must stay valid.  With PERFILE_SOURCE_NO_MAP, or if mmap() fails,
 * there is only a window. */

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

/* Makes a window over the file.  `p` is a mapping of the whole file, or MAP_FAILED.  The new source
 * owns the mapping; it is unmapped on failure. */
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
    pf_map *m = NULL;
    perfile_status st = pf_source_new(sizeof *m, &map_ops, name, options, &m, err);
    if (st != PERFILE_OK)
        return st;
    const uint32_t flags = m->base.options.flags;
    /* An empty file cannot be mapped: its source is a mapped one without a mapping. */
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
        (void)madvise(p, (size_t)size, MADV_SEQUENTIAL); /* makes the kernel read further ahead */
    }
    if (own)
        close(fd); /* the mapping keeps the file open */
    *source = &m->base;
    return PERFILE_OK;
}

/* Files without a name, for spools and sorted runs.
 *
 * Linux makes such a file in one step (O_TMPFILE).  Elsewhere, and on file systems that cannot do
 * this, the file has a name for a moment.  Between mkstemp() and unlink() all signals to this
 * thread are blocked, so that a handler that ends the process leaves no file. */

/* Returns a file in `dir` that never had a name, or -1 if the system cannot make one. */
static int open_unnamed(const char *dir)
{
#ifdef O_TMPFILE
    return open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#else
    (void)dir;
    return -1;
#endif
}

/* Returns a file made from `template` (see mkstemp()) and already unlinked, or -1 with errno. */
static int open_unlinked(char *template)
{
    sigset_t all, before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    int fd = mkstemp(template);
    int saved = errno;
    if (fd >= 0) {
        (void)unlink(template);
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return fd;
}

/* Returns the directory for temporary files: `dir` if not NULL, else TMPDIR or /tmp. */
static const char *directory(const char *dir)
{
    if (!dir)
        dir = getenv("TMPDIR");
    return dir && dir[0] ? dir : "/tmp"; /* an empty TMPDIR counts as unset */
}

perfile_status pf_temporary_open(const char *dir, const char *what, int *fd, perfile_error *err)
{
    static const char name[] = "/perfile-XXXXXX";
    dir = directory(dir);
    *fd = open_unnamed(dir);
    if (*fd >= 0)
        return PERFILE_OK;
    size_t n = strlen(dir);
    char *path = pf_alloc(n + sizeof name, 1);
    if (!path)
        return pf_fail_nomem(err, what);
    memcpy(path, dir, n);
    memcpy(path + n, name, sizeof name);
    perfile_status st = PERFILE_OK;
    *fd = open_unlinked(path);
    if (*fd < 0)
        st = pf_fail_io(err, errno, what, "cannot make a temporary file in '%s'", dir);
    pf_free(path);
    return st;
}

perfile_status pf_temporary_write(int fd, const char *dir, uint64_t offset, perfile_bytes b,
                                  const char *what, perfile_error *err)
{
    while (b.len) {
        ssize_t n = pwrite(fd, b.ptr, b.len, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return pf_fail_io(err, errno, what, "cannot write a temporary file in '%s'",
                              directory(dir));
        b.ptr += n;
        b.len -= (size_t)n;
        offset += (size_t)n;
    }
    return PERFILE_OK;
}

perfile_status pf_temporary_read(int fd, uint64_t offset, void *buf, size_t len, size_t *got,
                                 const char *what, perfile_error *err)
{
    *got = 0;
    while (*got < len) {
        ssize_t n = pread(fd, (uint8_t *)buf + *got, len - *got, (off_t)(offset + *got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return pf_fail_io(err, errno, what, "cannot read the temporary file");
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return PERFILE_OK;
}
