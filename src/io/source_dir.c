#include "io/source_kind.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"

typedef struct pf_dir {
    perfile_source base;
    int fd;
    bool own;
} pf_dir;

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

static const pf_source_ops dir_ops = {.run = dir_run, .close = dir_close};

perfile_status pf_source_dir(int fd, bool own, const char *name,
                             const perfile_source_options *options, perfile_source **source,
                             perfile_error *err)
{
    pf_dir *d;
    perfile_status st = pf_source_new(sizeof *d, &dir_ops, name, options, &d, err);
    if (st != PERFILE_OK)
        return st;
    d->base.seekable = true;
    d->base.directory = true;
    d->fd = fd;
    d->own = own;
    *source = &d->base;
    return PERFILE_OK;
}

static perfile_status need_directory(const perfile_source *s, perfile_error *err)
{
    if (s->directory)
        return PERFILE_OK;
    return pf_fail(err, PERFILE_E_USAGE, "source.entry", "'%s' is not a directory", s->name);
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

/* A recording may have thousands of files: a window for each would be too much memory. */
static perfile_status map_entry(const perfile_source *dir, int fd, uint64_t size, const char *path,
                                perfile_source **source, perfile_error *err)
{
    perfile_source_options how = dir->options;
    how.flags &= ~(uint32_t)PERFILE_SOURCE_SEQUENTIAL;
    return pf_source_map(fd, true, size, path, &how, source, err);
}

perfile_status pf_source_entry(const perfile_source *dir, const char *entry,
                               perfile_source **source, perfile_error *err)
{
    perfile_status st = need_directory(dir, err);
    if (st != PERFILE_OK)
        return st;
    if (!entry[0] || strchr(entry, '/') || strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0)
        return pf_fail(err, PERFILE_E_USAGE, "source.entry", "'%s' is not the name of a file",
                       entry);
    int fd = -1;
    char *path = join(dir->name, entry);
    if (!path)
        return pf_fail_nomem(err, "source.entry");

    /* Without O_NONBLOCK, opening a FIFO would wait for a writer.  Links are not followed: what one
     * in a directory of somebody else points at is not that person's to hand on. */
    const pf_dir *d = (const pf_dir *)dir;
    do
        fd = openat(d->fd, entry, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    while (fd < 0 && errno == EINTR);
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

typedef struct pf_dir_entry {
    const char *name;
    const char *rest; /* behind the prefix */
} pf_dir_entry;

static bool is_number(const char *text)
{
    return text[0] && !text[strspn(text, "0123456789")];
}

static int by_rest(const void *x, const void *y)
{
    const char *a = ((const pf_dir_entry *)x)->rest, *b = ((const pf_dir_entry *)y)->rest;
    bool na = is_number(a), nb = is_number(b);
    if (na != nb)
        return na ? -1 : 1;
    if (na) {
        const char *da = a + strspn(a, "0"), *db = b + strspn(b, "0");
        size_t la = strlen(da), lb = strlen(db);
        if (la != lb)
            return la < lb ? -1 : 1;
        int c = strcmp(da, db);
        if (c)
            return c;
    }
    return strcmp(a, b);
}

/* Appends every name that fits, each with its NUL, to `text`. */
static perfile_status collect(const pf_dir *d, const char *prefix, pf_buffer *text, size_t *n,
                              perfile_error *err)
{
    int fd = openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        perfile_status st = pf_fail_io(err, errno, "source.list", "cannot list '%s'", d->base.name);
        if (fd >= 0)
            close(fd);
        return st;
    }
    perfile_status st = PERFILE_OK;
    size_t skip = strlen(prefix);
    for (;;) {
        errno = 0;
        const struct dirent *e = readdir(dir);
        if (!e) {
            if (errno)
                st = pf_fail_io(err, errno, "source.list", "cannot list '%s'", d->base.name);
            break;
        }
        struct stat sb;
        /* Links are listed, so that opening them says what is wrong. */
        if (strncmp(e->d_name, prefix, skip) != 0 ||
            fstatat(d->fd, e->d_name, &sb, AT_SYMLINK_NOFOLLOW) < 0 ||
            (!S_ISREG(sb.st_mode) && !S_ISLNK(sb.st_mode)))
            continue;
        if (!pf_buffer_append(text, e->d_name, strlen(e->d_name) + 1)) {
            st = pf_fail_nomem(err, "source.list");
            break;
        }
        ++*n;
    }
    closedir(dir);
    return st;
}

perfile_status pf_source_list(const perfile_source *dir, const char *prefix, char ***names,
                              size_t *n, perfile_error *err)
{
    pf_buffer text = {0};
    pf_dir_entry *entries = NULL;
    size_t count = 0;
    perfile_status st = need_directory(dir, err);
    if (st == PERFILE_OK)
        st = collect((const pf_dir *)dir, prefix, &text, &count, err);
    if (st != PERFILE_OK)
        goto out;

    entries = pf_alloc(count, sizeof *entries);
    char **list = entries ? pf_alloc(count * sizeof *list + text.len, 1) : NULL;
    if (!list) {
        st = pf_fail_nomem(err, "source.list");
        goto out;
    }
    const char *at = (const char *)text.ptr;
    for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
        entries[i] = (pf_dir_entry){at, at + strlen(prefix)};
    if (count > 1)
        qsort(entries, count, sizeof *entries, by_rest);
    char *copy = (char *)(list + count);
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(entries[i].name) + 1;
        list[i] = memcpy(copy, entries[i].name, len);
        copy += len;
    }
    *names = list;
    *n = count;
out:
    pf_free(entries);
    pf_buffer_free(&text);
    return st;
}
