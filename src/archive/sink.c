/* perfile_archive_sink(), perfile_archive_writer_capture(): sinks that pack what is written to
 * them.
 *
 * Such a sink is that of part 0, the only file or the file `data` of a directory, and owns the
 * packer; the only capture of an archive owns the writer, too.
 * Sinks of data.N are parts of their own, which belong to it; both may get other names.
 *
 * It can be patched where nothing is packed yet: what stands in front of the first record is held
 * back for writers that complete it at the end.  Who will not patch says so by clearing
 * `patchable`. */
#include <errno.h>
#include <stdio.h>

#include "archive/writer.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "io/out_kind.h"

enum { PART_NAME = 24 /* room for "data.N" */ };

typedef struct archive_sink archive_sink;
struct archive_sink {
    perfile_sink base;
    archive_sink *main; /* the sink of part 0, which may be this one */
    uint32_t number;    /* of the part */
    /* Of the sink of part 0: */
    perfile_archive_writer *writer;
    bool owns_writer;
    pf_packer *packer;
    archive_sink **parts; /* of data.N at N; NULL: not requested yet */
    uint32_t n_parts;
    uint32_t numbers; /* parts that the packer has */
};

/* Keeps the error of the packer, which says more than an errno. */
static int64_t failed(archive_sink *s, const perfile_error *e)
{
    if (!s->base.error.status)
        s->base.error = *e;
    return -EIO;
}

/* What is to be written next is held back if it may be patched, and differs from what was packed as
 * the sink says. */
static perfile_status prepare(archive_sink *s, perfile_error *err)
{
    pf_packer_hold(s->main->packer, s->number, s->base.patchable);
    return pf_packer_mark(s->main->packer, s->main->base.lossy | s->base.lossy, err);
}

static int64_t write_bytes(perfile_sink *sink, perfile_bytes bytes)
{
    archive_sink *s = (archive_sink *)sink;
    perfile_error e;
    perfile_status st = prepare(s, &e);
    if (st == PERFILE_OK)
        st = pf_packer_write(s->main->packer, s->number, bytes, &e);
    return st == PERFILE_OK ? (int64_t)bytes.len : failed(s, &e);
}

static int64_t patch(perfile_sink *sink, uint64_t offset, perfile_bytes bytes)
{
    archive_sink *s = (archive_sink *)sink;
    perfile_error e;
    return pf_packer_patch(s->main->packer, s->number, offset, bytes, &e) == PERFILE_OK
               ? (int64_t)bytes.len
               : failed(s, &e);
}

static perfile_status records(perfile_sink *sink, uint64_t offset, const pf_batch *batch,
                              perfile_error *err)
{
    archive_sink *s = (archive_sink *)sink;
    pf_packer *packer = s->main->packer;
    if (!batch->stored)
        return pf_packer_records(packer, s->number, offset, batch->at, batch->n, err);
    perfile_status st = prepare(s, err);
    if (st == PERFILE_OK)
        st = pf_packer_stored(packer, s->number, batch->stored, err);
    if (st == PERFILE_OK)
        sink->passed += batch->stored->bytes;
    return st;
}

static perfile_status finish(perfile_sink *sink, pf_sink_end how, perfile_error *err)
{
    archive_sink *s = (archive_sink *)sink;
    perfile_status st = PERFILE_OK;
    if (s->main != s || how != PF_SINK_LAST)
        return st;
    st = prepare(s, err);
    for (uint32_t i = 0; i < s->n_parts && st == PERFILE_OK; i++)
        if (s->parts[i])
            st = perfile_sink_finish(&s->parts[i]->base, err);
    if (st == PERFILE_OK)
        st = pf_archive_writer_end(s->writer, s->packer, err);
    if (st == PERFILE_OK && s->owns_writer)
        st = perfile_archive_writer_finish(s->writer, err);
    sink->temporary = s->writer->below->temporary;
    return st;
}

static void abort_output(perfile_sink *sink)
{
    archive_sink *s = (archive_sink *)sink;
    if (s->main == s)
        perfile_sink_abort(s->writer->below);
    sink->temporary = NULL;
}

static perfile_status reads(perfile_sink *sink, perfile_error *err)
{
    const archive_sink *s = (const archive_sink *)sink;
    return pf_sink_add_inputs(s->main->writer->below, &sink->inputs, err);
}

static void close_sink(perfile_sink *sink)
{
    archive_sink *s = (archive_sink *)sink;
    if (s->main != s)
        return;
    for (uint32_t i = 0; i < s->n_parts; i++)
        if (s->parts[i])
            perfile_sink_close(&s->parts[i]->base);
    pf_free(s->parts);
    pf_packer_close(s->packer);
    if (s->owns_writer)
        perfile_archive_writer_close(s->writer);
}

static const pf_sink_ops file_ops = {.write = write_bytes,
                                     .patch = patch,
                                     .records = records,
                                     .finish = finish,
                                     .abort = abort_output,
                                     .reads = reads,
                                     .close = close_sink};

/* Makes the sink of part n. */
static perfile_status new_part(archive_sink *s, uint32_t n, const char *name, perfile_error *err)
{
    archive_sink *x;
    perfile_status st =
        pf_sink_new(sizeof *x, &file_ops, s->base.name, NULL, PF_SINK_PART_BUFFER, &x, err);
    if (st != PERFILE_OK)
        return st;
    x->main = s;
    x->number = s->numbers;
    x->base.patchable = true;
    x->base.takes_stored = s->base.takes_stored;
    st = pf_packer_part(s->packer, name, err);
    if (st != PERFILE_OK) {
        perfile_sink_close(&x->base);
        return st;
    }
    s->numbers++;
    s->parts[n] = x;
    return PERFILE_OK;
}

/* Makes room for the sinks of parts up to `n`. */
static perfile_status reserve_parts(archive_sink *s, uint32_t n, perfile_error *err)
{
    enum { MOST_PARTS = 65534 };
    if (n >= MOST_PARTS)
        return pf_fail(err, PERFILE_E_LIMIT, "sink.part", "data.%u: no recording has so many", n);
    if (n >= s->n_parts) {
        archive_sink **more = pf_realloc(s->parts, (size_t)n + 1, sizeof *more);
        if (!more)
            return pf_fail_nomem(err, "sink");
        s->parts = more;
        while (s->n_parts <= n)
            s->parts[s->n_parts++] = NULL;
    }
    return PERFILE_OK;
}

static perfile_status get_part(perfile_sink *sink, uint32_t file, const char *name,
                               perfile_sink **part, perfile_error *err)
{
    archive_sink *s = (archive_sink *)sink;
    char usual[PART_NAME];
    if (file == 0)
        return pf_packer_name(s->packer, 0, name, err);
    snprintf(usual, sizeof usual, "data.%u", file - 1);
    perfile_status st = reserve_parts(s, file - 1, err);
    if (st != PERFILE_OK)
        return st;
    const archive_sink *x = s->parts[file - 1];
    if (!x)
        st = new_part(s, file - 1, name ? name : usual, err);
    else if (name)
        st = pf_packer_name(s->packer, x->number, name, err);
    if (st == PERFILE_OK && part)
        *part = &s->parts[file - 1]->base;
    return st;
}

static const pf_sink_ops directory_ops = {.write = write_bytes,
                                          .patch = patch,
                                          .records = records,
                                          .part = get_part,
                                          .finish = finish,
                                          .abort = abort_output,
                                          .reads = reads,
                                          .close = close_sink};

perfile_status perfile_archive_writer_capture(perfile_archive_writer *w,
                                              const perfile_archive_options *options,
                                              perfile_sink **sink, perfile_error *err)
{
    perfile_archive_options how;
    archive_sink *s;
    perfile_status st = pf_options_copy(&how, options, "archive.options", err);
    if (st != PERFILE_OK)
        return st;
    const bool directory = how.flags & PERFILE_ARCHIVE_DIRECTORY;
    st = pf_sink_new(sizeof *s, directory ? &directory_ops : &file_ops, perfile_sink_name(w->below),
                     NULL, PF_SINK_BUFFER, &s, err);
    if (st != PERFILE_OK)
        return st;
    s->main = s;
    s->writer = w;
    s->base.patchable = true;
    /* Who asks for a level or for other chunks than usual wants them encoded again. */
    s->base.takes_stored = !how.level && !how.chunk_records;
    st = pf_archive_writer_begin(w, &how, &s->packer, err);
    if (st == PERFILE_OK)
        st = pf_packer_part(s->packer, directory ? "data" : NULL, err);
    if (st != PERFILE_OK) {
        perfile_sink_close(&s->base);
        return st;
    }
    s->numbers = 1;
    s->base.temporary = w->below->temporary;
    *sink = &s->base;
    return PERFILE_OK;
}

perfile_status perfile_archive_sink(perfile_sink *below, const perfile_archive_options *options,
                                    perfile_sink **sink, perfile_error *err)
{
    perfile_archive_writer *w;
    perfile_status st = perfile_archive_writer_new(below, NULL, options, &w, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_archive_writer_capture(w, options, sink, err);
    if (st == PERFILE_OK) {
        ((archive_sink *)*sink)->owns_writer = true;
    } else {
        w->below = NULL; /* it stays the caller's */
        perfile_archive_writer_close(w);
    }
    return st;
}
