/* perfile_archive_writer: an archive of several captures, one after the other, and captures that
 * are appended to an archive.
 *
 * What was written is never changed.  The captures of another archive are copied chunk by chunk, as
 * they are stored there: a chunk depends on nothing but its header, and that is made anew. */
#include "archive/writer.h"

#include <stdlib.h>
#include <string.h>

#include "archive/list.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"

enum { MOST_CAPTURES = 65536 /* numbers that the header of a chunk can hold */ };

/* Checks that chunks can be appended to an archive, and says where. */
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

perfile_status perfile_archive_writer_new(perfile_sink *below, const perfile_archive *after,
                                          const perfile_archive_options *options,
                                          perfile_archive_writer **writer, perfile_error *err)
{
    perfile_archive_options given;
    perfile_status st = pf_options_copy(&given, options, "archive.options", err);
    if (st != PERFILE_OK)
        return st;
    perfile_archive_writer *w = pf_alloc(1, sizeof *w);
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
        perfile_archive_writer_close(w);
    }
    return st;
}

/* A number for one more capture. */
static perfile_status next_number(perfile_archive_writer *w, uint16_t *number, perfile_error *err)
{
    if (w->busy)
        return pf_fail(err, PERFILE_E_USAGE, "archive.writer",
                       "the capture in front of it is not finished");
    if (w->next == MOST_CAPTURES)
        return pf_fail(err, PERFILE_E_LIMIT, "archive.captures", "more than %d captures",
                       MOST_CAPTURES);
    *number = (uint16_t)w->next++;
    return PERFILE_OK;
}

perfile_status pf_archive_writer_begin(perfile_archive_writer *w,
                                       const perfile_archive_options *options, pf_packer **packer,
                                       perfile_error *err)
{
    uint16_t number = 0;
    perfile_status st = next_number(w, &number, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_packer_new(w->pack, number, options, packer, err);
    w->busy = st == PERFILE_OK;
    return st;
}

perfile_status pf_archive_writer_end(perfile_archive_writer *w, pf_packer *packer,
                                     perfile_error *err)
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

static perfile_status copy_chunk(perfile_archive_writer *w, perfile_archive *a, const pf_chunk *c,
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

/* Copies the chunks of one capture, which has the number `from` in their headers, in their order.
 */
static perfile_status copy_capture(perfile_archive_writer *w, perfile_archive *a, uint16_t from,
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

perfile_status perfile_archive_writer_copy(perfile_archive_writer *w, perfile_archive *from,
                                           uint32_t number, perfile_error *err)
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

perfile_status perfile_archive_writer_finish(perfile_archive_writer *w, perfile_error *err)
{
    if (w->busy)
        return pf_fail(err, PERFILE_E_USAGE, "archive.writer", "a capture is not finished");
    perfile_status st = pf_pack_finish(w->pack, err);
    return st == PERFILE_OK ? perfile_sink_finish(w->below, err) : st;
}

void perfile_archive_writer_close(perfile_archive_writer *w)
{
    if (!w)
        return;
    pf_pack_close(w->pack);
    perfile_sink_close(w->below);
    pf_free(w);
}
