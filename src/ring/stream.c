/* perfile_ring_stream(): the records of one or several ring buffers as a perfile_stream.
 *
 * The stream is a callback stream (perfile/live.h).  Its callback reads the rings with
 * perfile_ring_next(), so that all checks of the shared memory are in one place.  Records that are
 * adjacent in the data area are passed as one span, in place.  A record that wraps is in the ring's
 * scratch buffer and is passed alone.  A span is released when the next one is requested; by then
 * the stream has finished with its records.
 *
 * Rings are read in turns: each until it is empty or has yielded as many bytes as its buffer holds.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "perfile/live.h"
#include "ring/ring.h"
#include "core/command.h"

enum { MOST_SPAN = 256 << 10 }; /* bytes of a span, at most */

typedef struct pf_ring_stream {
    perfile_ring_stream_options options; /* options.rings points to `rings` */
    perfile_ring **rings;
    size_t current;    /* index of the ring that is read */
    uint64_t taken;    /* bytes read from it in the current turn */
    bool found_record; /* some ring had a record since ring 0 had its last turn */
    bool unreleased;   /* a span was returned and is not released yet */
    /* A record that was read but is not adjacent to the previous span.  Its bytes stay in place
     * until the release. */
    bool has_held;
    perfile_record held;
    /* The error that ended the last span; reported at the next call. */
    perfile_status pending_status;
    perfile_error pending_error;
} pf_ring_stream;

/* Fetches the next record of the ring as a copy of the struct. */
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

/* Returns true if the record's bytes are in the ring's scratch buffer, which the next record
 * overwrites.  In read-only mode they always are. */
static bool is_alone(const perfile_ring *ring, const perfile_record *r)
{
    return ring->mode == PERFILE_RING_READ_ONLY || r->header == (const uint8_t *)ring->scratch;
}

/* Extends *span by the records after it, while they are adjacent, up to MOST_SPAN bytes. */
static void extend(pf_ring_stream *x, perfile_ring *ring, perfile_bytes *span)
{
    while (span->len < MOST_SPAN) {
        perfile_status st = next_record(x, ring, &x->held, &x->pending_error);
        if (st < 0)
            x->pending_status = st;
        if (st != PERFILE_OK)
            return;
        if (x->held.header != span->ptr + span->len) {
            x->has_held = true;
            return;
        }
        span->len += perfile_record_size(&x->held);
    }
}

/* Makes a span of the next records of the ring.  PERFILE_END: there are none now. */
static perfile_status next_span(pf_ring_stream *x, perfile_ring *ring, perfile_bytes *span,
                                perfile_error *err)
{
    perfile_record first = x->held;
    if (!x->has_held) {
        perfile_status st = next_record(x, ring, &first, err);
        if (st != PERFILE_OK)
            return st;
    }
    x->has_held = false;
    x->unreleased = x->found_record = true;
    *span = (perfile_bytes){first.header, perfile_record_size(&first)};
    if (!is_alone(ring, &first))
        extend(x, ring, span);
    return PERFILE_OK;
}

/* Releases the returned span, unless a held record is not returned yet, which would be released,
 * too. */
static perfile_status release_span(pf_ring_stream *x, perfile_error *err)
{
    if (!x->unreleased || x->has_held)
        return PERFILE_OK;
    x->unreleased = false;
    return perfile_ring_release(x->rings[x->current], err);
}

/* Goes to the next ring.  After the last one, starts with ring 0 again, but first calls
 * options.wait if no ring had a record.  Without options.wait it ends. */
static perfile_status next_ring(pf_ring_stream *x, perfile_error *err)
{
    x->taken = 0;
    if (++x->current < x->options.n_rings)
        return PERFILE_OK;
    bool found_record = x->found_record;
    x->current = 0;
    x->found_record = false;
    if (!x->options.wait)
        return PERFILE_END;
    return found_record ? PERFILE_OK : x->options.wait(x->options.user, err);
}

/* The callback of the stream: yields the next span. */
static perfile_status next_callback(void *user, perfile_bytes *span, perfile_error *err)
{
    pf_ring_stream *x = user;
    perfile_status st = release_span(x, err);
    if (st == PERFILE_OK && x->pending_status && !x->has_held) {
        st = x->pending_status;
        *err = x->pending_error;
        x->pending_status = PERFILE_OK;
    }
    while (st == PERFILE_OK) {
        perfile_ring *ring = x->rings[x->current];
        /* At most one full buffer per turn, so that a fast writer does not starve the other rings.
         */
        if (x->has_held || x->taken < ring->data.len) {
            st = next_span(x, ring, span, err);
            if (st != PERFILE_END)
                return st;
        }
        st = next_ring(x, err);
    }
    return st;
}

static void close_rings(void *user)
{
    pf_ring_stream *x = user;
    pf_free(x->rings);
    pf_free(x);
}

static perfile_status check_options(const perfile_ring_stream_options *o, perfile_error *err)
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
                       "neither the options nor the first ring have a session");
    if (pf_session_swapped(session))
        return pf_fail(err, PERFILE_E_USAGE, "ring.stream",
                       "the session is in the other byte order than this machine's");
    return PERFILE_OK;
}

static perfile_status new_ring_stream(const perfile_ring_stream_options *o,
                                      pf_ring_stream **unreleased, perfile_error *err)
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
    *unreleased = x;
    return PERFILE_OK;
}

perfile_status perfile_ring_stream(const perfile_ring_stream_options *given,
                                   perfile_stream **stream, perfile_error *err)
{
    perfile_ring_stream_options o;
    pf_ring_stream *x = NULL;
    perfile_status st = pf_options_copy(&o, given, "ring.stream", err);
    if (st == PERFILE_OK)
        st = check_options(&o, err);
    if (st == PERFILE_OK)
        st = new_ring_stream(&o, &x, err);
    if (st != PERFILE_OK)
        return st;
    const perfile_stream_callbacks c = {
        .size = sizeof c, .user = x, .next = next_callback, .close = close_rings};
    st = perfile_stream_callback(&c, o.name ? o.name : "ring buffer",
                                 o.session ? o.session : o.rings[0]->session, o.options, stream,
                                 err);
    if (st != PERFILE_OK)
        close_rings(x);
    return st;
}
