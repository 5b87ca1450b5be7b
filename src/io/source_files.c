/* Several files as a source with entries: a directory whose files lie elsewhere.  Its entries have
 * the names of the files without their folders, in which no two may be equal.  Symbolic links are
 * followed, as they are for any path that a caller gives. */
#include "io/source_kind.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

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
    return perfile_source_files((const char *const *)f->paths, f->n, &s->options, source, err);
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

/* Copies a path into the list, and notes what it names as an input. */
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

perfile_status perfile_source_files(const char *const *paths, size_t n,
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
