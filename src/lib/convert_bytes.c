/* Converts without moving a byte: the output has the form of the input, file by file.
 *
 * Records are walked in order while the bytes before them are copied (copy_below()).  If the source
 * is not mapped, its bytes are in memory only while the stream reads them.  Then a tee copies each
 * byte when it is read, and nothing is copied here.
 *
 * For the other byte order, each run of records is swapped into a buffer and written instead of its
 * bytes.  At the end driver->byteswap_facts() overwrites header, sections and features of a file
 * with their swapped bytes, so the sink must be able to overwrite.
 *
 * Damaged bytes are copied as they are, with one exception: a record header that was read as such
 * is swapped, so that a reader of the output finds the same damage at the same offset. */
#include <stdio.h>
#include <string.h>

#include "archive/table.h"
#include "base/alloc.h"
#include "base/error.h"
#include "core/swap.h"
#include "io/out.h"
#include "lib/convert.h"
#include "schema/rows.h"
#include "io/command.h"
#include "core/command.h"

enum { COPY_BYTES = 1 << 20 }; /* collected before they are copied, to make few large writes */

typedef struct pf_image {
    pf_convert *x;
    bool swap;                /* the output has the other byte order */
    bool keeps;               /* an archive is the source or the target, and every byte is kept */
    bool zeros;               /* … but bytes that the archive has lost may become zeros */
    pf_source_origin *origin; /* of the input; NULL if it is not in an archive */
    perfile_source *file;     /* the input, if it is one file */
    perfile_source **bytes;   /* sources of the files; owned if the input is a directory */
    uint32_t n_files;
    perfile_stream *stream;
    perfile_sink *sink; /* sink of the file that is being copied */
    uint32_t part;      /* index of that file */
    uint64_t copied;    /* number of bytes of that file in the output */
    pf_buffer swapped;  /* a run of records in the other byte order */
    /* perfile_section: offsets in the output of the bodies of simpleperf fragments whose joined
     * record has not arrived yet. */
    pf_buffer fragments;
} pf_image;

/* Copies the bytes of the current file from m->copied up to offset `end`, or to the end of the file
 * if that comes first. */
static perfile_status copy_below(pf_image *m, uint64_t end, perfile_error *err)
{
    perfile_source *from = m->bytes[m->part];
    if (pf_tee_copies(&m->x->in.tee))
        return PERFILE_OK; /* the tee has already copied them */
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
    pf_tee *tee = &m->x->in.tee;
    return pf_tee_copies(tee) ? pf_tee_rest(tee, err) : copy_below(m, UINT64_MAX, err);
}

/* Swapping. */

/* Before the first record: writes the swapped header of a pipe.  The facts of a file are swapped at
 * the end, so the sink must be able to overwrite. */
static perfile_status swap_head(pf_image *m, perfile_error *err)
{
    const pf_convert *x = m->x;
    uint8_t first[PF_HEAD_BYTES], header[PF_HEAD_BYTES];
    if (x->head.form == PERFILE_FORM_FILE && !pf_sink_can_patch(x->sink))
        return pf_fail(err, PERFILE_E_USAGE, "convert.sink",
                       "'%s' cannot take the file form, whose header is written last: write to a "
                       "file, or choose the form pipe",
                       pf_sink_name(x->sink));
    if (x->head.form != PERFILE_FORM_PIPE)
        return PERFILE_OK;
    perfile_status st = pf_source_read(m->bytes[0], 0, first, sizeof first, err);
    if (st != PERFILE_OK)
        return st;
    x->driver->byteswap_head((perfile_bytes){first, sizeof first}, header);
    m->copied = sizeof header;
    return perfile_sink_write(m->sink, (perfile_bytes){header, sizeof header}, err);
}

/* `joined` is the record joined from the waiting fragments.  Swaps it, and overwrites the bodies of
 * the fragments in the output with its swapped bytes, one range after the other. */
static perfile_status swap_fragments(pf_image *m, const perfile_record *joined, perfile_error *err)
{
    const perfile_section *body = (const perfile_section *)(const void *)m->fragments.ptr;
    const perfile_section *end = body + m->fragments.len / sizeof *body;
    size_t size = perfile_record_size(joined), at = 0;
    perfile_error why;
    perfile_status st = PERFILE_OK;
    pf_buffer_clear(&m->swapped);
    if (!pf_buffer_reserve(&m->swapped, size))
        return pf_fail_nomem(err, "convert");
    if (pf_swap_record(joined, m->swapped.ptr, &why) != PERFILE_OK &&
        (st = pf_convert_on_kept(m->x, joined, NULL, &why)) != PERFILE_OK && err)
        *err = why;
    for (; body < end && at < size && st == PERFILE_OK; body++) {
        size_t some = body->size < size - at ? (size_t)body->size : size - at;
        st = pf_sink_patch(m->sink, body->offset, (perfile_bytes){m->swapped.ptr + at, some}, err);
        at += some;
    }
    pf_buffer_clear(&m->fragments);
    return st;
}

/* Remembers the body of a fragment for swap_fragments().  A fragment cannot be swapped alone,
 * because a number of the record may be divided between two fragments. */
static perfile_status note_fragment(pf_image *m, const perfile_record *r, perfile_error *err)
{
    perfile_section body = {r->offset + PF_PERF_RECORD_HEADER, r->body.len};
    if (!pf_sink_can_patch(m->sink))
        return pf_fail(
            err, PERFILE_E_UNSUPPORTED, "convert.split",
            "fragments of a record are byte-swapped in place after the last one was read: "
            "write to a file");
    return pf_buffer_append(&m->fragments, &body, sizeof body) ? PERFILE_OK
                                                               : pf_fail_nomem(err, "convert");
}

/* Writes a run of records, which are adjacent in memory and in the file, in the other byte order.
 * A record that cannot be swapped completely ends the call of pf_swap_run(); it is reported, and
 * swapping continues with the next record. */
static perfile_status swap_run(pf_image *m, const perfile_record *first, size_t n,
                               perfile_error *err)
{
    const perfile_record *last = &first[n - 1];
    size_t size = (size_t)(last->header - first->header) + perfile_record_size(last);
    perfile_status st = PERFILE_OK;
    pf_buffer_clear(&m->swapped);
    if (!pf_buffer_reserve(&m->swapped, size))
        st = pf_fail_nomem(err, "convert");
    for (size_t done = 0; done < n && st == PERFILE_OK; done++) {
        perfile_error why;
        const perfile_record *from = &first[done];
        done += pf_swap_run(from, n - done, m->swapped.ptr + (from->header - first->header), &why);
        if (done < n && (st = pf_convert_on_kept(m->x, &first[done], NULL, &why)) != PERFILE_OK &&
            err)
            *err = why;
    }
    /* copy_below() may reuse the memory that `first` points to.  The code below reads no record,
     * only first->offset, which belongs to the stream. */
    if (st == PERFILE_OK)
        st = copy_below(m, first->offset, err);
    if (st == PERFILE_OK)
        st = perfile_sink_write(m->sink, (perfile_bytes){m->swapped.ptr, size}, err);
    m->copied += size;
    return st;
}

/* Writes a run in the other byte order.  Inner records are not in the file, except for the record
 * joined from fragments, which overwrites them.  Compressed records are an error: the search for
 * them relied on the feature that announces them. */
static perfile_status swap(pf_image *m, const perfile_record *first, size_t n, perfile_error *err)
{
    if (first->flags & PERFILE_REC_INNER)
        return m->fragments.len ? swap_fragments(m, first, err) : PERFILE_OK;
    if (first->flags & PERFILE_REC_ENVELOPE) {
        perfile_status st =
            pf_is_fragment(first)
                ? note_fragment(m, first, err)
                : pf_fail(err, PERFILE_E_UNSUPPORTED, "convert.compressed",
                          "a compressed record in a capture without the feature COMPRESSED: "
                          "decompress the records");
        pf_error_at(err, first->offset);
        if (st != PERFILE_OK)
            return st;
    }
    return swap_run(m, first, n, err);
}

/* `r` is damage.  Swaps it if it is a record header with a bad size; all other bytes will be copied
 * as they are. */
static perfile_status swap_damaged(pf_image *m, const perfile_record *r, perfile_error *err)
{
    uint8_t header[PF_PERF_RECORD_HEADER];
    bool framed =
        r->damage == PERFILE_DAMAGE_BAD_SIZE || r->damage == PERFILE_DAMAGE_TRUNCATED_RECORD;
    perfile_source *from = m->bytes[m->part];
    perfile_bytes run;
    if (!framed || r->flags & PERFILE_REC_INNER || !from->seekable || r->body.len < sizeof header)
        return PERFILE_OK;
    perfile_status st = pf_source_run(from, r->offset, sizeof header, &run, err);
    if (st != PERFILE_OK || run.len < sizeof header)
        return st;
    pf_swap_header(header, run.ptr);
    st = copy_below(m, r->offset, err);
    m->copied += sizeof header;
    return st == PERFILE_OK
               ? perfile_sink_write(m->sink, (perfile_bytes){header, sizeof header}, err)
               : st;
}

/* At the end: overwrites header, sections and features of a file. */
static perfile_status swap_facts(const pf_image *m, perfile_error *err)
{
    const pf_byteswap_copy t = {.stream = m->stream,
                                .bytes = m->bytes[0],
                                .sink = m->x->sink,
                                .kept = pf_convert_on_kept,
                                .user = m->x};
    return m->x->driver->byteswap_facts(&t, err);
}

/* Copying, with or without swapping. */

/* Finishes the current file and files without records, up to the file with index `part`. */
static perfile_status go_to_part(pf_image *m, uint32_t part, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    while (m->part < part && st == PERFILE_OK) {
        st = copy_rest(m, err);
        m->part++;
        m->copied = 0;
        if (st == PERFILE_OK)
            st = pf_sink_part(m->x->sink, m->part - 1, &m->sink, err);
    }
    return st;
}

/* Counts the records of a run and reports progress. */
static void count(pf_image *m, const perfile_record *first, size_t n)
{
    perfile_copy_summary *sum = &m->x->result.copied;
    sum->records += n;
    for (const perfile_record *r = first; r < first + n; r++)
        sum->samples += r->type == PERFILE_RECORD_SAMPLE;
    pf_progress *p = &m->x->in.progress;
    if (pf_progress_at(p, first) && m->x->options.progress)
        m->x->options.progress(m->x->options.user, p->done, p->total);
}

/* Copies a run and reports the positions of its records to the sink.  Inner records of an envelope
 * are not in the file. */
static perfile_status tell_records(pf_image *m, const perfile_record *first, size_t n,
                                   perfile_error *err)
{
    const perfile_record *last = &first[n - 1];
    if (first->flags & PERFILE_REC_INNER || first->family != PERFILE_FAMILY_PERF)
        return PERFILE_OK;
    perfile_status st = copy_below(m, last->offset + perfile_record_size(last), err);
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
    if (first->family == PERFILE_FAMILY_DAMAGE) {
        st = pf_convert_note_damage(m->x, first, err);
        return st == PERFILE_OK && m->swap ? swap_damaged(m, first, err) : st;
    }
    count(m, first, n);
    if (m->swap)
        return swap(m, first, n, err);
    if (pf_sink_wants_records(m->sink))
        return tell_records(m, first, n, err);
    return first->offset < m->copied + COPY_BYTES ? PERFILE_OK : copy_below(m, first->offset, err);
}

/* Finishes the output, unless bytes that should be in it are lost in a damaged archive. */
static perfile_status finish(pf_image *m, perfile_error *err)
{
    if (!m->keeps || !m->origin || !m->origin->lost.places)
        return perfile_sink_finish(m->x->sink, err);
    const pf_source_lost *lost = &m->origin->lost;
    if (m->zeros) {
        const perfile_note note = {.kind = PERFILE_NOTE_DAMAGE,
                                   .number = UINT32_MAX,
                                   .damage = PERFILE_DAMAGE_ARCHIVE,
                                   .count = 1,
                                   .bytes = lost->bytes,
                                   .offset = lost->offset,
                                   .part = lost->part};
        pf_notes_add(&m->x->notes, &note);
        m->x->result.damaged = true;
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
    const perfile_record *first;
    size_t n;
    perfile_status st = pf_convert_check_damage(m->x, m->stream, err);
    pf_progress_begin(&m->x->in.progress, perfile_stream_container(m->stream));
    if (st == PERFILE_OK && m->swap)
        st = swap_head(m, err);
    while (st == PERFILE_OK &&
           (st = perfile_stream_next_run(m->stream, &first, &n, err)) == PERFILE_OK)
        st = copy_run(m, first, n, err);
    if (st == PERFILE_END)
        st = go_to_part(m, m->n_files - 1, err);
    if (st == PERFILE_OK)
        st = copy_rest(m, err);
    if (st == PERFILE_OK && m->swap && m->x->head.form == PERFILE_FORM_FILE)
        st = swap_facts(m, err);
    if (st == PERFILE_OK)
        st = pf_companions_copy(perfile_stream_session(m->stream), m->x->sink, err);
    return st == PERFILE_OK ? finish(m, err) : st;
}

/* Opens a file of the directory `dir` as the next source. */
static perfile_status open_file(pf_image *m, const perfile_source *dir, const char *name,
                                perfile_error *err)
{
    perfile_status st = pf_source_entry(dir, name, &m->bytes[m->n_files], err);
    m->n_files += st == PERFILE_OK;
    return st;
}

/* Opens the files of a directory as sources: `data`, then data.0, data.1 … in the order in which
 * the driver reads them.  A gap in the numbers is an error, because the parts of the output are
 * numbered by their order. */
static perfile_status open_files(pf_image *m, perfile_error *err)
{
    const perfile_source *dir = m->x->in.source;
    char **names = NULL;
    size_t n = 0;
    perfile_status st = pf_source_list(dir, "data.", &names, &n, err);
    if (st != PERFILE_OK)
        return st;
    m->bytes = pf_alloc(n + 1, sizeof *m->bytes);
    st = m->bytes ? open_file(m, dir, "data", err) : pf_fail_nomem(err, "convert");
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "data.%zu", i);
        if (strcmp(names[i], expected) != 0)
            st = pf_fail(err, PERFILE_E_UNSUPPORTED, "convert.directory",
                         "it has a file '%s' where '%s' should be", names[i], expected);
        else
            st = open_file(m, dir, names[i], err);
    }
    pf_free(names);
    return st == PERFILE_OK ? pf_convert_open(m->x, &m->stream, err) : st;
}

/* The same for a format that has its own file names.  The names of the stream's parts become those
 * of the output. */
static perfile_status open_named_files(pf_image *m, perfile_error *err)
{
    pf_convert *x = m->x;
    perfile_status st = pf_passes_open(&x->in, &m->stream, err);
    if (st != PERFILE_OK)
        return st;
    const perfile_container *c = perfile_stream_container(m->stream);
    m->bytes = pf_alloc(c->n_parts, sizeof *m->bytes);
    if (!m->bytes)
        return pf_fail_nomem(err, "convert");
    for (uint32_t i = 0; i < c->n_parts && st == PERFILE_OK; i++) {
        st = pf_sink_name_file(x->sink, i, c->parts[i].name, err);
        if (st == PERFILE_OK)
            st = open_file(m, x->in.source, c->parts[i].name, err);
    }
    return st;
}

/* Opens the stream to walk and the sources to copy from. */
static perfile_status open_image(pf_image *m, perfile_error *err)
{
    pf_convert *x = m->x;
    if (x->from_directory)
        return x->driver->names_files ? open_named_files(m, err) : open_files(m, err);
    m->n_files = 1;
    m->bytes = &m->file;
    x->in.tee.sink = m->swap ? NULL : x->sink;
    return pf_passes_open(&x->in, &m->stream, err);
}

/* Copies bytes that no driver can read into an archive or out of it. */
static perfile_status copy_unknown(pf_image *m, perfile_error *err)
{
    const perfile_note note = {.kind = PERFILE_NOTE_UNKNOWN_FORMAT,
                               .number = UINT32_MAX,
                               .count = 1,
                               .offset = PERFILE_NO_OFFSET};
    pf_notes_add(&m->x->notes, &note);
    perfile_status st = copy_rest(m, err);
    return st == PERFILE_OK ? finish(m, err) : st;
}

/* Copies a file out of an archive.  Its records were walked when it was packed, and each byte has a
 * checksum, so walking them again would show nothing new. */
static perfile_status copy_out(pf_image *m, perfile_error *err)
{
    perfile_status st = pf_archive_image_copy(m->file, m->sink, err);
    m->x->result.copied.bytes = m->file->size;
    return st == PERFILE_OK ? finish(m, err) : st;
}

/* Opens the stream and copies.  If the stream cannot be opened and every byte is kept, copies
 * without it. */
static perfile_status open_and_copy(pf_image *m, perfile_error *err)
{
    const bool whole = m->keeps && !m->x->from_directory;
    if (whole && m->origin && !pf_sink_wants_records(m->sink))
        return copy_out(m, err);
    perfile_status st = open_image(m, err);
    const bool unreadable = st == PERFILE_E_CORRUPT || st == PERFILE_E_TRUNCATED ||
                            st == PERFILE_E_UNSUPPORTED || st == PERFILE_E_LIMIT;
    if (unreadable && whole)
        return copy_unknown(m, err);
    return st == PERFILE_OK ? copy(m, err) : st;
}

/* With an archive every byte is kept: damage of the capture is only noted, and only bytes that the
 * archive itself has lost count as lost. */
perfile_status pf_convert_bytes(pf_convert *x, bool swap, perfile_error *err)
{
    const bool packs = pf_sink_wants_records(x->sink);
    pf_image m = {.x = x,
                  .swap = swap,
                  .zeros = pf_convert_forced(x),
                  .origin = pf_source_origin_join(x->in.source->origin),
                  .file = x->in.source,
                  .sink = x->sink};
    if (!swap) {
        x->sink->patchable = x->sink->patchable && !packs;
        m.keeps = x->options.on_damage >= PERFILE_ON_DAMAGE_FAIL && (m.origin || packs);
    }
    if (m.keeps) {
        x->options.on_damage = PERFILE_ON_DAMAGE_COPY;
        x->in.how.on_damage = PERFILE_ON_DAMAGE_RESYNC;
    }
    perfile_status st = open_and_copy(&m, err);
    if (m.stream) {
        perfile_stream_summary sum;
        pf_stream_get_summary(m.stream, &sum, sizeof sum);
        pf_convert_note_features(x, perfile_stream_session(m.stream));
        x->result.copied.damages = sum.damages;
        x->result.copied.lost = sum.lost;
        x->result.copied.bytes = sum.bytes;
        x->result.copied.events = pf_session_n_events(perfile_stream_session(m.stream));
        x->result.copied.features = pf_session_n_features(perfile_stream_session(m.stream));
    }
    x->result.same = st == PERFILE_OK && !swap;
    perfile_stream_close(m.stream);
    if (x->from_directory) {
        for (uint32_t i = 0; i < m.n_files; i++)
            perfile_source_close(m.bytes[i]);
        pf_free(m.bytes);
    }
    pf_source_origin_leave(m.origin);
    pf_buffer_free(&m.swapped);
    pf_buffer_free(&m.fragments);
    return st;
}
