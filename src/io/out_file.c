/* A file that appears under its name when it is finished: until then it is written under a
 * temporary name beside that.  What is there already and no regular file is written to directly. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/out_fd.h"
#include "io/out_place.h"

typedef struct pf_out_file {
    pf_out_fd out;
    char *target;    /* under which the file appears */
    char *temporary; /* under which it is written */
    bool appeared;   /* the file has its name; `temporary` stays, a signal handler may look */
    mode_t plain;    /* mode of new files there */
} pf_out_file;

/* The umask cannot be asked for without changing it: what mode a new file gets shows in one that is
 * made for that, empty, and removed; nobody who opened it has the file that is written. */
static int create_hidden(pf_out_file *f)
{
    int fd = pf_out_create(f->temporary, 0666);
    if (fd < 0)
        return fd;
    f->plain = pf_out_hide(fd);
    close(fd);
    return unlink(f->temporary) < 0 ? -1 : pf_out_create(f->temporary, 0600);
}

static perfile_status open_temporary(pf_out_file *f, perfile_error *err)
{
    int fd = -1;
    for (unsigned i = 0; i < 100; i++) {
        pf_free(f->temporary);
        f->temporary = pf_out_beside(f->target, "perfile", f, i);
        if (!f->temporary)
            return pf_fail_nomem(err, "sink");
        fd = create_hidden(f);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    if (fd < 0) {
        perfile_status st = pf_sink_cannot(&f->out.base, errno, "create", err);
        pf_free(f->temporary); /* it is not ours to remove */
        f->temporary = NULL;
        return st;
    }
    pf_out_fd_take(&f->out, fd, true);
    return PERFILE_OK;
}

/* Gives the temporary file the mode that it shall have under its name. */
static void show(const pf_out_file *f)
{
    const perfile_sink *s = &f->out.base;
    struct stat sb;
    if (fstat(f->out.fd, &sb) == 0)
        (void)fchmod(f->out.fd, pf_out_mode(f->target, f->plain, &s->inputs, sb.st_gid));
}

/* Takes from a file that has its name already what the inputs do not grant. */
static void narrow(const pf_out_file *f)
{
    struct stat sb;
    if (fstat(f->out.fd, &sb) == 0)
        (void)fchmod(f->out.fd,
                     sb.st_mode & 0666 & pf_inputs_grant(&f->out.base.inputs, sb.st_gid));
}

/* Gives the temporary file its name. */
static perfile_status give_name(pf_out_file *f, perfile_error *err)
{
    perfile_sink *s = &f->out.base;
    perfile_status st = pf_inputs_apart(&s->inputs, f->target, s->name, err);
    if (st != PERFILE_OK)
        return st;
    if (!(s->flags & PERFILE_SINK_REPLACE)) {
        /* Unlike rename(), link() never replaces what came into being meanwhile. */
        if (link(f->temporary, f->target) == 0) {
            (void)unlink(f->temporary);
            f->appeared = true;
            return PERFILE_OK;
        }
        struct stat sb;
        if (errno == EEXIST || lstat(f->target, &sb) == 0)
            return pf_sink_cannot(s, EEXIST, "create", err);
        /* A file system without links. */
    }
    if (rename(f->temporary, f->target) < 0)
        return pf_sink_cannot(s, errno, "create", err);
    f->appeared = true;
    return PERFILE_OK;
}

static perfile_status file_appear(perfile_sink *s, perfile_error *err)
{
    pf_out_file *f = (pf_out_file *)s;
    if (f->appeared)
        return PERFILE_OK;
    show(f);
    return give_name(f, err);
}

static perfile_status file_finish(perfile_sink *s, perfile_error *err)
{
    pf_out_file *f = (pf_out_file *)s;
    if (!f->appeared)
        show(f);
    perfile_status st = pf_out_fd_finish(s, err);
    if (st == PERFILE_OK && !f->appeared)
        st = give_name(f, err);
    if (st == PERFILE_OK && pf_out_fd_syncs(s))
        pf_out_sync_folder(f->target);
    return st;
}

static void file_abort(perfile_sink *s)
{
    pf_out_file *f = (pf_out_file *)s;
    (void)unlink(f->appeared ? f->target : f->temporary);
    f->appeared = true;
}

static perfile_status file_reads(perfile_sink *s, perfile_error *err)
{
    const pf_out_file *f = (const pf_out_file *)s;
    if (f->appeared && f->out.own)
        narrow(f);
    return pf_inputs_apart(&s->inputs, f->target, s->name, err);
}

static const char *file_temporary(const perfile_sink *s)
{
    const pf_out_file *f = (const pf_out_file *)s;
    return f->appeared ? NULL : f->temporary;
}

static void file_close(perfile_sink *s)
{
    const pf_out_file *f = (const pf_out_file *)s;
    if (f->temporary && !f->appeared)
        (void)unlink(f->temporary);
    pf_out_fd_close(s);
    pf_free(f->temporary);
    pf_free(f->target);
}

static const pf_sink_ops file_ops = {.write = pf_out_fd_write,
                                     .write_lasting = pf_out_fd_write_lasting,
                                     .settle = pf_out_fd_settle,
                                     .patch = pf_out_fd_patch,
                                     .flush = pf_out_fd_flush,
                                     .appear = file_appear,
                                     .finish = file_finish,
                                     .abort = file_abort,
                                     .reads = file_reads,
                                     .temporary = file_temporary,
                                     .close = file_close};

/* A FIFO or device that is there: a descriptor like any other, which never appears anywhere. */
static perfile_status open_existing(pf_out_file *f, perfile_error *err)
{
    perfile_sink *s = &f->out.base;
    int fd;
    do
        fd = open(s->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return pf_sink_cannot(s, errno, "write", err);
    pf_free(f->target);
    f->target = NULL;
    s->ops = &pf_out_fd_ops;
    pf_out_fd_take(&f->out, fd, true);
    return PERFILE_OK;
}

static perfile_status open_place(pf_out_file *f, perfile_error *err)
{
    perfile_sink *s = &f->out.base;
    if (!s->name[0])
        return pf_sink_cannot(s, ENOENT, "create", err);
    struct stat sb;
    perfile_status st = pf_inputs_apart(&s->inputs, s->name, s->name, err);
    if (st != PERFILE_OK)
        return st;
    bool there = lstat(s->name, &sb) == 0;
    if (there && S_ISLNK(sb.st_mode)) {
        /* A link that leads nowhere is replaced itself, any other is followed. */
        if (stat(s->name, &sb) == 0) {
            char *real = realpath(s->name, NULL);
            if (!real)
                return pf_sink_cannot(s, errno, "create", err);
            f->target = pf_out_copy(real, strlen(real));
            free(real);
            if (!f->target)
                return pf_fail_nomem(err, "sink");
        }
    }
    if (there && !S_ISREG(sb.st_mode) && !S_ISLNK(sb.st_mode))
        return open_existing(f, err);
    if (there && !(s->flags & PERFILE_SINK_REPLACE))
        return pf_sink_cannot(s, EEXIST, "create", err);
    if (!f->target)
        f->target = pf_out_copy(s->name, strlen(s->name));
    if (!f->target)
        return pf_fail_nomem(err, "sink");
    return open_temporary(f, err);
}

perfile_status perfile_sink_path(const char *path, const perfile_sink_options *options,
                                 perfile_sink **sink, perfile_error *err)
{
    if (!path)
        return pf_fail(err, PERFILE_E_USAGE, "sink", "no path given");
    if (strcmp(path, "-") == 0)
        return perfile_sink_fd(STDOUT_FILENO, path, options, sink, err);
    pf_out_file *f = NULL;
    perfile_status st = pf_sink_new(sizeof *f, &file_ops, path, options, PF_SINK_BUFFER, &f, err);
    if (st != PERFILE_OK)
        return st;
    st = open_place(f, err);
    if (st != PERFILE_OK) {
        perfile_sink_close(&f->out.base);
        return st;
    }
    *sink = &f->out.base;
    return PERFILE_OK;
}
