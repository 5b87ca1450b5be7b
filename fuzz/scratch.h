/* A directory for the files of a target, in TMPDIR or /tmp; run.sh puts it on tmpfs.  It is
 * examined without the library, and removed when the process ends. */
#ifndef FUZZ_SCRATCH_H
#define FUZZ_SCRATCH_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ensure.h"
#include "perfile/base.h"

static char scratch_path[512]; /* "/tmp/perfile-scratch-abcdef" */
static int scratch_fd = -1;

enum { SCRATCH_MOST = 256 /* entries that are examined; split may write more */ };

typedef struct scratch_entry {
    char name[256];
    bool directory;
    uint64_t hash; /* of name and contents, including those of a directory */
} scratch_entry;

static inline uint64_t scratch_mix(uint64_t hash, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Returns the contents of a regular file, to be released with free(); empty for a link or
 * directory. */
static inline perfile_bytes scratch_read(int folder, const char *name)
{
    struct stat st;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return (perfile_bytes){0};
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return (perfile_bytes){0};
    }
    size_t n = (size_t)st.st_size;
    uint8_t *bytes = malloc(n ? n : 1);
    ENSURE(bytes && read(fd, bytes, n) == (ssize_t)n);
    close(fd);
    return (perfile_bytes){bytes, n};
}

static inline uint64_t scratch_hash(int folder, const char *name)
{
    perfile_bytes b = scratch_read(folder, name);
    uint64_t hash = scratch_mix(scratch_mix(1, name, strlen(name) + 1), b.ptr, b.len);
    free((void *)(uintptr_t)b.ptr);
    return hash;
}

/* Calls `each` for all entries of a directory except "." and "..". */
static inline void scratch_each(int folder, void (*each)(int folder, const char *name, void *user),
                                void *user)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    ENSURE(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            each(folder, e->d_name, user);
    closedir(dir);
}

static inline void scratch_add_hash(int folder, const char *name, void *user)
{
    uint64_t *sum = user;
    *sum += scratch_hash(folder, name);
}

static inline int scratch_open_folder(int folder, const char *name)
{
    return openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

typedef struct scratch_entries {
    scratch_entry at[SCRATCH_MOST];
    size_t n, all; /* `all` counts all entries; only the first `n` are in `at` */
} scratch_entries;

static inline void scratch_add(int folder, const char *name, void *user)
{
    scratch_entries *list = user;
    if (list->all++ >= SCRATCH_MOST)
        return;
    scratch_entry *e = &list->at[list->n++];
    snprintf(e->name, sizeof e->name, "%s", name);
    int fd = scratch_open_folder(folder, name);
    e->directory = fd >= 0;
    e->hash = scratch_mix(2, name, strlen(name) + 1);
    if (fd >= 0) {
        scratch_each(fd, scratch_add_hash, &e->hash);
        close(fd);
    } else {
        e->hash = scratch_hash(folder, name);
    }
}

/* Finds an entry by name and describes it in *e. */
static inline bool scratch_find(const char *name, scratch_entry *e)
{
    static scratch_entries list;
    struct stat st;
    list.n = list.all = 0;
    if (fstatat(scratch_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    scratch_add(scratch_fd, name, &list);
    *e = list.at[0];
    return true;
}

static inline void scratch_list(scratch_entries *list)
{
    list->n = list->all = 0;
    scratch_each(scratch_fd, scratch_add, list);
}

static inline void scratch_unlink(int folder, const char *name, void *user)
{
    (void)user;
    if (unlinkat(folder, name, 0) == 0)
        return;
    int fd = scratch_open_folder(folder, name);
    if (fd >= 0) {
        scratch_each(fd, scratch_unlink, NULL); /* the library writes at most two levels */
        close(fd);
        (void)unlinkat(folder, name, AT_REMOVEDIR);
    }
}

static inline void scratch_remove(const char *name)
{
    scratch_unlink(scratch_fd, name, NULL);
}

static inline void scratch_put(int folder, const char *name, perfile_bytes bytes)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ENSURE(fd >= 0 && (bytes.len == 0 || write(fd, bytes.ptr, bytes.len) == (ssize_t)bytes.len));
    close(fd);
}

/* Makes the directory `name` with `n` files: data, data.0, data.1 … */
static inline void scratch_put_directory(const char *name, const perfile_bytes *files, size_t n)
{
    ENSURE(mkdirat(scratch_fd, name, 0700) == 0);
    int fd = scratch_open_folder(scratch_fd, name);
    ENSURE(fd >= 0);
    for (size_t i = 0; i < n; i++) {
        char file[32] = "data";
        if (i)
            snprintf(file, sizeof file, "data.%zu", i - 1);
        scratch_put(fd, file, files[i]);
    }
    close(fd);
}

static inline void scratch_end(void)
{
    scratch_each(scratch_fd, scratch_unlink, NULL);
    (void)rmdir(scratch_path);
}

static inline void scratch_begin(void)
{
    const char *home = getenv("TMPDIR");
    if (scratch_fd >= 0)
        return;
    int n = snprintf(scratch_path, sizeof scratch_path, "%s/perfile-scratch-XXXXXX",
                     home && home[0] ? home : "/tmp");
    ENSURE(n > 0 && (size_t)n < sizeof scratch_path && mkdtemp(scratch_path));
    scratch_fd = open(scratch_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ENSURE(scratch_fd >= 0 && atexit(scratch_end) == 0);
}

/* Returns the lowest free descriptor.  If it is larger than before, some were left open. */
static inline int scratch_descriptor(void)
{
    int fd = dup(scratch_fd);
    ENSURE(fd >= 0);
    close(fd);
    return fd;
}

#endif
