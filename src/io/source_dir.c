/* A directory as a source: it has no bytes, but lists and opens the regular files in it.
 *
 * The driver of perf.data directories opens data, data.0, data.1 … through it.  Entries are opened
 * relative to the directory's descriptor, so that a renamed directory stays the same one, and
 * symbolic links are never followed: a capture from someone else must not make the command read
 * other files. */
#include "io/source_kind.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

typedef struct pf_dir {
    perfile_source base;
    int fd;
    bool own;
} pf_dir;

/* A directory has no bytes: fails with EISDIR. */
static perfile_status dir_run(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                              perfile_error *err)
{
    (void)offset;
    (void)need;
    (void)run;
    return pf_fail_io(err, EISDIR, "source.read", "cannot read '%s'", s->name);
}

static void dir_close(perfile_source *s)
{
    pf_dir *d = (pf_dir *)s;
    if (d->own)
        close(d->fd);
}

/* "dir/entry", released with pf_free(). */
static char *join(const char *dir, const char *entry)
{
    size_t n = strlen(dir);
    while (n && dir[n - 1] == '/')
        n--;
    size_t m = strlen(entry) + 1;
    char *path = pf_alloc(n + 1 + m, 1);
    if (!path)
        return NULL;
    memcpy(path, dir, n);
    path[n] = '/';
    memcpy(path + n + 1, entry, m);
    return path;
}

/* Opens an entry as a mapped source even if the directory was opened as sequential: a recording may
 * have thousands of files, and a window for each would take too much memory. */
static perfile_status map_entry(const perfile_source *dir, int fd, uint64_t size, const char *path,
                                perfile_source **source, perfile_error *err)
{
    perfile_source_options how = dir->options;
    how.flags &= ~(uint32_t)PERFILE_SOURCE_SEQUENTIAL;
    return pf_source_map(fd, true, size, path, &how, source, err);
}

/* Opens a file of the directory, or a companion file in a folder of it.
 *
 * Without O_NONBLOCK, opening a FIFO would wait for a writer.  Without O_NOFOLLOW, a link in a
 * directory of another user could lead to files that its owner cannot read, but we can. */
static int open_entry(const pf_dir *d, const char *entry)
{
    const int how = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
    char name[PF_COMPANION_FOLDER];
    int fd, folder = d->fd;
    const bool inside = pf_companion_folder(entry, name);
    if (inside && (folder = openat(d->fd, name, how | O_DIRECTORY)) < 0)
        return -1;
    do
        fd = openat(folder, inside ? entry + strlen(name) + 1 : entry, how);
    while (fd < 0 && errno == EINTR);
    if (inside) {
        const int why = errno;
        close(folder);
        errno = why;
    }
    return fd;
}

/* See pf_source_entry(). */
static perfile_status dir_entry(const perfile_source *dir, const char *entry,
                                perfile_source **source, perfile_error *err)
{
    perfile_status st;
    int fd = -1;
    char *path = join(dir->name, entry);
    if (!path)
        return pf_fail_nomem(err, "source.entry");

    fd = open_entry((const pf_dir *)dir, entry);
    struct stat sb;
    if (fd < 0 && (errno == ELOOP || errno == EMLINK))
        st = pf_fail(err, PERFILE_E_UNSUPPORTED, "source.open",
                     "'%s' is a symbolic link, which is not followed inside a directory: put the "
                     "file itself there",
                     path);
    else if (fd < 0 || fstat(fd, &sb) < 0)
        st = pf_fail_io(err, errno, "source.open", "cannot open '%s'", path);
    else if (!S_ISREG(sb.st_mode))
        st = pf_fail(err, PERFILE_E_UNSUPPORTED, "source.open", "'%s' is not a regular file", path);
    else
        st = map_entry(dir, fd, (uint64_t)sb.st_size, path, source, err);
    if (st != PERFILE_OK && fd >= 0)
        close(fd);
    pf_free(path);
    return st;
}

/* Adds the companion files in a folder of the directory. */
static bool list_companions(const pf_dir *d, const char *folder, const char *prefix,
                            pf_buffer *names, size_t *n)
{
    const char *file;
    struct stat sb;
    bool ok = true;
    for (size_t at = 0; ok && (file = pf_companion_in(folder, &at));) {
        char *name = join(folder, file);
        if (!name)
            return false;
        if (strncmp(name, prefix, strlen(prefix)) == 0 &&
            fstatat(d->fd, name, &sb, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(sb.st_mode)) {
            ok = pf_buffer_append(names, name, strlen(name) + 1);
            *n += ok;
        }
        pf_free(name);
    }
    return ok;
}

/* Adds one entry to the list if it is to be in it; false: no memory.  Links are listed although
 * they cannot be opened: opening reports why.  Links to folders are not followed. */
static bool list_entry(const pf_dir *d, const char *name, const char *prefix, pf_buffer *names,
                       size_t *n)
{
    struct stat sb;
    if (fstatat(d->fd, name, &sb, AT_SYMLINK_NOFOLLOW) < 0)
        return true;
    if (S_ISDIR(sb.st_mode))
        return list_companions(d, name, prefix, names, n);
    if (strncmp(name, prefix, strlen(prefix)) != 0 ||
        (!S_ISREG(sb.st_mode) && !S_ISLNK(sb.st_mode)))
        return true;
    ++*n;
    return pf_buffer_append(names, name, strlen(name) + 1);
}

/* See pf_source_list().  Opens the directory again, because readdir() moves the position of a
 * descriptor.  Entries that cannot be examined are left out. */
static perfile_status dir_list(const perfile_source *s, const char *prefix, pf_buffer *names,
                               size_t *n, perfile_error *err)
{
    const pf_dir *d = (const pf_dir *)s;
    int fd = openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        perfile_status st = pf_fail_io(err, errno, "source.list", "cannot list '%s'", s->name);
        if (fd >= 0)
            close(fd);
        return st;
    }
    perfile_status st = PERFILE_OK;
    for (;;) {
        errno = 0;
        const struct dirent *e = readdir(dir);
        if (!e) {
            if (errno)
                st = pf_fail_io(err, errno, "source.list", "cannot list '%s'", s->name);
            break;
        }
        if (!list_entry(d, e->d_name, prefix, names, n)) {
            st = pf_fail_nomem(err, "source.list");
            break;
        }
    }
    closedir(dir);
    return st;
}

static const pf_source_ops dir_ops = {
    .run = dir_run, .list = dir_list, .entry = dir_entry, .close = dir_close};

perfile_status pf_source_dir(int fd, bool own, const char *name,
                             const perfile_source_options *options, perfile_source **source,
                             perfile_error *err)
{
    pf_dir *d;
    perfile_status st = pf_source_new(sizeof *d, &dir_ops, name, options, &d, err);
    if (st != PERFILE_OK)
        return st;
    d->base.seekable = true;
    d->fd = fd;
    d->own = own;
    *source = &d->base;
    return PERFILE_OK;
}
