/* Sinks that write to a descriptor with write(); interrupted and non-blocking calls are retried.
 * Also a sink that appends to an existing file. */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "base/error.h"
#include "io/out_kind.h"
#include "io/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns true if the call that failed with errno `sys` should be made again.  Waits if the
 * descriptor is non-blocking and full. */
static bool should_retry(int fd, int sys)
{
    if (sys == EAGAIN || sys == EWOULDBLOCK) {
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        return poll(&p, 1, -1) >= 0 || errno == EINTR;
    }
    return sys == EINTR;
}

/* Reads one byte per page.  Called when write() failed with EFAULT: the bytes may belong to a
 * mapped file that was truncated in the meantime.  Reading them raises SIGBUS, and its handler
 * reports the cause. */
static void touch_bytes(perfile_bytes b)
{
    const size_t page = 4096;
    for (size_t i = 0; i < b.len; i += page)
        (void)*(const volatile uint8_t *)(b.ptr + i);
}

int64_t pf_out_fd_write(perfile_sink *s, perfile_bytes b)
{
    const pf_out_fd *f = (const pf_out_fd *)s;
    for (;;) {
        ssize_t n = write(f->fd, b.ptr, b.len);
        int sys = errno;
        if (n >= 0)
            return n;
        if (sys == EFAULT)
            touch_bytes(b);
        if (!should_retry(f->fd, sys))
            return -sys;
    }
}

int64_t pf_out_fd_patch(perfile_sink *s, uint64_t offset, perfile_bytes b)
{
    const pf_out_fd *f = (const pf_out_fd *)s;
    for (;;) {
        ssize_t n = pwrite(f->fd, b.ptr, b.len, (off_t)(f->start + offset));
        int sys = errno;
        if (n >= 0)
            return n ? n : -EIO;
        if (!should_retry(f->fd, sys))
            return -sys;
    }
}

/* Waits until the file is on disk.  Returns false, with errno, on failure.  Returns true for pipes
 * and terminals, which cannot be synced. */
static bool sync_file(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

perfile_status pf_out_fd_finish(perfile_sink *s, pf_sink_end how, perfile_error *err)
{
    pf_out_fd *f = (pf_out_fd *)s;
    const uint32_t syncs =
        PERFILE_SINK_SYNC_ALL | (how == PF_SINK_LAST ? (uint32_t)PERFILE_SINK_SYNC : 0);
    if (s->flags & syncs && how != PF_SINK_APPEAR && !sync_file(f->fd))
        return pf_sink_fail_io(s, errno, "write", err);
    if (how != PF_SINK_LAST)
        return PERFILE_OK;
    if (!f->own)
        return PERFILE_OK;
    /* Closed here and not in close(), because a late error of close() must fail the output. */
    f->own = false;
    /* Linux closes the descriptor even if close() reports EINTR. */
    if (close(f->fd) < 0 && errno != EINTR)
        return pf_sink_fail_io(s, errno, "write", err);
    f->fd = -1;
    return PERFILE_OK;
}

/* See pf_sink_ops.reads. */
static perfile_status fd_reads(perfile_sink *s, perfile_error *err)
{
    return pf_inputs_check_fd(&s->inputs, ((const pf_out_fd *)s)->fd, s->name, err);
}

void pf_out_fd_close(perfile_sink *s)
{
    pf_out_fd *f = (pf_out_fd *)s;
    if (f->own)
        close(f->fd);
}

const pf_sink_ops pf_out_fd_ops = {.write = pf_out_fd_write,
                                   .patch = pf_out_fd_patch,
                                   .finish = pf_out_fd_finish,
                                   .reads = fd_reads,
                                   .close = pf_out_fd_close};

void pf_out_fd_take(pf_out_fd *f, int fd, bool own)
{
    struct stat sb;
    f->fd = fd;
    f->own = own;
    int flags = fcntl(fd, F_GETFL);
    if (fstat(fd, &sb) < 0) {
        (void)pf_sink_keep_io(&f->base, errno, NULL); /* the next write reports it */
        return;
    }
    /* With O_APPEND even pwrite() writes at the end of the file. */
    if (!S_ISREG(sb.st_mode) || flags < 0 || (flags & O_APPEND))
        return;
    off_t at = lseek(fd, 0, SEEK_CUR);
    if (at < 0)
        return;
    f->start = (uint64_t)at; /* the caller may have written a prefix */
    f->base.patchable = true;
}

perfile_status pf_out_fd_create(pf_out_fd *f, const char *path, mode_t *plain, perfile_error *err)
{
    int fd = pf_out_create(path, 0666);
    if (fd < 0)
        return pf_sink_fail_io(&f->base, errno, "create", err);
    *plain = pf_out_make_private(fd);
    pf_out_fd_take(f, fd, true);
    return PERFILE_OK;
}

perfile_status perfile_sink_fd(int fd, const char *name, const perfile_sink_options *options,
                               perfile_sink **sink, perfile_error *err)
{
    pf_out_fd *f = NULL;
    perfile_status st =
        pf_sink_new(sizeof *f, &pf_out_fd_ops, name, options, PF_SINK_BUFFER, &f, err);
    if (st != PERFILE_OK)
        return st;
    f->fd = fd; /* fd_reads() needs it; pf_out_fd_take() is called when everything is checked */
    st = fcntl(fd, F_GETFL) < 0 ? pf_sink_fail_io(&f->base, errno, "write", err)
                                : fd_reads(&f->base, err);
    if (st != PERFILE_OK) {
        perfile_sink_close(&f->base);
        return st;
    }
    pf_out_fd_take(f, fd, false);
    *sink = &f->base;
    return PERFILE_OK;
}

/* A sink that appends to an existing file.
 *
 * The old bytes are never changed.  The appended bytes become valid when the sink is finished:
 * until then closing or aborting the sink truncates the file to its old size.  The file is locked,
 * so that two programs do not append to it at once.  The lock belongs to the open file, because a
 * lock of the process would end when any other descriptor of the file is closed. */

#ifndef F_OFD_SETLK
#define F_OFD_SETLK F_SETLK
#endif

typedef struct pf_out_append {
    pf_out_fd out;
    bool is_done; /* finished, or already truncated */
} pf_out_append;

/* Truncates the file to its old size. */
static void undo(pf_out_append *f)
{
    if (f->is_done || f->out.fd < 0)
        return;
    f->is_done = true;
    if (ftruncate(f->out.fd, (off_t)f->out.start) < 0)
        (void)pf_sink_keep_io(&f->out.base, errno, NULL);
}

/* Removes mode bits that the inputs do not grant, because the file now contains their data. */
static void restrict_mode(const pf_out_append *f)
{
    struct stat sb;
    if (fstat(f->out.fd, &sb) == 0)
        (void)fchmod(f->out.fd,
                     sb.st_mode & 0666 & pf_inputs_granted_mode(&f->out.base.inputs, sb.st_gid));
}

static perfile_status append_reads(perfile_sink *s, perfile_error *err)
{
    const pf_out_append *f = (const pf_out_append *)s;
    perfile_status st = pf_inputs_check_fd(&s->inputs, f->out.fd, s->name, err);
    if (st == PERFILE_OK)
        restrict_mode(f);
    return st;
}

static perfile_status append_finish(perfile_sink *s, pf_sink_end how, perfile_error *err)
{
    pf_out_append *f = (pf_out_append *)s;
    perfile_status st = pf_out_fd_finish(s, how, err);
    f->is_done = how == PF_SINK_LAST && st == PERFILE_OK;
    return st;
}

static void append_abort(perfile_sink *s)
{
    undo((pf_out_append *)s);
}

static void append_close(perfile_sink *s)
{
    undo((pf_out_append *)s);
    pf_out_fd_close(s);
}

static const pf_sink_ops append_ops = {.write = pf_out_fd_write,
                                       .patch = pf_out_fd_patch,
                                       .finish = append_finish,
                                       .abort = append_abort,
                                       .reads = append_reads,
                                       .close = append_close};

/* Locks the whole file for writing, including bytes after its current end. */
static perfile_status lock(pf_out_append *f, perfile_error *err)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(f->out.fd, F_OFD_SETLK, &all) == 0 || errno == ENOLCK || errno == EINVAL)
        return PERFILE_OK; /* also if the file system has no locks */
    if (errno == EACCES || errno == EAGAIN)
        return pf_fail_io(err, EBUSY, "sink.append", "another process writes to it");
    return pf_sink_fail_io(&f->out.base, errno, "lock", err);
}

static perfile_status open_file(pf_out_append *f, perfile_error *err)
{
    perfile_sink *s = &f->out.base;
    struct stat sb;
    f->out.fd = open(s->name, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (f->out.fd < 0 || fstat(f->out.fd, &sb) < 0)
        return pf_sink_fail_io(s, errno, "write", err);
    f->out.own = true;
    if (!S_ISREG(sb.st_mode))
        return pf_fail(err, PERFILE_E_USAGE, "sink.append", "'%s' is not a file", s->name);
    perfile_status st = lock(f, err);
    if (st == PERFILE_OK)
        st = pf_inputs_check_fd(&s->inputs, f->out.fd, s->name, err);
    if (st != PERFILE_OK)
        return st;
    if (lseek(f->out.fd, 0, SEEK_END) < 0)
        return pf_sink_fail_io(s, errno, "write", err);
    pf_out_fd_take(&f->out, f->out.fd, true);
    restrict_mode(f);
    f->is_done = false;
    return PERFILE_OK;
}

perfile_status pf_sink_append(const char *path, const perfile_sink_options *options,
                              perfile_sink **sink, perfile_error *err)
{
    pf_out_append *f;
    if (!path)
        return pf_fail(err, PERFILE_E_USAGE, "sink", "no path given");
    perfile_status st = pf_sink_new(sizeof *f, &append_ops, path, options, PF_SINK_BUFFER, &f, err);
    if (st != PERFILE_OK)
        return st;
    f->is_done = true; /* nothing to truncate yet */
    f->out.fd = -1;
    st = open_file(f, err);
    if (st == PERFILE_OK)
        *sink = &f->out.base;
    else
        perfile_sink_close(&f->out.base);
    return st;
}
