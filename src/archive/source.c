/* pf_archive_source(): shows a capture in an archive as a source, which is a file or a
 * directory.
 *
 * All sources of one capture share the table of chunks and the account of lost bytes.  The last
 * source that is closed closes the archive. */
#include "archive/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/meta.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "io/source_kind.h"
#include "perfile/archive.h"
#include "archive/command.h"
#include "io/command.h"

enum { PARTS_MOST = 65536, NAME_BYTES = 24 };

/* A file of a directory. */
typedef struct entry_of_part {
    uint32_t part;
    const char *name;     /* NULL: `own` */
    char own[NAME_BYTES]; /* default name, as perf calls the file */
} entry_of_part;

typedef struct shared {
    pf_source_origin origin; /* first member: release() gets a pointer to it */
    pf_archive archive;
    perfile_source *pipe; /* archive.source is a copy of it; NULL: no pipe */
    uint16_t number;      /* capture number in chunk headers */
    pf_meta meta;
    entry_of_part *entries; /* files of a directory, by name */
    uint32_t n_entries;
} shared;

static void release(pf_source_origin *o)
{
    shared *x = (shared *)o;
    perfile_source *below = x->archive.source;
    pf_archive_clear(&x->archive);
    pf_meta_clear(&x->meta);
    pf_free(x->entries);
    perfile_source_close(below);
    perfile_source_close(x->pipe);
    pf_free(x);
}

/* Opens an image of one part, which shares *x. */
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

static const char *name_of(const entry_of_part *e)
{
    return e->name ? e->name : e->own;
}

/* If the metadata are lost, a part has the name that perf gives it. */
static void make_entry(const shared *x, uint32_t part, entry_of_part *e)
{
    const pf_meta_part *about = pf_meta_part_of(&x->meta, part);
    *e = (entry_of_part){.part = part, .name = about ? about->name : NULL};
    if (part)
        snprintf(e->own, sizeof e->own, "data.%u", part - 1);
    else
        snprintf(e->own, sizeof e->own, "data");
}

/* qsort() order: by name, then by number. */
static int compare_entries(const void *a, const void *b)
{
    const entry_of_part *x = a, *y = b;
    const int names = strcmp(name_of(x), name_of(y));
    return names ? names : (x->part > y->part) - (x->part < y->part);
}

/* Collects the parts of the capture: all that have chunks or are in the metadata.  If several have
 * the same name, only the one with the lowest number is shown. */
static perfile_status collect_entries(shared *x, perfile_error *err)
{
    const pf_archive_span all = pf_archive_of_parts(&x->archive, x->number);
    bool *there = pf_alloc(PARTS_MOST, sizeof *there);
    uint32_t n = 0, kept = 0;
    for (uint32_t i = 0; there && i < all.n; i++)
        there[all.at[i]->part] = true;
    for (uint32_t i = 0; there && i < x->meta.n_parts; i++)
        there[x->meta.parts[i].number] = true;
    for (uint32_t i = 0; there && i < PARTS_MOST; i++)
        n += there[i];
    x->entries = there ? pf_alloc(n, sizeof *x->entries) : NULL;
    for (uint32_t i = 0; x->entries && i < PARTS_MOST; i++)
        if (there[i])
            make_entry(x, i, &x->entries[x->n_entries++]);
    pf_free(there);
    if (!x->entries)
        return pf_fail_nomem(err, "archive");
    if (n)
        qsort(x->entries, n, sizeof *x->entries, compare_entries);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || strcmp(name_of(&x->entries[kept - 1]), name_of(&x->entries[i])) != 0)
            x->entries[kept++] = x->entries[i];
    x->n_entries = kept;
    return PERFILE_OK;
}

static perfile_status list(const perfile_source *s, const char *prefix, pf_buffer *names, size_t *n,
                           perfile_error *err)
{
    const shared *x = (const shared *)s->origin;
    for (uint32_t i = 0; i < x->n_entries; i++) {
        const char *name = name_of(&x->entries[i]);
        if (strncmp(name, prefix, strlen(prefix)) != 0)
            continue;
        if (!pf_buffer_append(names, name, strlen(name) + 1))
            return pf_fail_nomem(err, "archive");
        ++*n;
    }
    return PERFILE_OK;
}

static int compare_name(const void *name, const void *entry)
{
    return strcmp(name, name_of(entry));
}

static perfile_status entry(const perfile_source *s, const char *name, perfile_source **source,
                            perfile_error *err)
{
    shared *x = (shared *)s->origin;
    const entry_of_part *e =
        x->n_entries ? bsearch(name, x->entries, x->n_entries, sizeof *x->entries, compare_name)
                     : NULL;
    if (e)
        return open_image(x, e->part, &s->options, source, err);
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
        pf_source_new(sizeof *d, &directory_ops, pf_source_name(below), options, &d, err);
    if (st != PERFILE_OK)
        return st;
    if (!pf_inputs_join(&d->inputs, &below->inputs)) {
        perfile_source_close(d);
        return pf_fail_nomem(err, "archive");
    }
    d->seekable = true;
    d->origin = pf_source_origin_join(&x->origin);
    *source = d;
    return PERFILE_OK;
}

perfile_status pf_archive_source_again(const perfile_source *source, perfile_source **again,
                                       perfile_error *err)
{
    return open_directory((shared *)source->origin, &source->options, again, err);
}

/* Reads the META chunks of the capture.  Each unreadable one counts as a loss. */
static perfile_status read_meta(shared *x, perfile_error *err)
{
    pf_archive *a = &x->archive;
    const pf_archive_span maps = pf_archive_metas(a, x->number);
    pf_buffer map = {0};
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < maps.n && st == PERFILE_OK; i++) {
        pf_buffer_clear(&map);
        st = pf_archive_map(a, maps.at[i], &map, err);
        if (st == PERFILE_OK)
            st = pf_meta_decode((perfile_bytes){map.ptr, map.len}, &x->meta, err);
        if (st == PERFILE_E_CORRUPT || st == PERFILE_E_UNSUPPORTED || st == PERFILE_E_LIMIT) {
            x->origin.lost.places++;
            st = PERFILE_OK;
        }
    }
    pf_buffer_free(&map);
    x->origin.lossy = pf_meta_lossy_bits(&x->meta);
    return st;
}

/* Returns the bytes of a part that are in no chunk.  The size of the part is the larger of `end`
 * and the size in the metadata. */
static uint64_t missing_of(const shared *x, uint32_t part, uint64_t end, uint64_t held)
{
    const pf_meta_part *about = pf_meta_part_of(&x->meta, part);
    if (about && about->has_size && about->size > end)
        end = about->size;
    return end > held ? end - held : 0;
}

/* Rejects a capture with a decoded size that is too large for the bytes of the archive.  Zeros for
 * missing bytes count like any other. */
static perfile_status check_sizes(const shared *x, perfile_error *err)
{
    const pf_archive_span all = pf_archive_of_parts(&x->archive, x->number);
    uint64_t decoded = 0, missing = 0;
    for (uint32_t i = 0; i < all.n;) {
        const uint32_t part = all.at[i]->part;
        uint64_t end = 0, held = 0;
        for (; i < all.n && all.at[i]->part == part; i++) {
            const pf_chunk *c = all.at[i];
            if (c->kind != PF_CHUNK_RECORDS && c->kind != PF_CHUNK_BYTES)
                continue;
            held += c->raw_len;
            end = c->raw_off + c->raw_len > end ? c->raw_off + c->raw_len : end;
        }
        decoded += held;
        if (pf_add_u64(missing, missing_of(x, part, end, held), &missing))
            missing = UINT64_MAX;
    }
    for (uint32_t i = 0; i < x->meta.n_parts; i++) {
        const uint32_t part = x->meta.parts[i].number;
        if (part < PARTS_MOST &&
            pf_archive_of_part(&x->archive, x->number, (uint16_t)part).n == 0 &&
            pf_add_u64(missing, missing_of(x, part, 0, 0), &missing))
            missing = UINT64_MAX;
    }
    if (pf_add_u64(decoded, missing, &decoded))
        decoded = UINT64_MAX;
    return pf_archive_check_ratio(&x->archive, decoded, err);
}

/* Chooses the capture `wanted`, counted from 1; 0: the only one. */
static perfile_status choose(shared *x, uint32_t wanted, perfile_error *err)
{
    const pf_archive *a = &x->archive;
    uint32_t n = pf_archive_find_capture(a, wanted ? wanted : 1, &x->number);
    if (wanted > n && wanted > 1)
        return pf_fail(err, PERFILE_E_USAGE, "source.capture",
                       "it holds %u capture%s, there is no %u", n, n == 1 ? "" : "s", wanted);
    uint16_t last;
    n = wanted ? n : pf_archive_find_capture(a, UINT32_MAX, &last);
    if (n > 1 && !wanted)
        return pf_fail(err, PERFILE_E_USAGE, "source.capture",
                       "it holds %u captures: say which, from 1 to %u", n, n);
    return PERFILE_OK;
}

/* Returns true if the capture is a directory: part 0 has a name, or there are other parts. */
static bool is_directory(const shared *x)
{
    const pf_archive_span all = pf_archive_of_parts(&x->archive, x->number);
    const pf_meta_part *first = pf_meta_part_of(&x->meta, 0);
    bool is = first && first->name;
    for (uint32_t i = 0; i < all.n && !is; i++)
        is = all.at[i]->part != 0;
    for (uint32_t i = 0; i < x->meta.n_parts && !is; i++)
        is = x->meta.parts[i].number != 0;
    return is;
}

/* Opens the capture after the table was read. */
static perfile_status open_chosen(shared *x, const perfile_source_options *options,
                                  perfile_source **image, perfile_error *err)
{
    perfile_status st = choose(x, options->capture, err);
    if (st == PERFILE_OK)
        st = read_meta(x, err);
    if (st == PERFILE_OK)
        st = check_sizes(x, err);
    if (st != PERFILE_OK)
        return st;
    if (!is_directory(x))
        return open_image(x, 0, options, image, err);
    st = collect_entries(x, err);
    return st == PERFILE_OK ? open_directory(x, options, image, err) : st;
}

static perfile_status open_shared(shared *x, perfile_source **image, perfile_error *err)
{
    const perfile_source_options options = x->archive.source->options;
    const unsigned flags = options.flags & PERFILE_SOURCE_NO_INDEX ? PF_ARCHIVE_NO_INDEX : 0;
    perfile_status st = pf_archive_read(x->archive.source, flags, &x->archive, err);
    return st == PERFILE_OK ? open_chosen(x, &options, image, err) : st;
}

/* Sets the source to read from: `source` itself, or a copy if it is a pipe. */
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

/* Forgets the original source, which belongs to the caller again. */
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

/* A source with the bytes of another one, which is borrowed. */
typedef struct view_of {
    perfile_source base;
    perfile_source *below;
} view_of;

static perfile_status view_run(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                               perfile_error *err)
{
    return pf_source_run(((view_of *)s)->below, offset, need, run, err);
}

static perfile_status view_view(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                                perfile_error *err)
{
    return pf_source_view(((view_of *)s)->below, offset, need, run, err);
}

static const pf_source_ops view_ops = {.run = view_run, .view = view_view};

/* Makes the view through which a capture of the archive is read. */
static perfile_status open_view(const perfile_archive *archive, perfile_source **source,
                                perfile_error *err)
{
    perfile_source *below = archive->table.source;
    view_of *v;
    perfile_status st =
        pf_source_new(sizeof *v, &view_ops, pf_source_name(below), &below->options, &v, err);
    if (st != PERFILE_OK)
        return st;
    v->below = below;
    v->base.size = below->size;
    v->base.stable = below->stable;
    v->base.lasting = below->lasting;
    v->base.seekable = true;
    *source = &v->base;
    return pf_inputs_join(&v->base.inputs, &below->inputs) ? PERFILE_OK
                                                           : pf_fail_nomem(err, "archive");
}

perfile_status pf_archive_capture_source(perfile_archive *archive, uint32_t number,
                                         perfile_source **source, perfile_error *err)
{
    perfile_source_options options = archive->table.source->options;
    perfile_source *view = NULL;
    options.capture = number;
    shared *x = pf_alloc(1, sizeof *x);
    if (!x)
        return pf_fail_nomem(err, "archive");
    x->origin = (pf_source_origin){.users = 1, .release = release};
    perfile_status st = open_view(archive, &view, err);
    pf_archive_borrow(&archive->table, view, &x->archive);
    if (st == PERFILE_OK)
        st = open_chosen(x, &options, source, err);
    pf_source_origin_leave(&x->origin);
    return st;
}

perfile_status pf_archive_source(perfile_source **source, perfile_error *err)
{
    perfile_source *image = NULL;
    bool is;
    if ((*source)->origin)
        return PERFILE_OK;
    perfile_status st = pf_archive_recognise(*source, false, &is, err);
    if (st != PERFILE_OK || !is)
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
