/* Opening a source by path or descriptor, the calls that go to the functions of its kind, sources
 * of memory, and spooling.
 *
 * The kind follows from the file type: directory (source_dir.c), regular file (source_map.c, which
 * may choose a window instead), everything else a window over a stream.  What is opened is also
 * noted as an input (inputs.c), so that no output replaces it. */
#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/limits.h"
#include "io/source_kind.h"
#include "io/temporary.h"

/* Copies and checks the caller's options. options.limits is redirected to the copy inside `s`. */
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

/* Makes a source of `fd` and notes what it reads.  `path` is where `fd` was opened, NULL if
 * unknown: with a path the directories above the file are noted, too, so that none of them is
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

const char *perfile_source_name(const perfile_source *source)
{
    return source->name;
}

bool perfile_source_is_directory(const perfile_source *source)
{
    return pf_source_has_entries(source);
}

void perfile_source_close(perfile_source *source)
{
    if (!source)
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

/* See pf_source_run(): everything from `offset` on, whatever `need` is. */
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
    pf_memory *m;
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

/* Copies all of `s` to `fd`; *size is the length. limits.spool_bytes bounds it. */
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

/* The new source names the same inputs as the stream, although it reads from the temporary file. */
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
        /* pf_source_map() owns `fd` from success on; until then it is closed here. */
        pf_inputs_free(&inputs);
        close(fd);
    }
    return st;
}
