/* A directory: the file `data` is a complete capture; the files data.N are records without header,
 * one file for each thread of `perf record --threads`.  They share the events of `data`, and become
 * the parts behind it.  Numbers that are missing are damage of the container, not an error. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "perf/stream.h"

static char *copy_name(const char *name)
{
    size_t n = strlen(name) + 1;
    char *copy = pf_alloc(n, 1);
    if (copy)
        memcpy(copy, name, n);
    return copy;
}

/* Opens the file `name` of `dir` as the next part; p->parts has room for it. */
static perfile_status add_part(pf_perf_stream *p, const perfile_source *dir, const char *name,
                               perfile_error *err)
{
    pf_perf_part *part = &p->parts[p->n_parts];
    perfile_status st = pf_source_entry(dir, name, &part->source, err);
    if (st != PERFILE_OK)
        return st;
    p->n_parts++;
    part->name = copy_name(name);
    part->end = part->source->size;
    return part->name ? PERFILE_OK : pf_fail_nomem(err, "parts");
}

/* Records damage if the numbers of data.N are not 0, 1, 2 …: a file is missing.  `names` are in
 * order of their numbers. */
static perfile_status check_numbers(pf_perf_stream *p, char *const *names, size_t n,
                                    perfile_error *err)
{
    for (size_t i = 0; i < n; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "data.%zu", i);
        bool number = names[i][5] && strspn(names[i] + 5, "0123456789") == strlen(names[i] + 5);
        if (number && strcmp(names[i], expected) != 0)
            return pf_perf_container_damage(p, PERFILE_DAMAGE_BAD_DIRECTORY, PERFILE_EXTENT_RECORDS,
                                            PERFILE_NO_OFFSET, err);
    }
    return PERFILE_OK;
}

/* Records damage if DIR_FORMAT 1 says that the samples are in files data.N, and there are none. */
static perfile_status check_any_part(pf_perf_stream *p, size_t n, perfile_error *err)
{
    enum { PARTS_IN_DIRECTORY = 1 };
    perfile_dir_format v;
    const perfile_feature *f = perfile_session_feature(p->base.session, PERFILE_FEATURE_DIR_FORMAT);
    if (n || !f || perfile_dir_format_decode(f, &v, sizeof v, NULL) != PERFILE_OK ||
        v.version != PARTS_IN_DIRECTORY)
        return PERFILE_OK;
    return pf_perf_container_damage(p, PERFILE_DAMAGE_BAD_DIRECTORY, PERFILE_EXTENT_RECORDS,
                                    f->offset, err);
}

/* p->parts grows once for all files, so that &p->parts[0] moves before the walk begins, not later.
 */
perfile_status pf_perf_directory(pf_perf_stream *p, const perfile_source *dir, perfile_error *err)
{
    char **names = NULL;
    size_t n = 0;
    perfile_status st = pf_source_list(dir, "data.", &names, &n, err);
    if (st != PERFILE_OK)
        return st;
    pf_perf_part *parts = pf_realloc(p->parts, n + 1, sizeof *parts);
    if (!parts) {
        st = pf_fail_nomem(err, "parts");
        goto out;
    }
    memset(parts + 1, 0, n * sizeof *parts);
    p->parts = parts;
    p->parts[0].name = copy_name("data");
    if (!p->parts[0].name)
        st = pf_fail_nomem(err, "parts");
    for (size_t i = 0; st == PERFILE_OK && i < n; i++)
        st = add_part(p, dir, names[i], err);
    if (st == PERFILE_OK && !p->base.options.as_stored)
        st = check_numbers(p, names, n, err);
    if (st == PERFILE_OK && !p->base.options.as_stored)
        st = check_any_part(p, n, err);
out:
    pf_free(names);
    return st;
}
