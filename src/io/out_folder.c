/* A sink for files in a folder, which leaves all other files in it as they are.
 *
 * The files are a set (pf_out_set): they are written next to the folder, and appear together under
 * their names when the sink is finished.  Missing folders are made just before that, and removed if
 * it fails.  Old files that are replaced by files of other names are removed afterwards. */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/out_kind.h"

typedef struct out_folder {
    perfile_sink base;
    char *path; /* path of the folder, without a slash at its end */
    pf_out_set *set;
    char **names; /* names of the files, by number in the set */
    uint32_t n, cap;
    char **made; /* folders that finish() has made, outer ones first */
    uint32_t n_made, made_cap;
    char **old; /* patterns of files to be replaced, see pf_sink_folder_replaces() */
    uint32_t n_old, old_cap;
} out_folder;

/* Appends a copy of a text to an array.  Returns false when out of memory. */
static bool append(char ***at, uint32_t *n, uint32_t *cap, const char *text)
{
    char **more = pf_array_more(*at, *n, cap, sizeof *more);
    if (!more)
        return false;
    *at = more;
    more[*n] = pf_out_copy_path(text, strlen(text));
    return more[*n] && ++*n;
}

/* The name is stored first: a folder that is not in `made` could not be removed after a failure. */
static perfile_status make_folder(out_folder *f, const char *path, perfile_error *err)
{
    if (!append(&f->made, &f->n_made, &f->made_cap, path))
        return pf_fail_nomem(err, "sink");
    if (mkdir(path, 0777) == 0)
        return PERFILE_OK;
    const int sys = errno;
    pf_free(f->made[--f->n_made]);
    return sys == EEXIST ? PERFILE_OK : pf_fail_io(err, sys, "sink", "cannot create '%s'", path);
}

/* Makes the folders above a file, including the folder of the sink itself. */
static perfile_status make_folders(out_folder *f, char *name, perfile_error *err)
{
    perfile_status st = make_folder(f, f->path, err);
    for (char *slash = strchr(name + strlen(f->path) + 1, '/'); slash && st == PERFILE_OK;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        st = make_folder(f, name, err);
        *slash = '/';
    }
    return st;
}

static const char *name_at(void *user, uint32_t n)
{
    return ((const out_folder *)user)->names[n];
}

static bool is_new(const out_folder *f, const char *path)
{
    uint32_t i = 0;
    while (i < f->n && strcmp(f->names[i], path) != 0)
        i++;
    return i < f->n;
}

/* Removes the old files that the new files replace under other names.  Ignores files that cannot be
 * removed. */
static void remove_old(const out_folder *f)
{
    for (uint32_t i = 0; i < f->n_old; i++) {
        glob_t found;
        if (glob(f->old[i], GLOB_NOSORT, NULL, &found) != 0)
            continue;
        for (size_t k = 0; k < found.gl_pathc; k++)
            if (!is_new(f, found.gl_pathv[k]))
                (void)unlink(found.gl_pathv[k]);
        globfree(&found);
    }
}

static perfile_status folder_finish(perfile_sink *s, pf_sink_end how, perfile_error *err)
{
    out_folder *f = (out_folder *)s;
    perfile_status st = PERFILE_OK;
    if (how != PF_SINK_LAST)
        return st;
    for (uint32_t i = 0; i < f->n && st == PERFILE_OK; i++)
        if ((st = make_folders(f, f->names[i], err)) == PERFILE_OK)
            st = pf_out_set_check_name(f->set, f->names[i], err);
    if (st == PERFILE_OK)
        st = pf_out_set_appear(f->set, name_at, f, err);
    while (st != PERFILE_OK && f->n_made) {
        (void)rmdir(f->made[--f->n_made]);
        pf_free(f->made[f->n_made]);
    }
    if (st != PERFILE_OK)
        return st;
    s->temporary = NULL;
    remove_old(f);
    return st;
}

static void folder_abort(perfile_sink *s)
{
    out_folder *f = (out_folder *)s;
    s->temporary = NULL;
    pf_out_set_close(f->set);
    f->set = NULL;
}

static perfile_status folder_reads(perfile_sink *s, perfile_error *err)
{
    const out_folder *f = (const out_folder *)s;
    return f->set ? pf_out_set_reads(f->set, &s->inputs, err) : PERFILE_OK;
}

static void free_texts(char **at, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        pf_free(at[i]);
    pf_free(at);
}

static void folder_close(perfile_sink *s)
{
    out_folder *f = (out_folder *)s;
    folder_abort(s);
    free_texts(f->names, f->n);
    free_texts(f->made, f->n_made);
    free_texts(f->old, f->n_old);
    pf_free(f->path);
}

/* Nothing is written to the folder itself. */
static int64_t folder_write(perfile_sink *s, perfile_bytes bytes)
{
    (void)s;
    (void)bytes;
    return -EISDIR;
}

static const pf_sink_ops folder_ops = {.write = folder_write,
                                       .finish = folder_finish,
                                       .abort = folder_abort,
                                       .reads = folder_reads,
                                       .close = folder_close};

bool pf_sink_is_folder(const perfile_sink *s)
{
    return s->ops == &folder_ops;
}

perfile_status pf_sink_folder_file(perfile_sink *s, const char *name, perfile_sink **file,
                                   perfile_error *err)
{
    out_folder *f = (out_folder *)s;
    const size_t n = strlen(f->path), m = strlen(name);
    char *path = pf_alloc(n + m + 2, 1);
    if (!path)
        return pf_fail_nomem(err, "sink");
    memcpy(path, f->path, n);
    path[n] = '/';
    memcpy(path + n + 1, name, m + 1);
    perfile_status st =
        append(&f->names, &f->n, &f->cap, path) ? PERFILE_OK : pf_fail_nomem(err, "sink");
    if (st == PERFILE_OK)
        st = pf_out_set_next(f->set, path, file, err);
    pf_free(path);
    return st;
}

perfile_status pf_sink_folder_replaces(perfile_sink *s, const char *pattern, perfile_error *err)
{
    out_folder *f = (out_folder *)s;
    const size_t n = strlen(f->path);
    char *path = pf_alloc(2 * n + strlen(pattern) + 2, 1);
    if (!path)
        return pf_fail_nomem(err, "sink");
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (strchr("*?[\\", f->path[i]))
            path[at++] = '\\';
        path[at++] = f->path[i];
    }
    path[at++] = '/';
    memcpy(path + at, pattern, strlen(pattern));
    const bool ok = append(&f->old, &f->n_old, &f->old_cap, path);
    pf_free(path);
    return ok ? PERFILE_OK : pf_fail_nomem(err, "sink");
}

/* Fails if `path` exists and is not a directory. */
static perfile_status examine(const char *path, perfile_error *err)
{
    struct stat sb;
    if (stat(path, &sb) == 0 && !S_ISDIR(sb.st_mode))
        return pf_fail_io(err, ENOTDIR, "sink", "cannot create '%s'", path);
    return PERFILE_OK;
}

perfile_status pf_sink_folder(const char *path, const perfile_sink_options *options,
                              perfile_sink **sink, perfile_error *err)
{
    size_t n = path ? strlen(path) : 0;
    while (n > 1 && path[n - 1] == '/')
        n--;
    if (n == 0 || strcmp(path, "-") == 0)
        return pf_fail(err, PERFILE_E_USAGE, "sink", "'%s' is not a name for a directory",
                       path ? path : "");
    out_folder *f = NULL;
    perfile_status st = pf_sink_new(sizeof *f, &folder_ops, path, options, 0, &f, err);
    if (st != PERFILE_OK)
        return st;
    f->path = pf_out_copy_path(path, n);
    st = f->path ? examine(f->path, err) : pf_fail_nomem(err, "sink");
    if (st == PERFILE_OK)
        st = pf_out_set_new(f->path, "perfile-export", true, &f->base.inputs, &f->set, err);
    if (st != PERFILE_OK) {
        perfile_sink_close(&f->base);
        return st;
    }
    f->base.temporary = pf_out_set_folder(f->set);
    *sink = &f->base;
    return PERFILE_OK;
}
