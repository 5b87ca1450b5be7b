/* Opening a file below a folder without leaving it: what --symfs and debug directories name may be
 * unpacked from a stranger's archive, and the rest of the path comes from a capture.
 *
 * The kernel resolves the path (openat2() with RESOLVE_IN_ROOT, Linux 5.6).  Where it cannot, links
 * are followed here, as text: the path that is opened in the end has no link and no `..` in it.
 * That is no protection against someone who changes the folder at the same time. */
#define _GNU_SOURCE /* O_PATH, syscall() */
#include "symbol/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    RESOLVE_MAGIC_NO = 0x02, /* RESOLVE_NO_MAGICLINKS, RESOLVE_IN_ROOT of linux/openat2.h */
    RESOLVE_ROOT = 0x10,
    MOST_LINKS = 40, /* that are followed in one path, as the kernel does */
    PATH_SIZE = 4096
};

/* A path on its way: `done` has neither links nor `..`, `left` is still to be resolved. */
typedef struct walk {
    int root;
    bool keeps_last; /* a link at the end of the path is not followed: opening it will fail */
    size_t n;        /* bytes of `done` */
    char done[PATH_SIZE], left[PATH_SIZE];
} walk;

/* Puts the target of a link in front of what is left after it. */
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

/* Appends a name to `done`, or replaces it by what it links to. */
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
    if (n < 0) { /* no link, or not there, which open() will say */
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
    /* EPERM: a sandbox that does not know the call; EAGAIN: something was renamed meanwhile. */
    if (fd >= 0 || (why != ENOSYS && why != EPERM && why != EAGAIN))
        return (int)fd;
#endif
    return pf_open_inside_by_hand(root, path, flags);
}
