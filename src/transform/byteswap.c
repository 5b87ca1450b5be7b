/* perfile_byteswap(): a stage that yields records in the other byte order.
 *
 * Contiguous records of a run below are swapped together into o->bytes, at the same distances from
 * each other; no length changes.  The stage has a session in the other byte order.  It is filled
 * with swapped attrs and features at the beginning, and learns from swapped records as they pass.
 * Bytes that no table describes, or that cannot be read, are copied unchanged as far as necessary,
 * and reported to options.kept.  For fragments of large simpleperf records see byteswap.h. */
#include "transform/byteswap.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "core/swap.h"
#include "schema/rows.h"
#include "core/command.h"
#include "schema/command.h"

/* Converts a stream of perfile_byteswap() to its struct. */
static pf_byteswap *stage_of(perfile_stream *s)
{
    return (pf_byteswap *)(void *)s;
}

/* Reports to options.kept what could not be swapped completely: the record `r`, the feature `f`, or
 * an attr if both are NULL.  Returns PERFILE_OK to continue; else the error `why`, which ends the
 * stream. */
static perfile_status report_kept(const pf_byteswap *o, const perfile_record *r,
                                  const perfile_feature *f, const perfile_error *why,
                                  perfile_error *err)
{
    if (!o->options.kept || o->options.kept(o->options.user, r, f, why) == PERFILE_OK)
        return PERFILE_OK;
    if (err)
        *err = *why;
    return why->status;
}

perfile_record pf_byteswap_record(const pf_byteswap *o, const perfile_record *r,
                                  const uint8_t *bytes)
{
    perfile_record m = *r;
    m.header = bytes;
    m.body.ptr = bytes + pf_family_header(r->family);
    m.flags = (uint8_t)((r->flags ^ PERFILE_REC_SWAPPED) & ~PERFILE_REC_STABLE);
    m.session = o->base.session;
    return m;
}

/* Swaps first[0 .. n), which are contiguous, into o->bytes. */
static perfile_status swap_records(pf_byteswap *o, const perfile_record *first, size_t n,
                                   perfile_error *err)
{
    const perfile_record *last = &first[n - 1];
    size_t size = (size_t)(last->header - first->header) + perfile_record_size(last);
    pf_buffer_clear(&o->bytes);
    if (!pf_buffer_reserve(&o->bytes, size))
        return pf_fail_nomem(err, "order");
    o->bytes.len = size;
    for (size_t done = 0; done < n; done++) {
        perfile_error why;
        const perfile_record *from = &first[done];
        /* pf_swap_run() stops at a record that it could not swap completely.  Report it, and
         * continue. */
        done += pf_swap_run(from, n - done, o->bytes.ptr + (from->header - first->header), &why);
        if (done == n)
            break;
        perfile_status st = report_kept(o, &first[done], NULL, &why, err);
        if (st != PERFILE_OK)
            return st;
    }
    return PERFILE_OK;
}

/* Lets the session of this stage learn from a swapped record. */
static perfile_status learn(pf_byteswap *o, const perfile_record *r, perfile_error *err)
{
    perfile_session *s = o->base.session;
    if (!pf_session_collects(r))
        return PERFILE_OK;
    uint64_t before = pf_session_generation(s);
    perfile_status st = pf_session_collect(s, r, err);
    if (st == PERFILE_OK && pf_session_generation(s) != before)
        st = pf_session_resolve(s, err);
    return st;
}

/* Makes the run of swapped records; their bytes are in o->bytes. */
static void make_run(pf_byteswap *o, const perfile_record *first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        o->base.run[i] =
            pf_byteswap_record(o, &first[i], o->bytes.ptr + (first[i].header - first[0].header));
    o->of = first;
    o->base.n_run = (uint32_t)n;
}

/* Makes a run of the records at o->at. */
static perfile_status yield_records(pf_byteswap *o, perfile_error *err)
{
    const perfile_record *first = o->at;
    if (first->family == PERFILE_FAMILY_DAMAGE) {
        /* The bytes of damage are not records and stay unchanged. */
        o->base.run[0] = *first;
        o->base.run[0].session = o->base.session;
        o->base.n_run = 1;
        o->n = 0;
        return PERFILE_OK;
    }
    perfile_status st = o->joined_is_swapped ? PERFILE_OK : swap_records(o, first, o->n, err);
    if (st != PERFILE_OK)
        return st;
    make_run(o, first, o->n);
    o->n = 0;
    return learn(o, &o->base.run[0], err);
}

/* Returns how many of first[0 .. n) are contiguous.  All records of a driver are.  A stage below
 * may have left out some of them, or have made others in a buffer of its own. */
static size_t adjacent(const perfile_record *first, size_t n)
{
    size_t i = 1;
    while (i < n && first[i].header == first[i - 1].header + perfile_record_size(&first[i - 1]))
        i++;
    return i;
}

/* Sets o->at and o->n to the next contiguous records, of the same run below or of the next one. */
static perfile_status next_records(pf_byteswap *o, perfile_error *err)
{
    if (o->n_rest == 0) {
        perfile_status st = perfile_stream_next_run(o->base.below, &o->at, &o->n_rest, err);
        if (st != PERFILE_OK) {
            o->n = o->n_rest = 0;
            return st;
        }
    } else {
        o->at = o->rest;
    }
    o->n = adjacent(o->at, o->n_rest);
    o->n_rest -= o->n;
    o->rest = o->at + o->n;
    return PERFILE_OK;
}

/* Fetches the next records that are not fragments; fragments before them are held.  A joined record
 * is swapped here, so that its fragments can be yielded before it. */
static perfile_status fetch(pf_byteswap *o, perfile_error *err)
{
    for (;;) {
        o->joined_is_swapped = false;
        perfile_status st = next_records(o, err);
        if (st != PERFILE_OK)
            return st;
        if (o->at->family == PERFILE_FAMILY_DAMAGE)
            return PERFILE_OK;
        if (!pf_is_joined_fragment(o->at))
            break;
        st = pf_byteswap_hold_fragment(o, o->at, err);
        if (st != PERFILE_OK)
            return st;
    }
    if (o->fragments.len == 0 || !(o->at->flags & PERFILE_REC_INNER))
        return PERFILE_OK;
    perfile_status st = swap_records(o, o->at, 1, err);
    o->joined_is_swapped = true;
    if (st == PERFILE_OK)
        pf_byteswap_fill_fragments(o, (perfile_bytes){o->bytes.ptr, o->bytes.len});
    return st;
}

/* pf_stream_ops.fill. */
static perfile_status fill(perfile_stream *s, perfile_error *err)
{
    pf_byteswap *o = stage_of(s);
    perfile_status st = PERFILE_OK;
    s->n_run = 0;
    /* Fetch only if nothing is waiting: neither fragments nor the joined record after them. */
    if (o->n_fragments_yielded == 0 && o->n == 0) {
        st = fetch(o, err);
        if (st != PERFILE_OK && !(st == PERFILE_END && o->fragments.len))
            return st;
    }
    if (o->fragments.len && pf_byteswap_next_fragment(o))
        return PERFILE_OK;
    /* n is 0 if the stream ended with fragments that were never joined: all are yielded now. */
    return o->n ? yield_records(o, err) : PERFILE_END;
}

/* pf_stream_ops.extra: the payload is read from the stream below and not swapped. */
static perfile_status extra(perfile_stream *s, const perfile_record *r, perfile_bytes *chunk,
                            perfile_error *err)
{
    const pf_byteswap *o = stage_of(s);
    if (r != &s->run[0] || !o->of)
        return pf_fail(err, PERFILE_E_USAGE, "record.extra", "the stream is not at this record");
    return perfile_stream_extra(s->below, o->of, chunk, err);
}

static void close_stage(perfile_stream *s)
{
    pf_byteswap *o = stage_of(s);
    perfile_stream_close(s->below);
    pf_session_free(s->session);
    pf_buffer_free(&o->bytes);
    pf_buffer_free(&o->fragments);
    pf_buffer_free(&o->held);
    pf_free(o);
}

static const pf_stream_ops byteswap_ops = {.fill = fill, .extra = extra, .close = close_stage};

/* Adds an event to the session, with swapped attr and ids. */
static perfile_status add_event(pf_byteswap *o, const perfile_event *e, perfile_error *err)
{
    /* The session copies its input, so o->bytes serves as scratch. */
    size_t ids = 8 * e->ids.n;
    perfile_error why;
    pf_buffer_clear(&o->bytes);
    if (!pf_buffer_reserve(&o->bytes, e->stored.len + ids))
        return pf_fail_nomem(err, "order");
    bool swapped = e->ids.swapped;
    perfile_status st = pf_swap_attr(e->stored, swapped, o->bytes.ptr, &why);
    if (st != PERFILE_OK && (st = report_kept(o, NULL, NULL, &why, err)) != PERFILE_OK)
        return st;
    for (size_t i = 0; i < e->ids.n; i++)
        pf_store_u64(o->bytes.ptr + e->stored.len + 8 * i, perfile_word(&e->ids, i), !swapped);
    pf_attr_fact fact = {.attr = {o->bytes.ptr, e->stored.len},
                         .ids = {o->bytes.ptr + e->stored.len, ids},
                         .offset = e->offset,
                         .origin = e->origin,
                         .ids_damage = e->ids_damage};
    return pf_session_add_attr(o->base.session, &fact, err);
}

/* Adds a feature to the session, with a swapped payload. */
static perfile_status add_feature(pf_byteswap *o, const perfile_feature *f, perfile_error *err)
{
    perfile_feature mine = *f;
    perfile_error why;
    mine.flags ^= PERFILE_REC_SWAPPED;
    mine.session = o->base.session;
    /* TRACING_DATA has a byte order of its own and may be large.  Damaged payloads cannot be
     * read. */
    bool as_it_is = f->damage || f->payload.len == 0 || f->number == PERFILE_FEATURE_TRACING_DATA;
    if (!as_it_is) {
        pf_buffer_clear(&o->bytes);
        if (!pf_buffer_reserve(&o->bytes, f->payload.len))
            return pf_fail_nomem(err, "order");
        perfile_status st = pf_swap_feature(f, o->bytes.ptr, &why);
        if (st != PERFILE_OK && (st = report_kept(o, NULL, f, &why, err)) != PERFILE_OK)
            return st;
        mine.payload.ptr = o->bytes.ptr;
    }
    return pf_session_add_feature(o->base.session, &mine, as_it_is, err);
}

/* Fills the session with all facts that the session below has already. */
static perfile_status add_facts(pf_byteswap *o, const perfile_session *from, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < pf_session_n_events(from) && st == PERFILE_OK; i++)
        st = add_event(o, perfile_session_event(from, i), err);
    for (uint32_t i = 0; i < pf_session_n_event_types(from) && st == PERFILE_OK; i++) {
        const pf_event_type *t = pf_session_event_type(from, i);
        st = pf_session_add_event_type(o->base.session, t->event_id, t->name, true, err);
    }
    for (uint32_t i = 0; i < pf_session_n_features(from) && st == PERFILE_OK; i++)
        st = add_feature(o, perfile_session_feature_at(from, i), err);
    return st == PERFILE_OK ? pf_session_resolve(o->base.session, err) : st;
}

perfile_status perfile_byteswap(perfile_stream *below, uint32_t byte_order,
                                const perfile_byteswap_options *options, perfile_stream **stream,
                                perfile_error *err)
{
    const perfile_session *from = perfile_stream_session(below);
    if (byte_order != PERFILE_BYTE_ORDER_LITTLE && byte_order != PERFILE_BYTE_ORDER_BIG)
        return pf_fail(err, PERFILE_E_USAGE, "order",
                       "byte order %u is neither PERFILE_BYTE_ORDER_LITTLE (%d) nor BIG (%d)",
                       byte_order, PERFILE_BYTE_ORDER_LITTLE, PERFILE_BYTE_ORDER_BIG);
    perfile_byteswap_options own;
    perfile_status st = pf_stream_unread(below, "byteswap", err);
    if (st == PERFILE_OK)
        st = pf_options_copy(&own, options, "order.options", err);
    if (st != PERFILE_OK)
        return st;
    /* The byte order is right already: no stage is needed. */
    if (pf_session_byte_order(from) == byte_order) {
        *stream = below;
        return PERFILE_OK;
    }
    pf_byteswap *o = pf_alloc(1, sizeof *o);
    if (!o)
        return pf_fail_nomem(err, "order");
    perfile_session *mine;
    o->options = own;
    st = pf_session_open(!pf_session_swapped(from), &below->options, &mine, err);
    if (st != PERFILE_OK) {
        pf_free(o);
        return st;
    }
    pf_stream_on(&o->base, &byteswap_ops, below);
    o->base.session = mine;
    pf_session_set_files(mine, pf_session_files(from));
    st = add_facts(o, from, err);
    if (st != PERFILE_OK) {
        o->base.below = NULL;
        close_stage(&o->base);
        return st;
    }
    *stream = &o->base;
    return PERFILE_OK;
}

/* Byte-swapping of simpleperf records above 64 KiB, which are stored in fragments; see
 * byteswap.h. */

perfile_status pf_byteswap_hold_fragment(pf_byteswap *o, const perfile_record *r,
                                         perfile_error *err)
{
    perfile_record fragment = *r;
    size_t size = perfile_record_size(r);
    size_t at = o->held.len;
    if (!pf_buffer_reserve(&o->held, size) ||
        !pf_buffer_append(&o->fragments, &fragment, sizeof fragment))
        return pf_fail_nomem(err, "order");
    /* Swaps the header of the fragment.  Its body is copied unchanged until the joined record
     * comes. */
    (void)pf_swap_record(r, o->held.ptr + at, NULL);
    if (r->body.len)
        memcpy(o->held.ptr + at + PF_PERF_RECORD_HEADER, r->body.ptr, r->body.len);
    o->held.len += size;
    return PERFILE_OK;
}

/* Returns the `i`-th held fragment. */
static const perfile_record *fragment_at(const pf_byteswap *o, size_t i)
{
    return (const perfile_record *)(const void *)o->fragments.ptr + i;
}

void pf_byteswap_fill_fragments(pf_byteswap *o, perfile_bytes joined)
{
    size_t n = o->fragments.len / sizeof(perfile_record);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const perfile_record *r = fragment_at(o, i);
        size_t some = r->body.len < joined.len ? r->body.len : joined.len;
        if (some)
            memcpy(o->held.ptr + at + PF_PERF_RECORD_HEADER, joined.ptr, some);
        joined.ptr += some;
        joined.len -= some;
        at += perfile_record_size(r);
    }
}

bool pf_byteswap_next_fragment(pf_byteswap *o)
{
    size_t n = o->fragments.len / sizeof(perfile_record);
    if (o->n_fragments_yielded == n) {
        pf_buffer_clear(&o->fragments);
        pf_buffer_clear(&o->held);
        o->n_fragments_yielded = 0;
        return false;
    }
    const perfile_record *r = fragment_at(o, o->n_fragments_yielded);
    if (o->n_fragments_yielded++)
        pf_buffer_consume_front(&o->held, perfile_record_size(r - 1));
    o->base.run[0] = pf_byteswap_record(o, r, o->held.ptr);
    o->base.n_run = 1;
    return true;
}
