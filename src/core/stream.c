/* Streams: the part that all drivers and stages share.
 *
 * A stream keeps a run of records (at .. end), which ops->fill() makes; perfile_stream_next() hands
 * them out one by one, perfile_stream_next_run() all that are left.  An error or the end is final
 * and is returned from then on. A stage is a stream on another (`below`); questions about the input
 * go down to the driver's stream. */
#include "core/stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "core/narrow.h"

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

/* Makes the next run that has a record for the caller.  Damage records are passed over unless asked
 * for. */
static perfile_status refill(perfile_stream *s, perfile_error *err)
{
    if (s->final != PERFILE_OK)
        return return_final(s, err);
    s->begun = true;
    do {
        s->n_run = s->framed.n = 0;
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

/* Out of line, so that the fast path of perfile_stream_next() needs no stack frame. */
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

void perfile_stream_pass(perfile_stream *s, perfile_passed *out, size_t size)
{
    perfile_passed passed = {0};
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
    s->n_run = s->framed.n = 0;
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

void perfile_stream_get_summary(const perfile_stream *s, perfile_stream_summary *out, size_t size)
{
    while (s->below)
        s = s->below;
    perfile_stream_summary sum = s->summary;
    /* What the driver has told is in the summary already. */
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

uint32_t perfile_stream_sorted_by(const perfile_stream *s)
{
    return s->sorted_by;
}

const char *perfile_stream_name(const perfile_stream *s)
{
    return s->name;
}

void perfile_stream_close(perfile_stream *s)
{
    if (!s)
        return;
    pf_source_origin *origin = s->origin;
    struct pf_describing *describing = s->describing;
    pf_inputs_free(&s->inputs);
    s->ops->close(s);
    pf_source_origin_leave(origin);
    pf_stream_describing_free(describing);
}

const pf_inputs *pf_stream_inputs(const perfile_stream *s)
{
    while (s->below)
        s = s->below;
    return &s->inputs;
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

pf_framed pf_stream_framed(const perfile_stream *s, const perfile_record *first, size_t n)
{
    while (s && first != s->run)
        s = s->below;
    return s && s->framed.n == n ? s->framed : (pf_framed){0};
}

pf_batch pf_stream_batch(const perfile_stream *s, const perfile_record *first, size_t n)
{
    const pf_framed f = pf_stream_framed(s, first, n);
    return (pf_batch){first, n, f.n && f.adjacent && !f.other, NULL};
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
