#include "io/out_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
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

static bool is_part_name(const char *name)
{
    if (strcmp(name, "data") == 0)
        return true;
    return strncmp(name, "data.", 5) == 0 && name[5] && !name[5 + strspn(name + 5, "0123456789")];
}

/* Goes through the files of the directory `path`: whether all of them are those of a capture, and
 * removes them when asked to. */
static bool only_a_capture(const char *path, bool remove_them)
{
    DIR *dir = opendir(path);
    const struct dirent *e;
    bool only = dir != NULL;
    while (only && (e = readdir(dir))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        struct stat sb;
        only = is_part_name(e->d_name) &&
               fstatat(dirfd(dir), e->d_name, &sb, AT_SYMLINK_NOFOLLOW) == 0 &&
               S_ISREG(sb.st_mode) && (!remove_them || unlinkat(dirfd(dir), e->d_name, 0) == 0);
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
    if (unlink(path) < 0 && only_a_capture(path, true))
        (void)rmdir(path);
}

/* What stands in the way of the new directory. */
static perfile_status look_at_target(const perfile_sink *s, perfile_error *err)
{
    struct stat sb;
    if (lstat(s->target, &sb) < 0)
        return errno == ENOENT ? PERFILE_OK : cannot(s, errno, "create", err);
    if (!(s->flags & PERFILE_SINK_REPLACE))
        return cannot(s, EEXIST, "create", err);
    if (S_ISREG(sb.st_mode) || (S_ISDIR(sb.st_mode) && only_a_capture(s->target, false)))
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
        s->dir->path = pf_out_file_beside(s->target, s, i);
        if (!s->dir->path)
            return pf_fail_nomem(err, "sink");
        made = mkdir(s->dir->path, 0777);
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
    if (st == PERFILE_OK)
        st = look_at_target(s, err);
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

/* Whom a new name takes the place of is out of the way before, and gone afterwards. */
static perfile_status replace(perfile_sink *s, perfile_error *err)
{
    char *old = pf_out_file_beside(s->dir->path, s, 0);
    if (!old)
        return pf_fail_nomem(err, "sink");
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
    if (there)
        remove_capture(old);
    pf_free(old);
    return st;
}

static perfile_status appear(perfile_sink *s, perfile_error *err)
{
    perfile_status st = look_at_target(s, err);
    if (st != PERFILE_OK)
        return st;
    if (s->flags & PERFILE_SINK_REPLACE)
        return replace(s, err);
    /* mkdir() never takes what came into being meanwhile, and rename() takes an empty directory. */
    if (mkdir(s->target, 0777) < 0)
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
