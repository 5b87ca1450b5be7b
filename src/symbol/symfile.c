/* Files with symbols: opening them, optionally within a folder, and reading them in pieces. */
#define _GNU_SOURCE /* O_PATH, syscall() */
#include "symbol/elf.h"
#include "symbol/state.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Opening a file below a folder without leaving it.  The symfs folder and debug directories may
 * have been unpacked from an untrusted archive, and the rest of the path comes from a capture.
 *
 * The kernel resolves the path (openat2() with RESOLVE_IN_ROOT, Linux 5.6).  Where it cannot, this
 * code follows links as text, so that the path that is opened in the end has no link and no `..` in
 * it.  That does not protect against someone who changes the folder at the same time. */

enum {
    RESOLVE_MAGIC_NO = 0x02, /* RESOLVE_NO_MAGICLINKS, RESOLVE_IN_ROOT of linux/openat2.h */
    RESOLVE_ROOT = 0x10,
    MOST_LINKS = 40, /* links that are followed in one path; the kernel's limit */
    PATH_SIZE = 4096
};

/* A path that is being resolved: `done` has neither links nor `..`, `left` is the rest. */
typedef struct walk {
    int root;
    bool keeps_last; /* a link at the end of the path is not followed: opening it will fail */
    size_t n;        /* bytes of `done` */
    char done[PATH_SIZE], left[PATH_SIZE];
} walk;

/* Sets what is left: the target of a link, then `rest`. */
static bool follow(walk *w, const char *target, size_t len, const char *rest)
{
    char joined[PATH_SIZE];
    const int n = snprintf(joined, sizeof joined, "%.*s/%s", (int)len, target, rest);
    if (n < 0 || (size_t)n >= sizeof joined)
        return false;
    if (target[0] == '/')
        w->n = 0;
    w->done[w->n] = 0;
    memcpy(w->left, joined, (size_t)n + 1);
    return true;
}

static void leave_folder(walk *w)
{
    while (w->n && w->done[w->n - 1] != '/')
        w->n--;
    w->n -= w->n != 0;
    w->done[w->n] = 0;
}

/* Appends a name to `done`, or replaces it by its link target. */
static bool enter(walk *w, const char *name, size_t len, const char *rest, unsigned *links)
{
    char target[PATH_SIZE];
    const size_t before = w->n;
    if (w->n + len + 2 > sizeof w->done)
        return false;
    if (w->n)
        w->done[w->n++] = '/';
    memcpy(w->done + w->n, name, len);
    w->n += len;
    w->done[w->n] = 0;
    const bool keeps = w->keeps_last && !rest[strspn(rest, "/")];
    const ssize_t n = keeps ? -1 : readlinkat(w->root, w->done, target, sizeof target);
    if (n < 0) { /* not a link, or missing: open() will report that */
        memmove(w->left, rest, strlen(rest) + 1);
        return keeps || errno == EINVAL;
    }
    w->n = before;
    return n > 0 && (size_t)n < sizeof target && ++*links <= MOST_LINKS &&
           follow(w, target, (size_t)n, rest);
}

static bool resolve(walk *w)
{
    unsigned links = 0;
    for (;;) {
        const char *name = w->left + strspn(w->left, "/");
        const size_t len = strcspn(name, "/");
        const char *rest = name + len;
        if (!len)
            return w->n != 0;
        if (len == 2 && memcmp(name, "..", 2) == 0)
            leave_folder(w);
        else if (len != 1 || name[0] != '.') {
            if (!enter(w, name, len, rest, &links))
                return false;
            continue;
        }
        memmove(w->left, rest, strlen(rest) + 1);
    }
}

int pf_open_inside_by_hand(const char *root, const char *path, int flags)
{
    walk w = {.root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC),
              .keeps_last = flags & O_NOFOLLOW};
    const size_t len = strlen(path);
    int fd = -1;
    if (w.root < 0)
        return -1;
    if (len < sizeof w.left) {
        memcpy(w.left, path, len + 1);
        if (resolve(&w))
            fd = openat(w.root, w.done, flags | O_NOFOLLOW);
    }
    close(w.root);
    return fd;
}

int pf_open_inside(const char *root, const char *path, int flags)
{
#ifdef SYS_openat2
    const struct {
        uint64_t flags, mode, resolve;
    } how = {.flags = (uint64_t)flags, .resolve = RESOLVE_ROOT | RESOLVE_MAGIC_NO};
    const int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return -1;
    const long fd = syscall(SYS_openat2, dir, path, &how, sizeof how);
    const int why = errno;
    close(dir);
    /* EPERM: a sandbox does not know the call.  EAGAIN: something was renamed at the same time. */
    if (fd >= 0 || (why != ENOSYS && why != EPERM && why != EAGAIN))
        return (int)fd;
#endif
    return pf_open_inside_by_hand(root, path, flags);
}

/* Reading of files with symbols. */

enum { FIRST_READ = 1 << 16 }; /* for a file of unknown size */

/* How to open a path. */
typedef struct opening {
    const char *root; /* NULL: no root folder */
    int flags;        /* additional flags of open() */
} opening;

static int open_path(const char *path, const opening *how, int flags)
{
    flags |= how->flags | O_CLOEXEC;
    return how->root ? pf_open_inside(how->root, path, flags) : open(path, flags);
}

/* Opens a regular file and sets *st.  Returns -1 if it is not a readable regular file. */
static int open_regular(const char *path, const opening *how, struct stat *st)
{
    /* Check it first without opening it: opening a device may have side effects. */
    int fd = open_path(path, how, O_PATH);
    if (fd < 0)
        return -1;
    const bool regular = fstat(fd, st) == 0 && S_ISREG(st->st_mode);
    close(fd);
    fd = regular ? open_path(path, how, O_RDONLY | O_NOCTTY | O_NONBLOCK) : -1;
    if (fd >= 0 && (fstat(fd, st) != 0 || !S_ISREG(st->st_mode) || st->st_size < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool opened(pf_symfile *f, int fd, const struct stat *st)
{
    if (fd < 0)
        return false;
    *f = (pf_symfile){.fd = fd,
                      .size = (uint64_t)st->st_size,
                      .ino = st->st_ino,
                      .dev_major = major(st->st_dev),
                      .dev_minor = minor(st->st_dev)};
    return true;
}

bool pf_symfile_open(pf_symfile *f, const char *path)
{
    struct stat st = {0};
    return opened(f, open_regular(path, &(opening){NULL, 0}, &st), &st);
}

/* Opens a path below the folder in its first `root` bytes; 0: no folder. */
static int open_in(const char *path, size_t root, int flags, struct stat *st)
{
    char folder[PATH_MAX];
    if (!root)
        return open_regular(path, &(opening){NULL, flags}, st);
    if (root >= sizeof folder)
        return -1;
    memcpy(folder, path, root);
    folder[root] = 0;
    return open_regular(path + root, &(opening){folder, flags}, st);
}

bool pf_symfile_open_in(pf_symfile *f, const char *path, size_t root)
{
    struct stat st = {0};
    return opened(f, open_in(path, root, 0, &st), &st);
}

/* Returns true if only this user is in the group, as far as it can be looked up.  Many systems give
 * each user a private group of the same name. */
static bool is_private_group(gid_t group, uid_t user)
{
    enum { ROOM = 1 << 14 };
    char names[ROOM], more[ROOM];
    struct passwd p, *found = NULL;
    struct group g, *of = NULL;
    if (getpwuid_r(user, &p, names, sizeof names, &found) != 0 || !found ||
        getgrgid_r(group, &g, more, sizeof more, &of) != 0 || !of)
        return false;
    bool own = strcmp(p.pw_name, g.gr_name) == 0;
    for (char **member = g.gr_mem; own && *member; member++)
        own = strcmp(*member, p.pw_name) == 0;
    return own;
}

/* Returns why a file is refused, or NULL if it is accepted. */
static const char *why_refused(const struct stat *st, uint32_t owner)
{
    if (st->st_uid != 0 && st->st_uid != geteuid() && st->st_uid != owner)
        return "it belongs to another user";
    if (st->st_mode & S_IWOTH)
        return "every user may write it";
    if (st->st_mode & S_IWGRP && !is_private_group(st->st_gid, st->st_uid))
        return "other users of its group may write it";
    return NULL;
}

/* Returns why the file at the path could not be opened as a regular file.  Returns NULL if nothing
 * is there or this user may not open it. */
static const char *why_not_opened(const char *path, size_t root)
{
    struct stat st;
    char folder[PATH_MAX];
    if (root >= sizeof folder)
        return NULL;
    memcpy(folder, path, root);
    folder[root] = 0;
    const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    const int fd = root ? pf_open_inside(folder, path + root, flags) : open(path, flags);
    if (fd < 0)
        return NULL;
    const bool known = fstat(fd, &st) == 0;
    close(fd);
    return !known || S_ISREG(st.st_mode) ? NULL
           : S_ISLNK(st.st_mode)         ? "it is a symbolic link"
                                         : "it is not a regular file";
}

bool pf_symfile_open_own(pf_symfile *f, const char *path, size_t root, uint32_t owner,
                         const char **refused)
{
    struct stat st = {0};
    const int fd = open_in(path, root, O_NOFOLLOW, &st);
    *refused = fd < 0 ? why_not_opened(path, root) : why_refused(&st, owner);
    if (fd >= 0 && *refused)
        close(fd);
    return !*refused && opened(f, fd, &st);
}

pf_symfile pf_symfile_memory(perfile_bytes bytes)
{
    return (pf_symfile){.fd = -1, .memory = bytes, .size = bytes.len};
}

void pf_symfile_close(pf_symfile *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

perfile_status pf_symbol_no_memory(pf_budget *budget)
{
    bool refused = budget && budget->refused;
    if (budget)
        budget->refused = false;
    return refused ? PERFILE_E_LIMIT : PERFILE_E_NOMEM;
}

size_t pf_symfile_read_at(const pf_symfile *f, uint8_t *to, size_t len, uint64_t offset)
{
    size_t n = 0;
    if (f->fd < 0) {
        n = len < f->memory.len - (size_t)offset ? len : f->memory.len - (size_t)offset;
        if (n)
            memcpy(to, f->memory.ptr + offset, n);
        return n;
    }
    while (n < len) {
        ssize_t got = pread(f->fd, to + n, len - n, (off_t)(offset + n));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    return n;
}

perfile_status pf_symfile_read(const pf_symfile *f, uint64_t offset, uint64_t len,
                               pf_budget *budget, pf_piece *piece)
{
    if (!pf_within(offset, len, f->size) || len >= SIZE_MAX || offset > INT64_MAX)
        return PERFILE_E_CORRUPT;
    pf_piece p = {.len = (size_t)len, .charged = (size_t)len + 1};
    p.ptr = pf_budget_realloc(budget, NULL, 0, p.charged, 1);
    if (!p.ptr)
        return pf_symbol_no_memory(budget);
    if (pf_symfile_read_at(f, p.ptr, p.len, offset) != p.len) {
        pf_piece_free(&p, budget);
        return PERFILE_E_CORRUPT;
    }
    p.ptr[p.len] = 0;
    *piece = p;
    return PERFILE_OK;
}

perfile_status pf_symfile_read_all(const pf_symfile *f, pf_budget *budget, pf_piece *piece)
{
    if (f->size)
        return pf_symfile_read(f, 0, f->size, budget, piece);
    pf_piece p = {0};
    for (size_t got = 1; got;) {
        if (p.charged - p.len < 2) {
            size_t room = p.charged ? p.charged * 2 : FIRST_READ;
            uint8_t *more = pf_budget_realloc(budget, p.ptr, p.charged, room, 1);
            if (!more) {
                pf_piece_free(&p, budget);
                return pf_symbol_no_memory(budget);
            }
            p.ptr = more;
            p.charged = room;
        }
        got = pf_symfile_read_at(f, p.ptr + p.len, p.charged - p.len - 1, p.len);
        p.len += got;
    }
    p.ptr[p.len] = 0;
    *piece = p;
    return PERFILE_OK;
}

void pf_piece_free(pf_piece *piece, pf_budget *budget)
{
    pf_budget_free(budget, piece->ptr, piece->charged, 1);
    *piece = (pf_piece){0};
}
