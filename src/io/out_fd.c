#include "io/out_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "io/out_place.h"

/* Whether a call that failed with `sys` is to be made again. */
static bool again(int fd, int sys)
{
    if (sys == EAGAIN || sys == EWOULDBLOCK) {
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        return poll(&p, 1, -1) >= 0 || errno == EINTR;
    }
    return sys == EINTR;
}

/* The bytes may be those of a mapped file that was cut meanwhile.  Who looks at them gets SIGBUS,
 * which says so; write() only says that they are not there. */
static void look_at(perfile_bytes b)
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
            look_at(b);
        if (!again(f->fd, sys))
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
        if (!again(f->fd, sys))
            return -sys;
    }
}

/* Waits until what was written is on the disk, where that means anything; false with errno. */
static bool sync_file(int fd)
{
    /* Pipes and terminals cannot be synced, and need not be. */
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

int pf_out_fd_flush(perfile_sink *s)
{
    const pf_out_fd *f = (const pf_out_fd *)s;
    return s->flags & PERFILE_SINK_SYNC_ALL && !sync_file(f->fd) ? -errno : 0;
}

perfile_status pf_out_fd_finish(perfile_sink *s, perfile_error *err)
{
    pf_out_fd *f = (pf_out_fd *)s;
    if (pf_out_fd_syncs(s) && !sync_file(f->fd))
        return pf_sink_cannot(s, errno, "write", err);
    if (!f->own)
        return PERFILE_OK;
    f->own = false;
    /* After EINTR the descriptor is closed all the same. */
    if (close(f->fd) < 0 && errno != EINTR)
        return pf_sink_cannot(s, errno, "write", err);
    f->fd = -1;
    return PERFILE_OK;
}

static perfile_status fd_reads(perfile_sink *s, perfile_error *err)
{
    return pf_inputs_apart_fd(&s->inputs, ((const pf_out_fd *)s)->fd, s->name, err);
}

void pf_out_fd_close(perfile_sink *s)
{
    const pf_out_fd *f = (const pf_out_fd *)s;
    if (f->own)
        close(f->fd);
}

const pf_sink_ops pf_out_fd_ops = {.write = pf_out_fd_write,
                                   .patch = pf_out_fd_patch,
                                   .flush = pf_out_fd_flush,
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
        (void)pf_sink_keep_io(&f->base, errno, NULL);
        return;
    }
    if (!S_ISREG(sb.st_mode) || flags < 0 || (flags & O_APPEND))
        return;
    off_t at = lseek(fd, 0, SEEK_CUR);
    if (at < 0)
        return;
    f->start = (uint64_t)at;
    f->base.patchable = true;
}

perfile_status pf_out_fd_create(pf_out_fd *f, const char *path, mode_t *plain, perfile_error *err)
{
    int fd = pf_out_create(path, 0666);
    if (fd < 0)
        return pf_sink_cannot(&f->base, errno, "create", err);
    *plain = pf_out_hide(fd);
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
    f->fd = fd;
    st = fcntl(fd, F_GETFL) < 0 ? pf_sink_cannot(&f->base, errno, "write", err)
                                : fd_reads(&f->base, err);
    if (st != PERFILE_OK) {
        perfile_sink_close(&f->base);
        return st;
    }
    pf_out_fd_take(f, fd, false);
    *sink = &f->base;
    return PERFILE_OK;
}
