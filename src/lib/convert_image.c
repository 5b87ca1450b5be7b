/* Converting without moving a byte: the output has the form of the input, file by file.
 *
 * Records are walked in order while the bytes in front of them are copied (pf_image_copy_below()).
 * If the source is not mapped, its bytes are in memory only while the stream reads them; then a tee
 * copies each of them when it is read, and nothing is copied here.
 *
 * For another byte order, convert_copy.c swaps records and facts where they stand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/table.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "lib/registry.h"
#include "lib/convert.h"
#include "lib/passes.h"
#include "schema/rows.h"

enum {
    COPY_BYTES = 1 << 20,    /* collected before they are copied, to make few large writes */
    CHUNK_BYTES = 4 << 20,   /* of a payload that is longer: it need not be in memory at once */
    PROGRESS_BYTES = 8 << 20 /* between two calls of the progress callback */
};

perfile_status pf_image_copy_below(pf_image *m, uint64_t end, perfile_error *err)
{
    perfile_source *from = m->bytes[m->part];
    if (pf_tee_copies(&m->tee))
        return PERFILE_OK; /* the tee has copied them already */
    while (m->copied < end) {
        perfile_bytes run;
        perfile_status st = pf_source_run(from, m->copied, 1, &run, err);
        if (st != PERFILE_OK || run.len == 0)
            return st;
        if (run.len > end - m->copied)
            run.len = (size_t)(end - m->copied);
        st = perfile_sink_write(m->sink, run, err);
        if (st != PERFILE_OK)
            return st;
        m->copied += run.len;
    }
    return PERFILE_OK;
}

/* Copies the rest of the current file. */
static perfile_status copy_rest(pf_image *m, perfile_error *err)
{
    if (pf_tee_copies(&m->tee))
        return pf_tee_rest(&m->tee, err);
    return pf_image_copy_below(m, UINT64_MAX, err);
}

/* Ends the current file and those without records, up to the file with index `part`. */
static perfile_status go_to_part(pf_image *m, uint32_t part, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    while (m->part < part && st == PERFILE_OK) {
        st = copy_rest(m, err);
        m->done += m->copied;
        m->part++;
        m->copied = 0;
        if (st == PERFILE_OK)
            st = pf_sink_part(m->x->sink, m->part - 1, &m->sink, err);
    }
    return st;
}

/* Counts the records of a run, and reports progress. */
static void count(pf_image *m, const perfile_record *first, size_t n)
{
    perfile_copy_summary *sum = &m->x->result.copied;
    sum->records += n;
    for (const perfile_record *r = first; r < first + n; r++)
        sum->samples += r->type == PERFILE_RECORD_SAMPLE;
    uint64_t at = m->done + first->offset;
    if (at < m->reported + PROGRESS_BYTES)
        return;
    m->reported = at;
    if (m->x->options.progress)
        m->x->options.progress(m->x->options.user, at, m->total);
}

/* Notes damage, or fails if the conversion is not forced.  If the damage is a header with a bad
 * size, the header is swapped (see the top of this file); all else will be copied as it is. */
static perfile_status handle_damage(pf_image *m, const perfile_record *r, perfile_error *err)
{
    perfile_status st = pf_convert_note_damage(m->x, r, err);
    return st == PERFILE_OK && m->x->byteswaps ? pf_image_swap_damaged(m, r, err) : st;
}

/* Copies a run, and says where its records are.  What is inside an envelope is no part of the file.
 */
static perfile_status tell_records(pf_image *m, const perfile_record *first, size_t n,
                                   perfile_error *err)
{
    const perfile_record *last = &first[n - 1];
    if (first->flags & PERFILE_REC_INNER || first->family != PERFILE_FAMILY_PERF)
        return PERFILE_OK;
    perfile_status st = pf_image_copy_below(m, last->offset + perfile_record_size(last), err);
    return st == PERFILE_OK
               ? pf_sink_records(m->sink, first->offset, &(pf_batch){.at = first, .n = n}, err)
               : st;
}

/* Handles one run of the stream.  Without byte-swapping, bytes are copied COPY_BYTES at a time. */
static perfile_status copy_run(pf_image *m, const perfile_record *first, size_t n,
                               perfile_error *err)
{
    perfile_status st = go_to_part(m, first->part, err);
    if (st != PERFILE_OK)
        return st;
    if (first->family == PERFILE_FAMILY_DAMAGE)
        return handle_damage(m, first, err);
    count(m, first, n);
    if (m->x->byteswaps)
        return pf_image_swap(m, first, n, err);
    if (pf_sink_wants_records(m->sink))
        return tell_records(m, first, n, err);
    return first->offset < m->copied + COPY_BYTES ? PERFILE_OK
                                                  : pf_image_copy_below(m, first->offset, err);
}

/* Finishes the output, unless bytes that should be in it are lost in a damaged archive. */
static perfile_status finish(pf_image *m, perfile_error *err)
{
    const pf_source_origin *origin = m->x->source ? m->x->source->origin : m->stream->origin;
    if (!m->x->keeps || !origin || !origin->lost.places)
        return perfile_sink_finish(m->x->sink, err);
    const pf_source_lost *lost = &origin->lost;
    if (m->x->zeros) {
        const perfile_note note = {.kind = PERFILE_NOTE_DAMAGE,
                                   .number = UINT32_MAX,
                                   .damage = PERFILE_DAMAGE_ARCHIVE,
                                   .count = 1,
                                   .bytes = lost->bytes,
                                   .offset = lost->offset,
                                   .part = lost->part};
        pf_notes_add(&m->x->notes, &note);
        m->x->lost = true;
        m->x->result.copied.damages = lost->places;
        m->x->result.copied.lost = lost->bytes;
        return perfile_sink_finish(m->x->sink, err);
    }
    perfile_status st = pf_fail(err, PERFILE_E_CORRUPT, "archive.lost",
                                "the archive is damaged: %llu bytes of the capture are lost, in "
                                "%llu places, the first at its offset %llu",
                                (unsigned long long)lost->bytes, (unsigned long long)lost->places,
                                (unsigned long long)lost->offset);
    if (err)
        err->damage = PERFILE_DAMAGE_ARCHIVE;
    return st;
}

/* Copies all files from the first record to the end. */
static perfile_status copy(pf_image *m, perfile_error *err)
{
    const perfile_container *c = perfile_stream_container(m->stream);
    const perfile_record *first;
    size_t n;
    perfile_status st = pf_convert_check_damage(m->x, m->stream, err);
    for (uint32_t i = 0; i < c->n_parts; i++)
        m->total += c->parts[i].size == UINT64_MAX ? 0 : c->parts[i].size;
    if (st == PERFILE_OK)
        st = pf_image_swap_head(m, err);
    while (st == PERFILE_OK &&
           (st = perfile_stream_next_run(m->stream, &first, &n, err)) == PERFILE_OK)
        st = copy_run(m, first, n, err);
    if (st == PERFILE_END)
        st = go_to_part(m, m->n_files - 1, err);
    if (st == PERFILE_OK)
        st = copy_rest(m, err);
    if (st == PERFILE_OK && m->x->byteswaps && m->x->head.form == PERFILE_FORM_FILE)
        st = pf_image_swap_facts(m, err);
    if (st == PERFILE_OK)
        st = pf_companions_copy(perfile_stream_session(m->stream), m->x->sink, err);
    return st == PERFILE_OK ? finish(m, err) : st;
}

/* Opens the files of a directory as sources: `data`, then data.0, data.1 … in the order in which
 * the driver reads them.  A gap in the numbers is an error, because the output's parts are numbered
 * by their order. */
static perfile_status open_files(pf_image *m, perfile_error *err)
{
    perfile_source *dir = m->x->source;
    char **names = NULL;
    size_t n = 0;
    perfile_status st = pf_source_list(dir, "data.", &names, &n, err);
    if (st != PERFILE_OK)
        return st;
    m->bytes = pf_alloc(n + 1, sizeof *m->bytes);
    if (!m->bytes)
        st = pf_fail_nomem(err, "convert");
    if (st == PERFILE_OK)
        st = pf_source_entry(dir, "data", &m->bytes[m->n_files++], err);
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "data.%zu", i);
        if (strcmp(names[i], expected) != 0)
            st = pf_fail(err, PERFILE_E_UNSUPPORTED, "convert.directory",
                         "it has a file '%s' where '%s' should be", names[i], expected);
        else
            st = pf_source_entry(dir, names[i], &m->bytes[m->n_files++], err);
    }
    pf_free(names);
    return st;
}

/* The same of a format whose files have names of their own: those of the stream's parts, which the
 * output's get, too. */
static perfile_status open_named_files(pf_image *m, perfile_error *err)
{
    pf_convert *x = m->x;
    perfile_source *again;
    perfile_status st = pf_passes_reopen(x->source, &again, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_convert_open(x, again, &m->stream, err);
    if (st != PERFILE_OK) {
        perfile_source_close(again);
        return st;
    }
    const perfile_container *c = perfile_stream_container(m->stream);
    m->bytes = pf_alloc(c->n_parts, sizeof *m->bytes);
    if (!m->bytes)
        return pf_fail_nomem(err, "convert");
    for (uint32_t i = 0; i < c->n_parts && st == PERFILE_OK; i++) {
        st = pf_sink_name_file(x->sink, i, c->parts[i].name, err);
        if (st == PERFILE_OK)
            st = pf_source_entry(x->source, c->parts[i].name, &m->bytes[m->n_files], err);
        m->n_files += st == PERFILE_OK;
    }
    return st;
}

/* Opens the stream to walk and the sources to copy from. */
static perfile_status open_image(pf_image *m, perfile_error *err)
{
    pf_convert *x = m->x;
    perfile_status st;
    m->sink = x->sink;
    if (x->from_directory && x->driver->names_files)
        return open_named_files(m, err);
    if (x->from_directory) {
        st = open_files(m, err);
        if (st == PERFILE_OK)
            st = pf_convert_open(x, x->source, &m->stream, err);
        if (st == PERFILE_OK)
            x->source = NULL;
        return st;
    }
    m->bytes = pf_alloc(1, sizeof *m->bytes);
    if (!m->bytes)
        return pf_fail_nomem(err, "convert");
    m->n_files = 1;
    m->bytes[0] = x->source;
    m->tee = (pf_tee){.below = x->source, .sink = x->byteswaps ? NULL : x->sink};
    return pf_convert_open_tee(x, &m->tee, &m->stream, err);
}

/* Copies bytes that no driver can read, into an archive or out of it. */
static perfile_status copy_unknown(pf_image *m, perfile_error *err)
{
    perfile_note note = {.kind = PERFILE_NOTE_UNKNOWN_FORMAT,
                         .number = UINT32_MAX,
                         .count = 1,
                         .offset = PERFILE_NO_OFFSET};
    pf_notes_add(&m->x->notes, &note);
    perfile_status st = copy_rest(m, err);
    return st == PERFILE_OK ? finish(m, err) : st;
}

/* Copies a file out of an archive.  Its records were walked when it was packed, and each of its
 * bytes is under a checksum: nothing is learned by walking them again. */
static perfile_status copy_out(pf_image *m, perfile_error *err)
{
    m->bytes = pf_alloc(1, sizeof *m->bytes);
    if (!m->bytes)
        return pf_fail_nomem(err, "convert");
    m->n_files = 1;
    m->bytes[0] = m->x->source;
    perfile_status st = pf_archive_image_copy(m->x->source, m->sink, err);
    m->x->result.copied.bytes = m->x->source->size;
    return st == PERFILE_OK ? finish(m, err) : st;
}

/* Opens the stream and copies.  What cannot be opened is copied without, if every byte is kept. */
static perfile_status open_and_copy(pf_image *m, perfile_error *err)
{
    const bool packs = pf_sink_wants_records(m->x->sink);
    m->sink = m->x->sink;
    if (m->x->keeps && m->x->source->origin && !packs && !m->x->from_directory)
        return copy_out(m, err);
    perfile_status st = open_image(m, err);
    const bool unreadable = st == PERFILE_E_CORRUPT || st == PERFILE_E_TRUNCATED ||
                            st == PERFILE_E_UNSUPPORTED || st == PERFILE_E_LIMIT;
    if (unreadable && m->x->keeps && !m->x->from_directory && m->n_files)
        return copy_unknown(m, err);
    return st == PERFILE_OK ? copy(m, err) : st;
}

perfile_status pf_convert_image(pf_convert *x, perfile_error *err)
{
    pf_image m = {.x = x};
    perfile_status st = open_and_copy(&m, err);
    if (m.stream) {
        perfile_stream_summary sum;
        perfile_stream_get_summary(m.stream, &sum, sizeof sum);
        pf_convert_note_features(x, perfile_stream_session(m.stream));
        x->result.copied.damages = sum.damages;
        x->result.copied.lost = sum.lost;
        x->result.copied.bytes = sum.bytes;
        x->result.copied.events = perfile_session_n_events(perfile_stream_session(m.stream));
        x->result.copied.features = perfile_session_n_features(perfile_stream_session(m.stream));
    }
    x->result.same = st == PERFILE_OK && !x->byteswaps;
    perfile_stream_close(m.stream);
    if (x->from_directory)
        for (uint32_t i = 0; i < m.n_files; i++)
            perfile_source_close(m.bytes[i]);
    pf_free(m.bytes);
    pf_buffer_free(&m.swapped);
    pf_buffer_free(&m.fragments);
    return st;
}
