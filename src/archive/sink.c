/* The sinks of archives: they pack what is written to them.
 *
 * The sink of a capture is the one of part 0: the only file, or the file `data` of a directory.  It
 * owns the packer and, for perfile_archive_sink(), the writer.  Sinks of data.N are further parts,
 * which it owns, too.  Both kinds of files may be renamed.
 *
 * Bytes can be patched until they are packed.  The bytes before the first record are kept until the
 * end for writers that complete them then.  A caller that will not patch clears `patchable`. */
#include "archive/pack.h"
#include "archive/table.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "io/out_kind.h"
#include "archive/command.h"
#include "io/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PART_NAME = 24 /* room for "data.N" */ };

typedef struct archive_sink archive_sink;
struct archive_sink {
    perfile_sink base;
    archive_sink *main; /* the sink of part 0; may be this one */
    uint32_t number;    /* of the part */
    /* Only in the sink of part 0: */
    pf_archive_writer *writer;
    bool owns_writer;
    pf_packer *packer;
    archive_sink **parts; /* sinks of data.N, by N; NULL: not requested yet */
    uint32_t n_parts;
    uint32_t numbers; /* number of parts in the packer */
};

/* Stores the error of the packer, which is more precise than an errno. */
static int64_t failed(archive_sink *s, const perfile_error *e)
{
    if (!s->base.error.status)
        s->base.error = *e;
    return -EIO;
}

/* Tells the packer whether the next bytes may be patched, and how the capture differs from the
 * original (lossy). */
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
        st = pf_archive_writer_finish(s->writer, err);
    sink->temporary = s->writer->below->temporary;
    return st;
}

static void abort_output(perfile_sink *sink)
{
    archive_sink *s = (archive_sink *)sink;
    if (s->main == s)
        pf_sink_abort(s->writer->below);
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
        pf_archive_writer_close(s->writer);
}

static const pf_sink_ops file_ops = {.write = write_bytes,
                                     .patch = patch,
                                     .records = records,
                                     .finish = finish,
                                     .abort = abort_output,
                                     .reads = reads,
                                     .close = close_sink};

/* Makes the sink of data.N. */
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

/* Makes room for the sinks up to data.N. */
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

perfile_status pf_archive_writer_capture(pf_archive_writer *w,
                                         const perfile_archive_options *options,
                                         perfile_sink **sink, perfile_error *err)
{
    perfile_archive_options how;
    archive_sink *s;
    perfile_status st = pf_options_copy(&how, options, "archive.options", err);
    if (st != PERFILE_OK)
        return st;
    const bool directory = how.flags & PERFILE_ARCHIVE_DIRECTORY;
    st = pf_sink_new(sizeof *s, directory ? &directory_ops : &file_ops, pf_sink_name(w->below),
                     NULL, PF_SINK_BUFFER, &s, err);
    if (st != PERFILE_OK)
        return st;
    s->main = s;
    s->writer = w;
    s->base.patchable = true;
    /* A caller that sets the level or the size of chunks wants them encoded again. */
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
    pf_archive_writer *w;
    perfile_status st = pf_archive_writer_new(below, NULL, options, &w, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_archive_writer_capture(w, options, sink, err);
    if (st == PERFILE_OK) {
        ((archive_sink *)*sink)->owns_writer = true;
    } else {
        w->below = NULL; /* it stays with the caller */
        pf_archive_writer_close(w);
    }
    return st;
}

/* pf_archive_writer: writes an archive of several captures, or appends captures to an archive.
 *
 * Bytes that were written are never changed.  Captures of another archive are copied chunk by
 * chunk, without decoding: a chunk depends only on its header, which is written anew. */

enum { MOST_CAPTURES = 65536 /* capture numbers that fit into a chunk header */ };

/* Checks that captures can be appended to the archive.  Yields its id, its size, its last index,
 * and the next capture number. */
static perfile_status continue_archive(const perfile_archive *after, pf_pack_options *how,
                                       uint32_t *next, perfile_error *err)
{
    const pf_archive *t = &after->table;
    const uint64_t both = PF_ARCHIVE_NEEDS_COLUMNS | PF_ARCHIVE_NEEDS_SOURCES;
    if (t->head.may)
        return pf_fail(
            err, PERFILE_E_UNSUPPORTED, "archive.may",
            "it has features that an editor must know, and this library does not: 0x%llx",
            (unsigned long long)t->head.may);
    if (!t->from_index)
        return pf_fail(err, PERFILE_E_CORRUPT, "archive.append",
                       "nothing can be appended to an archive that is damaged or was not finished: "
                       "repair it first");
    if ((t->head.needs & both) != both)
        return pf_fail(
            err, PERFILE_E_UNSUPPORTED, "archive.append",
            "its header does not allow columns and several captures: convert it to a new "
            "archive");
    how->id = t->head.id;
    how->offset = t->source->size;
    how->last_index = t->last_index;
    *next = after->n_captures ? (uint32_t)after->numbers[after->n_captures - 1] + 1 : 0;
    return PERFILE_OK;
}

perfile_status pf_archive_writer_new(perfile_sink *below, const perfile_archive *after,
                                     const perfile_archive_options *options,
                                     pf_archive_writer **writer, perfile_error *err)
{
    perfile_archive_options given;
    perfile_status st = pf_options_copy(&given, options, "archive.options", err);
    if (st == PERFILE_OK)
        st = pf_cbor_needed("archives", err);
    if (st != PERFILE_OK)
        return st;
    pf_archive_writer *w = pf_alloc(1, sizeof *w);
    if (!w)
        return pf_fail_nomem(err, "archive");
    pf_pack_options how = {.id = given.id,
                           .level = given.level,
                           .needs = PF_ARCHIVE_NEEDS_COLUMNS | PF_ARCHIVE_NEEDS_SOURCES};
    if (after)
        st = continue_archive(after, &how, &w->next, err);
    if (st == PERFILE_OK)
        st = pf_pack_new(below, &how, &w->pack, err);
    if (st == PERFILE_OK) {
        w->below = below;
        *writer = w;
    } else {
        pf_archive_writer_close(w);
    }
    return st;
}

/* Yields a number for one more capture. */
static perfile_status next_number(pf_archive_writer *w, uint16_t *number, perfile_error *err)
{
    if (w->busy)
        return pf_fail(err, PERFILE_E_USAGE, "archive.writer",
                       "the capture before it is not finished");
    if (w->next == MOST_CAPTURES)
        return pf_fail(err, PERFILE_E_LIMIT, "archive.captures", "more than %d captures",
                       MOST_CAPTURES);
    *number = (uint16_t)w->next++;
    return PERFILE_OK;
}

perfile_status pf_archive_writer_begin(pf_archive_writer *w, const perfile_archive_options *options,
                                       pf_packer **packer, perfile_error *err)
{
    uint16_t number = 0;
    perfile_status st = next_number(w, &number, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_packer_new(w->pack, number, options, packer, err);
    w->busy = st == PERFILE_OK;
    return st;
}

perfile_status pf_archive_writer_end(pf_archive_writer *w, pf_packer *packer, perfile_error *err)
{
    perfile_status st = pf_packer_finish(packer, err);
    w->busy = st != PERFILE_OK;
    return st;
}

static int by_offset(const void *a, const void *b)
{
    const pf_chunk *x = *(const pf_chunk *const *)a, *y = *(const pf_chunk *const *)b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static perfile_status copy_chunk(pf_archive_writer *w, perfile_archive *a, const pf_chunk *c,
                                 uint16_t number, perfile_error *err)
{
    if (!pf_chunk_kind_name(c->kind) && !(c->flags & PF_CHUNK_FLAG_COPY_OK))
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "archive.copy",
                       "the chunk at %llu is of an unknown kind, and does not say that it may be "
                       "copied",
                       (unsigned long long)c->offset);
    pf_buffer_clear(&a->bytes);
    perfile_status st = pf_archive_meta(&a->table, c, &a->bytes, err);
    const perfile_bytes meta = {a->bytes.ptr, a->bytes.len};
    return st == PERFILE_OK ? pf_pack_copy(w->pack, &a->table, c, number, meta, err) : st;
}

/* Copies the chunks of the capture with the number `from` in chunk headers, in the order of their
 * offsets. */
static perfile_status copy_capture(pf_archive_writer *w, perfile_archive *a, uint16_t from,
                                   perfile_error *err)
{
    pf_archive *t = &a->table;
    const pf_archive_span all = pf_archive_of_capture(t, from);
    uint16_t number = 0;
    perfile_status st = next_number(w, &number, err);
    const pf_chunk **chunks = pf_alloc(all.n, sizeof *chunks);
    if (st == PERFILE_OK && !chunks)
        st = pf_fail_nomem(err, "archive");
    if (st == PERFILE_OK && all.n) {
        memcpy(chunks, all.at, all.n * sizeof *chunks);
        qsort(chunks, all.n, sizeof *chunks, by_offset);
    }
    for (uint32_t i = 0; i < all.n && st == PERFILE_OK; i++)
        st = copy_chunk(w, a, chunks[i], number, err);
    pf_free(chunks);
    return st;
}

perfile_status pf_archive_writer_copy(pf_archive_writer *w, perfile_archive *from, uint32_t number,
                                      perfile_error *err)
{
    if (number > from->n_captures)
        return pf_fail(err, PERFILE_E_USAGE, "archive.capture",
                       "there is no capture %u: the archive has %u", number, from->n_captures);
    if (from->table.head.may)
        return pf_fail(
            err, PERFILE_E_UNSUPPORTED, "archive.may",
            "it has features that an editor must know, and this library does not: 0x%llx",
            (unsigned long long)from->table.head.may);
    if (from->table.n_gaps || from->table.head_damaged || !from->table.finished)
        return pf_fail(err, PERFILE_E_CORRUPT, "archive.copy",
                       "it is damaged or was not finished: repair it first");
    perfile_status st = pf_sink_add_inputs(w->below, &from->source->inputs, err);
    for (uint32_t i = 0; i < from->n_captures && st == PERFILE_OK; i++)
        if (!number || number == i + 1)
            st = copy_capture(w, from, from->numbers[i], err);
    return st;
}

perfile_status pf_archive_writer_finish(pf_archive_writer *w, perfile_error *err)
{
    if (w->busy)
        return pf_fail(err, PERFILE_E_USAGE, "archive.writer", "a capture is not finished");
    perfile_status st = pf_pack_finish(w->pack, err);
    return st == PERFILE_OK ? perfile_sink_finish(w->below, err) : st;
}

void pf_archive_writer_close(pf_archive_writer *w)
{
    if (!w)
        return;
    pf_pack_close(w->pack);
    perfile_sink_close(w->below);
    pf_free(w);
}
