#include "stage/byteswap.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "core/swap.h"
#include "schema/family.h"

static pf_byteswap *order_of(perfile_stream *s)
{
    return (pf_byteswap *)(void *)s;
}

static perfile_status told(const pf_byteswap *o, const perfile_record *r, const perfile_feature *f,
                           const perfile_error *why, perfile_error *err)
{
    if (!o->options.kept || o->options.kept(o->options.user, r, f, why) == PERFILE_OK)
        return PERFILE_OK;
    if (err)
        *err = *why;
    return why->status;
}

perfile_record pf_byteswap_moved(const pf_byteswap *o, const perfile_record *r,
                                 const uint8_t *bytes)
{
    perfile_record m = *r;
    m.header = bytes;
    m.body.ptr = bytes + perfile_family_header(r->family);
    m.flags = (uint8_t)((r->flags ^ PERFILE_REC_SWAPPED) & ~PERFILE_REC_STABLE);
    m.session = o->base.session;
    return m;
}

/* Turns records that lie one behind the other into o->bytes. */
static perfile_status turn(pf_byteswap *o, const perfile_record *first, size_t n,
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
        done += pf_swap_run(from, n - done, o->bytes.ptr + (from->header - first->header), &why);
        if (done == n)
            break;
        perfile_status st = told(o, &first[done], NULL, &why, err);
        if (st != PERFILE_OK)
            return st;
    }
    return PERFILE_OK;
}

/* What the record says of the session holds from here on, in this byte order. */
static perfile_status learn(pf_byteswap *o, const perfile_record *r, perfile_error *err)
{
    perfile_session *s = o->base.session;
    if (!pf_session_learns(r))
        return PERFILE_OK;
    uint64_t before = perfile_session_generation(s);
    perfile_status st = pf_session_learn(s, r, err);
    if (st == PERFILE_OK && perfile_session_generation(s) != before)
        st = pf_session_settle(s, err);
    return st;
}

static void hand_on(pf_byteswap *o, const perfile_record *first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        o->base.run[i] =
            pf_byteswap_moved(o, &first[i], o->bytes.ptr + (first[i].header - first[0].header));
    o->of = first;
    o->base.n_run = (uint32_t)n;
}

/* The run that waits, turned. */
static perfile_status take(pf_byteswap *o, perfile_error *err)
{
    const perfile_record *first = o->at;
    if (first->family == PERFILE_FAMILY_DAMAGE) {
        o->base.run[0] = *first;
        o->base.run[0].session = o->base.session;
        o->base.n_run = 1;
        o->n = 0;
        return PERFILE_OK;
    }
    perfile_status st = o->turned ? PERFILE_OK : turn(o, first, o->n, err);
    if (st != PERFILE_OK)
        return st;
    hand_on(o, first, o->n);
    o->n = 0;
    return learn(o, &o->base.run[0], err);
}

/* How many of first[0 .. n) lie one behind the other.  Those of a driver all do; a stage may have
 * left some out, or have made others in a buffer of its own. */
static size_t adjacent(const perfile_record *first, size_t n)
{
    size_t i = 1;
    while (i < n && first[i].header == first[i - 1].header + perfile_record_size(&first[i - 1]))
        i++;
    return i;
}

/* Sets o->at and o->n to the records that come next, of the same run or the next one. */
static perfile_status next_records(pf_byteswap *o, perfile_error *err)
{
    if (o->n_behind == 0) {
        perfile_status st = perfile_stream_next_run(o->base.below, &o->at, &o->n_behind, err);
        if (st != PERFILE_OK) {
            o->n = o->n_behind = 0;
            return st;
        }
    } else {
        o->at = o->behind;
    }
    o->n = adjacent(o->at, o->n_behind);
    o->n_behind -= o->n;
    o->behind = o->at + o->n;
    return PERFILE_OK;
}

/* The next records that are no piece; of one that the pieces make, they are cut. */
static perfile_status fetch(pf_byteswap *o, perfile_error *err)
{
    for (;;) {
        o->turned = false;
        perfile_status st = next_records(o, err);
        if (st != PERFILE_OK)
            return st;
        if (o->at->family == PERFILE_FAMILY_DAMAGE)
            return PERFILE_OK;
        if (!pf_is_joined_fragment(o->at))
            break;
        st = pf_byteswap_hold(o, o->at, err);
        if (st != PERFILE_OK)
            return st;
    }
    if (o->pieces.len == 0 || !(o->at->flags & PERFILE_REC_INNER))
        return PERFILE_OK;
    perfile_status st = turn(o, o->at, 1, err);
    o->turned = true;
    if (st == PERFILE_OK)
        pf_byteswap_cut(o, (perfile_bytes){o->bytes.ptr, o->bytes.len});
    return st;
}

static perfile_status fill(perfile_stream *s, perfile_error *err)
{
    pf_byteswap *o = order_of(s);
    perfile_status st = PERFILE_OK;
    s->n_run = 0;
    if (o->pieces_out == 0 && o->n == 0) {
        st = fetch(o, err);
        if (st != PERFILE_OK && !(st == PERFILE_END && o->pieces.len))
            return st;
    }
    if (o->pieces.len && pf_byteswap_piece(o))
        return PERFILE_OK;
    /* Without a run the stream had ended in front of the pieces. */
    return o->n ? take(o, err) : PERFILE_END;
}

static perfile_status extra(perfile_stream *s, const perfile_record *r, perfile_bytes *piece,
                            perfile_error *err)
{
    const pf_byteswap *o = order_of(s);
    if (r != &s->run[0] || !o->of)
        return pf_fail(err, PERFILE_E_USAGE, "record.extra", "the stream is not at this record");
    return perfile_stream_extra(s->below, o->of, piece, err);
}

static void close_stage(perfile_stream *s)
{
    pf_byteswap *o = order_of(s);
    perfile_stream_close(s->below);
    pf_session_free(s->session);
    pf_buffer_free(&o->bytes);
    pf_buffer_free(&o->pieces);
    pf_buffer_free(&o->held);
    pf_free(o);
}

static const pf_stream_ops order_ops = {.fill = fill, .extra = extra, .close = close_stage};

/* An attr and its ids, turned, in o->bytes. */
static perfile_status add_event(pf_byteswap *o, const perfile_event *e, perfile_error *err)
{
    size_t ids = 8 * e->ids.n;
    perfile_error why;
    pf_buffer_clear(&o->bytes);
    if (!pf_buffer_reserve(&o->bytes, e->stored.len + ids))
        return pf_fail_nomem(err, "order");
    bool swapped = e->ids.swapped;
    perfile_status st = pf_swap_attr(e->stored, swapped, o->bytes.ptr, &why);
    if (st != PERFILE_OK && (st = told(o, NULL, NULL, &why, err)) != PERFILE_OK)
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

static perfile_status add_feature(pf_byteswap *o, const perfile_feature *f, perfile_error *err)
{
    perfile_feature mine = *f;
    perfile_error why;
    mine.flags ^= PERFILE_REC_SWAPPED;
    mine.session = o->base.session;
    /* TRACING_DATA says its byte order itself, and may be large. */
    bool as_it_is = f->damage || f->payload.len == 0 || f->number == PERFILE_FEATURE_TRACING_DATA;
    if (!as_it_is) {
        pf_buffer_clear(&o->bytes);
        if (!pf_buffer_reserve(&o->bytes, f->payload.len))
            return pf_fail_nomem(err, "order");
        perfile_status st = pf_swap_feature(f, o->bytes.ptr, &why);
        if (st != PERFILE_OK && (st = told(o, NULL, f, &why, err)) != PERFILE_OK)
            return st;
        mine.payload.ptr = o->bytes.ptr;
    }
    return pf_session_add_feature(o->base.session, &mine, as_it_is, err);
}

/* The facts that are known already, as those of a session in the other byte order. */
static perfile_status add_facts(pf_byteswap *o, const perfile_session *from, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < perfile_session_n_events(from) && st == PERFILE_OK; i++)
        st = add_event(o, perfile_session_event(from, i), err);
    for (uint32_t i = 0; i < perfile_session_n_event_types(from) && st == PERFILE_OK; i++) {
        const perfile_event_type *t = perfile_session_event_type(from, i);
        st = pf_session_add_event_type(o->base.session, t->event_id, t->name, true, err);
    }
    for (uint32_t i = 0; i < perfile_session_n_features(from) && st == PERFILE_OK; i++)
        st = add_feature(o, perfile_session_feature_at(from, i), err);
    return st == PERFILE_OK ? pf_session_settle(o->base.session, err) : st;
}

perfile_status perfile_byteswap(perfile_stream *below, uint32_t byte_order,
                                const perfile_byteswap_options *options, perfile_stream **stream,
                                perfile_error *err)
{
    const perfile_session *from = perfile_stream_session(below);
    if (byte_order != PERFILE_BYTE_ORDER_LITTLE && byte_order != PERFILE_BYTE_ORDER_BIG)
        return pf_fail(err, PERFILE_E_USAGE, "order", "byte order %u, neither little nor big",
                       byte_order);
    if (perfile_session_byte_order(from) == byte_order) {
        *stream = below;
        return PERFILE_OK;
    }
    pf_byteswap *o = pf_alloc(1, sizeof *o);
    if (!o)
        return pf_fail_nomem(err, "order");
    perfile_session *mine;
    perfile_status st =
        pf_options_take(&o->options, sizeof o->options, options, "order.options", err);
    if (st == PERFILE_OK)
        st = pf_session_new(!perfile_session_swapped(from), &below->options, &mine, err);
    if (st != PERFILE_OK) {
        pf_free(o);
        return st;
    }
    pf_stream_on(&o->base, &order_ops, below);
    o->base.session = mine;
    st = add_facts(o, from, err);
    if (st != PERFILE_OK) {
        o->base.below = NULL;
        close_stage(&o->base);
        return st;
    }
    *stream = &o->base;
    return PERFILE_OK;
}
