/* perfile_target(): the functions of the stage, and the order in which records leave it.
 *
 * fill() does one of three things until the run has a record: yield held records that need not wait
 * any longer, fetch the next run below, or read records of it.  While anything is held, all further
 * records are held after it, so the order does not change.  Holding ends at the end of the input,
 * when held_bytes are exceeded, or when a record comes that cannot be held because its payload is
 * not stable (release_all).
 *
 * Invariants of runs: a record from which the session learns is the first of its run, and one with
 * a payload that is read on demand is alone in it.  Bytes in t->bytes are valid until the next
 * fill(). */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "transform/target.h"
#include "core/command.h"
#include "transform/command.h"

/* Converts a stream with target_ops to its struct. */
static pf_target *target_of(perfile_stream *s)
{
    return (pf_target *)(void *)s;
}

static const pf_stream_ops target_ops;

/* The same for any stream.  Returns NULL if it is another kind of stage. */
static const pf_target *target_of_any(const perfile_stream *s)
{
    return s && s->ops == &target_ops ? (const pf_target *)(const void *)s : NULL;
}

/* Returns true if the record has a payload that is not stable: it is gone with the next run
 * below. */
static bool cannot_wait(const perfile_record *r)
{
    return r->extra.len && !(r->extra.ptr && r->flags & PERFILE_REC_STABLE);
}

/* Returns true if the record must be the first of its run. */
static bool stands_first(const perfile_record *r)
{
    return r->family == PERFILE_FAMILY_DAMAGE || (r->extra.len && !r->extra.ptr) ||
           pf_session_collects_type(r->type);
}

/* Returns true if the record must be alone in its run. */
static bool stands_alone(const perfile_record *r)
{
    return r->family == PERFILE_FAMILY_DAMAGE || (r->extra.len && !r->extra.ptr);
}

/* Copies a record to the run; the session learns from it. */
static perfile_status add_to_run(pf_target *t, const perfile_record *r, perfile_error *err)
{
    perfile_record *slot = &t->base.run[t->base.n_run++];
    *slot = *r;
    slot->session = t->base.session;
    if (r->family != PERFILE_FAMILY_PERF || !pf_session_collects_type(r->type))
        return PERFILE_OK;
    /* The session must be resolved before anything is looked up in it, but only if it has
     * changed. */
    uint64_t before = pf_session_generation(t->base.session);
    perfile_status st = pf_session_collect(t->base.session, slot, err);
    if (st == PERFILE_OK && pf_session_generation(t->base.session) != before)
        st = pf_session_resolve(t->base.session, err);
    return st;
}

/* Sets *r to the first held record, which leaves now.  If its call chain has come, it gets it;
 * otherwise the marker of the missing part is removed, and a loss is counted. */
static void release_first(pf_target *t, perfile_record *r)
{
    pf_held *e = pf_deferred_at(&t->deferred, 0);
    perfile_bytes bytes = pf_deferred_bytes(&t->deferred, e);
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
        chain = pf_deferred_chain_of(&t->deferred, e);
        n = pf_target_complete_chain(e, bytes, &chain, pf_target_free_bytes(t));
    }
    if (n) {
        t->sum.merged++;
    } else {
        /* At the end of the input the rest is missing; before it, the limit was exceeded. */
        bool missing = e->state == PF_HELD_WAITING && t->ended;
        pf_target_count_loss(
            t, missing ? PERFILE_TARGET_LOSS_CHAIN_MISSING : PERFILE_TARGET_LOSS_CHAIN_LIMIT, 0,
            r->offset);
        n = pf_target_complete_chain(e, bytes, NULL, pf_target_free_bytes(t));
    }
    pf_target_append(t, r, n);
    t->sum.changed++;
}

/* Returns true if the held record need not, or must not, wait any longer. */
static bool may_leave(const pf_target *t, const pf_held *e)
{
    return e->state != PF_HELD_WAITING || t->ended || t->release_all ||
           pf_deferred_size(&t->deferred) > t->deferred.limit;
}

/* Returns how many bytes the next run may need for samples with completed call chains. */
static size_t room_for_held(pf_target *t)
{
    size_t room = 0;
    uint64_t n = pf_deferred_n(&t->deferred);
    for (uint64_t i = 0; i < n && i < PERFILE_RUN_RECORDS; i++)
        if (pf_deferred_at(&t->deferred, i)->state != PF_HELD_PLAIN)
            room += UINT16_MAX;
    return room;
}

/* Moves held records to the run, up to the first one that still waits. */
static perfile_status yield_held(pf_target *t, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (!pf_buffer_reserve(&t->bytes, room_for_held(t)))
        return pf_fail_nomem(err, "target");
    /* Count entries, not records, as room_for_held() does. */
    for (unsigned i = 0; i < PERFILE_RUN_RECORDS && st == PERFILE_OK && pf_deferred_n(&t->deferred);
         i++) {
        perfile_record r;
        const pf_held *e = pf_deferred_at(&t->deferred, 0);
        if (!may_leave(t, e))
            break;
        if (e->state != PF_HELD_CHAIN) {
            if (t->base.n_run && stands_first(&e->record))
                break;
            release_first(t, &r);
            st = add_to_run(t, &r, err);
        }
        pf_deferred_yield(&t->deferred);
        if (t->base.n_run && stands_alone(&t->base.run[t->base.n_run - 1]))
            break;
    }
    if (!pf_deferred_n(&t->deferred))
        t->release_all = false;
    return st;
}

/* Reads a CALLCHAIN_DEFERRED record: its chain completes the samples that wait for it. */
static perfile_status read_chain(pf_target *t, const perfile_record *r, perfile_error *err)
{
    perfile_callchain_deferred v;
    uint32_t pid, tid = PERFILE_NO_PID;
    uint64_t found;
    t->sum.dropped++;
    if (perfile_callchain_deferred_decode(r, &v, sizeof v, NULL) != PERFILE_OK) {
        pf_target_count_loss(t, PERFILE_TARGET_LOSS_UNREADABLE, r->type, r->offset);
        return PERFILE_OK;
    }
    if (!perfile_record_task(r, &pid, &tid))
        tid = PERFILE_NO_PID;
    perfile_bytes chain = {v.ips.ptr, 8 * v.ips.n};
    perfile_status st = pf_deferred_complete(&t->deferred, tid, v.cookie, chain, &found, err);
    if (st == PERFILE_OK && !found)
        pf_target_count_loss(t, PERFILE_TARGET_LOSS_CHAIN_ALONE, 0, r->offset);
    return st;
}

/* Passes on a rewritten record: to the run, or to the queue if others wait.  `r` is the
 * original. */
static perfile_status pass_on(pf_target *t, const perfile_record *r, const perfile_record *out,
                              perfile_error *err)
{
    uint64_t cookie = 0;
    uint32_t pid, tid = PERFILE_NO_PID, chain_at = 0;
    /* A version that knows CALLCHAIN_DEFERRED merges the chains itself. */
    if (!pf_release_knows_type(t->release, PERFILE_RECORD_CALLCHAIN_DEFERRED))
        chain_at = pf_target_find_cookie(t, r, out, &cookie);
    if (!chain_at && !pf_deferred_n(&t->deferred)) {
        if (r->extra.len && !r->extra.ptr)
            t->extra_of = r;
        return add_to_run(t, out, err);
    }
    if (chain_at && !perfile_record_task(r, &pid, &tid))
        tid = PERFILE_NO_PID;
    return pf_deferred_add(&t->deferred, out, chain_at, tid, cookie, err);
}

/* Reads the next record of the run below.  Sets *stop if this run must end: either the record was
 * not read yet and begins the next run, or it must be alone in its run. */
static perfile_status read_record(pf_target *t, bool *stop, perfile_error *err)
{
    const perfile_record *r = t->in;
    perfile_record out;
    const bool holds = pf_deferred_n(&t->deferred) != 0;
    if (r->flags & PERFILE_REC_ENVELOPE) { /* its content follows as records */
        t->in++;
        return PERFILE_OK;
    }
    /* While records are held, this one is only appended to the queue; yield_held() makes it the
     * first of a run. */
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
        return read_chain(t, r, err);
    }
    if (pf_target_has_map_build_id(t, r)) {
        bool is_new;
        if (t->base.n_run && !holds) {
            *stop = true; /* the HEADER_BUILD_ID before it may have to be first in its run */
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

/* Fast path: returns true if the record passes unchanged and need not be examined further. */
static inline bool is_plain(const pf_target *t, const perfile_record *r)
{
    return r->type < PERFILE_RECORD_USER && t->plain >> r->type & 1 &&
           r->family == PERFILE_FAMILY_PERF && !(r->flags & PERFILE_REC_ENVELOPE) &&
           r->body.len < UINT16_MAX - 8;
}

/* Reads records of the run below into this one, until it is full or must end. */
static perfile_status read_input(pf_target *t, perfile_error *err)
{
    size_t room = 0;
    bool stop = false;
    perfile_status st = PERFILE_OK;
    /* Reserve everything first, because records of the run point into the buffer. */
    for (const perfile_record *r = t->in; r < t->in_end; r++)
        if (!is_plain(t, r))
            room += pf_target_room_for(r);
    if (room && !pf_buffer_reserve(&t->bytes, room))
        return pf_fail_nomem(err, "target");
    while (st == PERFILE_OK && !stop && t->in < t->in_end && t->base.n_run < PERFILE_RUN_RECORDS) {
        if (is_plain(t, t->in) && !pf_deferred_n(&t->deferred)) {
            perfile_record *slot = &t->base.run[t->base.n_run++];
            *slot = *t->in++;
            slot->session = t->base.session;
        } else {
            st = read_record(t, &stop, err);
        }
    }
    return st;
}

/* Fetches the next run below, and makes plans for new events.  At the end, returns PERFILE_OK while
 * records are held; then reports losses and returns PERFILE_END. */
static perfile_status next_input(pf_target *t, perfile_error *err)
{
    size_t n;
    perfile_status st = perfile_stream_next_run(t->base.below, &t->in, &n, err);
    t->in_end = t->in;
    if (st == PERFILE_OK) {
        t->in_end += n;
        return pf_target_update_plans(t, err);
    }
    if (st != PERFILE_END)
        return st;
    t->ended = true;
    if (pf_deferred_n(&t->deferred))
        return PERFILE_OK;
    if (!t->reported)
        pf_target_report(t);
    t->reported = true;
    return PERFILE_END;
}

/* pf_stream_ops.fill. */
static perfile_status fill(perfile_stream *s, perfile_error *err)
{
    pf_target *t = target_of(s);
    perfile_status st = PERFILE_OK;
    t->extra_of = NULL;
    while (st == PERFILE_OK && s->n_run == 0) {
        /* The last run is no longer used: neither its bytes nor the held records in it. */
        pf_buffer_clear(&t->bytes);
        pf_deferred_pop(&t->deferred);
        if (pf_deferred_n(&t->deferred) && may_leave(t, pf_deferred_at(&t->deferred, 0)))
            st = yield_held(t, err);
        else if (t->in == t->in_end)
            st = next_input(t, err);
        else
            st = read_input(t, err);
    }
    if (t->deferred.most > t->sum.held)
        t->sum.held = t->deferred.most;
    return st;
}

/* pf_stream_ops.extra: the payload is read from the stream below. */
static perfile_status extra(perfile_stream *s, const perfile_record *r, perfile_bytes *chunk,
                            perfile_error *err)
{
    const pf_target *t = target_of(s);
    if (r != &s->run[0] || !t->extra_of)
        return pf_fail(err, PERFILE_E_USAGE, "record.extra", "the stream is not at this record");
    return perfile_stream_extra(s->below, t->extra_of, chunk, err);
}

static void close_stage(perfile_stream *s)
{
    pf_target *t = target_of(s);
    /* On failure perfile_target() sets s->below to NULL and frees the session itself. */
    if (s->below)
        pf_session_free(t->base.session);
    perfile_stream_close(s->below);
    pf_deferred_free(&t->deferred);
    pf_buffer_free(&t->bytes);
    pf_buffer_free(&t->written_ids);
    pf_free(t->written_slots);
    pf_free(t->plans);
    pf_free(t);
}

static const pf_stream_ops target_ops = {.fill = fill, .extra = extra, .close = close_stage};

/* Makes the session of the stage, with all facts known so far, and plans for its events. */
static perfile_status begin(pf_target *t, const perfile_stream *below, perfile_error *err)
{
    perfile_session *session;
    perfile_status st =
        pf_session_open(pf_session_swapped(below->session), &t->base.options, &session, err);
    if (st != PERFILE_OK)
        return st;
    t->base.session = session;
    pf_session_set_files(session, pf_session_files(below->session));
    t->deferred.seed = pf_session_seed(session);
    t->deferred.limit = t->base.limits.held_bytes;
    st = pf_target_add_facts(t, err);
    return st == PERFILE_OK ? pf_target_update_plans(t, err) : st;
}

perfile_status perfile_target(perfile_stream *below, const perfile_target_options *options,
                              perfile_stream **stream, perfile_error *err)
{
    perfile_target_options o;
    const pf_release *release;
    perfile_status st = pf_options_copy(&o, options, "target.options", err);
    if (st == PERFILE_OK)
        st = pf_stream_unread(below, "target", err);
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
                       "drop has an id field (ID, STREAM_ID or IDENTIFIER): samples cannot be "
                       "attributed to their events without it");
    if (below->options.envelopes == PERFILE_ENVELOPES_OUTER)
        return pf_fail(err, PERFILE_E_USAGE, "options.envelopes",
                       "compressed records cannot be changed: open the stream so that it yields "
                       "the records in them");
    pf_target *t = pf_alloc(1, sizeof *t);
    if (!t)
        return pf_fail_nomem(err, "target");
    t->options = o;
    t->release = release;
    t->wants_even_sizes = pf_release_has_trait(release, "ODD_SIZE");
    t->wants_full_names = pf_release_has_trait(release, "TOO_SHORT");
    pf_stream_on(&t->base, &target_ops, below);
    if (o.drop & PERFILE_SAMPLE_TIME) /* they were sorted by time */
        t->base.sorted_by = PF_SORTED_BY_NOTHING;
    t->base.session = NULL; /* pf_stream_on() has set that of `below`; begin() makes one */
    st = begin(t, below, err);
    if (st != PERFILE_OK) {
        t->base.below = NULL; /* it stays with the caller */
        pf_session_free(t->base.session);
        close_stage(&t->base);
        return st;
    }
    *stream = &t->base;
    return PERFILE_OK;
}

void pf_target_get_summary(const perfile_stream *stream, perfile_target_summary *out, size_t size)
{
    const pf_target *t = target_of_any(stream);
    perfile_target_summary none = {0};
    memcpy(out, t ? &t->sum : &none, size < sizeof none ? size : sizeof none);
}

const char *pf_target_version_at(size_t position)
{
    return position < PF_N_RELEASES ? pf_releases[position].name : NULL;
}

bool pf_target_has_feature(const char *version, uint32_t number)
{
    const pf_release *release;
    return pf_release_find(version, &release, NULL) == PERFILE_OK && number <= release->feature;
}

uint32_t pf_target_attr_size(const char *version)
{
    const pf_release *release;
    return pf_release_find(version, &release, NULL) == PERFILE_OK ? release->attr_size : 0;
}
