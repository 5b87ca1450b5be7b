/* A sink for a file that appears under its name when it is finished.
 *
 * Until then it is written under a temporary name in the same directory, readable only by its
 * owner.  At the end it gets its mode and, by link() or rename(), its name.  So nobody ever sees
 * half a file, and an existing file is replaced in one step. pf_sink_appear() does that earlier,
 * for progressive captures.  If the name belongs to an existing FIFO or device, that is written to
 * directly. */
#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "io/out_kind.h"

typedef struct pf_out_file {
    pf_out_fd out;
    char *target;    /* final name; NULL if written directly, see open_existing() */
    char *temporary; /* name while it is written */
    bool appeared;   /* the file has its final name; `temporary` stays allocated, because a signal
                      * handler may read it */
    mode_t plain;    /* mode of new files in that directory */
} pf_out_file;

/* Creates the temporary file with mode 0600.  The umask cannot be read without changing it.  So the
 * mode of new files is taken from an empty file that is created with 0666 and removed again; a
 * process that opens it in between gets a file that is never written to.  Returns the descriptor,
 * or -1 with errno. */
static int create_private(pf_out_file *f)
{
    int fd = pf_out_create(f->temporary, 0666);
    if (fd < 0)
        return fd;
    f->plain = pf_out_make_private(fd);
    close(fd);
    return unlink(f->temporary) < 0 ? -1 : pf_out_create(f->temporary, 0600);
}

/* Creates the temporary file under a name that is not in use. */
static perfile_status open_temporary(pf_out_file *f, perfile_error *err)
{
    int fd = -1;
    for (unsigned i = 0; i < 100; i++) {
        pf_free(f->temporary);
        f->temporary = pf_out_temporary_name(f->target, "perfile", f, i);
        if (!f->temporary)
            return pf_fail_nomem(err, "sink");
        fd = create_private(f);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    if (fd < 0) {
        perfile_status st = pf_sink_fail_io(&f->out.base, errno, "create", err);
        pf_free(f->temporary); /* so that close() does not remove a file that is not ours */
        f->temporary = NULL;
        return st;
    }
    f->out.base.temporary = f->temporary;
    pf_out_fd_take(&f->out, fd, true);
    return PERFILE_OK;
}

/* Gives the temporary file its final mode, before it gets its final name. */
static void apply_mode(const pf_out_file *f)
{
    const perfile_sink *s = &f->out.base;
    struct stat sb;
    if (fstat(f->out.fd, &sb) == 0)
        (void)fchmod(f->out.fd, pf_out_mode(f->target, f->plain, &s->inputs, sb.st_gid));
}

/* Removes mode bits that the inputs do not grant from a file that has already appeared. */
static void restrict_mode(const pf_out_file *f)
{
    struct stat sb;
    if (fstat(f->out.fd, &sb) == 0)
        (void)fchmod(f->out.fd,
                     sb.st_mode & 0666 & pf_inputs_granted_mode(&f->out.base.inputs, sb.st_gid));
}

static void set_appeared(pf_out_file *f)
{
    f->appeared = true;
    f->out.base.temporary = NULL;
}

/* Gives the temporary file its final name. */
static perfile_status give_name(pf_out_file *f, perfile_error *err)
{
    perfile_sink *s = &f->out.base;
    perfile_status st = pf_inputs_check_path(&s->inputs, f->target, s->name, err);
    if (st != PERFILE_OK)
        return st;
    if (!(s->flags & PERFILE_SINK_REPLACE)) {
        /* Unlike rename(), link() never replaces a file that was created in the meantime. */
        if (link(f->temporary, f->target) == 0) {
            (void)unlink(f->temporary);
            set_appeared(f);
            return PERFILE_OK;
        }
        struct stat sb;
        if (errno == EEXIST || lstat(f->target, &sb) == 0)
            return pf_sink_fail_io(s, EEXIST, "create", err);
        /* The file system has no hard links: rename() is called below, now that the name was found
         * to be free. */
    }
    if (rename(f->temporary, f->target) < 0)
        return pf_sink_fail_io(s, errno, "create", err);
    set_appeared(f);
    return PERFILE_OK;
}

/* The mode is set while the descriptor is open.  With PF_SINK_LAST the file gets its name after
 * close() has reported no error.  With PF_SINK_APPEAR the descriptor stays open, and writing
 * continues under the final name. */
static perfile_status file_finish(perfile_sink *s, pf_sink_end how, perfile_error *err)
{
    pf_out_file *f = (pf_out_file *)s;
    if (how != PF_SINK_FLUSH && !f->appeared)
        apply_mode(f);
    perfile_status st = pf_out_fd_finish(s, how, err);
    if (st == PERFILE_OK && how != PF_SINK_FLUSH && !f->appeared)
        st = give_name(f, err);
    if (st == PERFILE_OK && how == PF_SINK_LAST && pf_out_fd_syncs(s))
        pf_out_sync_folder(f->target);
    return st;
}

/* Removes the file even if it has already appeared, because it would stay incomplete. */
static void file_abort(perfile_sink *s)
{
    pf_out_file *f = (pf_out_file *)s;
    (void)unlink(f->appeared ? f->target : f->temporary);
    set_appeared(f);
}

/* See pf_sink_ops.reads. */
static perfile_status file_reads(perfile_sink *s, perfile_error *err)
{
    const pf_out_file *f = (const pf_out_file *)s;
    if (f->appeared && f->out.own)
        restrict_mode(f);
    return pf_inputs_check_path(&s->inputs, f->target, s->name, err);
}

/* Removes the temporary file if the output was neither finished nor aborted. */
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
                                     .patch = pf_out_fd_patch,
                                     .finish = file_finish,
                                     .abort = file_abort,
                                     .reads = file_reads,
                                     .close = file_close};

/* Refuses a FIFO or device that must not be written to without PERFILE_SINK_REPLACE, and a regular
 * file that has taken its place. */
static perfile_status check_existing(const perfile_sink *s, const struct stat *sb,
                                     perfile_error *err)
{
    const char *refusal = S_ISREG(sb->st_mode)              ? "a file that was just created"
                          : s->flags & PERFILE_SINK_REPLACE ? NULL
                                                            : pf_out_refusal(sb, geteuid());
    if (!refusal)
        return PERFILE_OK;
    return pf_fail_io(err, EPERM, "sink", "cannot write '%s', %s", s->name, refusal);
}

/* Opens an existing FIFO or device.  It is written to directly; from here on the sink is an
 * ordinary descriptor sink (pf_out_fd_ops).  The file is checked before it is opened, because
 * opening could wait for a reader, and again afterwards, because another user may have replaced
 * it. */
static perfile_status open_existing(pf_out_file *f, const struct stat *before, perfile_error *err)
{
    perfile_sink *s = &f->out.base;
    struct stat sb;
    int fd;
    perfile_status st = check_existing(s, before, err);
    if (st != PERFILE_OK)
        return st;
    do
        fd = open(s->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return pf_sink_fail_io(s, errno, "write", err);
    st = fstat(fd, &sb) < 0 ? pf_sink_fail_io(s, errno, "write", err) : check_existing(s, &sb, err);
    if (st != PERFILE_OK) {
        close(fd);
        return st;
    }
    pf_free(f->target);
    f->target = NULL;
    s->ops = &pf_out_fd_ops;
    pf_out_fd_take(&f->out, fd, true);
    return PERFILE_OK;
}

/* Decides where to write: to a temporary file for a new or existing regular file, or directly to an
 * existing FIFO or device. */
static perfile_status open_target(pf_out_file *f, perfile_error *err)
{
    perfile_sink *s = &f->out.base;
    if (!s->name[0])
        return pf_sink_fail_io(s, ENOENT, "create", err);
    struct stat sb;
    perfile_status st = pf_inputs_check_path(&s->inputs, s->name, s->name, err);
    if (st != PERFILE_OK)
        return st;
    bool exists = lstat(s->name, &sb) == 0;
    if (exists && S_ISLNK(sb.st_mode)) {
        /* A dangling link is replaced itself; any other link is followed.  The link /dev/stdout may
         * lead to a pipe, which has no path. */
        if (stat(s->name, &sb) == 0 && S_ISREG(sb.st_mode)) {
            char *real = realpath(s->name, NULL);
            if (!real)
                return pf_sink_fail_io(s, errno, "create", err);
            f->target = pf_out_copy_path(real, strlen(real));
            free(real);
            if (!f->target)
                return pf_fail_nomem(err, "sink");
        }
    }
    if (exists && !S_ISREG(sb.st_mode) && !S_ISLNK(sb.st_mode))
        return open_existing(f, &sb, err);
    if (exists && !(s->flags & PERFILE_SINK_REPLACE))
        return pf_sink_fail_io(s, EEXIST, "create", err);
    if (!f->target)
        f->target = pf_out_copy_path(s->name, strlen(s->name));
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
    st = open_target(f, err);
    if (st != PERFILE_OK) {
        perfile_sink_close(&f->out.base);
        return st;
    }
    *sink = &f->out.base;
    return PERFILE_OK;
}

/* Temporary names, modes and directory syncs for outputs that appear under their final name at the
 * end. */

char *pf_out_copy_path(const char *path, size_t n)
{
    char *copy = pf_alloc(n + 1, 1);
    return copy ? memcpy(copy, path, n) : NULL;
}

char *pf_out_temporary_name(const char *path, const char *kind, const void *owner, unsigned try)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    enum { LETTERS = 8, MOST_NAME = 255 }; /* NAME_MAX of common file systems */
    size_t n = strlen(path), added = strlen(kind) + LETTERS + 2;
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    /* Long names are cut to make room for the suffix. */
    if (n - folder > MOST_NAME - added)
        n = folder + MOST_NAME - added;
    char *name = pf_alloc(n + added + 1, 1);
    if (!name)
        return NULL;
    memcpy(name, path, n);
    n += (size_t)sprintf(name + n, ".%s-", kind);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t x = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 40 ^
                 (uint64_t)(uintptr_t)owner ^ try;
    /* A linear congruential generator (Knuth's MMIX constants); the top five bits give a letter.
     * It only avoids collisions: O_EXCL and mkdir() detect names that exist. */
    for (size_t k = 0; k < LETTERS; k++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        name[n + k] = letters[x >> 59];
    }
    return name;
}

mode_t pf_out_make_private(int fd)
{
    struct stat sb;
    mode_t plain = fstat(fd, &sb) == 0 ? sb.st_mode & 0666 : 0600;
    (void)fchmod(fd, plain & 0600);
    return plain;
}

mode_t pf_out_mode(const char *target, mode_t plain, const pf_inputs *inputs, gid_t group)
{
    struct stat sb;
    /* lstat(): a dangling link is replaced itself, and its mode does not matter. */
    if (lstat(target, &sb) == 0 && S_ISREG(sb.st_mode))
        plain = sb.st_mode & 0666;
    return plain & pf_inputs_granted_mode(inputs, group);
}

int pf_out_create(const char *path, mode_t mode)
{
    int fd;
    do
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* In a user namespace the owner of /dev/null is unknown, but it is always harmless. */
static bool is_null_device(const struct stat *sb)
{
    struct stat null;
    return S_ISCHR(sb->st_mode) && stat("/dev/null", &null) == 0 && S_ISCHR(null.st_mode) &&
           sb->st_rdev == null.st_rdev;
}

/* Root is trusted: it can read the capture anyway, and it owns the devices to which all users
 * write. */
const char *pf_out_refusal(const struct stat *sb, uid_t user)
{
    if (S_ISBLK(sb->st_mode))
        return "a block device";
    if (sb->st_uid == user || sb->st_uid == 0 || is_null_device(sb))
        return NULL;
    return S_ISFIFO(sb->st_mode) ? "a FIFO of another user" : "a device of another user";
}

void pf_out_sync_folder(const char *path)
{
    char *dir = pf_out_copy_path(path, strlen(path));
    if (!dir)
        return;
    char *slash = strrchr(dir, '/');
    if (slash)
        slash[slash == dir] = '\0'; /* keeps the slash of the root */
    int fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    pf_free(dir);
}
