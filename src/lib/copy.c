/* The records of a stream into a writer. */
#include "lib/copy.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "core/stream.h"
#include "io/out.h"
#include "core/writer.h"
#include "perfile/field.h"
#include "schema/rows.h"
#include "schema/family.h"
#include "schema/frame.h"

enum { HELD_MOST = 8 << 20 };

void pf_copy_note(pf_copy *x, uint32_t kind, uint32_t number, uint32_t damage, uint64_t bytes,
                  const perfile_record *r)
{
    perfile_note one = {.kind = kind,
                        .number = number,
                        .damage = damage,
                        .part = r ? r->part : 0,
                        .count = 1,
                        .bytes = bytes,
                        .offset = r ? r->offset : PERFILE_NO_OFFSET};
    pf_notes_add(&x->notes, &one);
}

perfile_status pf_copy_put(pf_copy *x, const perfile_record *first, size_t n, perfile_error *err)
{
    const pf_framed seen = pf_stream_framed(x->stream, first, n);
    x->result.records += n;
    if (seen.n && !seen.other)
        x->result.samples += n;
    else
        for (const perfile_record *r = first; r < first + n; r++)
            x->result.samples += r->type == PERFILE_RECORD_SAMPLE;
    return x->writer->ops->run(x->writer, first, n, seen, err);
}

/* FINISHED_ROUND says that what follows is later than what precedes the last round: not so where
 * the files of a directory stand one behind the other. */
static perfile_status put_without_rounds(pf_copy *x, const perfile_record *first, size_t n,
                                         perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    const perfile_record *end = first + n, *from = first;
    for (const perfile_record *r = first; r <= end && st == PERFILE_OK; r++) {
        if (r < end && r->type != PERFILE_RECORD_FINISHED_ROUND)
            continue;
        if (r > from)
            st = pf_copy_put(x, from, (size_t)(r - from), err);
        if (r < end)
            pf_copy_note(x, PERFILE_NOTE_ROUNDS_LEFT_OUT, r->type, 0, perfile_record_size(r), r);
        from = r + 1;
    }
    return st;
}

static perfile_status meet_damage(pf_copy *x, const perfile_record *r, perfile_error *err)
{
    if (!pf_copy_forced(x))
        return pf_fail_damage(err, r->damage, "copy", r->offset);
    pf_copy_note(x, PERFILE_NOTE_DAMAGE, UINT32_MAX, r->damage, r->body.len, r);
    return PERFILE_OK;
}

/* Whether the record goes on at all: of an envelope and what is in it, one does. */
static bool goes_on(pf_copy *x, const perfile_record *r)
{
    bool packed = x->options.flags & PERFILE_COPY_COMPRESSED;
    if (r->flags & PERFILE_REC_INNER)
        return r->envelope != x->split && !packed;
    if (!(r->flags & PERFILE_REC_ENVELOPE))
        return true;
    if (pf_is_joined_fragment(r)) {
        x->split = r->sequence;
        return true;
    }
    if (!packed && !x->packs)
        pf_copy_note(x, PERFILE_NOTE_DECOMPRESSED, r->type, 0, perfile_record_size(r), r);
    return packed;
}

/* Samples that are written inside of their envelope. */
static void count_packed(pf_copy *x, const perfile_record *first, size_t n)
{
    if (!(first->flags & PERFILE_REC_INNER && x->options.flags & PERFILE_COPY_COMPRESSED))
        return;
    for (const perfile_record *r = first; r < first + n; r++)
        x->result.samples += r->type == PERFILE_RECORD_SAMPLE;
}

/* A fact that a file has elsewhere cannot stay in the envelope. */
static perfile_status may_be_packed(const pf_copy *x, const perfile_record *r, perfile_error *err)
{
    if (!(r->flags & PERFILE_REC_INNER) || r->type != PERFILE_RECORD_HEADER_ATTR ||
        x->from == x->to)
        return PERFILE_OK;
    perfile_status st = pf_fail(err, PERFILE_E_UNSUPPORTED, "copy.event",
                                "an event is described inside compressed records: decompress them");
    pf_error_at(err, r->offset);
    return st;
}

/* What the writer says itself of how it packs. */
static bool says_packed(const pf_copy *x, const perfile_record *r)
{
    perfile_feature f;
    return r->type == PERFILE_RECORD_HEADER_FEATURE &&
           !(x->options.flags & PERFILE_COPY_COMPRESSED) &&
           perfile_record_feature(r, &f, NULL) == PERFILE_OK &&
           f.number == PERFILE_FEATURE_COMPRESSED;
}

/* A record, or a feature in one, that no table describes and nobody wants; a file is asked for its
 * features at the end. */
static bool is_dropped(pf_copy *x, const perfile_record *r)
{
    perfile_feature f;
    if (!(x->options.flags & PERFILE_COPY_DROP_UNKNOWN))
        return false;
    if (!pf_row_of(r)) {
        pf_copy_note(x, PERFILE_NOTE_RECORDS_LEFT_OUT, r->type, 0, perfile_record_size(r), r);
        return true;
    }
    if (r->type != PERFILE_RECORD_HEADER_FEATURE || x->to == PERFILE_FORM_FILE ||
        perfile_record_feature(r, &f, NULL) != PERFILE_OK || f.payload.len == 0 ||
        perfile_feature_name(f.number))
        return false;
    pf_copy_note(x, PERFILE_NOTE_FEATURE_LEFT_OUT, f.number, 0, f.payload.len, r);
    return true;
}

/* Bytes that a record announces are behind it in the file; behind one that came out of an envelope
 * others are. */
static bool announces_nothing(const perfile_record *r)
{
    const pf_frame f = {
        .type = r->type, .size = (uint32_t)(r->body.len + PF_PERF_RECORD_HEADER), .misc = r->misc};
    return r->flags & PERFILE_REC_INNER && r->body.ptr == r->header + PF_PERF_RECORD_HEADER &&
           pf_frame_extra(r->header, &f, r->flags & PERFILE_REC_SWAPPED) != 0;
}

static perfile_status leave_out(pf_copy *x, const perfile_record *r, perfile_error *err)
{
    if (!pf_copy_forced(x))
        return pf_fail_damage(err, PERFILE_DAMAGE_TRUNCATED_PAYLOAD, "copy", r->offset);
    pf_copy_note(x, PERFILE_NOTE_RECORDS_CUT, r->type, PERFILE_DAMAGE_TRUNCATED_PAYLOAD,
                 perfile_record_size(r), r);
    return PERFILE_OK;
}

/* Pieces of a record, when it has come. */
static perfile_status put_pieces(pf_copy *x, const perfile_record *next, perfile_error *err)
{
    perfile_record r;
    pf_fragments_settle(&x->pieces, next, true);
    perfile_status st = x->pieces.giving && !x->begun ? pf_copy_release(x, err) : PERFILE_OK;
    while (st == PERFILE_OK && x->pieces.giving && pf_fragments_give(&x->pieces, &r))
        st = pf_copy_put(x, &r, 1, err);
    return st;
}

perfile_status pf_copy_take(pf_copy *x, const perfile_record *first, size_t n, perfile_error *err)
{
    if (first->family == PERFILE_FAMILY_DAMAGE)
        return meet_damage(x, first, err);
    if (x->pieces.records.len && !pf_is_joined_fragment(first)) {
        perfile_status st = put_pieces(x, first, err);
        if (st != PERFILE_OK)
            return st;
    }
    if (!goes_on(x, first)) {
        count_packed(x, first, n);
        return may_be_packed(x, first, err);
    }
    if (pf_is_joined_fragment(first))
        return pf_fragments_hold(&x->pieces, first, err);
    if (first->flags & PERFILE_REC_PAYLOAD_CUT)
        return PERFILE_OK; /* the damage follows */
    if (announces_nothing(first))
        return leave_out(x, first, err);
    if (is_dropped(x, first))
        return PERFILE_OK;
    bool tool = first->type >= PERFILE_RECORD_USER && first->type != PERFILE_RECORD_FINISHED_ROUND;
    if (x->from == PERFILE_FORM_PIPE && tool) {
        if (says_packed(x, first))
            return PERFILE_OK;
        bool took = false;
        perfile_status st =
            x->to == PERFILE_FORM_FILE ? pf_copy_take_fact(x, first, &took, err) : PERFILE_OK;
        if (took || st != PERFILE_OK)
            return st;
    }
    if (!x->begun) {
        perfile_status st = pf_copy_release(x, err);
        if (st != PERFILE_OK)
            return st;
    }
    return x->one_of_many ? put_without_rounds(x, first, n, err) : pf_copy_put(x, first, n, err);
}

bool pf_copy_wants_extra(const pf_copy *x)
{
    return x->writer->extra_left;
}

static perfile_status copy_extra(pf_copy *x, const perfile_record *r, perfile_error *err)
{
    perfile_bytes piece;
    perfile_status st;
    while ((st = perfile_stream_extra(x->stream, r, &piece, err)) == PERFILE_OK)
        if ((st = perfile_writer_extra(x->writer, piece, err)) != PERFILE_OK)
            return st;
    return st == PERFILE_END ? PERFILE_OK : st;
}

perfile_status pf_copy_refuse(const perfile_stream_summary *sum, perfile_error *err)
{
    unsigned damage = PERFILE_DAMAGE_NONE;
    for (unsigned i = 0; i < sizeof sum->by_damage / sizeof sum->by_damage[0] && !damage; i++)
        damage = sum->by_damage[i] ? i : 0;
    return pf_fail_damage(err, damage, "copy", sum->first_offset);
}

/* Samples that nobody has to look at are no records: their bytes go to the writer. */
static perfile_status copy_spans(pf_copy *x, perfile_error *err)
{
    perfile_stream *s = x->stream;
    perfile_status st = PERFILE_OK;
    const pf_writer_ops *ops = x->writer->ops;
    while (st == PERFILE_OK && s->ops->span && ops->takes_samples && x->begun &&
           !x->pieces.records.len &&
           ops->takes_samples(x->writer, perfile_session_swapped(x->session))) {
        const pf_sample_span all = s->ops->span(s, UINT64_MAX);
        if (all.n < PF_SPAN_WORTH)
            return PERFILE_OK;
        const perfile_record first = {.part = all.part, .offset = all.offset};
        if (pf_progress_at(&x->progress, &first) && x->options.progress)
            x->options.progress(x->options.user, x->progress.done, x->progress.total);
        st = ops->samples(x->writer, all.bytes, all.lasting, err);
        x->result.records += all.n;
        x->result.samples += all.n;
        s->ops->skip(s, all.n, all.bytes.len);
    }
    return st;
}

static perfile_status copy(pf_copy *x, perfile_error *err)
{
    const perfile_record *first;
    perfile_stream_summary sum;
    size_t n;
    perfile_stream_get_summary(x->stream, &sum, sizeof sum);
    if (sum.damages && !pf_copy_forced(x)) /* already before the first record */
        return pf_copy_refuse(&sum, err);
    perfile_status st = pf_copy_begin(x, err);
    while (st == PERFILE_OK &&
           (st = perfile_stream_next_run(x->stream, &first, &n, err)) == PERFILE_OK) {
        if (pf_progress_at(&x->progress, first) && x->options.progress)
            x->options.progress(x->options.user, x->progress.done, x->progress.total);
        st = pf_copy_take(x, first, n, err);
        if (st == PERFILE_OK && pf_copy_wants_extra(x))
            st = copy_extra(x, first, err);
        if (st == PERFILE_OK)
            st = copy_spans(x, err);
    }
    return st == PERFILE_END ? pf_copy_finish(x, err) : st;
}

void pf_copy_start(pf_copy *x, perfile_stream *s, perfile_writer *w,
                   const perfile_copy_options *options)
{
    x->options = *options;
    x->stream = s;
    x->session = perfile_stream_session(s);
    x->container = perfile_stream_container(s);
    x->writer = w;
    x->from = x->container->form;
    x->to = w->form;
    x->packs = w->packs;
    x->one_of_many =
        x->container->n_parts > 1 && !w->directory && s->sorted_by == PERFILE_SORTED_BY_NOTHING;
    x->split = PERFILE_NO_SEQUENCE;
    x->held_most = HELD_MOST;
    pf_progress_begin(&x->progress, x->container);
}

perfile_status pf_copy_check(const pf_copy *x, perfile_error *err)
{
    const pf_writer_ops *ops = x->writer->ops;
    if (x->container->family == ops->family)
        return PERFILE_OK;
    return pf_fail(err, PERFILE_E_UNSUPPORTED, "copy",
                   "records of a capture of format %s cannot be written as %s",
                   x->container->format ? x->container->format : "another", ops->format);
}

void pf_copy_free(pf_copy *x)
{
    pf_buffer_free(&x->held);
    pf_buffer_free(&x->ids);
    pf_buffer_free(&x->build_ids);
    pf_fragments_free(&x->pieces);
}

perfile_status perfile_copy(perfile_stream *s, perfile_writer *w,
                            const perfile_copy_options *options, perfile_copy_summary *result,
                            size_t size, perfile_error *err)
{
    pf_copy *x = pf_alloc(1, sizeof *x);
    if (!x)
        return pf_fail_nomem(err, "copy");
    perfile_copy_options how;
    perfile_status st = pf_options_take(&how, sizeof how, options, "copy.options", err);
    if (st != PERFILE_OK) {
        pf_free(x);
        return st;
    }
    pf_copy_start(x, s, w, &how);
    /* Who is to be told what is damaged gets it, whether or not it was asked for. */
    for (perfile_stream *below = s; below; below = below->below)
        below->options.deliver |= PERFILE_DELIVER_DAMAGE;
    st = pf_sink_reads(w->sink, pf_stream_inputs(s), err);
    if (st == PERFILE_OK)
        st = pf_copy_check(x, err);
    w->input_stays = true;
    if (st == PERFILE_OK)
        st = copy(x, err);
    w->input_stays = false;
    /* What is written is the stream's, which may be closed now. */
    const perfile_status settled = pf_sink_settle(w->sink, st == PERFILE_OK ? err : NULL);
    st = st == PERFILE_OK ? settled : st;
    perfile_stream_summary sum;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    x->result.bytes = sum.bytes;
    x->result.damages = sum.damages;
    x->result.lost = sum.lost;
    x->result.losses = pf_notes_report(&x->notes, x->options.note, x->options.user);
    if (result)
        memcpy(result, &x->result, size < sizeof x->result ? size : sizeof x->result);
    pf_copy_free(x);
    pf_free(x);
    return st;
}
