/* Files without a name, for spools and sorted runs.
 *
 * Linux makes such a file in one step (O_TMPFILE).  Elsewhere, and on file systems that cannot,
 * the file has a name for a moment: between mkstemp() and unlink() no signal is delivered to this
 * thread, so that a handler that ends the process leaves no file behind. */
#ifdef __linux__
#define _GNU_SOURCE /* O_TMPFILE */
#endif
#include "io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

/* A file in `dir` that never had a name; -1 where there is no such thing. */
static int open_unnamed(const char *dir)
{
#ifdef O_TMPFILE
    return open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#else
    (void)dir;
    return -1;
#endif
}

/* A file made from `template` (see mkstemp()) whose name is gone again; -1 with errno. */
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

/* Returns the directory that `dir` stands for. */
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
