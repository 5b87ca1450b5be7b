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

/* mkstemp() would give mode 0600, and the umask cannot be asked for without changing it. */
static perfile_status open_temporary(perfile_sink *s, perfile_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    size_t n = strlen(s->target);
    s->temporary = pf_alloc(n + sizeof ".12345678", 1);
    if (!s->temporary)
        return pf_fail_nomem(err, "sink");
    memcpy(s->temporary, s->target, n);
    s->temporary[n] = '.';
    for (int i = 0; i < 100; i++) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        uint64_t x = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 40 ^
                     (uint64_t)(uintptr_t)s;
        for (size_t k = 1; k <= 8; k++) {
            x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            s->temporary[n + k] = letters[x >> 59];
        }
        s->fd = open(s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
        if (s->fd >= 0 || (errno != EEXIST && errno != EINTR))
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

/* So that the new name, too, survives a crash. */
static void sync_directory(const char *path)
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

static perfile_status appear(perfile_sink *s, perfile_error *err)
{
    if (!(s->flags & PERFILE_SINK_REPLACE)) {
        /* Unlike rename(), link() never replaces what came into being meanwhile. */
        if (link(s->temporary, s->target) == 0) {
            (void)unlink(s->temporary);
            return PERFILE_OK;
        }
        struct stat sb;
        if (errno == EEXIST || lstat(s->target, &sb) == 0)
            return cannot(s, EEXIST, "create", err);
        /* A file system without links. */
    }
    if (rename(s->temporary, s->target) < 0)
        return cannot(s, errno, "create", err);
    return PERFILE_OK;
}

perfile_status pf_out_file_finish(perfile_sink *s, perfile_error *err)
{
    bool sync = s->flags & PERFILE_SINK_SYNC;
    /* Pipes and terminals cannot be synced, and need not be. */
    if (sync && fsync(s->fd) < 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
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
    perfile_status st = appear(s, err);
    if (st != PERFILE_OK)
        return st;
    s->appeared = true;
    if (sync)
        sync_directory(s->target);
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
