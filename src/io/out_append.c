/* A sink that writes behind the bytes of a file that exists.
 *
 * What was there is never changed.  What is appended counts when it is finished: until then closing
 * or aborting the sink cuts the file to the size that it had.  The file is locked, so that two
 * programs do not append to it at once; the lock belongs to the open file, since a lock of the
 * process would end when any other descriptor of the file is closed. */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "io/out_kind.h"

#ifndef F_OFD_SETLK
#define F_OFD_SETLK F_SETLK
#endif

typedef struct pf_out_append {
    pf_out_fd out;
    bool is_done; /* finished or cut again */
} pf_out_append;

/* Cuts the file to the bytes that it had, and removes the lock. */
static void undo(pf_out_append *f)
{
    if (f->is_done || f->out.fd < 0)
        return;
    f->is_done = true;
    if (ftruncate(f->out.fd, (off_t)f->out.start) < 0)
        (void)pf_sink_keep_io(&f->out.base, errno, NULL);
}

/* Removes mode bits that the inputs do not grant: what they keep from others is in the file now. */
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

/* Locks the file for writing, all of it and what will be behind it. */
static perfile_status lock(pf_out_append *f, perfile_error *err)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(f->out.fd, F_OFD_SETLK, &all) == 0 || errno == ENOLCK || errno == EINVAL)
        return PERFILE_OK; /* or the file system has no locks */
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
        return pf_fail(err, PERFILE_E_USAGE, "sink.append", "'%s' is no file", s->name);
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

perfile_status perfile_sink_append(const char *path, const perfile_sink_options *options,
                                   perfile_sink **sink, perfile_error *err)
{
    pf_out_append *f;
    if (!path)
        return pf_fail(err, PERFILE_E_USAGE, "sink", "no path given");
    perfile_status st = pf_sink_new(sizeof *f, &append_ops, path, options, PF_SINK_BUFFER, &f, err);
    if (st != PERFILE_OK)
        return st;
    f->is_done = true; /* nothing is to be cut yet */
    f->out.fd = -1;
    st = open_file(f, err);
    if (st == PERFILE_OK)
        *sink = &f->out.base;
    else
        perfile_sink_close(&f->out.base);
    return st;
}
