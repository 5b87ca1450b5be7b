/* Records that go into an archive, which wants to know where they are: they become columns there,
 * and have zones, instead of being mere bytes.
 *
 * Only records of a session are told whose events are those of the output, in their order: the zone
 * of a chunk counts events by their number.  What is not told costs size, and readers cannot pass
 * over it. */
#include "perf/write.h"

#include <string.h>

#include "base/error.h"
#include "core/narrow.h"
#include "io/out.h"

/* Bytes of a record in the output, without those that follow by pf_write_extra(). */
static size_t bytes_of(const perfile_record *r)
{
    return PF_PERF_RECORD_HEADER + r->body.len + (r->extra.ptr ? r->extra.len : 0);
}

/* True if the sink can be told of both at once. */
static bool goes_with(const perfile_record *a, const perfile_record *b)
{
    return a->part == b->part && a->session == b->session && a->flags == b->flags;
}

/* How many records from the first on lie one behind the other in memory, and go together. */
static size_t count_adjacent(const perfile_record *first, size_t n)
{
    size_t i = 1;
    if (first->body.len && first->body.ptr != first->header + PF_PERF_RECORD_HEADER)
        return 0;
    while (i < n && i < PERFILE_RUN_RECORDS && !first[i - 1].extra.len &&
           first[i].header == first[i - 1].header + perfile_record_size(&first[i - 1]) &&
           first[i].body.ptr == first[i].header + PF_PERF_RECORD_HEADER &&
           goes_with(first, &first[i]))
        i++;
    return i;
}

/* True if all have their bytes in memory and go together, so that copies can lie one behind the
 * other. */
static bool can_gather(const perfile_record *first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (first[i].extra.len || !goes_with(first, &first[i]) ||
            first[i].flags & PERFILE_REC_PAYLOAD_CUT)
            return false;
    return true;
}

/* Copies scattered records into w->gathered; `copies` has room for them. */
static perfile_status gather(pf_perf_writer *w, const perfile_record *first, size_t n,
                             perfile_record *copies, perfile_error *err)
{
    size_t all = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        all += bytes_of(&first[i]);
    pf_buffer_clear(&w->gathered);
    if (!pf_buffer_reserve(&w->gathered, all))
        return pf_fail_nomem(err, "writer.gathered");
    for (size_t i = 0; i < n; i++) {
        uint8_t *to = w->gathered.ptr + at;
        memcpy(to, first[i].header, PF_PERF_RECORD_HEADER);
        if (first[i].body.len)
            memcpy(to + PF_PERF_RECORD_HEADER, first[i].body.ptr, first[i].body.len);
        copies[i] = first[i];
        copies[i].header = to;
        copies[i].body.ptr = to + PF_PERF_RECORD_HEADER;
        copies[i].flags &= (uint8_t)~PERFILE_REC_STABLE;
        at += bytes_of(&first[i]);
    }
    return PERFILE_OK;
}

/* True if the events of the session are those of the capture that is written, in this order. */
static bool has_events_of(pf_perf_writer *w, const perfile_session *s)
{
    if (!s)
        return false;
    const uint64_t generation = perfile_session_generation(s);
    if (w->told == s && w->told_generation == generation && w->told_attrs == w->n_attr_records)
        return w->told_same;
    bool same = perfile_session_n_events(s) == w->n_events + w->n_attr_records;
    for (uint32_t i = 0; i < w->n_events && same; i++) {
        const pf_written_event *e = pf_write_event_at(w, i);
        const perfile_bytes attr = perfile_session_event(s, i)->stored;
        same = e->attr_len == attr.len && memcmp(w->facts.ptr + e->attr, attr.ptr, attr.len) == 0;
    }
    w->told = s;
    w->told_generation = generation;
    w->told_attrs = w->n_attr_records;
    w->told_same = same;
    return same;
}

/* Writes adjacent records, and says where they are. */
static perfile_status put_adjacent(pf_perf_writer *w, const perfile_record *first, size_t n,
                                   perfile_error *err)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += bytes_of(&first[i]);
    perfile_status st = pf_write_put_run(w, first, n, err);
    if (st == PERFILE_OK)
        st = pf_write_flush_span(w, err);
    if (st != PERFILE_OK || !has_events_of(w, first->session))
        return st;
    perfile_sink *sink = w->part->sink;
    return pf_sink_records(sink, perfile_sink_count(sink) - bytes, first, n, err);
}

perfile_status pf_write_put_told(pf_perf_writer *w, const perfile_record *first, size_t n,
                                 perfile_error *err)
{
    perfile_record copies[PERFILE_RUN_RECORDS];
    perfile_status st = PERFILE_OK;
    while (n && st == PERFILE_OK) {
        size_t some = count_adjacent(first, n);
        const size_t most = n < PERFILE_RUN_RECORDS ? n : PERFILE_RUN_RECORDS;
        if (some < most && can_gather(first, most)) {
            some = most;
            st = gather(w, first, some, copies, err);
            if (st == PERFILE_OK)
                st = put_adjacent(w, copies, some, err);
        } else if (some) {
            st = put_adjacent(w, first, some, err);
        } else {
            some = 1;
            st = pf_write_put_run(w, first, some, err);
        }
        first += some;
        n -= some;
    }
    return st;
}

bool pf_write_takes_stored(perfile_writer *writer, const perfile_session *session)
{
    pf_perf_writer *w = (pf_perf_writer *)writer;
    return w->tells && pf_sink_takes_stored(w->base.sink) && !w->base.extra_left &&
           perfile_session_swapped(session) == w->base.swap && has_events_of(w, session);
}

perfile_status pf_write_stored(perfile_writer *writer, const pf_stored *range, perfile_error *err)
{
    pf_perf_writer *w = (pf_perf_writer *)writer;
    perfile_status st = pf_write_check_at_record(w, err);
    if (st == PERFILE_OK)
        st = pf_write_begin(w, err);
    if (st == PERFILE_OK && w->base.directory && range->part != w->at)
        st = pf_write_select_part(w, range->part, err);
    if (st == PERFILE_OK)
        st = pf_write_flush_span(w, err);
    if (st == PERFILE_OK)
        st = pf_sink_stored(w->part->sink, range, range->bytes, err);
    if (st != PERFILE_OK)
        return st;
    w->kernel = true;
    w->part->bytes += range->bytes;
    return st;
}
