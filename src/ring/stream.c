/* perfile_ring_stream(): the records of one ring buffer or several, as a stream.
 *
 * The stream is one of callbacks (perfile/live.h); what the rings are asked for is
 * perfile_ring_next(), so that whatever is wrong in the shared memory is found out there and
 * nowhere else.  Records that lie one behind the other in the data area are handed over as one
 * span, in place; one that wraps is in the ring's copy and goes alone.  A span is released when the
 * next one is wanted, by which time the stream is done with its records. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "perfile/live.h"
#include "ring/ring.h"

enum { MOST_SPAN = 256 << 10 }; /* bytes: the kernel gets room again after so many */

typedef struct pf_ring_stream {
    perfile_ring_stream_options options; /* rings point to `rings` */
    perfile_ring **rings;
    size_t at;            /* the ring that is read */
    uint64_t taken;       /* bytes of it since its turn began */
    bool found;           /* a record, since the first ring had its turn */
    bool out;             /* something was handed over and is not released */
    bool has_held;        /* the record behind the last span, which is not adjacent to it */
    perfile_record held;  /* its bytes are where they were until the release */
    perfile_status late;  /* what ended the last span, told behind it */
    perfile_error reason; /* of that */
} pf_ring_stream;

static perfile_status next_record(pf_ring_stream *x, perfile_ring *ring, perfile_record *out,
                                  perfile_error *err)
{
    const perfile_record *r;
    perfile_status st = perfile_ring_next(ring, &r, err);
    if (st != PERFILE_OK)
        return st;
    *out = *r;
    x->taken += perfile_record_size(r);
    return PERFILE_OK;
}

/* A read-only ring has one copy for all its records. */
static bool is_alone(const perfile_ring *ring, const perfile_record *r)
{
    return ring->mode == PERFILE_RING_READ_ONLY || r->header == (const uint8_t *)ring->scratch;
}

/* Makes *span longer by what lies behind it. */
static void extend(pf_ring_stream *x, perfile_ring *ring, perfile_bytes *span)
{
    while (span->len < MOST_SPAN) {
        perfile_status st = next_record(x, ring, &x->held, &x->reason);
        if (st < 0)
            x->late = st;
        if (st != PERFILE_OK)
            return;
        if (x->held.header != span->ptr + span->len) {
            x->has_held = true;
            return;
        }
        span->len += perfile_record_size(&x->held);
    }
}

static perfile_status span_of(pf_ring_stream *x, perfile_ring *ring, perfile_bytes *span,
                              perfile_error *err)
{
    perfile_record first = x->held;
    if (!x->has_held) {
        perfile_status st = next_record(x, ring, &first, err);
        if (st != PERFILE_OK)
            return st;
    }
    x->has_held = false;
    x->out = x->found = true;
    *span = (perfile_bytes){first.header, perfile_record_size(&first)};
    if (!is_alone(ring, &first))
        extend(x, ring, span);
    return PERFILE_OK;
}

/* What was handed over is done with, unless more of it waits. */
static perfile_status give_back(pf_ring_stream *x, perfile_error *err)
{
    if (!x->out || x->has_held)
        return PERFILE_OK;
    x->out = false;
    return perfile_ring_release(x->rings[x->at], err);
}

/* The next ring; behind the last one the first has its turn again, if that is wanted. */
static perfile_status turn(pf_ring_stream *x, perfile_error *err)
{
    x->taken = 0;
    if (++x->at < x->options.n_rings)
        return PERFILE_OK;
    bool found = x->found;
    x->at = 0;
    x->found = false;
    if (!x->options.wait)
        return PERFILE_END;
    return found ? PERFILE_OK : x->options.wait(x->options.user, err);
}

static perfile_status next(void *user, perfile_bytes *span, perfile_error *err)
{
    pf_ring_stream *x = user;
    perfile_status st = give_back(x, err);
    if (st == PERFILE_OK && x->late && !x->has_held) {
        st = x->late;
        *err = x->reason;
        x->late = PERFILE_OK;
    }
    while (st == PERFILE_OK) {
        perfile_ring *ring = x->rings[x->at];
        /* As much as a full buffer holds: a writer that is quick does not keep the others waiting.
         */
        if (x->has_held || x->taken < ring->data.len) {
            st = span_of(x, ring, span, err);
            if (st != PERFILE_END)
                return st;
        }
        st = turn(x, err);
    }
    return st;
}

static void close_rings(void *user)
{
    pf_ring_stream *x = user;
    pf_free(x->rings);
    pf_free(x);
}

static perfile_status check(const perfile_ring_stream_options *o, perfile_error *err)
{
    if (!o->n_rings || !o->rings)
        return pf_fail(err, PERFILE_E_USAGE, "ring.stream", "no rings");
    for (size_t i = 0; i < o->n_rings; i++)
        if (!o->rings[i])
            return pf_fail(err, PERFILE_E_USAGE, "ring.stream", "ring %zu of %zu is NULL", i,
                           o->n_rings);
    const perfile_session *session = o->session ? o->session : o->rings[0]->session;
    if (!session)
        return pf_fail(err, PERFILE_E_USAGE, "ring.stream",
                       "neither it nor the first ring has a "
                       "session");
    if (perfile_session_swapped(session))
        return pf_fail(err, PERFILE_E_USAGE, "ring.stream",
                       "the session is in the other byte order than this machine's");
    return PERFILE_OK;
}

static perfile_status begin(const perfile_ring_stream_options *o, pf_ring_stream **out,
                            perfile_error *err)
{
    pf_ring_stream *x = pf_alloc(1, sizeof *x);
    perfile_ring **rings = pf_alloc(o->n_rings, sizeof *rings);
    if (!x || !rings) {
        pf_free(x);
        pf_free(rings);
        return pf_fail_nomem(err, "ring.stream");
    }
    memcpy(rings, o->rings, o->n_rings * sizeof(*rings));
    x->options = *o;
    x->options.rings = rings;
    x->rings = rings;
    *out = x;
    return PERFILE_OK;
}

perfile_status perfile_ring_stream(const perfile_ring_stream_options *given,
                                   perfile_stream **stream, perfile_error *err)
{
    perfile_ring_stream_options o;
    pf_ring_stream *x = NULL;
    perfile_status st = pf_options_take(&o, sizeof o, given, "ring.stream", err);
    if (st == PERFILE_OK)
        st = check(&o, err);
    if (st == PERFILE_OK)
        st = begin(&o, &x, err);
    if (st != PERFILE_OK)
        return st;
    const perfile_stream_callbacks c = {
        .size = sizeof c, .user = x, .next = next, .close = close_rings};
    st = perfile_stream_callback(&c, o.name ? o.name : "ring buffer",
                                 o.session ? o.session : o.rings[0]->session, o.options, stream,
                                 err);
    if (st != PERFILE_OK)
        close_rings(x);
    return st;
}
