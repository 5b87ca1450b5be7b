#include "io/out_set.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/out_file.h"

enum { FILE_NAME = 24, BUFFER = 64 << 10 /* there are many at a time */ };

struct pf_out_set {
    char *folder;
    char *path; /* room for that of a file in it */
    bool replace;
    uint32_t n;
};

static perfile_status cannot(int sys, const char *what, const char *name, perfile_error *err)
{
    return pf_fail_io(err, sys, "sink", "cannot %s '%s'", what, name);
}

/* "FOLDER/data.7", "FOLDER/old.7" */
static const char *path_of(const pf_out_set *set, const char *kind, uint32_t n)
{
    sprintf(set->path, "%s/%s.%" PRIu32, set->folder, kind, n);
    return set->path;
}

perfile_status pf_out_set_new(const char *path, bool replace, pf_out_set **set, perfile_error *err)
{
    pf_out_set *s = pf_alloc(1, sizeof *s);
    if (!s)
        return pf_fail_nomem(err, "sink");
    s->replace = replace;
    int made = -1;
    for (unsigned i = 0; i < 100 && made < 0; i++) {
        pf_free(s->folder);
        s->folder = pf_out_file_beside(path, s, i);
        if (!s->folder)
            break;
        made = mkdir(s->folder, 0777);
        if (made < 0 && errno != EEXIST)
            break;
    }
    perfile_status st = PERFILE_OK;
    if (!s->folder)
        st = pf_fail_nomem(err, "sink");
    else if (made < 0)
        st = cannot(errno, "create", path, err);
    else if (!(s->path = pf_alloc(strlen(s->folder) + FILE_NAME, 1)))
        st = pf_fail_nomem(err, "sink");
    if (st != PERFILE_OK && made == 0)
        (void)rmdir(s->folder);
    if (st != PERFILE_OK) {
        pf_free(s->folder);
        pf_free(s);
        return st;
    }
    *set = s;
    return PERFILE_OK;
}

const char *pf_out_set_folder(const pf_out_set *set)
{
    return set->folder;
}

perfile_status pf_out_set_next(pf_out_set *set, const char *name, perfile_sink **sink,
                               perfile_error *err)
{
    perfile_sink *s = NULL;
    perfile_status st = pf_sink_make(PF_SINK_FD, name, NULL, BUFFER, &s, err);
    if (st != PERFILE_OK)
        return st;
    const char *path = path_of(set, "data", set->n);
    do
        s->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
    while (s->fd < 0 && errno == EINTR);
    if (s->fd < 0) {
        st = cannot(errno, "create", name, err);
        perfile_sink_close(s);
        return st;
    }
    s->own_fd = true;
    pf_sink_look(s);
    set->n++;
    *sink = s;
    return PERFILE_OK;
}

perfile_status pf_out_set_may(const char *name, bool replace, perfile_error *err)
{
    struct stat sb;
    if (lstat(name, &sb) < 0)
        return errno == ENOENT ? PERFILE_OK : cannot(errno, "create", name, err);
    if (!replace)
        return cannot(EEXIST, "create", name, err);
    if (S_ISREG(sb.st_mode) || S_ISLNK(sb.st_mode))
        return PERFILE_OK;
    return pf_fail_io(err, EEXIST, "sink", "cannot create '%s': what is there is no file", name);
}

static int appear(pf_out_set *set, uint32_t n, const char *name)
{
    const char *from = path_of(set, "data", n);
    struct stat sb;
    /* Unlike rename(), link() never replaces what came into being meanwhile. */
    if (link(from, name) == 0) {
        (void)unlink(from);
        return 0;
    }
    if (errno == EEXIST || lstat(name, &sb) == 0)
        return EEXIST;
    /* A file system without links. */
    return rename(from, name) < 0 ? errno : 0;
}

perfile_status pf_out_set_appear(pf_out_set *set, const char *(*name)(void *user, uint32_t n),
                                 void *user, perfile_error *err)
{
    int sys = 0;
    uint32_t n = 0;
    for (; n < set->n; n++) {
        if (set->replace && rename(name(user, n), path_of(set, "old", n)) < 0 && errno != ENOENT)
            sys = errno;
        if (sys || (sys = appear(set, n, name(user, n))) != 0)
            break;
    }
    if (!sys)
        return PERFILE_OK;
    perfile_status st = cannot(sys, "create", name(user, n), err);
    for (uint32_t i = 0; i < n; i++)
        (void)unlink(name(user, i));
    for (uint32_t i = 0; i <= n && set->replace; i++)
        (void)rename(path_of(set, "old", i), name(user, i));
    return st;
}

void pf_out_set_close(pf_out_set *set)
{
    if (!set)
        return;
    for (uint32_t i = 0; i < set->n; i++) {
        (void)unlink(path_of(set, "data", i));
        if (set->replace)
            (void)unlink(path_of(set, "old", i));
    }
    (void)rmdir(set->folder);
    pf_free(set->folder);
    pf_free(set->path);
    pf_free(set);
}
