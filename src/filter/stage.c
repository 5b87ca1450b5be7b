/* The stage: passes on those records of each run that the filter keeps.
 *
 * They are normally ranges of the run of the stream below, without a copy.  If features change
 * (SAMPLE_TIME, BUILD_ID), records must belong to another session, a view of the one below, and are
 * copied to slots of this stream.  Records in fragments are decided on as a whole
 * (stage/fragments.h). */
#include "base/alloc.h"

#include "base/error.h"
#include "filter/filter.h"
#include "stage/fragments.h"
#include "schema/rows.h"

/* The filter as a stream. */
typedef struct stage {
    perfile_stream base;
    pf_filter *x;
    const perfile_record *first; /* the run of the stream below … */
    size_t n;
    uint64_t left; /* … and the bits of its records that are still to be passed on */
    uint64_t kept; /* if all records are passed on: bits of the selected ones */
    bool begun;
    pf_fragments pieces;
    pf_session_view *view; /* with features for the kept records; NULL: features do not change */
    const perfile_record *extra_of; /* the record below of which run[0] is a copy */
} stage;

/* Passes on the rest of the run as copies that belong to the session of this stream. */
static void hand_on_copies(stage *g)
{
    perfile_stream *s = &g->base;
    const bool all = g->left == pf_run_bits(g->n);
    g->extra_of = g->left & 1 ? g->first : NULL;
    for (uint64_t left = g->left; left;) {
        const unsigned from = (unsigned)__builtin_ctzll(left);
        const uint64_t rest = ~(left >> from);
        const unsigned n = rest ? (unsigned)__builtin_ctzll(rest) : 64 - from;
        memcpy(&s->run[s->n_run], g->first + from, n * sizeof *s->run);
        s->n_run += n;
        left &= ~(pf_run_bits(n) << from);
    }
    for (uint32_t i = 0; i < s->n_run; i++)
        s->run[i].session = s->session;
    if (all)
        s->framed = pf_stream_batch(s->below, g->first, g->n);
    g->left = 0;
}

/* Passes on the run as copies that are marked unless selected. */
static void hand_on_marked(stage *g)
{
    perfile_stream *s = &g->base;
    s->n_run = (uint32_t)g->n;
    memcpy(s->run, g->first, g->n * sizeof *s->run);
    g->extra_of = g->first;
    if (g->left == g->kept)
        s->framed = pf_stream_batch(s->below, g->first, g->n);
    for (uint64_t left = g->left & ~g->kept; left; left &= left - 1)
        s->run[__builtin_ctzll(left)].flags |= PERFILE_REC_UNSELECTED;
    g->left = 0;
}

/* Passes on the next range of the run in place.  If the rest of the run is scattered, passes on all
 * of it as copies. */
static void hand_on_range(stage *g)
{
    perfile_stream *s = &g->base;
    if (g->x->terms.marks) {
        hand_on_marked(g);
        return;
    }
    if (g->view) {
        hand_on_copies(g);
        return;
    }
    unsigned from = (unsigned)__builtin_ctzll(g->left);
    uint64_t rest = ~(g->left >> from);
    unsigned n = rest ? (unsigned)__builtin_ctzll(rest) : 64 - from;
    uint64_t stretch = pf_run_bits(n) << from;
    bool more_behind =
        from == 0 && g->first->extra.len; /* perfile_stream_extra() needs the record itself */
    if (g->left == stretch || n >= 8 || more_behind) {
        s->at = g->first + from;
        s->end = s->at + n;
        g->left &= ~stretch;
        return;
    }
    for (; g->left; g->left &= g->left - 1)
        s->run[s->n_run++] = g->first[__builtin_ctzll(g->left)];
    s->at = s->end = s->run; /* the stream adds n_run */
}

/* At the end: updates features that depend on all kept records. */
static perfile_status finish(stage *g, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (g->view)
        st = pf_filter_update_sample_time(g->x, g->view, err);
    if (st == PERFILE_OK && g->view)
        st = pf_filter_update_build_ids(g->x, g->view, err);
    if (st != PERFILE_OK)
        return st;
    if (g->x->ended.call)
        g->x->ended.call(g->x->ended.user);
    return PERFILE_END;
}

/* Fetches a run, and updates the view from the session below. */
static perfile_status next_run_below(stage *g, perfile_error *err)
{
    perfile_status st = perfile_stream_next_run(g->base.below, &g->first, &g->n, err);
    return st == PERFILE_OK && g->view ? pf_session_view_refresh(g->view, err) : st;
}

/* Decides which records of the run are kept. */
static perfile_status decide_run(stage *g, perfile_error *err)
{
    const pf_run run = pf_run_examine(g->base.below, g->first, g->n);
    pf_filter_report_progress(g->x, g->first);
    perfile_status st = pf_filter_decide(g->x, &run, &g->left, err);
    if (g->x->terms.marks) {
        g->kept = g->left;
        g->left = pf_run_bits(g->n);
    }
    if (st == PERFILE_OK)
        pf_fragments_resolve(&g->pieces, g->first, g->left != 0);
    return st;
}

/* Makes the next run. */
static perfile_status fill(perfile_stream *s, perfile_error *err)
{
    stage *g = (stage *)(void *)s;
    pf_filter *x = g->x;
    if (!g->begun) {
        g->begun = true;
        pf_filter_begin_pass(x, s);
        if (!x->terms.marks)
            pf_filter_narrow(x, s->below, false, true);
        /* Without a selecting pass the needed side-band is unknown. */
        x->result.all_sideband = !x->selection.known || x->result.all_sideband;
    }
    while (!g->left && !g->pieces.giving) {
        x->holds = g->pieces.records.len != 0;
        perfile_status st = next_run_below(g, err);
        if (st == PERFILE_END && pf_filter_narrow_status(x, err) != PERFILE_OK)
            st = PERFILE_E_NOMEM;
        /* A fragment is held back until the record that it is part of is decided on. */
        if (st == PERFILE_OK && !x->terms.only && pf_is_joined_fragment(g->first))
            st = pf_fragments_hold(&g->pieces, g->first, err);
        else if (st == PERFILE_OK)
            st = decide_run(g, err);
        /* The terms were never resolved if the capture has no suitable record; unknown events are
         * still an error. */
        else if (st == PERFILE_END && !x->pass.resolved &&
                 pf_filter_check_events(x, err) != PERFILE_OK)
            st = PERFILE_E_USAGE;
        else if (st == PERFILE_END)
            st = finish(g, err);
        if (st != PERFILE_OK) {
            g->left = 0;
            return st;
        }
    }
    if (!g->pieces.giving)
        hand_on_range(g);
    else if (pf_fragments_next(&g->pieces, &s->run[0])) {
        s->run[0].session = s->session;
        s->n_run = 1; /* fragments are passed on one by one, like all records that are not plain */
    }
    return PERFILE_OK;
}

/* pf_stream_ops.narrow: notes the consumer of ranges as they are stored. narrow.c decides which
 * ranges. */
static void take_stored(perfile_stream *s, const pf_narrow *how)
{
    ((stage *)(void *)s)->x->ranges.takes = how;
}

/* pf_stream_ops.extra: reads extra bytes of a record through the stream below. */
static perfile_status extra(perfile_stream *s, const perfile_record *r, perfile_bytes *piece,
                            perfile_error *err)
{
    const stage *g = (const stage *)(const void *)s;
    const bool own = r == &s->run[0];
    if (own && !g->extra_of)
        return pf_fail(err, PERFILE_E_USAGE, "record.extra", "the stream is not at this record");
    return perfile_stream_extra(s->below, own ? g->extra_of : r, piece, err);
}

static void close_stage(perfile_stream *s)
{
    stage *g = (stage *)(void *)s;
    pf_fragments_free(&g->pieces);
    pf_session_view_free(g->view);
    perfile_stream_close(s->below);
    pf_free(s);
}

static const pf_stream_ops stage_ops = {
    .fill = fill, .extra = extra, .close = close_stage, .narrow = take_stored};

/* Makes a view of the session if features have to change. */
static perfile_status begin_session(stage *g, perfile_error *err)
{
    const perfile_session *below = g->base.below->session;
    if (g->x->terms.only || pf_filter_selects_all(g->x) || !pf_filter_changes_facts(below))
        return PERFILE_OK;
    perfile_status st = pf_session_view_new(below, &g->view, err);
    if (st == PERFILE_OK &&
        g->x->selection.known) /* for readers of features before the first record */
        st = pf_filter_update_sample_time(g->x, g->view, err);
    if (st == PERFILE_OK)
        g->base.session = (perfile_session *)(uintptr_t)pf_session_view_shown(g->view);
    return st;
}

/* `x` is borrowed and must outlive the stage. */
perfile_status perfile_filter(perfile_stream *below, perfile_filter_state *x,
                              perfile_stream **stream, perfile_error *err)
{
    if (!x->collected && pf_filter_needs_time_range(x))
        return pf_fail(
            err, PERFILE_E_USAGE, "time",
            "a time relative to the samples needs a pass before: call perfile_filter_learn()");
    perfile_status st = pf_stream_unread(below, "filter", err);
    if (st != PERFILE_OK)
        return st;
    stage *g = pf_alloc(1, sizeof *g);
    if (!g)
        return pf_fail_nomem(err, "filter");
    pf_stream_on(&g->base, &stage_ops, below);
    g->x = x;
    st = begin_session(g, err);
    if (st != PERFILE_OK) {
        pf_session_view_free(g->view);
        pf_free(g);
        return st;
    }
    *stream = &g->base;
    return PERFILE_OK;
}

/* Which FINISHED_ROUND records are passed on.
 *
 * A FINISHED_ROUND tells readers that they may sort and process the records that they hold.  If
 * everything before it was dropped, there is nothing to process, and a short part of a recording of
 * many CPUs would consist of little else.  So a FINISHED_ROUND is dropped if every record since the
 * last kept one was dropped.  One that directly follows another is kept, so that a filter that
 * drops nothing does not change the capture.  Two filters in sequence drop the same ones as one
 * filter with the terms of both.
 *
 * With fewer of them readers hold records for longer, but the order does not change. */

static bool is_round(const perfile_record *r)
{
    return r->type == PERFILE_RECORD_FINISHED_ROUND && r->family == PERFILE_FAMILY_PERF;
}

/* Notes whether any record in `of` was kept, and whether any was dropped. */
static void note(pf_filter *x, uint64_t of, uint64_t keep)
{
    x->rounds.has_kept |= (of & keep) != 0;
    x->rounds.has_dropped |= (of & ~keep) != 0;
}

static void begin_round(pf_filter *x)
{
    x->rounds.has_kept = x->rounds.has_dropped = false;
}

void pf_filter_drop_rounds(pf_filter *x, const pf_run *run, uint64_t selected, uint64_t *keep)
{
    uint64_t rest = run->all; /* records after the last FINISHED_ROUND of the run */
    for (uint64_t left = *keep & ~run->samples; left; left &= left - 1) {
        const uint64_t bit = left & -left;
        if (!is_round(&run->first[__builtin_ctzll(left)]))
            continue;
        note(x, rest & (bit - 1), *keep);
        if (x->rounds.has_dropped && !x->rounds.has_kept && !(selected & bit))
            *keep &= ~bit;
        else
            begin_round(x);
        rest &= ~(bit | (bit - 1));
    }
    note(x, rest, *keep);
}

/* The stage gets only the FINISHED_ROUNDs of such a range; its samples are skipped. */
bool pf_filter_note_given(pf_filter *x, const pf_run *run)
{
    if (run->first->sequence >= x->ranges.given_to)
        return false;
    begin_round(x);
    return true;
}

void pf_filter_note_passed(pf_filter *x, uint64_t sequence)
{
    if (sequence < x->ranges.given_to)
        x->rounds.has_kept = true;
    else
        x->rounds.has_dropped = true;
}

bool pf_filter_drops_rounds(const pf_filter *x)
{
    return x->rounds.has_dropped && !x->rounds.has_kept && !x->holds;
}
