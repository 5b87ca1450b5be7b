/* Functions of the system, which all programs of the test folder call through here: the n-th call
 * fails when a test asks for it.  Those that undo something (close, unlink, munmap) do not fail: no
 * caller could react.  Nor do those that ask (stat, realpath, lseek): failure is an answer.
 *
 * A mapped file is a heap block of exactly its size, so that whoever reads after its end is
 * caught. */
#include "every.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    bool on;       /* a command is running */
    unsigned what; /* EVERY_FAIL_… */
    int sys;
    uint64_t at, count; /* several threads count */
    const char *name;   /* of the call that failed */
} failing;

void every_fail_begin(unsigned what, uint64_t n, int sys)
{
    failing.sys = sys;
    failing.at = n;
    failing.count = 0;
    failing.name = NULL;
    failing.what = what;
}

void every_fail_on(bool on)
{
    failing.on = on;
}

const char *every_fail_name(void)
{
    return failing.name;
}

uint64_t every_fail_end(void)
{
    failing.what = EVERY_FAIL_NOTHING;
    return failing.count;
}

/* A sanitizer that is linked into the program calls these, too, before it can check memory. */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined", "thread")))

UNCHECKED static bool fails(unsigned what, const char *name)
{
    if (!failing.on || failing.what != what)
        return false;
    if (__atomic_add_fetch(&failing.count, 1, __ATOMIC_RELAXED) != failing.at)
        return false;
    errno = failing.sys;
    failing.name = name;
    return true;
}

#define FAILS(what, type, name, parameters, arguments, failure)                                    \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    UNCHECKED type __wrap_##name parameters                                                        \
    {                                                                                              \
        return fails(what, #name) ? failure : __real_##name arguments;                             \
    }
#define MEMORY(type, name, parameters, arguments)                                                  \
    FAILS(EVERY_FAIL_MEMORY, type, name, parameters, arguments, NULL)
#define CALL(type, name, parameters, arguments, failure)                                           \
    FAILS(EVERY_FAIL_CALL, type, name, parameters, arguments, failure)

MEMORY(void *, malloc, (size_t n), (n))
MEMORY(void *, calloc, (size_t n, size_t width), (n, width))
MEMORY(void *, realloc, (void *old, size_t n), (old, n))
MEMORY(void *, aligned_alloc, (size_t align, size_t n), (align, n))
MEMORY(char *, strdup, (const char *text), (text))

CALL(int, fstat64, (int fd, struct stat *st), (fd, st), -1)
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
CALL(int, mkstemp64, (char *path), (path), -1)
CALL(int, rename, (const char *from, const char *to), (from, to), -1)
CALL(int, link, (const char *from, const char *to), (from, to), -1)
CALL(int, ftruncate64, (int fd, off_t n), (fd, n), -1)
CALL(ssize_t, read, (int fd, void *buf, size_t n), (fd, buf, n), -1)
CALL(ssize_t, pread64, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at), -1)
CALL(ssize_t, write, (int fd, const void *buf, size_t n), (fd, buf, n), -1)
CALL(ssize_t, pwrite64, (int fd, const void *buf, size_t n, off_t at), (fd, buf, n, at), -1)
CALL(DIR *, opendir, (const char *path), (path), NULL)
CALL(DIR *, fdopendir, (int fd), (fd), NULL)
CALL(FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL)
CALL(int, pthread_create,
     (pthread_t * t, const pthread_attr_t *attr, void *(*start)(void *), void *user),
     (t, attr, start, user), failing.sys)

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_openat64(int at, const char *path, int flags, ...);
int __wrap_openat64(int at, const char *path, int flags, ...);

UNCHECKED static unsigned mode_of(int flags, va_list list)
{
    return flags & O_CREAT ? va_arg(list, unsigned) : 0;
}

UNCHECKED int __wrap_open64(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    unsigned mode = mode_of(flags, list);
    va_end(list);
    return fails(EVERY_FAIL_CALL, "open") ? -1 : __real_open64(path, flags, mode);
}

UNCHECKED int __wrap_openat64(int at, const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    unsigned mode = mode_of(flags, list);
    va_end(list);
    return fails(EVERY_FAIL_CALL, "openat") ? -1 : __real_openat64(at, path, flags, mode);
}

/* Syncing to disk is not needed here. */
int __wrap_fsync(int fd);
UNCHECKED int __wrap_fsync(int fd)
{
    (void)fd;
    return fails(EVERY_FAIL_CALL, "fsync") ? -1 : 0;
}

void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t len);

void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    (void)at, (void)prot, (void)flags;
    if (fails(EVERY_FAIL_CALL, "mmap"))
        return MAP_FAILED;
    void *block = __real_malloc(len);
    if (block && __real_pread64(fd, block, len, offset) == (ssize_t)len)
        return block;
    free(block);
    return MAP_FAILED;
}

void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    return __wrap_mmap(at, len, prot, flags, fd, offset);
}

int __wrap_munmap(void *at, size_t len)
{
    (void)len;
    free(at);
    return 0;
}
