/* Temporary names, modes and directory syncs for outputs that appear under their final name at the
 * end. */
#include "io/out_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

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
    /* A linear congruential generator (Knuth's MMIX constants), whose top five bits give a letter.
     * It only avoids collisions: O_EXCL and mkdir() detect names that are taken. */
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
    /* lstat(): a dangling link is replaced itself, and has no mode that could be kept. */
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

/* The owner of /dev/null is unknown in a user namespace, and it is harmless anywhere. */
static bool is_null_device(const struct stat *sb)
{
    struct stat null;
    return S_ISCHR(sb->st_mode) && stat("/dev/null", &null) == 0 && S_ISCHR(null.st_mode) &&
           sb->st_rdev == null.st_rdev;
}

/* Root is trusted: it can read the capture anyway, and owns the devices that all users write to. */
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
