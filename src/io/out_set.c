/* Files that appear together under their names.
 *
 * Each file is moved to its name by link() or rename().  The file that it replaces is saved as
 * old.N first.  If one step fails, pf_out_set_appear() undoes all earlier steps. */
#include "io/out_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/inputs.h"

/* FILE_NAME: room for "/data.N".  BUFFER: buffer size of each file's sink; small, because many are
 * open at once. */
enum { FILE_NAME = 24, BUFFER = 64 << 10 };

struct pf_out_set {
    char *folder;
    char *path;       /* buffer of path_in_folder() */
    char *place;      /* the `path` passed to pf_out_set_new() */
    bool replace;     /* existing files may be replaced */
    uint32_t n;       /* number of files made so far */
    mode_t plain;     /* mode of new files in the folder */
    gid_t group;      /* their group */
    pf_inputs inputs; /* files that must not be replaced */
};

static perfile_status fail_io(int sys, const char *what, const char *name, perfile_error *err)
{
    return pf_fail_io(err, sys, "sink", "cannot %s '%s'", what, name);
}

/* Returns "FOLDER/KIND.N", for example FOLDER/data.7; valid until the next call. */
static const char *path_in_folder(const pf_out_set *set, const char *kind, uint32_t n)
{
    sprintf(set->path, "%s/%s.%" PRIu32, set->folder, kind, n);
    return set->path;
}

static void release(pf_out_set *s)
{
    pf_inputs_free(&s->inputs);
    pf_free(s->folder);
    pf_free(s->place);
    pf_free(s->path);
    pf_free(s);
}

/* Creates the folder under a name that is not in use. */
static perfile_status make_folder(pf_out_set *s, const char *what, perfile_error *err)
{
    for (unsigned i = 0; i < 100; i++) {
        pf_free(s->folder);
        pf_free(s->path);
        s->path = NULL;
        s->folder = pf_out_temporary_name(s->place, what, s, i);
        if (s->folder)
            s->path = pf_alloc(strlen(s->folder) + FILE_NAME, 1);
        if (!s->path)
            return pf_fail_nomem(err, "sink");
        if (mkdir(s->folder, 0700) == 0)
            return PERFILE_OK;
        if (errno != EEXIST)
            break;
    }
    return fail_io(errno, "create", s->place, err);
}

perfile_status pf_out_set_new(const char *path, const char *what, bool replace,
                              const pf_inputs *inputs, pf_out_set **set, perfile_error *err)
{
    size_t n = strlen(path) + 1;
    pf_out_set *s = pf_alloc(1, sizeof *s);
    if (!s)
        return pf_fail_nomem(err, "sink");
    s->replace = replace;
    s->place = pf_alloc(n, 1);
    perfile_status st = PERFILE_OK;
    if (!s->place || !pf_inputs_join(&s->inputs, inputs))
        st = pf_fail_nomem(err, "sink");
    else
        memcpy(s->place, path, n);
    if (st == PERFILE_OK)
        st = pf_inputs_check_folder(&s->inputs, path, path, err);
    if (st == PERFILE_OK)
        st = make_folder(s, what, err);
    if (st == PERFILE_OK)
        *set = s;
    else
        release(s);
    return st;
}

const char *pf_out_set_folder(const pf_out_set *set)
{
    return set->folder;
}

perfile_status pf_out_set_next(pf_out_set *set, const char *name, perfile_sink **sink,
                               perfile_error *err)
{
    pf_out_fd *f = NULL;
    struct stat sb;
    perfile_status st = pf_sink_new(sizeof *f, &pf_out_fd_ops, name, NULL, BUFFER, &f, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_out_fd_create(f, path_in_folder(set, "data", set->n), &set->plain, err);
    if (st != PERFILE_OK) {
        perfile_sink_close(&f->base);
        return st;
    }
    if (fstat(f->fd, &sb) == 0)
        set->group = sb.st_gid; /* the same for all files: they are in one folder */
    set->n++;
    *sink = &f->base;
    return PERFILE_OK;
}

perfile_status pf_out_set_reads(pf_out_set *set, const pf_inputs *inputs, perfile_error *err)
{
    return pf_inputs_join(&set->inputs, inputs)
               ? pf_inputs_check_folder(&set->inputs, set->place, set->place, err)
               : pf_fail_nomem(err, "sink");
}

perfile_status pf_out_set_check_name(pf_out_set *set, const char *name, perfile_error *err)
{
    struct stat sb;
    perfile_status st = pf_inputs_check_target(&set->inputs, name, name, err);
    if (st != PERFILE_OK)
        return st;
    if (lstat(name, &sb) < 0)
        return errno == ENOENT ? PERFILE_OK : fail_io(errno, "create", name, err);
    if (!set->replace)
        return fail_io(EEXIST, "create", name, err);
    if (S_ISREG(sb.st_mode) || S_ISLNK(sb.st_mode))
        return PERFILE_OK;
    return pf_fail_io(err, EEXIST, "sink", "cannot create '%s': what exists there is not a file",
                      name);
}

/* Gives file `n` its name, which must be free.  Returns 0 or an errno. */
static int appear_new(pf_out_set *set, uint32_t n, const char *name)
{
    const char *from = path_in_folder(set, "data", n);
    struct stat sb;
    /* Unlike rename(), link() never replaces a file that was created in the meantime. */
    if (link(from, name) == 0) {
        (void)unlink(from);
        return 0;
    }
    if (errno == EEXIST || lstat(name, &sb) == 0)
        return EEXIST;
    /* The file system has no hard links; the name was free a moment ago. */
    return rename(from, name) < 0 ? errno : 0;
}

/* Saves the existing file `name`, if there is one, as old.N: by a second link, so that `name`
 * always exists, or by renaming it where links are not possible.  Anything else that was made there
 * since pf_out_set_check_name(), such as a directory, stays and is an error.  Returns 0 or an
 * errno. */
static int keep_old(pf_out_set *set, uint32_t n, const char *name)
{
    const char *old = path_in_folder(set, "old", n);
    struct stat sb;
    if (lstat(name, &sb) < 0)
        return errno == ENOENT ? 0 : errno;
    if (!S_ISREG(sb.st_mode) && !S_ISLNK(sb.st_mode))
        return EEXIST;
    if (link(name, old) == 0 || rename(name, old) == 0)
        return 0;
    return errno == ENOENT ? 0 : errno;
}

/* Gives file `n` its mode and its final name. */
static perfile_status appear(pf_out_set *set, uint32_t n, const char *name, perfile_error *err)
{
    int sys;
    perfile_status st = pf_inputs_check_target(&set->inputs, name, name, err);
    if (st != PERFILE_OK)
        return st;
    (void)chmod(path_in_folder(set, "data", n),
                pf_out_mode(name, set->plain, &set->inputs, set->group));
    if (!set->replace)
        sys = appear_new(set, n, name);
    /* old.N is a second link, so rename() replaces the file in one step. */
    else if ((sys = keep_old(set, n, name)) == 0 &&
             rename(path_in_folder(set, "data", n), name) < 0)
        sys = errno;
    return sys ? fail_io(sys, "create", name, err) : PERFILE_OK;
}

perfile_status pf_out_set_appear(pf_out_set *set, const char *(*name)(void *user, uint32_t n),
                                 void *user, perfile_error *err)
{
    uint32_t n = 0;
    perfile_status st = pf_inputs_check_folder(&set->inputs, set->place, set->place, err);
    while (n < set->n && st == PERFILE_OK &&
           (st = appear(set, n, name(user, n), err)) == PERFILE_OK)
        n++;
    if (st == PERFILE_OK)
        return PERFILE_OK;
    /* Undo: files 0 to n-1 have their final names.  The old file of file n may have been moved
     * away. */
    for (uint32_t i = 0; i <= n && i < set->n; i++) {
        bool back = set->replace && rename(path_in_folder(set, "old", i), name(user, i)) == 0;
        if (!back && i < n)
            (void)unlink(name(user, i));
    }
    return st;
}

void pf_out_set_close(pf_out_set *set)
{
    if (!set)
        return;
    for (uint32_t i = 0; i < set->n; i++) {
        (void)unlink(path_in_folder(set, "data", i));
        if (set->replace)
            (void)unlink(path_in_folder(set, "old", i));
    }
    (void)rmdir(set->folder);
    release(set);
}
