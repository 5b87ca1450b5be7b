/* Sources with entries: a directory, or a list of files from the caller.  They have no bytes
 * themselves, but list and open regular files.
 *
 * The driver of perf.data directories opens data, data.0, data.1 … through it.  Entries are opened
 * relative to the directory's descriptor, so that a renamed directory stays the same one.  Symbolic
 * links are never followed: a capture from someone else must not make the command read other
 * files. */
#include "io/source_kind.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/source.h"
#include "io/command.h"

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

/* Returns "dir/entry".  The caller releases it with pf_free(). */
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
 * have thousands of files, and a window for each would need too much memory. */
static perfile_status map_entry(const perfile_source *dir, int fd, uint64_t size, const char *path,
                                perfile_source **source, perfile_error *err)
{
    perfile_source_options how = dir->options;
    how.flags &= ~(uint32_t)PERFILE_SOURCE_SEQUENTIAL;
    return pf_source_map(fd, true, size, path, &how, source, err);
}

/* Opens a file of the directory, or a companion file in one of its folders.
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

/* Adds the companion files in a folder of the directory.  Returns false when out of memory. */
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

/* Adds one entry to the list if it matches.  Returns false when out of memory.  Links are listed
 * although they cannot be opened: opening reports why.  Links to folders are not followed. */
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

/* Entries of a source that is a directory: lists their names in order, and opens one by name.
 * Works for all kinds of sources with entries. */

/* Fails with PERFILE_E_USAGE unless `s` is a directory. */
static perfile_status need_entries(const perfile_source *s, perfile_error *err)
{
    if (pf_source_has_entries(s))
        return PERFILE_OK;
    return pf_fail(err, PERFILE_E_USAGE, "source.entry", "'%s' is not a directory", s->name);
}

perfile_status pf_source_entry(const perfile_source *dir, const char *entry,
                               perfile_source **source, perfile_error *err)
{
    perfile_status st = need_entries(dir, err);
    if (st != PERFILE_OK)
        return st;
    /* Refuses everything that leads out of the directory. */
    const bool is_path = strchr(entry, '/') && !pf_is_companion_file(entry);
    if (!entry[0] || is_path || strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0)
        return pf_fail(err, PERFILE_E_USAGE, "source.entry", "'%s' is not the name of a file",
                       entry);
    return dir->ops->entry(dir, entry, source, err);
}

perfile_status pf_source_again(const perfile_source *dir, perfile_source **source,
                               perfile_error *err)
{
    return dir->ops->again ? dir->ops->again(dir, source, err)
                           : perfile_source_path(dir->name, &dir->options, source, err);
}

/* A name in the list of the kind, while it is sorted. */
typedef struct entry_name {
    const char *name;
    const char *rest; /* the part after the prefix */
} entry_name;

/* Returns true if `text` consists of decimal digits only, at least one. */
static bool is_number(const char *text)
{
    return text[0] && !text[strspn(text, "0123456789")];
}

/* qsort() order: numbers first, by value (compared as digits, so that no length overflows), then
 * other names by bytes.  Equal numbers with different numbers of leading zeros are compared by
 * bytes. */
static int compare_by_rest(const void *x, const void *y)
{
    const char *a = ((const entry_name *)x)->rest, *b = ((const entry_name *)y)->rest;
    bool na = is_number(a), nb = is_number(b);
    if (na != nb)
        return na ? -1 : 1;
    if (na) {
        /* Without leading zeros the longer number is the greater one. */
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

perfile_status pf_source_list(const perfile_source *dir, const char *prefix, char ***names,
                              size_t *n, perfile_error *err)
{
    pf_buffer text = {0};
    entry_name *entries = NULL;
    size_t count = 0;
    perfile_status st = need_entries(dir, err);
    if (st == PERFILE_OK)
        st = dir->ops->list(dir, prefix, &text, &count, err);
    if (st != PERFILE_OK)
        goto out;

    /* One block for the caller: the array of pointers, then the texts in sorted order. */
    entries = pf_alloc(count, sizeof *entries);
    char **list = entries ? pf_alloc(count * sizeof *list + text.len, 1) : NULL;
    if (!list) {
        st = pf_fail_nomem(err, "source.list");
        goto out;
    }
    const char *at = (const char *)text.ptr;
    for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
        entries[i] = (entry_name){at, at + strlen(prefix)};
    if (count > 1 && !dir->ordered)
        qsort(entries, count, sizeof *entries, compare_by_rest);
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

perfile_status pf_source_companions(const perfile_source *dir, char ***names, size_t *n,
                                    perfile_error *err)
{
    size_t kept = 0;
    perfile_status st = pf_source_list(dir, "", names, n, err);
    for (size_t i = 0; st == PERFILE_OK && i < *n; i++)
        if (pf_is_companion_file((*names)[i]))
            (*names)[kept++] = (*names)[i];
    if (st == PERFILE_OK)
        *n = kept;
    return st;
}

/* Several files as a source with entries, like a directory with files from other places.  Its
 * entries have the names of the files without their folders; no two names may be equal.  Symbolic
 * links are followed, as for any path from a caller. */

typedef struct pf_files {
    perfile_source base;
    char **paths;
    size_t n;
} pf_files;

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static perfile_status files_run(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                                perfile_error *err)
{
    (void)offset;
    (void)need;
    (void)run;
    return pf_fail_io(err, EISDIR, "source.read", "cannot read '%s'", s->name);
}

static perfile_status files_list(const perfile_source *s, const char *prefix, pf_buffer *names,
                                 size_t *n, perfile_error *err)
{
    const pf_files *f = (const pf_files *)s;
    for (size_t i = 0; i < f->n; i++) {
        const char *name = name_of(f->paths[i]);
        if (strncmp(name, prefix, strlen(prefix)) != 0)
            continue;
        if (!pf_buffer_append(names, name, strlen(name) + 1))
            return pf_fail_nomem(err, "source.list");
        ++*n;
    }
    return PERFILE_OK;
}

static perfile_status files_entry(const perfile_source *s, const char *entry,
                                  perfile_source **source, perfile_error *err)
{
    const pf_files *f = (const pf_files *)s;
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(name_of(f->paths[i]), entry) == 0)
            return perfile_source_path(f->paths[i], &s->options, source, err);
    return pf_fail_io(err, ENOENT, "source.open", "cannot open '%s'", entry);
}

static perfile_status files_again(const perfile_source *s, perfile_source **source,
                                  perfile_error *err)
{
    const pf_files *f = (const pf_files *)s;
    return pf_source_files((const char *const *)f->paths, f->n, &s->options, source, err);
}

static void files_close(perfile_source *s)
{
    pf_files *f = (pf_files *)s;
    for (size_t i = 0; i < f->n; i++)
        pf_free(f->paths[i]);
    pf_free(f->paths);
}

static const pf_source_ops files_ops = {.run = files_run,
                                        .list = files_list,
                                        .entry = files_entry,
                                        .again = files_again,
                                        .close = files_close};

/* Copies a path into the list, and records it as an input. */
static perfile_status add_path(pf_files *f, const char *path, perfile_error *err)
{
    const size_t size = strlen(path) + 1;
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(name_of(f->paths[i]), name_of(path)) == 0)
            return pf_fail(err, PERFILE_E_USAGE, "source.files", "two of the files are called '%s'",
                           name_of(path));
    if (strcmp(path, "-") == 0)
        return pf_fail(err, PERFILE_E_USAGE, "source.files",
                       "standard input cannot be one of several files");
    char *copy = pf_alloc(size, 1);
    if (!copy)
        return pf_fail_nomem(err, "source.files");
    f->paths[f->n++] = memcpy(copy, path, size);
    return pf_inputs_add_path(&f->base.inputs, path) ? PERFILE_OK
                                                     : pf_fail_nomem(err, "source.files");
}

perfile_status pf_source_files(const char *const *paths, size_t n,
                               const perfile_source_options *options, perfile_source **source,
                               perfile_error *err)
{
    pf_files *f;
    if (n == 0)
        return pf_fail(err, PERFILE_E_USAGE, "source.files", "no files given");
    perfile_status st = pf_source_new(sizeof *f, &files_ops, paths[0], options, &f, err);
    if (st != PERFILE_OK)
        return st;
    f->base.seekable = f->base.ordered = true;
    f->paths = pf_alloc(n, sizeof *f->paths);
    if (!f->paths)
        st = pf_fail_nomem(err, "source.files");
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        st = add_path(f, paths[i], err);
    if (st != PERFILE_OK) {
        perfile_source_close(&f->base);
        return st;
    }
    *source = &f->base;
    return PERFILE_OK;
}
