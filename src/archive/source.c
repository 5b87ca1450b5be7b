/* perfile_archive_source(): the capture in an archive as a source, a file or a directory.
 *
 * All sources of one archive share the table of chunks and what is lost; the last one that is
 * closed closes the archive. */
#include "archive/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/image.h"
#include "archive/meta.h"
#include "base/alloc.h"
#include "base/error.h"
#include "io/source_kind.h"
#include "perfile/archive.h"

enum { PARTS_MOST = 65536, NAME_BYTES = 24 };

typedef struct shared {
    pf_source_origin origin; /* first: release() gets it */
    pf_archive archive;
    perfile_source *pipe; /* that archive.source is a copy of; NULL: none */
    uint16_t number;      /* of the source in the archive */
    pf_meta meta;
} shared;

static void release(pf_source_origin *o)
{
    shared *x = (shared *)o;
    perfile_source *below = x->archive.source;
    pf_archive_clear(&x->archive);
    pf_meta_clear(&x->meta);
    perfile_source_close(below);
    perfile_source_close(x->pipe);
    pf_free(x);
}

/* An image of one part, as a user of the archive. */
static perfile_status open_image(shared *x, uint32_t part, const perfile_source_options *options,
                                 perfile_source **image, perfile_error *err)
{
    const pf_meta_part *about = pf_meta_part_of(&x->meta, part);
    const uint64_t size = about && about->has_size ? about->size : 0;
    perfile_status st = pf_archive_image(&x->archive, x->number, (uint16_t)part, size,
                                         &x->origin.lost, options, image, err);
    if (st == PERFILE_OK)
        (*image)->origin = pf_source_origin_join(&x->origin);
    return st;
}

/* The name of a part in its directory.  Where the metadata are lost, it is what perf calls it. */
static const char *name_of(const shared *x, uint32_t part, char buf[NAME_BYTES])
{
    const pf_meta_part *about = pf_meta_part_of(&x->meta, part);
    if (about && about->name)
        return about->name;
    if (part)
        snprintf(buf, NAME_BYTES, "data.%u", part - 1);
    return part ? buf : "data";
}

static uint32_t parts_of(const shared *x)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->archive.n_chunks; i++)
        if (x->archive.chunks[i].source == x->number && x->archive.chunks[i].part >= n)
            n = (uint32_t)x->archive.chunks[i].part + 1;
    for (uint32_t i = 0; i < x->meta.n_parts; i++)
        if (x->meta.parts[i].number >= n)
            n = x->meta.parts[i].number + 1;
    return n;
}

/* True if some part belongs to the capture: it has chunks, or is said to be there. */
static bool is_there(const shared *x, uint32_t part)
{
    if (pf_meta_part_of(&x->meta, part))
        return true;
    for (uint32_t i = 0; i < x->archive.n_chunks; i++)
        if (x->archive.chunks[i].source == x->number && x->archive.chunks[i].part == part &&
            x->archive.chunks[i].kind != PF_CHUNK_META)
            return true;
    return false;
}

static perfile_status list(const perfile_source *s, const char *prefix, pf_buffer *names, size_t *n,
                           perfile_error *err)
{
    const shared *x = (const shared *)s->origin;
    char buf[NAME_BYTES];
    const uint32_t parts = parts_of(x);
    for (uint32_t i = 0; i < parts; i++) {
        const char *name = name_of(x, i, buf);
        if (strncmp(name, prefix, strlen(prefix)) != 0 || !is_there(x, i))
            continue;
        if (!pf_buffer_append(names, name, strlen(name) + 1))
            return pf_fail_nomem(err, "archive");
        ++*n;
    }
    return PERFILE_OK;
}

static perfile_status entry(const perfile_source *s, const char *name, perfile_source **source,
                            perfile_error *err)
{
    shared *x = (shared *)s->origin;
    char buf[NAME_BYTES];
    const uint32_t parts = parts_of(x);
    for (uint32_t i = 0; i < parts; i++)
        if (strcmp(name_of(x, i, buf), name) == 0 && is_there(x, i))
            return open_image(x, i, &s->options, source, err);
    return pf_fail_io(err, ENOENT, "archive.part", "there is no '%s' in the archive", name);
}

static perfile_status no_run(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                             perfile_error *err)
{
    (void)offset, (void)need, (void)run;
    return pf_fail(err, PERFILE_E_USAGE, "source", "'%s' is a directory", s->name);
}

static const pf_source_ops directory_ops = {.run = no_run, .list = list, .entry = entry};

static perfile_status open_directory(shared *x, const perfile_source_options *options,
                                     perfile_source **source, perfile_error *err)
{
    perfile_source *d;
    const perfile_source *below = x->archive.source;
    perfile_status st =
        pf_source_new(sizeof *d, &directory_ops, perfile_source_name(below), options, &d, err);
    if (st != PERFILE_OK)
        return st;
    if (!pf_inputs_join(&d->inputs, &below->inputs)) {
        perfile_source_close(d);
        return pf_fail_nomem(err, "archive");
    }
    d->origin = pf_source_origin_join(&x->origin);
    *source = d;
    return PERFILE_OK;
}

perfile_status pf_archive_source_again(const perfile_source *source, perfile_source **again,
                                       perfile_error *err)
{
    return open_directory((shared *)source->origin, &source->options, again, err);
}

/* Reads the maps about the capture.  Those that are damaged are lost. */
static perfile_status read_meta(shared *x, perfile_error *err)
{
    pf_archive *a = &x->archive;
    pf_buffer map = {0};
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < a->n_chunks && st == PERFILE_OK; i++) {
        const pf_chunk *c = &a->chunks[i];
        if (c->kind != PF_CHUNK_META || c->source != x->number)
            continue;
        pf_buffer_clear(&map);
        st = pf_archive_payload(a, c, &map, err);
        if (st == PERFILE_OK)
            st = pf_meta_decode((perfile_bytes){map.ptr, map.len}, &x->meta, err);
        if (st == PERFILE_E_CORRUPT || st == PERFILE_E_UNSUPPORTED) {
            x->origin.lost.places++;
            st = PERFILE_OK;
        }
    }
    pf_buffer_free(&map);
    x->origin.lossy = pf_meta_lossy_bits(&x->meta);
    return st;
}

/* Chooses the capture: number `wanted` counted from 1, or the only one. */
static perfile_status choose(shared *x, uint32_t wanted, perfile_error *err)
{
    const pf_archive *a = &x->archive;
    uint32_t n = 0;
    bool *seen = pf_alloc(PARTS_MOST, sizeof *seen);
    if (!seen)
        return pf_fail_nomem(err, "archive");
    for (uint32_t i = 0; i < a->n_chunks; i++) {
        n += !seen[a->chunks[i].source];
        seen[a->chunks[i].source] = true;
    }
    perfile_status st = PERFILE_OK;
    if (wanted > n && wanted > 1)
        st = pf_fail(err, PERFILE_E_USAGE, "source.capture",
                     "it holds %u capture%s, there is no %u", n, n == 1 ? "" : "s", wanted);
    else if (!wanted && n > 1)
        st = pf_fail(err, PERFILE_E_USAGE, "source.capture",
                     "it holds %u captures: say which, from 1 to %u (--source)", n, n);
    uint32_t at = wanted ? wanted : 1;
    for (uint32_t i = 0; i < PARTS_MOST && at; i++)
        if (seen[i] && --at == 0)
            x->number = (uint16_t)i;
    pf_free(seen);
    return st;
}

/* True if the bytes are an archive, also one whose first bytes are damaged. */
static bool is_archive(perfile_source *s, bool *is, perfile_status *st, perfile_error *err)
{
    enum { MAGIC = 8 };
    perfile_bytes run;
    pf_chunk c;
    *is = false;
    *st = pf_source_run(s, 0, MAGIC, &run, err);
    if (*st != PERFILE_OK)
        return false;
    *is = pf_archive_has_magic(run);
    const uint64_t size = s->size;
    if (*is || !s->seekable || size < 3 * PF_ARCHIVE_HEADER || size % PF_ARCHIVE_HEADER)
        return *is;
    if (pf_source_run(s, PF_ARCHIVE_HEADER, PF_ARCHIVE_HEADER, &run, NULL) == PERFILE_OK &&
        run.len >= PF_ARCHIVE_HEADER && pf_chunk_decode(run.ptr, PF_ARCHIVE_HEADER, 0, &c))
        *is = true;
    return *is;
}

static perfile_status open_shared(shared *x, perfile_source **image, perfile_error *err)
{
    const perfile_source *below = x->archive.source;
    const perfile_source_options options = below->options;
    const unsigned flags = options.flags & PERFILE_SOURCE_NO_INDEX ? PF_ARCHIVE_NO_INDEX : 0;
    perfile_status st = pf_archive_read(x->archive.source, flags, &x->archive, err);
    if (st == PERFILE_OK)
        st = choose(x, options.capture, err);
    if (st == PERFILE_OK)
        st = read_meta(x, err);
    if (st != PERFILE_OK)
        return st;
    const pf_meta_part *first = pf_meta_part_of(&x->meta, 0);
    const bool directory = (first && first->name) || parts_of(x) > 1;
    return directory ? open_directory(x, &options, image, err)
                     : open_image(x, 0, &options, image, err);
}

/* Where the bytes are read from: the source itself, or a copy of a pipe. */
static perfile_status choose_below(shared *x, perfile_source *source, perfile_error *err)
{
    x->archive.source = source;
    if (source->seekable)
        return PERFILE_OK;
    x->pipe = source;
    x->archive.source = NULL;
    perfile_status st = pf_source_spool(source, &x->archive.source, err);
    if (st == PERFILE_OK)
        x->archive.source->options.capture = source->options.capture;
    return st;
}

/* Forgets the source that was given, which stays the caller's. */
static void give_back(shared *x)
{
    if (!x->pipe)
        x->archive.source = NULL;
    x->pipe = NULL;
}

void pf_archive_source_undo(perfile_source *image)
{
    give_back((shared *)image->origin);
    perfile_source_close(image);
}

perfile_status perfile_archive_source(perfile_source **source, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    perfile_source *image = NULL;
    bool is;
    if ((*source)->origin || pf_source_has_entries(*source) || !is_archive(*source, &is, &st, err))
        return st;
    shared *x = pf_alloc(1, sizeof *x);
    if (!x)
        return pf_fail_nomem(err, "archive");
    x->origin = (pf_source_origin){.users = 1, .release = release};
    st = choose_below(x, *source, err);
    if (st == PERFILE_OK)
        st = open_shared(x, &image, err);
    if (st == PERFILE_OK)
        *source = image;
    else
        give_back(x);
    pf_source_origin_leave(&x->origin);
    return st;
}
