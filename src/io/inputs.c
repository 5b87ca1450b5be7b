/* Protects inputs from outputs (see inputs.h).
 *
 * The list has entries by inode: the files and directories that are read, and every directory above
 * them.  An inode may be listed several times; the strongest kind counts.  A lookup is a binary
 * search, so that directories with many files are no problem.  Checks are made when a sink is
 * opened and again when its output gets its final name, because the file system may change in
 * between. */
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
#include "perfile/source.h"
#include "io/command.h"

/* Maximum number of entries of a directory that are listed.  No recording has so many, but a large
 * directory that was named by mistake may. */
enum { MOST_ENTRIES = 1 << 18 };
enum { ALL_MODES = 0666, OWNER_BITS = 0600, GROUP_BITS = 060, OTHER_BITS = 06 };

void pf_inputs_free(pf_inputs *in)
{
    pf_free(in->at);
    *in = (pf_inputs){0};
}

/* Makes room for `more` entries, at least doubling the array. */
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

/* Adds one entry; `mode` has the bits of 0666 that it grants to outputs. */
static bool add(pf_inputs *in, const struct stat *sb, pf_input_kind kind, mode_t mode)
{
    if (!reserve(in, 1))
        return false;
    in->at[in->n++] = (pf_input){sb->st_dev, sb->st_ino, kind, mode, sb->st_gid};
    in->sorted = false;
    return true;
}

/* Returns true if `name` matches `form`: a leading `*` stands for any bytes but '/', `#` for a
 * decimal number.  Both are compared from the end. */
static bool is_like(const char *name, const char *form)
{
    size_t n = strlen(name), f = strlen(form);
    while (f && form[f - 1] != '*') {
        const char c = form[--f];
        if (n == 0)
            return false;
        if (c != '#') {
            if (name[--n] != c)
                return false;
            continue;
        }
        const size_t end = n;
        while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
            n--;
        if (n == end)
            return false;
    }
    return f ? !memchr(name, '/', n) : n == 0;
}

bool pf_is_record_file(const char *name)
{
    static const char *const forms[] = {
#define FILE_NAME(form) form,
#include "perfile/format/files.def"
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (is_like(name, forms[i]))
            return true;
    return false;
}

const char *pf_companion_in(const char *folder, size_t *at)
{
    static const struct {
        const char *folder, *file;
    } all[] = {
#define COMPANION(folder, file) {folder, file},
#include "perfile/format/files.def"
    };
    while (*at < sizeof all / sizeof all[0]) {
        const size_t i = (*at)++;
        if (is_like(folder, all[i].folder))
            return all[i].file;
    }
    return NULL;
}

bool pf_companion_folder(const char *name, char folder[PF_COMPANION_FOLDER])
{
    const char *slash = strchr(name, '/'), *file;
    const size_t n = slash ? (size_t)(slash - name) : 0;
    if (!n || n >= PF_COMPANION_FOLDER)
        return false;
    memcpy(folder, name, n);
    folder[n] = 0;
    for (size_t at = 0; (file = pf_companion_in(folder, &at));)
        if (strcmp(file, slash + 1) == 0)
            return true;
    return false;
}

bool pf_is_companion_file(const char *name)
{
    char folder[PF_COMPANION_FOLDER];
    return pf_companion_folder(name, folder);
}

bool pf_is_output_file(const char *name)
{
    return pf_is_record_file(name) || pf_is_companion_file(name) ||
           strcmp(name, "index.json") == 0 || is_like(name, "aux.#");
}

/* Adds the companion files in `folder`, if it can have any.  Outputs grant others no more than
 * these files grant; the owner of an output may always read it. */
static bool add_companions(pf_inputs *in, int above, const char *folder)
{
    struct stat sb;
    size_t at = 0;
    const char *file = pf_companion_in(folder, &at);
    const int fd =
        file ? openat(above, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    bool ok = true;
    for (; ok && fd >= 0 && file; file = pf_companion_in(folder, &at))
        if (fstatat(fd, file, &sb, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(sb.st_mode))
            ok = add(in, &sb, PF_INPUT_FILE, (sb.st_mode | OWNER_BITS) & ALL_MODES);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Adds one entry of an input directory.  Every file is protected, but only files of the capture
 * restrict the mode of outputs. */
static bool add_entry(pf_inputs *in, int folder, const char *name)
{
    struct stat sb;
    if (fstatat(folder, name, &sb, AT_SYMLINK_NOFOLLOW) < 0)
        return true;
    if (S_ISDIR(sb.st_mode))
        return add(in, &sb, PF_INPUT_DIRECTORY, ALL_MODES) && add_companions(in, folder, name);
    if (!S_ISREG(sb.st_mode))
        return true; /* no bytes of its own to protect */
    mode_t mode = pf_is_record_file(name) ? sb.st_mode & ALL_MODES : (mode_t)ALL_MODES;
    return add(in, &sb, PF_INPUT_FILE, mode);
}

/* Adds the direct entries of the directory `folder`.  A directory that cannot be listed adds none.
 */
static bool add_entries(pf_inputs *in, int folder)
{
    /* Opened again, because readdir() would move the position of the caller's descriptor. */
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir && fd >= 0)
        close(fd);
    bool ok = true;
    size_t left = MOST_ENTRIES;
    const struct dirent *e;
    while (ok && dir && left-- && (e = readdir(dir)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            ok = add_entry(in, folder, e->d_name);
    if (dir)
        closedir(dir);
    return ok;
}

/* Converts the search (x) bits of a directory to read and write bits: a user who may not enter the
 * directory cannot read the files in it, and must not be able to read an output made of them. */
static mode_t mode_of_directory(mode_t mode)
{
    mode_t enter = mode & 0111;
    return (mode_t)(enter << 1 | enter << 2); /* x to w and to r */
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
    return add(in, &sb, PF_INPUT_DIRECTORY, mode_of_directory(sb.st_mode)) && add_entries(in, fd);
}

/* Removes the last component of an absolute path.  Returns false at the root. */
static bool cut_last_component(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || !slash[1])
        return false;
    slash[slash == path] = '\0';
    return true;
}

bool pf_inputs_add_parents(pf_inputs *in, const char *path)
{
    struct stat sb;
    char *real = realpath(path, NULL);
    bool ok = true;
    while (ok && real && cut_last_component(real))
        if (stat(real, &sb) == 0)
            ok = add(in, &sb, PF_INPUT_PARENT, ALL_MODES);
    free(real);
    return ok;
}

bool pf_inputs_add_path(pf_inputs *in, const char *path)
{
    if (strcmp(path, "-") == 0)
        return pf_inputs_add_fd(in, STDIN_FILENO);
    struct stat sb;
    if (stat(path, &sb) < 0 || (!S_ISREG(sb.st_mode) && !S_ISDIR(sb.st_mode)))
        return true;
    bool ok;
    if (S_ISREG(sb.st_mode)) {
        ok = add(in, &sb, PF_INPUT_FILE, sb.st_mode & ALL_MODES);
    } else {
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ok = fd < 0 ? add(in, &sb, PF_INPUT_DIRECTORY, mode_of_directory(sb.st_mode))
                    : pf_inputs_add_fd(in, fd);
        if (fd >= 0)
            close(fd);
    }
    return ok && pf_inputs_add_parents(in, path);
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

/* qsort() order, with the strongest kind of an inode first. */
static int compare_by_inode(const void *x, const void *y)
{
    const pf_input *a = x, *b = y;
    if (a->dev != b->dev)
        return a->dev < b->dev ? -1 : 1;
    if (a->ino != b->ino)
        return a->ino < b->ino ? -1 : 1;
    return (int)a->kind - (int)b->kind;
}

/* Returns the entry for the file `sb`, of the strongest kind if there are several, or NULL if it is
 * not an input.  Sorts the list first if it has grown. */
static const pf_input *find(pf_inputs *in, const struct stat *sb)
{
    if (!in->sorted && in->n)
        qsort(in->at, in->n, sizeof *in->at, compare_by_inode);
    in->sorted = true;
    /* The smallest kind sorts first, so the lower bound of kind FILE is the strongest entry. */
    const pf_input wanted = {.dev = sb->st_dev, .ino = sb->st_ino, .kind = PF_INPUT_FILE};
    size_t low = 0, high = in->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_by_inode(&in->at[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool same = low < in->n && in->at[low].dev == sb->st_dev && in->at[low].ino == sb->st_ino;
    return same ? &in->at[low] : NULL;
}

/* Fails because the output `name` would change an input.  `why` completes "'NAME' …". */
static perfile_status fail_is_input(const char *name, const char *why, perfile_error *err)
{
    return pf_fail_io(err, 0, "sink.inputs",
                      "'%s' %s; an input is never changed: choose another output", name, why);
}

/* Returns true if the directory `path` directly contains an input file or directory, under any
 * name.  PF_INPUT_PARENT does not cover this: a hard link has other parent directories than the
 * path of the input. */
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
            holds = one && one->kind != PF_INPUT_PARENT;
        }
    }
    if (dir)
        closedir(dir);
    return holds;
}

perfile_status pf_inputs_check_target(pf_inputs *in, const char *path, const char *name,
                                      perfile_error *err)
{
    struct stat sb;
    if (stat(path, &sb) < 0)
        return PERFILE_OK; /* nothing is there, or a dangling link, which is not an input */
    const pf_input *one = find(in, &sb);
    if (one && one->kind != PF_INPUT_PARENT)
        return fail_is_input(name, "is an input, or part of one", err);
    /* Here `one` can only be a parent directory of an input. */
    if (S_ISDIR(sb.st_mode) && (one || holds_input(in, path)))
        return fail_is_input(name, "holds an input", err);
    return PERFILE_OK;
}

/* Fails if the existing directory `folder` is an input directory or is inside one.  Checks all
 * directories of its real path up to the root. */
static perfile_status check_folder(pf_inputs *in, const char *folder, const char *name,
                                   perfile_error *err)
{
    char *real = realpath(folder, NULL);
    if (!real && (errno == ENOENT || errno == ENOTDIR))
        return PERFILE_OK; /* the directory does not exist: creating the output will fail */
    if (!real)
        return pf_fail_io(err, errno, "sink.inputs",
                          "cannot find out whether '%s' is inside an input", name);
    perfile_status st = PERFILE_OK;
    do {
        struct stat sb;
        const pf_input *one = stat(real, &sb) == 0 ? find(in, &sb) : NULL;
        if (one && one->kind == PF_INPUT_DIRECTORY)
            st = fail_is_input(name, "is inside an input", err);
    } while (st == PERFILE_OK && cut_last_component(real));
    free(real);
    return st;
}

/* Returns the directory part of `path`, or "." if it has none.  Slashes at the end of `path` do not
 * count.  The caller releases it with pf_free(). */
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

perfile_status pf_inputs_check_folder(pf_inputs *in, const char *path, const char *name,
                                      perfile_error *err)
{
    /* Only a directory can contain an output.  Without one, realpath() need not run. */
    bool directories = false;
    for (size_t i = 0; i < in->n && !directories; i++)
        directories = in->at[i].kind == PF_INPUT_DIRECTORY;
    if (!directories)
        return PERFILE_OK;
    char *folder = folder_of(path);
    if (!folder)
        return pf_fail_nomem(err, "sink.inputs");
    perfile_status st = check_folder(in, folder, name, err);
    pf_free(folder);
    return st;
}

perfile_status pf_inputs_check_path(pf_inputs *in, const char *path, const char *name,
                                    perfile_error *err)
{
    perfile_status st = pf_inputs_check_target(in, path, name, err);
    if (st == PERFILE_OK)
        st = pf_inputs_check_folder(in, path, name, err);
    if (st != PERFILE_OK || !in->n)
        return st;
    /* If `path` is a symbolic link, the output replaces the file that the link leads to. */
    char *real = realpath(path, NULL);
    if (real)
        st = pf_inputs_check_folder(in, real, name, err);
    free(real);
    return st;
}

perfile_status pf_inputs_check_fd(pf_inputs *in, int fd, const char *name, perfile_error *err)
{
    struct stat sb;
    if (fstat(fd, &sb) < 0 || !S_ISREG(sb.st_mode) || !find(in, &sb))
        return PERFILE_OK;
    return fail_is_input(name, "is an input, or part of one", err);
}

mode_t pf_inputs_granted_mode(const pf_inputs *in, gid_t group)
{
    mode_t granted = ALL_MODES;
    for (size_t i = 0; i < in->n; i++) {
        /* `others` are the bits granted to everybody, shifted to the position of the group bits. */
        mode_t mode = in->at[i].mode;
        mode_t others = (mode_t)((mode & OTHER_BITS) << 3);
        if (in->at[i].group != group && in->at[i].kind != PF_INPUT_PARENT)
            mode = (mode & ~(mode_t)GROUP_BITS) | (mode & others & GROUP_BITS);
        granted &= mode;
    }
    return granted;
}
