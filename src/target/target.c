/* The stage: runs of the stream below, record by record as an older version of perf has them. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/limits.h"
#include "target/target.h"

static pf_target *target_of(perfile_stream *s)
{
    return (pf_target *)(void *)s;
}

static const pf_stream_ops target_ops;

static const pf_target *stage_of(const perfile_stream *s)
{
    return s && s->ops == &target_ops ? (const pf_target *)(const void *)s : NULL;
}

/* Bytes behind the record that are gone with the next run. */
static bool cannot_wait(const perfile_record *r)
{
    return r->extra.len && !(r->extra.ptr && r->flags & PERFILE_REC_STABLE);
}

/* Whether the record has to be the first of its run; it is alone there when nothing may follow. */
static bool stands_first(const perfile_record *r)
{
    return r->family == PERFILE_FAMILY_DAMAGE || (r->extra.len && !r->extra.ptr) ||
           pf_session_wants(r->type);
}

static bool stands_alone(const perfile_record *r)
{
    return r->family == PERFILE_FAMILY_DAMAGE || (r->extra.len && !r->extra.ptr);
}

/* Puts the record into the run. */
static perfile_status give(pf_target *t, const perfile_record *r, perfile_error *err)
{
    perfile_record *slot = &t->base.run[t->base.n_run++];
    *slot = *r;
    slot->session = t->base.session;
    if (r->family != PERFILE_FAMILY_PERF || !pf_session_wants(r->type))
        return PERFILE_OK;
    uint64_t before = perfile_session_generation(t->base.session);
    perfile_status st = pf_session_learn(t->base.session, slot, err);
    if (st == PERFILE_OK && perfile_session_generation(t->base.session) != before)
        st = pf_session_settle(t->base.session, err);
    return st;
}

/* What the first record of the hold is by now: it waits no longer. */
static void let_go(pf_target *t, perfile_record *r)
{
    pf_held *e = pf_deferred_at(&t->hold, 0);
    perfile_bytes bytes = pf_deferred_bytes(&t->hold, e);
    *r = e->record;
    r->flags &= (uint8_t) ~(unsigned)PERFILE_REC_STABLE;
    if (r->family == PERFILE_FAMILY_DAMAGE)
        return;
    r->header = bytes.ptr;
    r->body.ptr = bytes.ptr + 8;
    if (e->state == PF_HELD_PLAIN)
        return;
    perfile_bytes chain = {NULL, 0};
    size_t n = 0;
    if (e->state == PF_HELD_COMPLETE) {
        chain = pf_deferred_chain_of(&t->hold, e);
        n = pf_target_merge(e, bytes, &chain, pf_target_take(t));
    }
    if (n) {
        t->sum.merged++;
    } else {
        bool never = e->state == PF_HELD_WAITING && t->ended;
        pf_target_lose(t,
                       never ? PERFILE_TARGET_LOSS_CHAIN_MISSING : PERFILE_TARGET_LOSS_CHAIN_LIMIT,
                       0, r->offset);
        n = pf_target_merge(e, bytes, NULL, pf_target_take(t));
    }
    pf_target_place(t, r, n);
    t->sum.changed++;
}

static bool may_go(const pf_target *t, const pf_held *e)
{
    return e->state != PF_HELD_WAITING || t->ended || t->release_all ||
           pf_deferred_size(&t->hold) > t->hold.limit;
}

/* Bytes that the next run may need for samples that are put together. */
static size_t room_for_held(pf_target *t)
{
    size_t room = 0;
    uint64_t n = pf_deferred_n(&t->hold);
    for (uint64_t i = 0; i < n && i < PERFILE_RUN_RECORDS; i++)
        if (pf_deferred_at(&t->hold, i)->state != PF_HELD_PLAIN)
            room += UINT16_MAX;
    return room;
}

static perfile_status give_held(pf_target *t, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (!pf_buffer_reserve(&t->bytes, room_for_held(t)))
        return pf_fail_nomem(err, "target");
    /* As many entries as there is room for, whether they are records or not. */
    for (unsigned i = 0; i < PERFILE_RUN_RECORDS && st == PERFILE_OK && pf_deferred_n(&t->hold);
         i++) {
        perfile_record r;
        const pf_held *e = pf_deferred_at(&t->hold, 0);
        if (!may_go(t, e))
            break;
        if (e->state != PF_HELD_CHAIN) {
            if (t->base.n_run && stands_first(&e->record))
                break;
            let_go(t, &r);
            st = give(t, &r, err);
        }
        pf_deferred_give(&t->hold);
        if (t->base.n_run && stands_alone(&t->base.run[t->base.n_run - 1]))
            break;
    }
    if (!pf_deferred_n(&t->hold))
        t->release_all = false;
    return st;
}

/* The rest of call chains that samples wait for. */
static perfile_status take_chain(pf_target *t, const perfile_record *r, perfile_error *err)
{
    perfile_callchain_deferred v;
    uint32_t pid, tid = PERFILE_NO_PID;
    uint64_t found;
    t->sum.dropped++;
    if (perfile_callchain_deferred_decode(r, &v, sizeof v, NULL) != PERFILE_OK) {
        pf_target_lose(t, PERFILE_TARGET_LOSS_UNREADABLE, r->type, r->offset);
        return PERFILE_OK;
    }
    if (!perfile_record_task(r, &pid, &tid))
        tid = PERFILE_NO_PID;
    perfile_bytes chain = {v.ips.ptr, 8 * v.ips.n};
    perfile_status st = pf_deferred_complete(&t->hold, tid, v.cookie, chain, &found, err);
    if (st == PERFILE_OK && !found)
        pf_target_lose(t, PERFILE_TARGET_LOSS_CHAIN_ALONE, 0, r->offset);
    return st;
}

/* A record that is ready: into the run, or behind those that wait. */
static perfile_status pass_on(pf_target *t, const perfile_record *r, const perfile_record *out,
                              perfile_error *err)
{
    uint64_t cookie = 0;
    uint32_t pid, tid = PERFILE_NO_PID, chain_at = 0;
    if (!pf_release_knows_type(t->release, PERFILE_RECORD_CALLCHAIN_DEFERRED))
        chain_at = pf_target_cookie(t, r, out, &cookie);
    if (!chain_at && !pf_deferred_n(&t->hold)) {
        if (r->extra.len && !r->extra.ptr)
            t->extra_of = r;
        return give(t, out, err);
    }
    if (chain_at && !perfile_record_task(r, &pid, &tid))
        tid = PERFILE_NO_PID;
    return pf_deferred_add(&t->hold, out, chain_at, tid, cookie, err);
}

/* Takes the next record of the input; *stop when it has to wait for the next run. */
static perfile_status take(pf_target *t, bool *stop, perfile_error *err)
{
    const perfile_record *r = t->in;
    perfile_record out;
    const bool holds = pf_deferred_n(&t->hold) != 0;
    if (r->flags & PERFILE_REC_ENVELOPE) {
        t->in++;
        return PERFILE_OK;
    }
    if (t->base.n_run && !holds && stands_first(r)) {
        *stop = true;
        return PERFILE_OK;
    }
    if (holds && cannot_wait(r)) {
        t->release_all = *stop = true;
        return PERFILE_OK;
    }
    if (r->family == PERFILE_FAMILY_PERF && r->type == PERFILE_RECORD_CALLCHAIN_DEFERRED &&
        !pf_release_knows_type(t->release, r->type) && !pf_target_drops_record(t, r->type)) {
        t->in++;
        return take_chain(t, r, err);
    }
    if (pf_target_has_map_build_id(t, r)) {
        bool is_new;
        if (t->base.n_run && !holds) {
            *stop = true; /* a build id may have to stand in front of it, first in a run */
            return PERFILE_OK;
        }
        perfile_status st = pf_target_map_build_id(t, r, &out, &is_new, err);
        if (st == PERFILE_OK && is_new)
            st = pass_on(t, r, &out, err);
        if (st != PERFILE_OK)
            return st;
    }
    t->in++;
    if (pf_target_record(t, r, &out) == PF_DROP)
        return PERFILE_OK;
    *stop = stands_alone(&out);
    return pass_on(t, r, &out, err);
}

static inline bool is_plain(const pf_target *t, const perfile_record *r)
{
    return r->type < PERFILE_RECORD_USER && t->plain >> r->type & 1 &&
           r->family == PERFILE_FAMILY_PERF && !(r->flags & PERFILE_REC_ENVELOPE) &&
           r->body.len < UINT16_MAX - 8;
}

static perfile_status take_input(pf_target *t, perfile_error *err)
{
    size_t room = 0;
    bool stop = false;
    perfile_status st = PERFILE_OK;
    for (const perfile_record *r = t->in; r < t->in_end; r++)
        if (!is_plain(t, r))
            room += pf_target_room(r);
    if (room && !pf_buffer_reserve(&t->bytes, room))
        return pf_fail_nomem(err, "target");
    while (st == PERFILE_OK && !stop && t->in < t->in_end && t->base.n_run < PERFILE_RUN_RECORDS) {
        if (is_plain(t, t->in) && !pf_deferred_n(&t->hold)) {
            perfile_record *slot = &t->base.run[t->base.n_run++];
            *slot = *t->in++;
            slot->session = t->base.session;
        } else {
            st = take(t, &stop, err);
        }
    }
    return st;
}

static perfile_status next_input(pf_target *t, perfile_error *err)
{
    size_t n;
    perfile_status st = perfile_stream_next_run(t->base.below, &t->in, &n, err);
    t->in_end = t->in;
    if (st == PERFILE_OK) {
        t->in_end += n;
        return pf_target_plans(t, err);
    }
    if (st != PERFILE_END)
        return st;
    t->ended = true;
    if (pf_deferred_n(&t->hold))
        return PERFILE_OK;
    if (!t->told)
        pf_target_report(t);
    t->told = true;
    return PERFILE_END;
}

static perfile_status fill(perfile_stream *s, perfile_error *err)
{
    pf_target *t = target_of(s);
    perfile_status st = PERFILE_OK;
    t->extra_of = NULL;
    while (st == PERFILE_OK && s->n_run == 0) {
        pf_buffer_clear(&t->bytes);
        pf_deferred_pop(&t->hold);
        if (pf_deferred_n(&t->hold) && may_go(t, pf_deferred_at(&t->hold, 0)))
            st = give_held(t, err);
        else if (t->in == t->in_end)
            st = next_input(t, err);
        else
            st = take_input(t, err);
    }
    if (t->hold.most > t->sum.held)
        t->sum.held = t->hold.most;
    return st;
}

static perfile_status extra(perfile_stream *s, const perfile_record *r, perfile_bytes *piece,
                            perfile_error *err)
{
    const pf_target *t = target_of(s);
    if (r != &s->run[0] || !t->extra_of)
        return pf_fail(err, PERFILE_E_USAGE, "record.extra", "the stream is not at this record");
    return perfile_stream_extra(s->below, t->extra_of, piece, err);
}

static void close_stage(perfile_stream *s)
{
    pf_target *t = target_of(s);
    if (s->below)
        pf_session_free(t->base.session);
    perfile_stream_close(s->below);
    pf_deferred_free(&t->hold);
    pf_buffer_free(&t->bytes);
    pf_buffer_free(&t->told_ids);
    pf_free(t->told_places);
    pf_free(t->plans);
    pf_free(t);
}

static const pf_stream_ops target_ops = {.fill = fill, .extra = extra, .close = close_stage};

static perfile_status begin(pf_target *t, const perfile_stream *below, perfile_error *err)
{
    perfile_session *session;
    perfile_status st =
        pf_session_new(perfile_session_swapped(below->session), &t->base.options, &session, err);
    if (st != PERFILE_OK)
        return st;
    t->base.session = session;
    t->hold.seed = pf_session_seed(session);
    t->hold.limit = t->base.limits.held_bytes;
    st = pf_target_facts(t, err);
    return st == PERFILE_OK ? pf_target_plans(t, err) : st;
}

perfile_status perfile_target(perfile_stream *below, const perfile_target_options *options,
                              perfile_stream **stream, perfile_error *err)
{
    perfile_target_options o;
    const pf_release *release;
    perfile_status st = pf_options_take(&o, sizeof o, options, "target.options", err);
    if (st != PERFILE_OK)
        return st;
    if (o.version || !o.drop)
        st = pf_release_find(o.version ? o.version : "", &release, err);
    else
        release = &pf_release_any;
    if (st != PERFILE_OK)
        return st;
    if (o.drop & (PERFILE_SAMPLE_ID | PERFILE_SAMPLE_STREAM_ID | PERFILE_SAMPLE_IDENTIFIER))
        return pf_fail(err, PERFILE_E_USAGE, "options.drop",
                       "ids say whose a sample is: they cannot be dropped");
    if (below->options.envelopes == PERFILE_ENVELOPES_OUTER)
        return pf_fail(err, PERFILE_E_USAGE, "options.envelopes",
                       "compressed records cannot be changed: open the capture with what is in "
                       "them");
    pf_target *t = pf_alloc(1, sizeof *t);
    if (!t)
        return pf_fail_nomem(err, "target");
    t->options = o;
    t->release = release;
    t->wants_even_sizes = pf_release_has_trait(release, "ODD_SIZE");
    t->wants_whole_names = pf_release_has_trait(release, "TOO_SHORT");
    pf_stream_on(&t->base, &target_ops, below);
    if (o.drop & PERFILE_SAMPLE_TIME)
        t->base.sorted_by = PERFILE_SORTED_BY_NOTHING;
    t->base.session = NULL;
    st = begin(t, below, err);
    if (st != PERFILE_OK) {
        t->base.below = NULL; /* it stays the caller's */
        pf_session_free(t->base.session);
        close_stage(&t->base);
        return st;
    }
    *stream = &t->base;
    return PERFILE_OK;
}

void perfile_target_get_summary(const perfile_stream *stream, perfile_target_summary *out,
                                size_t size)
{
    const pf_target *t = stage_of(stream);
    perfile_target_summary none = {0};
    memcpy(out, t ? &t->sum : &none, size < sizeof none ? size : sizeof none);
}

const char *perfile_target_version_at(size_t position)
{
    return position < PF_N_RELEASES ? pf_releases[position].name : NULL;
}

bool perfile_target_has_feature(const char *version, uint32_t number)
{
    const pf_release *release;
    return pf_release_find(version, &release, NULL) == PERFILE_OK && number <= release->feature;
}

uint32_t perfile_target_attr_size(const char *version)
{
    const pf_release *release;
    return pf_release_find(version, &release, NULL) == PERFILE_OK ? release->attr_size : 0;
}
