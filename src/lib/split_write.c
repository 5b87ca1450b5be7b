/* Some parts at a time: a pass that finds out what state each needs, and one that writes them. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "lib/copy.h"
#include "lib/split.h"
#include "schema/family.h"

enum { HELD_MOST = 256 << 10 /* of a pipe that becomes files */ };

typedef struct output {
    pf_filter *filter;
    perfile_sink *sink;
    perfile_writer *writer;
    pf_session_view *view; /* with the facts of this part */
    pf_copy copy;
    uint64_t here; /* records of the run that go to it, by bit */
} output;

typedef struct lot {
    pf_splitting *s;
    perfile_stream *stream;
    uint32_t first, n;
    bool files; /* feature BUILD_ID lists them */
    output *at;
    uint32_t parts[PERFILE_RUN_RECORDS];

    pf_fragments pieces; /* wait for the whole, which says whose they are */
} lot;

/* Where the records of the run belong, as far as that is one of these parts: output.here.  Whether
 * any does. */
static bool place(lot *l, const perfile_record *first, size_t n)
{
    bool any = false;
    pf_split_where(&l->s->split, first, n, l->parts);
    for (uint32_t k = 0; k < l->n; k++)
        l->at[k].here = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t k = l->parts[i] - l->first;
        if (k < l->n) {
            l->at[k].here |= UINT64_C(1) << i;
            any = true;
        }
    }
    return any;
}

static perfile_status choose(lot *l, perfile_error *err)
{
    const pf_split *x = &l->s->split;
    const perfile_record *first;
    size_t n;
    perfile_status st;
    while ((st = perfile_stream_next_run(l->stream, &first, &n, err)) == PERFILE_OK) {
        pf_split_report(l->s, first);
        if (!pf_split_plain(first))
            continue;
        bool all = pf_split_concerns_all(x, first, n);
        if (!place(l, first, n) && !all)
            continue;
        const pf_run run = pf_run_look(l->stream, first, n);
        for (uint32_t k = 0; k < l->n && st == PERFILE_OK; k++)
            if (all || l->at[k].here)
                st = pf_split_note(l->at[k].filter, &run, l->at[k].here, err);
        if (st != PERFILE_OK)
            return st;
    }
    st = st == PERFILE_END ? PERFILE_OK : st;
    for (uint32_t k = 0; k < l->n && st == PERFILE_OK; k++)
        st = pf_filter_families(l->at[k].filter, &x->births, err);
    return st;
}

static perfile_status put(pf_splitting *s, output *o, const perfile_record *r, size_t n,
                          perfile_error *err)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += perfile_record_size(&r[i]);
    o->filter->result.kept += n;
    perfile_status st = pf_split_grew(s, bytes, err);
    return st == PERFILE_OK ? pf_copy_run(&o->copy, r, n, err) : st;
}

/* The records of the run that go to the part: as they stand there, or those that are scattered one
 * behind the other. */
static perfile_status give(pf_splitting *s, output *o, const perfile_record *first,
                           perfile_error *err)
{
    perfile_record some[PERFILE_RUN_RECORDS];
    size_t n = 0;
    unsigned from = (unsigned)__builtin_ctzll(o->here);
    unsigned len = (unsigned)__builtin_popcountll(o->here);
    if (o->here >> from == pf_run_bits(len))
        return put(s, o, first + from, len, err);
    for (uint64_t left = o->here; left; left &= left - 1)
        some[n++] = first[__builtin_ctzll(left)];
    return put(s, o, some, n, err);
}

/* Bytes behind a record are read once, for all parts that it is in. */
static perfile_status give_extra(lot *l, const perfile_record *r, perfile_error *err)
{
    perfile_bytes piece;
    perfile_status st = PERFILE_OK;
    bool any = false;
    for (uint32_t k = 0; k < l->n; k++)
        any |= pf_copy_wants_extra(&l->at[k].copy);
    while (any && (st = perfile_stream_extra(l->stream, r, &piece, err)) == PERFILE_OK)
        for (uint32_t k = 0; k < l->n; k++)
            if (pf_copy_wants_extra(&l->at[k].copy) &&
                ((st = pf_split_grew(l->s, piece.len, err)) != PERFILE_OK ||
                 (st = perfile_writer_extra(l->at[k].writer, piece, err)) != PERFILE_OK))
                return st;
    return st == PERFILE_END ? PERFILE_OK : st;
}

/* Adds what the parts need besides. */
static perfile_status add_needed(lot *l, const perfile_record *first, size_t n, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < n; i++) {
        const perfile_record *r = &first[i];
        if (r->type == PERFILE_RECORD_SAMPLE)
            continue;
        bool file = l->files && (r->type == PERFILE_RECORD_MMAP || r->type == PERFILE_RECORD_MMAP2);
        for (uint32_t k = 0; k < l->n && st == PERFILE_OK; k++) {
            output *o = &l->at[k];
            bool is = o->here >> i & 1 || pf_split_needs(&l->s->split, o->filter, r);
            o->here |= (uint64_t)is << i;
            if (file)
                st = pf_filter_file(o->filter, r, is, err);
        }
    }
    return st;
}

/* Pieces go where the whole goes. */
static perfile_status give_pieces(lot *l, const perfile_record *next, perfile_error *err)
{
    perfile_record r;
    perfile_status st = PERFILE_OK;
    pf_fragments_settle(&l->pieces, next, true);
    while (st == PERFILE_OK && l->pieces.giving && pf_fragments_give(&l->pieces, &r))
        for (uint32_t k = 0; k < l->n && st == PERFILE_OK; k++)
            if (l->at[k].here & 1)
                st = put(l->s, &l->at[k], &r, 1, err);
    return st;
}

static perfile_status write_run(lot *l, const perfile_record *first, size_t n, perfile_error *err)
{
    bool samples = true;
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < n; i++)
        samples &= first[i].type == PERFILE_RECORD_SAMPLE;
    if (!place(l, first, n) && samples && !l->pieces.records.len)
        return PERFILE_OK;
    if (!samples)
        st = add_needed(l, first, n, err);
    if (st == PERFILE_OK && l->pieces.records.len)
        st = give_pieces(l, first, err);
    for (uint32_t k = 0; k < l->n && st == PERFILE_OK; k++)
        if (l->at[k].here)
            st = give(l->s, &l->at[k], first, err);
    return st == PERFILE_OK && first->extra.len ? give_extra(l, first, err) : st;
}

static perfile_status write_all(lot *l, perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    perfile_status st;
    while ((st = perfile_stream_next_run(l->stream, &first, &n, err)) == PERFILE_OK) {
        pf_split_report(l->s, first);
        if (pf_is_joined_fragment(first))
            st = pf_fragments_hold(&l->pieces, first, err);
        else if (pf_split_plain(first))
            st = write_run(l, first, n, err);
        if (st != PERFILE_OK)
            return st;
    }
    return st == PERFILE_END ? PERFILE_OK : st;
}

/* The session of a part: that of the capture, or one with facts of its own.  Only a capture with
 * facts in front of its records has these, and then a copy asks for them at its begin and end. */
static perfile_status begin_session(const lot *l, output *o, perfile_error *err)
{
    const perfile_session *all = perfile_stream_session(l->stream);
    if (!pf_filter_changes_facts(all))
        return PERFILE_OK;
    perfile_status st = pf_session_view_new(all, &o->view, err);
    if (st == PERFILE_OK) /* for those that take them before the first record */
        st = pf_filter_facts(o->filter, o->view, err);
    if (st == PERFILE_OK)
        o->copy.session = pf_session_view_shown(o->view);
    return st;
}

static perfile_status end_session(output *o, perfile_error *err)
{
    if (!o->view)
        return PERFILE_OK;
    perfile_status st = pf_session_view_follow(o->view, err);
    if (st == PERFILE_OK)
        st = pf_filter_facts(o->filter, o->view, err);
    return st == PERFILE_OK ? pf_filter_build_ids(o->filter, o->view, err) : st;
}

static perfile_status begin_output(lot *l, uint32_t k, perfile_error *err)
{
    pf_splitting *s = l->s;
    output *o = &l->at[k];
    perfile_writer_options how = {
        .size = sizeof how,
        .as_stored = true,
        .form = s->form,
        .format =
            s->writing.format ? s->writing.format : perfile_stream_container(l->stream)->format,
        .byte_order = perfile_session_byte_order(perfile_stream_session(l->stream))};
    const perfile_copy_options copying = {.size = sizeof copying,
                                          .flags = s->failing ? 0 : PERFILE_COPY_FORCE};
    perfile_split_part part;
    const pf_inputs *inputs;
    char buffer[24];
    pf_split_describe(s, l->first + k, buffer, &part);
    perfile_status st = s->set ? pf_out_set_next(s->set, part.name, &o->sink, err)
                               : s->writing.open(s->writing.user, &part, &o->sink, err);
    if (st == PERFILE_OK && !s->set)
        st = pf_passes_inputs(&s->all, &inputs, err);
    if (st == PERFILE_OK && !s->set)
        st = pf_sink_reads(o->sink, inputs, err);
    if (st == PERFILE_OK)
        st = perfile_writer_open(o->sink, &how, &o->writer, err);
    if (st != PERFILE_OK)
        return st;
    pf_copy_start(&o->copy, l->stream, o->writer, &copying);
    st = pf_copy_check(&o->copy, err);
    if (st != PERFILE_OK)
        return st;
    o->copy.held_most = HELD_MOST;
    st = begin_session(l, o, err);
    return st == PERFILE_OK ? pf_copy_begin(&o->copy, err) : st;
}

/* Facts are those of the first part; records that no part got count in each. */
static void keep_notes(lot *l, uint32_t k)
{
    const pf_notes *notes = &l->at[k].copy.notes;
    for (uint32_t i = 0; i < notes->n; i++) {
        perfile_note one = notes->at[i];
        one.text = notes->why[i];
        if (l->first + k == 0 || one.kind == PERFILE_NOTE_RECORDS_CUT)
            pf_notes_add(&l->s->notes, &one);
    }
}

static perfile_status end_output(lot *l, uint32_t k, perfile_error *err)
{
    pf_splitting *s = l->s;
    output *o = &l->at[k];
    perfile_split_part part;
    char buffer[24];
    perfile_status st = end_session(o, err);
    if (st == PERFILE_OK)
        st = pf_copy_finish(&o->copy, err);
    if (st != PERFILE_OK)
        return st;
    keep_notes(l, k);
    pf_split_describe(s, l->first + k, buffer, &part);
    part.written = o->copy.result.records;
    part.bytes = perfile_sink_count(o->sink);
    s->sum.parts++;
    s->sum.written += part.written;
    s->sum.bytes += part.bytes;
    perfile_writer_close(o->writer);
    o->writer = NULL;
    if (s->set) {
        perfile_sink_close(o->sink);
        o->sink = NULL;
    }
    if (s->writing.done)
        s->writing.done(s->writing.user, &part, o->sink);
    return PERFILE_OK;
}

static perfile_status write_pass(lot *l, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    const perfile_session *session = perfile_stream_session(l->stream);
    l->files = perfile_session_feature(session, PERFILE_FEATURE_BUILD_ID) != NULL;
    for (uint32_t k = 0; k < l->n && st == PERFILE_OK; k++)
        st = begin_output(l, k, err);
    if (st == PERFILE_OK)
        st = write_all(l, err);
    for (uint32_t k = 0; k < l->n && st == PERFILE_OK; k++)
        st = end_output(l, k, err);
    return st;
}

/* Opens the capture, does one pass, and closes it. */
static perfile_status pass(lot *l, perfile_status (*what)(lot *l, perfile_error *err),
                           perfile_error *err)
{
    perfile_status st = pf_passes_open(&l->s->all, &l->stream, err);
    if (st != PERFILE_OK)
        return st;
    pf_split_begin_pass(&l->s->split);
    st = what(l, err);
    perfile_stream_close(l->stream);
    return st;
}

perfile_status pf_split_write(pf_splitting *s, uint32_t first, perfile_error *err)
{
    const pf_split *x = &s->split;
    lot l = {.s = s, .first = first};
    perfile_status st = PERFILE_OK;
    l.n = x->n - first < s->lot ? x->n - first : s->lot;
    l.at = pf_alloc(l.n, sizeof *l.at);
    if (!l.at)
        return pf_fail_nomem(err, "split");
    for (uint32_t k = 0; k < l.n && st == PERFILE_OK; k++)
        st = pf_split_part(x, first + k, &l.at[k].filter, err);
    if (st == PERFILE_OK && x->state)
        st = pass(&l, choose, err);
    if (st == PERFILE_OK)
        st = pass(&l, write_pass, err);
    for (uint32_t k = 0; k < l.n; k++) {
        perfile_writer_close(l.at[k].writer);
        if (s->set)
            perfile_sink_close(l.at[k].sink);
        pf_copy_free(&l.at[k].copy);
        pf_session_view_free(l.at[k].view);
        perfile_filter_close(l.at[k].filter);
    }
    pf_fragments_free(&l.pieces);
    pf_free(l.at);
    return st;
}
