/* The same form: the bytes of the input, file by file, and over them what another byte order
 * changes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "core/swap.h"
#include "io/out.h"
#include "lib/convert.h"
#include "schema/frame.h"
#include "schema/swap.h"
#include "schema/family.h"

enum {
    COPY_BYTES = 1 << 20,
    PIECE_BYTES = 4 << 20, /* of a long payload, which need not be in memory as a whole */
    PROGRESS_BYTES = 8 << 20
};

typedef struct pf_image {
    pf_convert *x;
    pf_tee tee;             /* what is not mapped is copied while it is read */
    perfile_source **bytes; /* each file */
    uint32_t n_files;
    perfile_stream *stream;
    perfile_sink *sink; /* of the file that is read */
    uint32_t part;
    uint64_t copied; /* of it */
    pf_buffer turned;
    pf_buffer pieces; /* perfile_section: bodies of simpleperf's pieces, in the output */
    uint64_t done, total, told;
} pf_image;

/* Copies what lies below `end` as it is. */
static perfile_status copy_below(pf_image *m, uint64_t end, perfile_error *err)
{
    perfile_source *from = m->bytes[m->part];
    if (pf_tee_copies(&m->tee))
        return PERFILE_OK; /* the tee did */
    while (m->copied < end) {
        perfile_bytes run;
        perfile_status st = pf_source_run(from, m->copied, 1, &run, err);
        if (st != PERFILE_OK || run.len == 0)
            return st;
        if (run.len > end - m->copied)
            run.len = (size_t)(end - m->copied);
        const bool long_piece = from->passing && run.len > PIECE_BYTES;
        if (long_piece)
            run.len = PIECE_BYTES;
        st = perfile_sink_write(m->sink, run, err);
        if (st != PERFILE_OK)
            return st;
        if (long_piece)
            pf_source_release(from, m->copied, run.len);
        m->copied += run.len;
    }
    return PERFILE_OK;
}

static perfile_status end_of_file(pf_image *m, perfile_error *err)
{
    if (pf_tee_copies(&m->tee))
        return pf_tee_rest(&m->tee, err);
    return copy_below(m, UINT64_MAX, err);
}

/* To the file of the directory that the next record is in. */
static perfile_status go_to(pf_image *m, uint32_t part, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    while (m->part < part && st == PERFILE_OK) {
        st = end_of_file(m, err);
        m->done += m->copied;
        m->part++;
        m->copied = 0;
        if (st == PERFILE_OK)
            st = pf_sink_part(m->x->sink, m->part - 1, &m->sink, err);
    }
    return st;
}

/* simpleperf's large record is whole: over its pieces. */
static perfile_status turn_pieces(pf_image *m, const perfile_record *whole, perfile_error *err)
{
    const perfile_section *piece = (const perfile_section *)(const void *)m->pieces.ptr;
    const perfile_section *end = piece + m->pieces.len / sizeof *piece;
    size_t size = perfile_record_size(whole), at = 0;
    perfile_error why;
    perfile_status st = PERFILE_OK;
    pf_buffer_clear(&m->turned);
    if (!pf_buffer_reserve(&m->turned, size))
        return pf_fail_nomem(err, "convert");
    if (pf_swap_record(whole, m->turned.ptr, &why) != PERFILE_OK &&
        (st = pf_convert_kept(m->x, whole, NULL, &why)) != PERFILE_OK && err)
        *err = why;
    for (; piece < end && at < size && st == PERFILE_OK; piece++) {
        size_t some = piece->size < size - at ? (size_t)piece->size : size - at;
        st = pf_sink_patch(m->sink, piece->offset, (perfile_bytes){m->turned.ptr + at, some}, err);
        at += some;
    }
    pf_buffer_clear(&m->pieces);
    return st;
}

/* What is in simpleperf's envelopes is turned when it is whole. */
static perfile_status note_piece(pf_image *m, const perfile_record *r, perfile_error *err)
{
    perfile_section body = {r->offset + PF_PERF_RECORD_HEADER, r->body.len};
    if (!pf_sink_can_patch(m->sink))
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "convert.split",
                       "records in pieces are turned when they are whole: write to a file");
    return pf_buffer_append(&m->pieces, &body, sizeof body) ? PERFILE_OK
                                                            : pf_fail_nomem(err, "convert");
}

/* A run of records that lie one behind the other, turned. */
static perfile_status turn_run(pf_image *m, const perfile_record *first, size_t n,
                               perfile_error *err)
{
    const perfile_record *last = &first[n - 1];
    size_t size = (size_t)(last->header - first->header) + perfile_record_size(last);
    perfile_status st = PERFILE_OK;
    pf_buffer_clear(&m->turned);
    if (!pf_buffer_reserve(&m->turned, size))
        st = pf_fail_nomem(err, "convert");
    for (size_t done = 0; done < n && st == PERFILE_OK; done++) {
        perfile_error why;
        const perfile_record *from = &first[done];
        done += pf_swap_run(from, n - done, m->turned.ptr + (from->header - first->header), &why);
        if (done < n && (st = pf_convert_kept(m->x, &first[done], NULL, &why)) != PERFILE_OK && err)
            *err = why;
    }
    if (st == PERFILE_OK) /* from here on the records may be gone: the source is asked */
        st = copy_below(m, first->offset, err);
    if (st == PERFILE_OK)
        st = perfile_sink_write(m->sink, (perfile_bytes){m->turned.ptr, size}, err);
    m->copied += size;
    return st;
}

static perfile_status turn(pf_image *m, const perfile_record *first, size_t n, perfile_error *err)
{
    if (first->flags & PERFILE_REC_INNER)
        return m->pieces.len ? turn_pieces(m, first, err) : PERFILE_OK;
    if (first->flags & PERFILE_REC_ENVELOPE) {
        perfile_status st = pf_is_fragment(first)
                                ? note_piece(m, first, err)
                                : pf_fail(err, PERFILE_E_UNSUPPORTED, "convert.compressed",
                                          "compressed records that no feature tells of: "
                                          "decompress them");
        pf_error_at(err, first->offset);
        if (st != PERFILE_OK)
            return st;
    }
    return turn_run(m, first, n, err);
}

static void count(pf_image *m, const perfile_record *first, size_t n)
{
    perfile_copy_summary *sum = &m->x->result.copied;
    sum->records += n;
    for (const perfile_record *r = first; r < first + n; r++)
        sum->samples += r->type == PERFILE_RECORD_SAMPLE;
    uint64_t at = m->done + first->offset;
    if (at < m->told + PROGRESS_BYTES)
        return;
    m->told = at;
    if (m->x->options.progress)
        m->x->options.progress(m->x->options.user, at, m->total);
}

/* Bytes that are no record.  What was looked at as a header is turned, so that it is found to be
 * the same damage at the same place. */
static perfile_status meet_damage(pf_image *m, const perfile_record *r, perfile_error *err)
{
    uint8_t header[PF_PERF_RECORD_HEADER];
    perfile_note note = {.kind = PERFILE_NOTE_DAMAGE,
                         .number = UINT32_MAX,
                         .damage = r->damage,
                         .part = r->part,
                         .count = 1,
                         .bytes = r->body.len,
                         .offset = r->offset};
    if (!pf_convert_forced(m->x))
        return pf_fail_damage(err, r->damage, "convert", r->offset);
    pf_notes_add(&m->x->notes, &note);
    bool framed =
        r->damage == PERFILE_DAMAGE_BAD_SIZE || r->damage == PERFILE_DAMAGE_TRUNCATED_RECORD;
    perfile_source *from = m->bytes[m->part];
    perfile_bytes run;
    if (!m->x->turns || !framed || r->flags & PERFILE_REC_INNER || !from->seekable ||
        r->body.len < sizeof header)
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

static perfile_status take(pf_image *m, const perfile_record *first, size_t n, perfile_error *err)
{
    perfile_status st = go_to(m, first->part, err);
    if (st != PERFILE_OK)
        return st;
    if (first->family == PERFILE_FAMILY_DAMAGE)
        return meet_damage(m, first, err);
    count(m, first, n);
    if (m->x->turns)
        return turn(m, first, n, err);
    return first->offset < m->copied + COPY_BYTES ? PERFILE_OK : copy_below(m, first->offset, err);
}

/* Facts of a file are put over the copied bytes at the end; a pipe has its header only. */
static perfile_status begin(pf_image *m, perfile_error *err)
{
    pf_convert *x = m->x;
    if (!x->turns)
        return PERFILE_OK;
    if (x->head.form == PERFILE_FORM_FILE && !pf_sink_can_patch(x->sink))
        return pf_fail(err, PERFILE_E_USAGE, "convert.sink",
                       "'%s' cannot take a file, whose header is written last: write to a file, or "
                       "the form pipe",
                       perfile_sink_name(x->sink));
    if (x->head.form != PERFILE_FORM_PIPE)
        return PERFILE_OK;
    uint8_t header[PF_HEAD_BYTES];
    x->driver->turn_head((perfile_bytes){x->first, sizeof x->first}, header);
    m->copied = sizeof header;
    return perfile_sink_write(m->sink, (perfile_bytes){header, sizeof header}, err);
}

static perfile_status turn_facts(const pf_image *m, perfile_error *err)
{
    const pf_turning t = {.stream = m->stream,
                          .bytes = m->bytes[0],
                          .sink = m->x->sink,
                          .kept = pf_convert_kept,
                          .user = m->x};
    return m->x->driver->turn_facts(&t, err);
}

static perfile_status copy(pf_image *m, perfile_error *err)
{
    const perfile_container *c = perfile_stream_container(m->stream);
    const perfile_record *first;
    size_t n;
    perfile_status st = pf_convert_sound(m->x, m->stream, err);
    for (uint32_t i = 0; i < c->n_parts; i++)
        m->total += c->parts[i].size == UINT64_MAX ? 0 : c->parts[i].size;
    if (st == PERFILE_OK)
        st = begin(m, err);
    while (st == PERFILE_OK &&
           (st = perfile_stream_next_run(m->stream, &first, &n, err)) == PERFILE_OK)
        st = take(m, first, n, err);
    if (st == PERFILE_END)
        st = go_to(m, m->n_files - 1, err);
    if (st == PERFILE_OK)
        st = end_of_file(m, err);
    if (st == PERFILE_OK && m->x->turns && m->x->head.form == PERFILE_FORM_FILE)
        st = turn_facts(m, err);
    return st == PERFILE_OK ? perfile_sink_finish(m->x->sink, err) : st;
}

/* The files of the directory: `data`, then data.N in the order in which the driver reads them. */
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

static perfile_status open_image(pf_image *m, perfile_error *err)
{
    pf_convert *x = m->x;
    perfile_status st;
    m->sink = x->sink;
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
    m->tee = (pf_tee){.below = x->source, .sink = x->turns ? NULL : x->sink};
    return pf_convert_open_tee(x, &m->tee, &m->stream, err);
}

perfile_status pf_convert_image(pf_convert *x, perfile_error *err)
{
    pf_image m = {.x = x};
    perfile_status st = open_image(&m, err);
    if (st == PERFILE_OK)
        st = copy(&m, err);
    if (m.stream) {
        perfile_stream_summary sum;
        perfile_stream_get_summary(m.stream, &sum, sizeof sum);
        pf_convert_missing_features(x, perfile_stream_session(m.stream));
        x->result.copied.damages = sum.damages;
        x->result.copied.lost = sum.lost;
        x->result.copied.bytes = sum.bytes;
        x->result.copied.events = perfile_session_n_events(perfile_stream_session(m.stream));
        x->result.copied.features = perfile_session_n_features(perfile_stream_session(m.stream));
    }
    x->result.same = st == PERFILE_OK && !x->turns;
    perfile_stream_close(m.stream);
    if (x->from_directory)
        for (uint32_t i = 0; i < m.n_files; i++)
            perfile_source_close(m.bytes[i]);
    pf_free(m.bytes);
    pf_buffer_free(&m.turned);
    pf_buffer_free(&m.pieces);
    return st;
}

/* Opens what says whether there are compressed records. */
static perfile_status open_first(const pf_convert *x, pf_tee *tee, perfile_stream **s,
                                 perfile_error *err)
{
    perfile_source *data;
    if (!x->from_directory)
        return pf_convert_open_tee(x, tee, s, err);
    perfile_status st = pf_source_entry(x->source, "data", &data, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_convert_open(x, data, s, err);
    if (st != PERFILE_OK)
        perfile_source_close(data);
    return st;
}

perfile_status pf_convert_damaged(pf_convert *x, bool *damaged, perfile_error *err)
{
    pf_tee tee = {.below = x->source};
    const perfile_record *first;
    perfile_stream *s;
    perfile_stream_summary sum;
    size_t n;
    perfile_status st = pf_convert_open_tee(x, &tee, &s, err);
    if (st != PERFILE_OK)
        return st;
    while ((st = perfile_stream_next_run(s, &first, &n, err)) == PERFILE_OK)
        continue;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    *damaged = sum.damages != 0;
    perfile_stream_close(s);
    return st < 0 ? st : PERFILE_OK;
}

/* Who compresses says so in a feature, which a pipe has before the records of the kernel; but not
 * all that say so do. */
perfile_status pf_convert_packed(pf_convert *x, bool *packed, perfile_error *err)
{
    pf_tee tee = {.below = x->source};
    perfile_stream *s;
    *packed = false;
    perfile_status st = open_first(x, &tee, &s, err);
    if (st != PERFILE_OK)
        return st;
    const perfile_session *session = perfile_stream_session(s);
    while (st == PERFILE_OK && !*packed) {
        const perfile_record *first;
        size_t n;
        st = perfile_stream_next_run(s, &first, &n, err);
        bool told = perfile_session_feature(session, PERFILE_FEATURE_COMPRESSED) != NULL;
        if (st == PERFILE_OK && !told && first->type < PERFILE_RECORD_USER)
            break;
        *packed = st == PERFILE_OK && (first->type == PERFILE_RECORD_COMPRESSED ||
                                       first->type == PERFILE_RECORD_COMPRESSED2);
        /* The other files of a directory are not looked at. */
        *packed |= st == PERFILE_END && told && x->from_directory;
    }
    perfile_stream_close(s);
    return st < 0 ? st : PERFILE_OK;
}
