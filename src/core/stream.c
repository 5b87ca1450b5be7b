/* Streams: the part that all drivers and stages share, and the public functions of writers.
 *
 * A stream has a run of records (at .. end), made by ops->fill().  perfile_stream_next() returns
 * them one by one, perfile_stream_next_run() returns all that are left.  An error or the end is
 * final: every further call returns it.  A stage is a stream that reads another (`below`);
 * questions about the input go down to the driver's stream. */
#include "base/alloc.h"
#include "base/error.h"
#include "core/zone.h"
#include "core/driver.h"
#include "core/stream.h"
#include "core/writer.h"
#include "io/out.h"
#include "core/command.h"
#include "io/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Returns the final status, with its error if it is one. */
static perfile_status return_final(const perfile_stream *s, perfile_error *err)
{
    if (s->final < 0 && err)
        *err = s->error;
    return s->final;
}

perfile_status pf_stream_unread(const perfile_stream *s, const char *where, perfile_error *err)
{
    return s->begun ? pf_fail(err, PERFILE_E_USAGE, where,
                              "records were read from the stream already: it has to be given "
                              "before the first one is read")
                    : PERFILE_OK;
}

/* Makes the next run with a record for the caller.  Damage records are skipped unless requested. */
static perfile_status refill(perfile_stream *s, perfile_error *err)
{
    if (s->final != PERFILE_OK)
        return return_final(s, err);
    s->begun = true;
    do {
        s->framed.n = s->n_run = 0;
        s->at = s->end = s->run;
        s->final = s->ops->fill(s, &s->error);
        if (s->final != PERFILE_OK)
            return return_final(s, err);
        s->end += s->n_run;
        bool damage = s->at != s->end && s->at->family == PERFILE_FAMILY_DAMAGE;
        if (damage && !(s->options.deliver & PERFILE_DELIVER_DAMAGE))
            s->at = s->end;
    } while (s->at == s->end);
    return PERFILE_OK;
}

/* Not inlined, so that the fast path of perfile_stream_next() needs no stack frame. */
static __attribute__((noinline)) perfile_status
next_of_next_run(perfile_stream *s, const perfile_record **r, perfile_error *err)
{
    perfile_status st = refill(s, err);
    if (st == PERFILE_OK)
        *r = s->at++;
    return st;
}

perfile_status perfile_stream_next(perfile_stream *s, const perfile_record **r, perfile_error *err)
{
    if (s->at == s->end)
        return next_of_next_run(s, r, err);
    *r = s->at++;
    return PERFILE_OK;
}

perfile_status perfile_stream_next_run(perfile_stream *s, const perfile_record **first, size_t *n,
                                       perfile_error *err)
{
    if (s->at == s->end) {
        perfile_status st = refill(s, err);
        if (st != PERFILE_OK)
            return st;
    }
    *first = s->at;
    *n = (size_t)(s->end - s->at);
    s->at = s->end;
    return PERFILE_OK;
}

void pf_stream_pass(perfile_stream *s, pf_passed *out, size_t size)
{
    pf_passed passed = {0};
    if (s->at == s->end && s->final == PERFILE_OK && s->ops->pass)
        s->ops->pass(s, &passed);
    memcpy(out, &passed, size < sizeof passed ? size : sizeof passed);
}

perfile_status perfile_stream_seek(perfile_stream *s, uint32_t part, uint64_t offset,
                                   perfile_error *err)
{
    if (s->final < 0)
        return return_final(s, err);
    if (!s->ops->seek)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "stream.seek",
                       "only the stream of a capture can seek, not a stage on it");
    perfile_status st = s->ops->seek(s, part, offset, err);
    if (st != PERFILE_OK)
        return st;
    s->at = s->end = s->run;
    s->framed.n = s->n_run = 0;
    s->final = PERFILE_OK;
    return PERFILE_OK;
}

perfile_status perfile_stream_extra(perfile_stream *s, const perfile_record *r,
                                    perfile_bytes *piece, perfile_error *err)
{
    while (s->below && !s->ops->extra)
        s = s->below;
    if (!s->ops->extra)
        return PERFILE_END;
    perfile_bytes next;
    perfile_status st = s->ops->extra(s, r, &next, err);
    if (st == PERFILE_OK)
        *piece = next;
    return st;
}

const perfile_session *perfile_stream_session(const perfile_stream *s)
{
    return s->session;
}

const perfile_container *perfile_stream_container(const perfile_stream *s)
{
    while (s->below)
        s = s->below;
    return &s->container;
}

void pf_stream_get_summary(const perfile_stream *s, perfile_stream_summary *out, size_t size)
{
    while (s->below)
        s = s->below;
    perfile_stream_summary sum = s->summary;
    /* The summary already has the losses that the driver reported. */
    const pf_source_lost *lost = s->origin ? &s->origin->lost : &s->told;
    if (lost->places > s->told.places) {
        const uint64_t places = lost->places - s->told.places;
        if (!sum.damages)
            sum.first_offset = lost->offset;
        sum.damages += places;
        sum.lost += lost->bytes > s->told.bytes ? lost->bytes - s->told.bytes : 0;
        sum.by_damage[PERFILE_DAMAGE_ARCHIVE] += places;
    }
    memcpy(out, &sum, size < sizeof sum ? size : sizeof sum);
}

uint32_t pf_stream_sorted_by(const perfile_stream *s)
{
    return s->sorted_by;
}

const char *pf_stream_name(const perfile_stream *s)
{
    return s->name;
}

void perfile_stream_close(perfile_stream *s)
{
    if (!s)
        return;
    pf_source_origin *origin = s->origin;
    struct pf_describing *describing = s->describing;
    void (*closed)(void *user) = s->closed;
    void *user = s->closed_user;
    pf_inputs_free(&s->inputs);
    s->ops->close(s);
    pf_source_origin_leave(origin);
    pf_stream_describing_free(describing);
    if (closed)
        closed(user);
}

const pf_inputs *pf_stream_inputs(const perfile_stream *s)
{
    while (s->below)
        s = s->below;
    return &s->inputs;
}

perfile_source *pf_stream_source(const perfile_stream *s)
{
    while (s->below)
        s = s->below;
    return s->source;
}

void pf_stream_on(perfile_stream *s, const pf_stream_ops *ops, perfile_stream *below)
{
    s->ops = ops;
    s->below = below;
    s->at = s->end = s->run;
    s->session = below->session;
    s->options = below->options;
    s->limits = below->limits;
    s->options.limits = &s->limits;
    s->name = below->name;
    s->sorted_by = below->sorted_by;
}

pf_batch pf_stream_batch(const perfile_stream *s, const perfile_record *first, size_t n)
{
    while (s && first != s->run)
        s = s->below;
    pf_batch b = s && s->framed.n == n ? s->framed : (pf_batch){.n = n};
    b.at = first;
    return b;
}

void pf_stream_release(perfile_stream *s, uint32_t part, uint64_t offset, uint64_t len)
{
    while (s->below)
        s = s->below;
    if (s->release)
        s->release(s, part, offset, len);
}

void pf_summary_add_damage(perfile_stream_summary *sum, unsigned damage, uint64_t offset,
                           uint64_t lost)
{
    if (sum->damages++ == 0)
        sum->first_offset = offset;
    sum->lost += lost;
    if (damage < sizeof sum->by_damage / sizeof sum->by_damage[0])
        sum->by_damage[damage]++;
}

void pf_stream_damage(perfile_stream *s, unsigned damage, uint64_t offset, uint64_t lost)
{
    pf_summary_add_damage(&s->summary, damage, offset, lost);
}

void pf_stream_count_damage(perfile_stream *s, const perfile_stream_summary *of)
{
    perfile_stream_summary *sum = &s->summary;
    if (of->damages && sum->damages == 0)
        sum->first_offset = of->first_offset;
    sum->damages += of->damages;
    sum->lost += of->lost;
    for (size_t i = 0; i < sizeof sum->by_damage / sizeof sum->by_damage[0]; i++)
        sum->by_damage[i] += of->by_damage[i];
}

void pf_stream_notice(perfile_stream *s, uint64_t offset, const char *where, const char *format,
                      ...)
{
    if (!s->options.notice)
        return;
    perfile_error what = {.status = PERFILE_OK, .offset = offset, .where = where};
    va_list args;
    va_start(args, format);
    vsnprintf(what.message, sizeof what.message, format, args);
    va_end(args);
    s->options.notice(s->options.notice_user, &what);
}

uint64_t pf_container_bytes(const perfile_container *c)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->n_parts; i++) {
        if (c->parts[i].size > UINT64_MAX / 4 - sum)
            return 0;
        sum += c->parts[i].size;
    }
    return sum;
}

/* Requests of readers, from stages and from programs: see core/zone.h. */

/* The state of pf_stream_describe(). */
struct pf_describing {
    pf_narrow narrow;
    bool (*enough)(void *user, const pf_described *d);
    void *user;
    pf_buffer events; /* pf_described_event */
};

void pf_stream_narrow(perfile_stream *s, const pf_narrow *how)
{
    const bool takes_all = how && how->takes_all;
    const bool possible =
        takes_all ? s->below || (!s->begun && !s->describing && s->origin) : s->below == NULL;
    if (s->ops->narrow && possible)
        s->ops->narrow(s, how);
}

uint64_t pf_zone_bytes(const pf_zone *z)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < z->types.n; i++)
        bytes += z->types.at[i].bytes;
    return bytes;
}

uint64_t pf_zone_plain_samples(const pf_zone *z)
{
    const pf_zone_count *samples = pf_zone_only_samples(z);
    const pf_zone_count *rounds = pf_zone_counts_find(&z->types, PERFILE_RECORD_FINISHED_ROUND);
    const bool plain = samples && z->apart == (rounds ? rounds->records : 0);
    return plain ? samples->records : 0;
}

const pf_zone_count *pf_zone_only_samples(const pf_zone *z)
{
    const pf_zone_count *samples = pf_zone_counts_find(&z->types, PERFILE_RECORD_SAMPLE);
    const bool only =
        z->types.known && z->has_apart && samples && samples->records == z->records - z->apart;
    return only ? samples : NULL;
}

static bool add_event(pf_buffer *events, const pf_zone_count *count)
{
    const pf_described_event e = {count->key, count->records};
    return pf_buffer_append(events, &e, sizeof e);
}

/* pf_narrow.needs: describes the samples of the zone to the program. */
static unsigned describe(void *user, const pf_zone *z, uint64_t sequence)
{
    (void)sequence;
    struct pf_describing *x = user;
    const pf_zone_count *samples = pf_zone_only_samples(z);
    if (!samples || !z->events.known)
        return PF_NEED_ALL;
    pf_buffer_clear(&x->events);
    for (uint32_t i = 0; i < z->events.n; i++)
        if (!add_event(&x->events, &z->events.at[i]))
            return PF_NEED_ALL;
    const pf_described d = {.samples = samples->records,
                            .sample_bytes = samples->bytes,
                            .first_time = z->has_data_times ? z->data_first : PERFILE_NO_TIME,
                            .last_time = z->has_data_times ? z->data_last : PERFILE_NO_TIME,
                            .events = (const pf_described_event *)(const void *)x->events.ptr,
                            .n_events = z->events.n,
                            .pids = z->pids.known ? z->pids.at : NULL,
                            .n_pids = z->pids.known ? z->pids.n : 0,
                            .tids = z->tids.known ? z->tids.at : NULL,
                            .n_tids = z->tids.known ? z->tids.n : 0,
                            .cpus = z->cpus.known ? z->cpus.at : NULL,
                            .n_cpus = z->cpus.known ? z->cpus.n : 0};
    return x->enough(x->user, &d) ? PF_NEED_SIDEBAND : PF_NEED_ALL;
}

bool pf_stream_describe(perfile_stream *s, bool (*enough)(void *user, const pf_described *d),
                        void *user)
{
    if (!s->ops->narrow || s->below || s->begun || s->describing || !s->origin)
        return false;
    struct pf_describing *x = pf_alloc(1, sizeof *x);
    if (!x)
        return false;
    x->narrow = (pf_narrow){.needs = describe, .user = x};
    x->enough = enough;
    x->user = user;
    s->describing = x;
    s->ops->narrow(s, &x->narrow);
    return true;
}

void pf_stream_describing_free(struct pf_describing *x)
{
    if (!x)
        return;
    pf_buffer_free(&x->events);
    pf_free(x);
}

/* The public functions of a writer: each calls the operation of its format. */

perfile_status pf_writer_refuse(const perfile_writer *w, const char *what, perfile_error *err)
{
    return pf_fail(err, PERFILE_E_UNSUPPORTED, "writer", "a capture of format %s has no %s",
                   w->ops->format, what);
}

perfile_status perfile_writer_event(perfile_writer *w, perfile_bytes attr, const perfile_words *ids,
                                    perfile_error *err)
{
    return w->ops->event ? w->ops->event(w, attr, ids, err) : pf_writer_refuse(w, "events", err);
}

perfile_status perfile_writer_feature(perfile_writer *w, uint32_t number, perfile_bytes payload,
                                      perfile_error *err)
{
    return w->ops->feature ? w->ops->feature(w, number, payload, err)
                           : pf_writer_refuse(w, "features", err);
}

perfile_status perfile_writer_put_run(perfile_writer *w, const perfile_record *first, size_t n,
                                      perfile_error *err)
{
    return w->ops->put(w, &(pf_batch){.at = first, .n = n}, err);
}

perfile_status perfile_writer_extra(perfile_writer *w, perfile_bytes piece, perfile_error *err)
{
    return w->ops->extra ? w->ops->extra(w, piece, err)
                         : pf_writer_refuse(w, "bytes after records", err);
}

void pf_writer_get_summary(const perfile_writer *w, perfile_writer_summary *out, size_t size)
{
    perfile_writer_summary sum = {.bytes = w->bytes};
    memcpy(out, &sum, size < sizeof sum ? size : sizeof sum);
}

perfile_status perfile_writer_finish(perfile_writer *w, perfile_error *err)
{
    if (w->finished)
        return PERFILE_OK;
    perfile_status st = w->ops->finish(w, err);
    w->finished = st == PERFILE_OK;
    return st;
}

void perfile_writer_abort(perfile_writer *w)
{
    if (w->finished)
        return;
    w->given_up = true;
    pf_sink_abort(w->sink);
}

void perfile_writer_close(perfile_writer *w)
{
    if (!w)
        return;
    perfile_sink *own = w->own_sink ? w->sink : NULL;
    w->ops->close(w);
    perfile_sink_close(own);
}

/* The list of events found for a damaged capture, as they would be stored. */

void pf_repair_free(pf_repair *r)
{
    pf_buffer_free(&r->events);
    pf_buffer_free(&r->bytes);
}

void pf_repair_clear(pf_repair *r)
{
    pf_buffer_clear(&r->events);
    pf_buffer_clear(&r->bytes);
}

bool pf_repair_add(pf_repair *r, perfile_bytes attr, perfile_bytes ids)
{
    /* The pointers are not set yet, because `bytes` may move when it grows: see
     * pf_repair_resolve(). */
    perfile_assumed_event e = {.attr = {NULL, attr.len}, .ids = {NULL, ids.len}};
    bool ok = pf_buffer_append(&r->bytes, attr.ptr, attr.len) &&
              pf_buffer_append(&r->bytes, ids.ptr, ids.len) &&
              pf_buffer_append(&r->events, &e, sizeof e);
    r->no_memory |= !ok;
    return ok;
}

void pf_repair_resolve(pf_repair *r)
{
    perfile_assumed_event *e = (perfile_assumed_event *)(void *)r->events.ptr;
    uint32_t n = (uint32_t)(r->events.len / sizeof *e);
    const uint8_t *at = r->bytes.ptr;
    r->assume.size = sizeof r->assume;
    for (uint32_t i = 0; i < n; i++) {
        e[i].attr.ptr = at;
        at += e[i].attr.len;
        e[i].ids.ptr = at;
        at += e[i].ids.len;
    }
    r->assume.events = e;
    r->assume.n_events = n;
}
