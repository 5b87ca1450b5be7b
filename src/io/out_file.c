#include "io/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

static perfile_status cannot(const perfile_sink *s, int sys, const char *what, perfile_error *err)
{
    return pf_fail_io(err, sys, "sink", "cannot %s '%s'", what, s->name);
}

static char *copy_of(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = pf_alloc(n, 1);
    return copy ? memcpy(copy, text, n) : NULL;
}

char *pf_out_file_beside(const char *path, const char *kind, const void *whose, unsigned try)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    enum { LETTERS = 8, MOST_NAME = 255 };
    size_t n = strlen(path), added = strlen(kind) + LETTERS + 2;
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
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
                 (uint64_t)(uintptr_t)whose ^ try;
    for (size_t k = 0; k < LETTERS; k++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        name[n + k] = letters[x >> 59];
    }
    return name;
}

mode_t pf_out_file_hide(int fd)
{
    struct stat sb;
    mode_t plain = fstat(fd, &sb) == 0 ? sb.st_mode & 0666 : 0600;
    (void)fchmod(fd, plain & 0600);
    return plain;
}

mode_t pf_out_file_mode(const char *target, mode_t plain, const pf_inputs *inputs, gid_t group)
{
    struct stat sb;
    if (lstat(target, &sb) == 0 && S_ISREG(sb.st_mode))
        plain = sb.st_mode & 0666;
    return plain & pf_inputs_grant(inputs, group);
}

static int create(const char *path, mode_t mode)
{
    int fd;
    do
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* The umask cannot be asked for without changing it: what mode a new file gets shows in one that is
 * made for that, empty, and removed; nobody who opened it has the file that is written. */
static int create_hidden(perfile_sink *s)
{
    int fd = create(s->temporary, 0666);
    if (fd < 0)
        return fd;
    s->plain = pf_out_file_hide(fd);
    close(fd);
    return unlink(s->temporary) < 0 ? -1 : create(s->temporary, 0600);
}

static perfile_status open_temporary(perfile_sink *s, perfile_error *err)
{
    for (unsigned i = 0; i < 100; i++) {
        pf_free(s->temporary);
        s->temporary = pf_out_file_beside(s->target, "perfile", s, i);
        if (!s->temporary)
            return pf_fail_nomem(err, "sink");
        s->fd = create_hidden(s);
        if (s->fd >= 0 || errno != EEXIST)
            break;
    }
    if (s->fd < 0) {
        perfile_status st = cannot(s, errno, "create", err);
        pf_free(s->temporary); /* it is not ours to remove */
        s->temporary = NULL;
        return st;
    }
    s->own_fd = true;
    return PERFILE_OK;
}

perfile_status pf_out_file_open(perfile_sink *s, perfile_error *err)
{
    if (!s->name[0])
        return cannot(s, ENOENT, "create", err);
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
                return cannot(s, errno, "create", err);
            s->target = copy_of(real);
            free(real);
            if (!s->target)
                return pf_fail_nomem(err, "sink");
        }
    }
    if (there && !S_ISREG(sb.st_mode) && !S_ISLNK(sb.st_mode)) {
        do
            s->fd = open(s->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        while (s->fd < 0 && errno == EINTR);
        if (s->fd < 0)
            return cannot(s, errno, "write", err);
        s->own_fd = true;
        pf_free(s->target);
        s->target = NULL;
        return PERFILE_OK;
    }
    if (there && !(s->flags & PERFILE_SINK_REPLACE))
        return cannot(s, EEXIST, "create", err);
    if (!s->target)
        s->target = copy_of(s->name);
    if (!s->target)
        return pf_fail_nomem(err, "sink");
    return open_temporary(s, err);
}

void pf_out_file_show(perfile_sink *s)
{
    struct stat sb;
    if (s->temporary && fstat(s->fd, &sb) == 0)
        (void)fchmod(s->fd, pf_out_file_mode(s->target, s->plain, &s->inputs, sb.st_gid));
}

void pf_out_file_narrow(perfile_sink *s)
{
    struct stat sb;
    if (fstat(s->fd, &sb) == 0)
        (void)fchmod(s->fd, sb.st_mode & 0666 & pf_inputs_grant(&s->inputs, sb.st_gid));
}

void pf_out_file_sync_folder(const char *path)
{
    char *dir = copy_of(path);
    if (!dir)
        return;
    char *slash = strrchr(dir, '/');
    if (slash)
        slash[slash == dir] = '\0';
    int fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    pf_free(dir);
}

perfile_status pf_out_file_appear(perfile_sink *s, perfile_error *err)
{
    perfile_status st = pf_sink_apart(s, err);
    if (st != PERFILE_OK)
        return st;
    if (!(s->flags & PERFILE_SINK_REPLACE)) {
        /* Unlike rename(), link() never replaces what came into being meanwhile. */
        if (link(s->temporary, s->target) == 0) {
            (void)unlink(s->temporary);
            s->appeared = true;
            return PERFILE_OK;
        }
        struct stat sb;
        if (errno == EEXIST || lstat(s->target, &sb) == 0)
            return cannot(s, EEXIST, "create", err);
        /* A file system without links. */
    }
    if (rename(s->temporary, s->target) < 0)
        return cannot(s, errno, "create", err);
    s->appeared = true;
    return PERFILE_OK;
}

bool pf_out_file_sync(int fd)
{
    /* Pipes and terminals cannot be synced, and need not be. */
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

void pf_out_file_remove(perfile_sink *s)
{
    if (s->temporary)
        (void)unlink(s->appeared ? s->target : s->temporary);
    s->appeared = true;
}

perfile_status pf_out_file_finish(perfile_sink *s, perfile_error *err)
{
    bool sync = s->flags & (PERFILE_SINK_SYNC | PERFILE_SINK_SYNC_ALL);
    if (!s->appeared)
        pf_out_file_show(s);
    if (sync && !pf_out_file_sync(s->fd))
        return cannot(s, errno, "write", err);
    if (s->own_fd) {
        s->own_fd = false;
        /* After EINTR the descriptor is closed all the same. */
        if (close(s->fd) < 0 && errno != EINTR)
            return cannot(s, errno, "write", err);
        s->fd = -1;
    }
    if (!s->temporary)
        return PERFILE_OK;
    perfile_status st = s->appeared ? PERFILE_OK : pf_out_file_appear(s, err);
    if (st != PERFILE_OK)
        return st;
    if (sync)
        pf_out_file_sync_folder(s->target);
    return PERFILE_OK;
}

void pf_out_file_close(perfile_sink *s)
{
    if (s->temporary && !s->appeared)
        (void)unlink(s->temporary);
    if (s->own_fd)
        close(s->fd);
    pf_free(s->temporary);
    pf_free(s->target);
}
