#include "io/out_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/out_file.h"

enum { MOST_PARTS = 1 << 16, PART_NAME = 24 };

struct pf_out_dir {
    char *path;           /* while it is written */
    perfile_sink **parts; /* NULL: nothing was written there yet */
    uint32_t n_parts;
};

/* What stands under the name of the new directory. */
typedef struct replaced {
    bool there;
    mode_t directory; /* bits of 0777 of its own */
    mode_t files;     /* bits of 0666 that all its files have */
} replaced;

static perfile_status cannot(const perfile_sink *s, int sys, const char *what, perfile_error *err)
{
    return pf_fail_io(err, sys, "sink", "cannot %s '%s'", what, s->name);
}

static char *copy_of(const char *text, size_t n)
{
    char *copy = pf_alloc(n + 1, 1);
    if (copy)
        memcpy(copy, text, n);
    return copy;
}

static void name_of_part(char name[PART_NAME], uint32_t n)
{
    snprintf(name, PART_NAME, "data.%" PRIu32, n);
}

/* Goes through the files of the directory `path`: whether all of them are those of a capture, and
 * removes them when asked to.  *files (may be NULL) loses the bits that one of them has not. */
static bool only_a_capture(const char *path, bool remove_them, mode_t *files)
{
    DIR *dir = opendir(path);
    const struct dirent *e;
    bool only = dir != NULL;
    while (only && (e = readdir(dir))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        struct stat sb;
        only = pf_inputs_is_part_name(e->d_name) &&
               fstatat(dirfd(dir), e->d_name, &sb, AT_SYMLINK_NOFOLLOW) == 0 &&
               S_ISREG(sb.st_mode) && (!remove_them || unlinkat(dirfd(dir), e->d_name, 0) == 0);
        if (only && files)
            *files &= sb.st_mode;
    }
    if (dir)
        closedir(dir);
    return only;
}

const char *pf_out_dir_path(const perfile_sink *s)
{
    return s->dir->path;
}

static void remove_capture(const char *path)
{
    if (unlink(path) == 0)
        return;
    (void)chmod(path, 0700); /* it may be one that nobody may write to */
    if (only_a_capture(path, true, NULL))
        (void)rmdir(path);
}

/* Who may read a directory may enter it. */
static mode_t of_directory(mode_t mode)
{
    return mode | (mode & 0444) >> 2;
}

/* What stands in the way of the new directory, or may be replaced by it: under the name `path`, its
 * own or, once the names have been exchanged, that of the temporary one. */
static perfile_status look_at(perfile_sink *s, const char *path, replaced *old, perfile_error *err)
{
    struct stat sb;
    const mode_t none = 07777;
    *old = (replaced){.files = none};
    perfile_status st = pf_inputs_apart(&s->inputs, path, s->name, err);
    if (st != PERFILE_OK)
        return st;
    if (lstat(path, &sb) < 0)
        return errno == ENOENT ? PERFILE_OK : cannot(s, errno, "create", err);
    if (!(s->flags & PERFILE_SINK_REPLACE))
        return cannot(s, EEXIST, "create", err);
    old->there = true;
    bool capture =
        S_ISREG(sb.st_mode) || (S_ISDIR(sb.st_mode) && only_a_capture(path, false, &old->files));
    if (S_ISREG(sb.st_mode))
        old->files = sb.st_mode;
    old->files = old->files == none ? s->plain : old->files & 0666;
    old->directory = S_ISDIR(sb.st_mode) ? sb.st_mode & 0777 : of_directory(old->files);
    if (capture)
        return PERFILE_OK;
    return pf_fail_io(err, EEXIST, "sink",
                      "cannot create '%s': what is there holds more than a capture, and is not "
                      "replaced",
                      s->name);
}

static perfile_status make_folder(perfile_sink *s, perfile_error *err)
{
    int made = -1;
    for (unsigned i = 0; i < 100 && made < 0; i++) {
        pf_free(s->dir->path);
        s->dir->path = pf_out_file_beside(s->target, "perfile", s, i);
        if (!s->dir->path)
            return pf_fail_nomem(err, "sink");
        made = mkdir(s->dir->path, 0700);
        if (made < 0 && errno != EEXIST)
            break;
    }
    if (made == 0)
        return PERFILE_OK;
    perfile_status st = cannot(s, errno, "create", err);
    pf_free(s->dir->path); /* it is not ours to remove */
    s->dir->path = NULL;
    return st;
}

static perfile_status open_file(perfile_sink *s, const char *folder, const char *name,
                                perfile_error *err)
{
    size_t n = strlen(folder) + strlen(name) + 2;
    char *path = pf_alloc(n, 1);
    if (!path)
        return pf_fail_nomem(err, "sink");
    snprintf(path, n, "%s/%s", folder, name);
    do
        s->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
    while (s->fd < 0 && errno == EINTR);
    int sys = errno;
    pf_free(path);
    if (s->fd < 0)
        return cannot(s, sys, "create", err);
    s->own_fd = true;
    s->plain = pf_out_file_hide(s->fd);
    pf_sink_look(s);
    return PERFILE_OK;
}

perfile_status perfile_sink_directory(const char *path, const perfile_sink_options *options,
                                      perfile_sink **sink, perfile_error *err)
{
    perfile_sink *s = NULL;
    size_t n = path ? strlen(path) : 0;
    while (n > 1 && path[n - 1] == '/')
        n--;
    if (n == 0 || strcmp(path, "-") == 0)
        return pf_fail(err, PERFILE_E_USAGE, "sink", "'%s' is no name for a directory",
                       path ? path : "");
    perfile_status st = pf_sink_make(PF_SINK_FD, path, options, PF_SINK_BUFFER, &s, err);
    if (st != PERFILE_OK)
        return st;
    s->dir = pf_alloc(1, sizeof *s->dir);
    s->target = copy_of(path, n);
    if (!s->dir || !s->target)
        st = pf_fail_nomem(err, "sink");
    replaced old;
    if (st == PERFILE_OK)
        st = look_at(s, s->target, &old, err);
    if (st == PERFILE_OK)
        st = make_folder(s, err);
    if (st == PERFILE_OK)
        st = open_file(s, s->dir->path, "data", err);
    if (st != PERFILE_OK) {
        perfile_sink_close(s);
        return st;
    }
    *sink = s;
    return PERFILE_OK;
}

static perfile_status room_for(pf_out_dir *d, uint32_t n, perfile_error *err)
{
    if (n < d->n_parts)
        return PERFILE_OK;
    perfile_sink **parts = pf_realloc(d->parts, n + (size_t)1, sizeof *parts);
    if (!parts)
        return pf_fail_nomem(err, "sink");
    memset(parts + d->n_parts, 0, (n + (size_t)1 - d->n_parts) * sizeof *parts);
    d->parts = parts;
    d->n_parts = n + 1;
    return PERFILE_OK;
}

static perfile_status open_part(const perfile_sink *s, uint32_t n, perfile_sink **part,
                                perfile_error *err)
{
    char name[PART_NAME];
    name_of_part(name, n);
    size_t len = strlen(s->target) + strlen(name) + 2;
    char *shown = pf_alloc(len, 1);
    if (!shown)
        return pf_fail_nomem(err, "sink");
    snprintf(shown, len, "%s/%s", s->target, name);
    perfile_sink_options o = {.size = sizeof o, .flags = s->flags};
    perfile_sink *p = NULL;
    perfile_status st = pf_sink_make(PF_SINK_FD, shown, &o, PF_SINK_PART_BUFFER, &p, err);
    if (st == PERFILE_OK)
        st = open_file(p, s->dir->path, name, err);
    if (st == PERFILE_OK)
        *part = p;
    else
        perfile_sink_close(p);
    pf_free(shown);
    return st;
}

perfile_status pf_sink_part(perfile_sink *s, uint32_t n, perfile_sink **part, perfile_error *err)
{
    if (!s->dir)
        return pf_fail(err, PERFILE_E_USAGE, "sink.part", "'%s' is not a directory", s->name);
    if (n >= MOST_PARTS)
        return pf_fail(err, PERFILE_E_LIMIT, "sink.part", "'%s': data.%" PRIu32 " of %d at most",
                       s->name, n, MOST_PARTS);
    perfile_status st = room_for(s->dir, n, err);
    if (st == PERFILE_OK && !s->dir->parts[n])
        st = open_part(s, n, &s->dir->parts[n], err);
    if (st == PERFILE_OK)
        *part = s->dir->parts[n];
    return st;
}

uint32_t pf_sink_parts(const perfile_sink *s)
{
    return s->dir ? s->dir->n_parts : 0;
}

/* Gives what was written the mode that it shall have under its name; see perfile_sink_options. */
static perfile_status show(const perfile_sink *s, const replaced *old, perfile_error *err)
{
    const pf_out_dir *d = s->dir;
    struct stat sb;
    if (stat(d->path, &sb) < 0)
        return cannot(s, errno, "create", err);
    mode_t granted = pf_inputs_grant(&s->inputs, sb.st_gid);
    mode_t files = (old->there ? old->files : s->plain) & granted;
    mode_t whole = old->there ? old->directory : of_directory(s->plain) | 0700;
    size_t len = strlen(d->path) + PART_NAME + 1;
    char *file = pf_alloc(len, 1);
    if (!file)
        return pf_fail_nomem(err, "sink");
    snprintf(file, len, "%s/data", d->path);
    (void)chmod(file, files);
    for (uint32_t i = 0; i < d->n_parts; i++) {
        snprintf(file, len, "%s/data.%" PRIu32, d->path, i);
        (void)chmod(file, files);
    }
    pf_free(file);
    (void)chmod(d->path, whole & (of_directory(granted) | 0700));
    return PERFILE_OK;
}

/* Exchanges two names in one step, where the system and the file system can. */
static bool exchange(const char *a, const char *b)
{
#ifdef SYS_renameat2
    enum { EXCHANGE = 1 << 1 /* RENAME_EXCHANGE */ };
    return syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, EXCHANGE) == 0;
#else
    (void)a, (void)b;
    return false;
#endif
}

/* The old one is moved away, the new one gets its name.  In between there is neither: no signal
 * ends the process there, but for SIGKILL. */
static perfile_status replace_in_steps(perfile_sink *s, perfile_error *err)
{
    char *old = pf_out_file_beside(s->target, "perfile-old", s, 0);
    if (!old)
        return pf_fail_nomem(err, "sink");
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    perfile_status st = PERFILE_OK;
    bool there = rename(s->target, old) == 0;
    if (!there && errno != ENOENT)
        st = cannot(s, errno, "replace", err);
    if (st == PERFILE_OK && rename(s->dir->path, s->target) < 0) {
        st = cannot(s, errno, "create", err);
        if (there)
            (void)rename(old, s->target);
        there = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (there)
        remove_capture(old);
    pf_free(old);
    return st;
}

/* After the exchange the old one has the temporary name.  If it is not what was looked at before,
 * but something that must stay, it gets its name back. */
static perfile_status replace(perfile_sink *s, perfile_error *err)
{
    replaced old;
    if (!exchange(s->dir->path, s->target))
        return replace_in_steps(s, err);
    perfile_status st = look_at(s, s->dir->path, &old, err);
    if (st == PERFILE_OK)
        remove_capture(s->dir->path);
    else
        (void)exchange(s->dir->path, s->target);
    return st;
}

static perfile_status appear(perfile_sink *s, perfile_error *err)
{
    replaced old;
    perfile_status st = look_at(s, s->target, &old, err);
    if (st == PERFILE_OK)
        st = show(s, &old, err);
    if (st != PERFILE_OK)
        return st;
    if (old.there)
        return replace(s, err);
    /* mkdir() never takes what came into being meanwhile, and rename() takes an empty directory. */
    if (mkdir(s->target, 0700) < 0)
        return cannot(s, errno, "create", err);
    if (rename(s->dir->path, s->target) < 0) {
        st = cannot(s, errno, "create", err);
        (void)rmdir(s->target);
    }
    return st;
}

perfile_status pf_out_dir_finish(perfile_sink *s, perfile_error *err)
{
    pf_out_dir *d = s->dir;
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < d->n_parts && st == PERFILE_OK; i++) {
        perfile_sink *part = NULL;
        st = pf_sink_part(s, i, &part, err);
        if (st == PERFILE_OK)
            st = perfile_sink_finish(part, err);
    }
    if (st == PERFILE_OK)
        st = pf_out_file_finish(s, err); /* there is no temporary file: it is synced and closed */
    if (st == PERFILE_OK)
        st = appear(s, err);
    s->appeared = st == PERFILE_OK;
    if (s->appeared && s->flags & (PERFILE_SINK_SYNC | PERFILE_SINK_SYNC_ALL))
        pf_out_file_sync_folder(s->target);
    return st;
}

void pf_out_dir_remove(perfile_sink *s)
{
    if (s->dir->path && !s->appeared)
        remove_capture(s->dir->path);
    s->appeared = true;
}

void pf_out_dir_close(perfile_sink *s)
{
    pf_out_dir_remove(s);
    for (uint32_t i = 0; i < s->dir->n_parts; i++)
        perfile_sink_close(s->dir->parts[i]);
    pf_free(s->dir->parts);
    pf_free(s->dir->path);
    pf_free(s->dir);
    s->dir = NULL;
}
