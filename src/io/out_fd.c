/* Writing to a descriptor: plain write()
 * regular files that the sink created itself.  Interrupted and non-blocking writes are retried
 * here. */
#include "io/out_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* True if the call that failed with errno `sys` should be made again; waits if the descriptor is
 * non-blocking and full. */
static bool should_retry(int fd, int sys)
{
    if (sys == EAGAIN || sys == EWOULDBLOCK) {
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        return poll(&p, 1, -1) >= 0 || errno == EINTR;
    }
    return sys == EINTR;
}

/* Reads one byte per page.  write() failed with EFAULT: the bytes may belong to a mapped file that
 * was truncated meanwhile.  Reading them raises SIGBUS, whose handler reports that cause. */
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

/* Waits until the file is on the disk; false with errno on failure.  Pipes and terminals cannot be
 * synced: true for them. */
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
    /* Closed here rather than in close(), because a late error of close() must fail the output. */
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
    f->fd = fd; /* fd_reads() needs it; pf_out_fd_take() follows when all is checked */
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
