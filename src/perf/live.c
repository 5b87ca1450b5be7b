/* perfile_stream_callback(): walks records that a program hands over, like those of a file.
 *
 * It uses the stream of the driver (perf/walk.c) without a header: one part that begins at offset
 * 0, a copy of the program's session, and a source (pf_spans) that returns the spans of the
 * callback in place.  A batch never crosses the end of a span.  A record that does is a truncated
 * record, which the walk handles as always.
 *
 * When the callback reports damage, the source ends there, so the walk ends the part. fill() then
 * reports the damage after the last record and begins the part again at the next span. */
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/options.h"
#include "io/source_kind.h"
#include "perf/stream.h"
#include "perfile/live.h"
#include "base/command.h"
#include "core/command.h"

/* A source that consists of the spans of the callback, one after the other. */
typedef struct pf_spans {
    perfile_source base;
    perfile_stream_callbacks callbacks;
    perfile_bytes span;   /* the current one; valid until the callback is called again */
    uint64_t at;          /* offset of its first byte in all bytes handed over */
    perfile_status final; /* PERFILE_END or an error: the callback is not called again */
    perfile_error error;  /* belongs to `final` or `damage` */
    unsigned damage;      /* reported by the callback, and not yet by the stream; 0: none */
} pf_spans;

static pf_spans *spans_of(perfile_source *s)
{
    return (pf_spans *)(void *)s;
}

/* Sets x->error to the error of a callback that failed or broke its contract. */
static perfile_status set_error(pf_spans *x, perfile_status st)
{
    if (st > PERFILE_END || st == PERFILE_OK)
        return pf_fail(&x->error, PERFILE_E_USAGE, "stream.next",
                       "the callback returned an invalid span, or the status %d", (int)st);
    if (x->error.status != st)
        return pf_fail(&x->error, st, "stream.next", "the callback failed");
    return st;
}

/* Called when the callback returned no span but PERFILE_END, damage or an error: ends the source at
 * x->at, for now. */
static void stop(pf_spans *x, perfile_status st)
{
    x->base.size = x->at;
    if (st < 0 && x->error.damage && pf_damage_status(x->error.damage) == st)
        x->damage = x->error.damage;
    else
        x->final = st == PERFILE_END ? st : set_error(x, st);
}

/* Releases the current span and asks the callback for the next one. */
static void fetch(pf_spans *x)
{
    const perfile_bytes none = {NULL, 0};
    perfile_bytes span = none;
    uint64_t end;
    x->at += x->span.len;
    x->span = none;
    x->error = (perfile_error){.offset = PERFILE_NO_OFFSET};
    perfile_status st = x->callbacks.next(x->callbacks.user, &span, &x->error);
    if (st != PERFILE_OK)
        stop(x, st);
    else if ((span.len && !span.ptr) || span.len > PTRDIFF_MAX ||
             pf_add_u64(x->at, span.len, &end) || end == PF_SIZE_UNKNOWN)
        stop(x, PERFILE_OK);
    else
        x->span = span;
}

/* pf_source_ops.run.  If `need` is 0, the callback is not called, because it might never answer. */
static perfile_status spans_run(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                                perfile_error *err)
{
    pf_spans *x = spans_of(s);
    if (offset < x->at)
        return pf_fail(err, PERFILE_E_USAGE, "source.offset", "these bytes were released");
    while (need && offset - x->at >= x->span.len && x->final == PERFILE_OK && !x->damage)
        fetch(x);
    if (x->final < 0) {
        if (err)
            *err = x->error;
        return x->final;
    }
    uint64_t behind = offset - x->at;
    *run = (perfile_bytes){NULL, 0};
    if (behind < x->span.len)
        *run = (perfile_bytes){x->span.ptr + behind, x->span.len - (size_t)behind};
    return PERFILE_OK;
}

static void spans_close(perfile_source *s)
{
    const perfile_stream_callbacks *c = &spans_of(s)->callbacks;
    if (c->close)
        c->close(c->user);
}

static const pf_source_ops spans_ops = {.run = spans_run, .close = spans_close};

/* Called when the part has ended because the callback reported damage: makes this damage pending.
 * The part begins again at the next span, unless the options say that damage ends the stream. */
static void report_damage(pf_perf_stream *p, pf_spans *x)
{
    pf_perf_add_damage(p, &(pf_perf_pending){.damage = x->damage, .offset = x->at});
    x->damage = 0;
    if (p->base.options.on_damage == PERFILE_ON_DAMAGE_STOP) {
        x->final = PERFILE_END;
        return;
    }
    x->base.size = PF_SIZE_UNKNOWN;
    p->parts[0].start = x->at;
    p->part = 0;
    p->file = NULL;
}

/* pf_stream_ops.fill: the walk, which goes on after damage that the callback reports. */
static perfile_status fill(perfile_stream *s, perfile_error *err)
{
    pf_perf_stream *p = pf_perf_of(s);
    pf_spans *x = spans_of(p->parts[0].source);
    for (;;) {
        perfile_status st = pf_perf_ops.fill(s, err);
        if (st != PERFILE_END || !x->damage)
            return st;
        report_damage(p, x);
    }
}

static perfile_status extra(perfile_stream *s, const perfile_record *r, perfile_bytes *piece,
                            perfile_error *err)
{
    return pf_perf_ops.extra(s, r, piece, err);
}

static void close_stream(perfile_stream *s)
{
    pf_perf_ops.close(s);
}

static const pf_stream_ops live_ops = {
    .fill = fill,
    .extra = extra,
    .close = close_stream,
    PF_PERF_AHEAD,
};

static perfile_status copy_callbacks(const perfile_stream_callbacks *given,
                                     perfile_stream_callbacks *c, perfile_error *err)
{
    perfile_status st = pf_options_copy(c, given, "stream.callbacks", err);
    if (st == PERFILE_OK && !c->next)
        return pf_fail(err, PERFILE_E_USAGE, "stream.callbacks", "no callback 'next'");
    return st;
}

static perfile_status check_options(const perfile_open_options *o, perfile_error *err)
{
    perfile_open_options mine;
    perfile_status st = pf_options_copy(&mine, o, "stream.options", err);
    if (st == PERFILE_OK && mine.assume)
        return pf_fail(err, PERFILE_E_USAGE, "stream.options",
                       "'assume' is for captures: the session describes what is known");
    return st;
}

/* Sets source, session and the one part of `p`, which begins at offset 0.  The container is that of
 * a file, because the facts are not in records: the session has them from the beginning. */
static perfile_status begin(pf_perf_stream *p, const char *name, const perfile_session *session,
                            perfile_error *err)
{
    pf_spans *x;
    const perfile_source_options how = {.size = sizeof how, .limits = &p->base.limits};
    perfile_status st =
        pf_source_new(sizeof *x, &spans_ops, name ? name : "records", &how, &x, err);
    if (st != PERFILE_OK)
        return st;
    x->base.size = PF_SIZE_UNKNOWN;
    x->base.live = true;
    p->parts[0].source = &x->base;
    p->parts[0].end = PF_SIZE_UNKNOWN;
    p->swap = pf_session_swapped(session);
    p->base.container.form = PERFILE_FORM_FILE;
    p->base.container.version = 2;
    p->base.container.byte_order = pf_session_byte_order(session);
    st = pf_perf_name_stream(p, x->base.name, err);
    if (st == PERFILE_OK)
        st = pf_session_copy(session, &p->base.options, &p->base.session, err);
    return st == PERFILE_OK ? pf_perf_name_parts(p, err) : st;
}

perfile_status perfile_stream_callback(const perfile_stream_callbacks *callbacks, const char *name,
                                       const perfile_session *session,
                                       const perfile_open_options *options, perfile_stream **stream,
                                       perfile_error *err)
{
    perfile_stream_callbacks c;
    pf_perf_stream *p;
    perfile_status st = copy_callbacks(callbacks, &c, err);
    if (st == PERFILE_OK)
        st = check_options(options, err);
    if (st == PERFILE_OK && !session)
        st = pf_fail(err, PERFILE_E_USAGE, "stream.session",
                     "no session: it describes the events of the records");
    if (st == PERFILE_OK)
        st = pf_perf_stream_new(options, &p, err);
    if (st != PERFILE_OK)
        return st;
    st = begin(p, name, session, err);
    p->base.ops = &live_ops;
    if (st != PERFILE_OK) {
        perfile_stream_close(&p->base);
        return st;
    }
    spans_of(p->parts[0].source)->callbacks = c;
    *stream = &p->base;
    return PERFILE_OK;
}
