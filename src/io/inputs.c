#include "io/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

/* No recording has that many files, and a directory that somebody took for one may. */
enum { MOST_ENTRIES = 1 << 18 };
enum { ALL_MODES = 0666, GROUP_BITS = 060, OTHER_BITS = 06 };

void pf_inputs_free(pf_inputs *in)
{
    pf_free(in->at);
    *in = (pf_inputs){0};
}

static bool reserve(pf_inputs *in, size_t more)
{
    if (in->cap - in->n >= more)
        return true;
    size_t cap = in->n + more < 2 * in->cap ? 2 * in->cap : in->n + more;
    pf_input *at = pf_realloc(in->at, cap, sizeof *at);
    if (!at)
        return false;
    in->at = at;
    in->cap = cap;
    return true;
}

static bool add(pf_inputs *in, const struct stat *sb, pf_input_kind kind, mode_t mode)
{
    if (!reserve(in, 1))
        return false;
    in->at[in->n++] = (pf_input){sb->st_dev, sb->st_ino, kind, mode, sb->st_gid};
    in->sorted = false;
    return true;
}

bool pf_inputs_is_part_name(const char *name)
{
    if (strcmp(name, "data") == 0)
        return true;
    return strncmp(name, "data.", 5) == 0 && name[5] && !name[5 + strspn(name + 5, "0123456789")];
}

/* Files are protected whatever they hold; only those with records have a say about modes. */
static bool add_entry(pf_inputs *in, int folder, const char *name)
{
    struct stat sb;
    if (fstatat(folder, name, &sb, AT_SYMLINK_NOFOLLOW) < 0)
        return true;
    if (S_ISDIR(sb.st_mode))
        return add(in, &sb, PF_INPUT_DIRECTORY, ALL_MODES);
    if (!S_ISREG(sb.st_mode))
        return true;
    mode_t mode = pf_inputs_is_part_name(name) ? sb.st_mode & ALL_MODES : (mode_t)ALL_MODES;
    return add(in, &sb, PF_INPUT_FILE, mode);
}

static bool add_entries(pf_inputs *in, int folder)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir && fd >= 0)
        close(fd);
    bool room = true;
    size_t left = MOST_ENTRIES;
    const struct dirent *e;
    while (room && dir && left-- && (e = readdir(dir)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            room = add_entry(in, folder, e->d_name);
    if (dir)
        closedir(dir);
    return room;
}

/* Whoever may not enter a directory may not read what is in it either. */
static mode_t granted_by_directory(mode_t mode)
{
    mode_t enter = mode & 0111;
    return (mode_t)(enter << 1 | enter << 2);
}

bool pf_inputs_add_fd(pf_inputs *in, int fd)
{
    struct stat sb;
    if (fstat(fd, &sb) < 0)
        return true;
    if (S_ISREG(sb.st_mode))
        return add(in, &sb, PF_INPUT_FILE, sb.st_mode & ALL_MODES);
    if (!S_ISDIR(sb.st_mode))
        return true;
    return add(in, &sb, PF_INPUT_DIRECTORY, granted_by_directory(sb.st_mode)) &&
           add_entries(in, fd);
}

/* Cuts the last name off a real path; false at the root. */
static bool cut_last(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || !slash[1])
        return false;
    slash[slash == path] = '\0';
    return true;
}

bool pf_inputs_add_above(pf_inputs *in, const char *path)
{
    struct stat sb;
    char *real = realpath(path, NULL);
    bool room = true;
    while (room && real && cut_last(real))
        if (stat(real, &sb) == 0)
            room = add(in, &sb, PF_INPUT_ABOVE, ALL_MODES);
    free(real);
    return room;
}

bool pf_inputs_add_path(pf_inputs *in, const char *path)
{
    if (strcmp(path, "-") == 0)
        return pf_inputs_add_fd(in, STDIN_FILENO);
    struct stat sb;
    if (stat(path, &sb) < 0 || (!S_ISREG(sb.st_mode) && !S_ISDIR(sb.st_mode)))
        return true;
    bool room;
    if (S_ISREG(sb.st_mode)) {
        room = add(in, &sb, PF_INPUT_FILE, sb.st_mode & ALL_MODES);
    } else {
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        room = fd < 0 ? add(in, &sb, PF_INPUT_DIRECTORY, granted_by_directory(sb.st_mode))
                      : pf_inputs_add_fd(in, fd);
        if (fd >= 0)
            close(fd);
    }
    return room && pf_inputs_add_above(in, path);
}

bool pf_inputs_join(pf_inputs *in, const pf_inputs *from)
{
    if (!reserve(in, from->n))
        return false;
    for (size_t i = 0; i < from->n; i++)
        in->at[in->n++] = from->at[i];
    in->sorted = false;
    return true;
}

static int by_inode(const void *x, const void *y)
{
    const pf_input *a = x, *b = y;
    if (a->dev != b->dev)
        return a->dev < b->dev ? -1 : 1;
    if (a->ino != b->ino)
        return a->ino < b->ino ? -1 : 1;
    return (int)a->kind - (int)b->kind;
}

/* What `sb` is among the inputs, the strongest of several; NULL: nothing. */
static const pf_input *find(pf_inputs *in, const struct stat *sb)
{
    if (!in->sorted && in->n)
        qsort(in->at, in->n, sizeof *in->at, by_inode);
    in->sorted = true;
    const pf_input wanted = {.dev = sb->st_dev, .ino = sb->st_ino, .kind = PF_INPUT_FILE};
    size_t low = 0, high = in->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_inode(&in->at[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool same = low < in->n && in->at[low].dev == sb->st_dev && in->at[low].ino == sb->st_ino;
    return same ? &in->at[low] : NULL;
}

static perfile_status refuse(const char *name, const char *why, perfile_error *err)
{
    return pf_fail_io(err, 0, "sink.inputs",
                      "'%s' %s; an input is never changed: choose another output", name, why);
}

/* Whether a directory holds an input under any name. */
static bool holds_input(pf_inputs *in, const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *e;
    bool holds = false;
    while (dir && !holds && (e = readdir(dir))) {
        struct stat sb;
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            fstatat(dirfd(dir), e->d_name, &sb, AT_SYMLINK_NOFOLLOW) == 0) {
            const pf_input *one = find(in, &sb);
            holds = one && one->kind != PF_INPUT_ABOVE;
        }
    }
    if (dir)
        closedir(dir);
    return holds;
}

perfile_status pf_inputs_apart_self(pf_inputs *in, const char *path, const char *name,
                                    perfile_error *err)
{
    struct stat sb;
    if (stat(path, &sb) < 0)
        return PERFILE_OK; /* also a link that leads nowhere, which is no input */
    const pf_input *one = find(in, &sb);
    if (one && one->kind != PF_INPUT_ABOVE)
        return refuse(name, "is an input, or part of one", err);
    if (S_ISDIR(sb.st_mode) && (one || holds_input(in, path)))
        return refuse(name, "holds an input", err);
    return PERFILE_OK;
}

/* Whether the existing directory `folder` is, or lies in, a directory that is read. */
static perfile_status apart_folder(pf_inputs *in, const char *folder, const char *name,
                                   perfile_error *err)
{
    char *real = realpath(folder, NULL);
    if (!real && (errno == ENOENT || errno == ENOTDIR))
        return PERFILE_OK; /* nothing can be written there */
    if (!real)
        return pf_fail_io(err, errno, "sink.inputs",
                          "cannot find out whether '%s' lies inside an input", name);
    perfile_status st = PERFILE_OK;
    do {
        struct stat sb;
        const pf_input *one = stat(real, &sb) == 0 ? find(in, &sb) : NULL;
        if (one && one->kind == PF_INPUT_DIRECTORY)
            st = refuse(name, "lies inside an input", err);
    } while (st == PERFILE_OK && cut_last(real));
    free(real);
    return st;
}

/* The directory that a name stands in, released with pf_free(): slashes at its end do not count. */
static char *folder_of(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    while (n && path[n - 1] != '/')
        n--;
    while (n > 1 && path[n - 1] == '/')
        n--;
    char *folder = pf_alloc(n + 2, 1);
    if (folder)
        memcpy(folder, n ? path : ".", n ? n : 1);
    return folder;
}

perfile_status pf_inputs_apart_place(pf_inputs *in, const char *path, const char *name,
                                     perfile_error *err)
{
    bool directories = false;
    for (size_t i = 0; i < in->n && !directories; i++)
        directories = in->at[i].kind == PF_INPUT_DIRECTORY;
    if (!directories)
        return PERFILE_OK;
    char *folder = folder_of(path);
    if (!folder)
        return pf_fail_nomem(err, "sink.inputs");
    perfile_status st = apart_folder(in, folder, name, err);
    pf_free(folder);
    return st;
}

perfile_status pf_inputs_apart(pf_inputs *in, const char *path, const char *name,
                               perfile_error *err)
{
    perfile_status st = pf_inputs_apart_self(in, path, name, err);
    if (st == PERFILE_OK)
        st = pf_inputs_apart_place(in, path, name, err);
    if (st != PERFILE_OK || !in->n)
        return st;
    /* Where a link leads is where the file will be. */
    char *real = realpath(path, NULL);
    if (real)
        st = pf_inputs_apart_place(in, real, name, err);
    free(real);
    return st;
}

perfile_status pf_inputs_apart_fd(pf_inputs *in, int fd, const char *name, perfile_error *err)
{
    struct stat sb;
    if (fstat(fd, &sb) < 0 || !S_ISREG(sb.st_mode) || !find(in, &sb))
        return PERFILE_OK;
    return refuse(name, "is an input, or part of one", err);
}

mode_t pf_inputs_grant(const pf_inputs *in, gid_t group)
{
    mode_t granted = ALL_MODES;
    for (size_t i = 0; i < in->n; i++) {
        mode_t mode = in->at[i].mode;
        mode_t others = (mode_t)((mode & OTHER_BITS) << 3);
        if (in->at[i].group != group && in->at[i].kind != PF_INPUT_ABOVE)
            mode = (mode & ~(mode_t)GROUP_BITS) | (mode & others & GROUP_BITS);
        granted &= mode;
    }
    return granted;
}
