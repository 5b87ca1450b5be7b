/* Puts records into a capture.
 *
 * Records that are adjacent in memory are gathered in w->span without being copied, and written in
 * one call.  A span must be flushed before the caller may change the memory.  A record is written
 * in one of three ways: put_fast() copies a plain record into the buffer of the sink; put_plain()
 * appends a sequence of plain records to the span; put_record() does the rest: AUX index,
 * compression, directory, payloads.  All rules on which records may be written are in may_put().
 * Its counterpart refuse_record() says which rule was broken. */
#include "base/byte_order.h"
#include "base/checked.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/options.h"
#include "core/encode.h"
#include "core/layout.h"
#include "core/zone.h"
#include "io/out.h"
#include "perf/write.h"
#include "perfile/records.h"
#include "schema/rows.h"
#include "perfile/sink.h"
#include "core/command.h"

#include <string.h>

/* A span is written when it reaches this size.  Its bytes are then still in the cache, and a source
 * that releases bytes after they are read (`passing`) still has them. */
enum { SPAN_BYTES = 1 << 20 };

/* Appends n bytes to the span, which is flushed first if they are not adjacent to it.  The bytes
 * must stay valid until the next flush. */
static inline perfile_status add_span(pf_perf_writer *w, const uint8_t *bytes, size_t n,
                                      perfile_error *err)
{
    pf_write_count(w, n);
    perfile_status st = PERFILE_OK;
    if (w->span.len && w->span.ptr + w->span.len != bytes)
        st = pf_write_flush_span(w, err);
    w->span = (perfile_bytes){w->span.len ? w->span.ptr : bytes, w->span.len + n};
    if (w->span.len < SPAN_BYTES)
        return st;
    perfile_status flushed = pf_write_flush_span(w, st == PERFILE_OK ? err : NULL);
    return st == PERFILE_OK ? flushed : st;
}

/* Adds an AUXTRACE record to the index of the feature AUXTRACE, if it can be decoded. */
static perfile_status note_aux(pf_perf_writer *w, const perfile_record *r, perfile_error *err)
{
    perfile_auxtrace v;
    if (w->at)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                       "AUX traces belong in the file `data` of a directory, not in data.%u",
                       w->at - 1);
    if (perfile_auxtrace_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    uint64_t entry[2] = {pf_write_u64(w, w->data_start + w->part->bytes),
                         pf_write_u64(w, PF_PERF_RECORD_HEADER + r->body.len)};
    return pf_buffer_append(&w->aux_index, entry, sizeof entry)
               ? PERFILE_OK
               : pf_fail_nomem(err, "writer.aux_index");
}

/* Writes one record in the general way, after may_put() has returned true.  Also writes the payload
 * after it if that is in memory; otherwise the caller must write w->base.extra_left bytes with
 * pf_write_extra(). */
static inline perfile_status put_record(pf_perf_writer *w, const perfile_record *r,
                                        perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (w->base.directory && r->part != w->at)
        st = pf_write_select_part(w, r->part, err);
    w->kernel |= r->type < PERFILE_RECORD_USER;
    w->n_attr_records += r->type == PERFILE_RECORD_HEADER_ATTR;
    if (w->base.level && st == PERFILE_OK) {
        if (r->type < PERFILE_RECORD_USER)
            return pf_write_compress(w, r, err);
        st = pf_write_flush_stage(w, err);
    }
    if (st == PERFILE_OK && r->type == PERFILE_RECORD_AUXTRACE && w->base.form == PERFILE_FORM_FILE)
        st = note_aux(w, r, err);
    if (st != PERFILE_OK)
        return st;
    if (r->body.ptr == r->header + PF_PERF_RECORD_HEADER || r->body.len == 0) {
        st = add_span(w, r->header, PF_PERF_RECORD_HEADER + r->body.len, err);
    } else {
        st = add_span(w, r->header, PF_PERF_RECORD_HEADER, err);
        if (st == PERFILE_OK)
            st = add_span(w, r->body.ptr, r->body.len, err);
    }
    if (st == PERFILE_OK && r->extra.len) {
        if (r->extra.ptr)
            st = add_span(w, r->extra.ptr, r->extra.len, err);
        else
            w->base.extra_left = r->extra.len;
    }
    return st;
}

/* Returns true if the stored header of the record agrees with its members (type, sizes, payload).
 * If it did not, readers would frame something else than the caller meant. */
static inline bool is_consistent(const pf_perf_writer *w, const perfile_record *r)
{
    pf_frame f = pf_frame_at(r->header, w->base.swap);
    if (f.type != r->type || f.size != r->body.len + PF_PERF_RECORD_HEADER)
        return false;
    if (r->type < PERFILE_RECORD_USER || !(pf_marks_of(r) & PF_ROW_HAS_BEHIND))
        return r->extra.len == 0;
    uint8_t start[2 * PF_PERF_RECORD_HEADER] = {0};
    memcpy(start, r->header, PF_PERF_RECORD_HEADER);
    if (r->body.len)
        memcpy(start + PF_PERF_RECORD_HEADER, r->body.ptr,
               r->body.len < PF_PERF_RECORD_HEADER ? r->body.len : PF_PERF_RECORD_HEADER);
    return r->extra.len == pf_frame_extra(start, &f, w->base.swap);
}

/* Returns the error for a record that may_put() rejects. */
static perfile_status refuse_record(const pf_perf_writer *w, const perfile_record *r,
                                    perfile_error *err)
{
    perfile_status st = pf_write_check_at_record(w, err);
    if (st != PERFILE_OK)
        return st;
    if (r->family != PERFILE_FAMILY_PERF)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put", "a record of family %u, not PERF",
                       r->family);
    if (r->flags & PERFILE_REC_PAYLOAD_CUT)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                       "the bytes after the record are not complete");
    if ((bool)(r->flags & PERFILE_REC_SWAPPED) != w->base.swap)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                       "the record is not in the byte order of the capture");
    if (r->body.len > PF_RECORD_MOST - PF_PERF_RECORD_HEADER && !pf_type_is_wide(r->type))
        return pf_fail(err, PERFILE_E_LIMIT, "record.size",
                       "record too large: %zu bytes (maximum %d)",
                       r->body.len + PF_PERF_RECORD_HEADER, PF_RECORD_MOST);
    if (!is_consistent(w, r))
        return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                       "type, size or what follows the record (type %u, %zu bytes, %llu after it) "
                       "do not agree with its bytes",
                       r->type, r->body.len + PF_PERF_RECORD_HEADER,
                       (unsigned long long)r->extra.len);
    return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                   "compressed records cannot be in a capture that is compressed again: put what "
                   "is in them");
}

/* Returns true if the record can be written now. */
static inline bool may_put(const pf_perf_writer *w, const perfile_record *r)
{
    bool compressed = w->base.level && (r->type == PERFILE_RECORD_COMPRESSED ||
                                        r->type == PERFILE_RECORD_COMPRESSED2);
    return !w->base.extra_left && r->family == PERFILE_FAMILY_PERF &&
           !(r->flags & PERFILE_REC_PAYLOAD_CUT) &&
           (bool)(r->flags & PERFILE_REC_SWAPPED) == w->base.swap && !compressed &&
           (r->body.len <= PF_RECORD_MOST - PF_PERF_RECORD_HEADER || pf_type_is_wide(r->type)) &&
           is_consistent(w, r);
}

/* Returns true if `r` only needs to be copied: a kernel record, which has no payload, with its body
 * adjacent to its header and consistent with it.  All conditions are joined into one word, so that
 * there is only one branch.  `flags` says which of PERFILE_REC_STABLE, SWAPPED and PAYLOAD_CUT the
 * record must have; it must not have the others. */
static inline bool is_plain(const perfile_record *r, unsigned flags)
{
    const unsigned looked = PERFILE_REC_SWAPPED | PERFILE_REC_PAYLOAD_CUT | PERFILE_REC_STABLE;
    uint64_t size = PF_PERF_RECORD_HEADER + r->body.len;
#if PF_NATIVE_BIG
    uint64_t header = (uint64_t)r->type << 32 | (uint64_t)r->misc << 16 | size;
#else
    uint64_t header = r->type | (uint64_t)r->misc << 32 | size << 48;
#endif
    uint64_t odd = (pf_load_u64(r->header, false) ^ header) |
                   ((uintptr_t)r->body.ptr ^ ((uintptr_t)r->header + PF_PERF_RECORD_HEADER)) |
                   ((r->flags & looked) ^ flags) | (r->family ^ (unsigned)PERFILE_FAMILY_PERF) |
                   r->extra.len;
    return odd == 0 && size <= PF_RECORD_MOST && r->type < PERFILE_RECORD_USER;
}

/* Returns true if plain records are written as they are stored, to the only part of the capture. */
static inline bool can_copy_plain(const pf_perf_writer *w)
{
    return w->begun && !w->base.level && !w->base.directory && !w->base.swap && !w->base.extra_left;
}

/* Writes the plain, adjacent records at the beginning of first[0 .. n) and sets *taken to their
 * number.  If they are few bytes that are not stable, they are copied into the buffer of the sink
 * instead of becoming a span. */
static inline perfile_status put_plain(pf_perf_writer *w, const perfile_record *first, size_t n,
                                       size_t *taken, perfile_error *err)
{
    enum { SMALL = 4096 };
    const perfile_record *r = first, *end = first + n;
    const uint8_t *from = first->header, *to = from;
    unsigned flags = first->flags & PERFILE_REC_STABLE;
    while (r < end && r->header == to && is_plain(r, flags)) {
        to += PF_PERF_RECORD_HEADER + r->body.len;
        r++;
    }
    size_t size = (size_t)(to - from);
    uint8_t *room;
    perfile_status st;
    *taken = (size_t)(r - first);
    w->kernel |= size != 0;
    if (flags || size >= SMALL || w->span.len || size == 0)
        return size ? add_span(w, from, size, err) : PERFILE_OK;
    st = pf_sink_reserve(w->part->sink, size, &room);
    if (st != PERFILE_OK)
        return pf_sink_status(w->part->sink, err);
    memcpy(room, from, size);
    pf_sink_commit(w->part->sink, size);
    pf_write_count(w, size);
    return PERFILE_OK;
}

/* Fast path for callers that put records one by one from memory that changes: copies a plain record
 * into the buffer of the sink.  Returns false if nothing was done: then the general path must be
 * taken, which also reports errors. */
static inline bool put_fast(pf_perf_writer *w, const perfile_record *r)
{
    const size_t size = PF_PERF_RECORD_HEADER + r->body.len;
    perfile_sink *sink = w->part->sink;
    /* All rare conditions are joined into one branch. */
    const uint64_t odd =
        (uint64_t)(w->broken.status | w->base.level | sink->error.status) |
        (uint64_t)(w->base.finished | !w->begun | w->base.directory | w->base.swap) |
        (uint64_t)(sink->finished | w->to_archive | w->base.given_up) | w->base.extra_left |
        w->span.len;
    if (odd || !is_plain(r, 0) || sink->buffer.cap - sink->buffer.len < size)
        return false;
    pf_copy_small(sink->buffer.ptr + sink->buffer.len, r->header, size);
    pf_sink_commit(sink, size);
    pf_write_count(w, size);
    w->kernel = true;
    return true;
}

/* Writes n records.  Bytes that are not stable are flushed before it returns.  It is not inlined,
 * to keep pf_write_put() small for the fast path. */
__attribute__((noinline)) static perfile_status
put_records(pf_perf_writer *w, const perfile_record *first, size_t n, perfile_error *err)
{
    bool stable = true;
    perfile_status st = PERFILE_OK;
    for (const perfile_record *r = first, *end = first + n; r < end && st == PERFILE_OK;) {
        size_t taken = 0;
        stable &= (r->flags & PERFILE_REC_STABLE) != 0;
        if (can_copy_plain(w))
            st = put_plain(w, r, (size_t)(end - r), &taken, err);
        if (taken) {
            r += taken;
            continue;
        }
        if (!may_put(w, r)) {
            st = refuse_record(w, r, err);
            break;
        }
        if (!w->begun)
            st = pf_write_begin(w, err);
        if (st == PERFILE_OK)
            st = put_record(w, r, err);
        r++;
    }
    /* This is also done if a record was refused: the records before it are in the span, and their
     * memory may change after this call. */
    if (stable || !w->span.len)
        return st;
    perfile_status flushed = pf_write_flush_span(w, st == PERFILE_OK ? err : NULL);
    return st == PERFILE_OK ? flushed : st;
}

/* Records for an archive, which wants to know where they are: it stores them as columns and with
 * zones, instead of as mere bytes.
 *
 * Records are only reported to the sink if the events of their session are the events of the
 * output, in the same order, because the zone of a chunk counts events by their number.  Records
 * that are not reported take more space in the archive, and readers cannot skip them. */

/* Returns the size of a record in the output, without the bytes that follow by pf_write_extra(). */
static size_t bytes_of(const perfile_record *r)
{
    return PF_PERF_RECORD_HEADER + r->body.len + (r->extra.ptr ? r->extra.len : 0);
}

/* Returns true if both records can be reported to the sink in one call. */
static bool goes_with(const perfile_record *a, const perfile_record *b)
{
    return a->part == b->part && a->session == b->session && a->flags == b->flags;
}

/* Returns how many records, from the first on, are adjacent in memory and can be reported in one
 * call. */
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

/* Returns true if all records have their bytes in memory and can be reported in one call, so that
 * their copies can be adjacent. */
static bool can_gather(const perfile_record *first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (first[i].extra.len || !goes_with(first, &first[i]) ||
            first[i].flags & PERFILE_REC_PAYLOAD_CUT)
            return false;
    return true;
}

/* Copies scattered records into w->gathered and sets `copies`, which has room for n records. */
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

/* Returns true if the events of the session are those of the capture that is written, in this
 * order. */
static bool has_events_of(pf_perf_writer *w, const perfile_session *s)
{
    if (!s)
        return false;
    const uint64_t generation = pf_session_generation(s);
    if (w->compared == s && w->compared_generation == generation &&
        w->compared_attrs == w->n_attr_records)
        return w->compared_same;
    bool same = pf_session_n_events(s) == w->n_events + w->n_attr_records;
    for (uint32_t i = 0; i < w->n_events && same; i++) {
        const pf_written_event *e = pf_write_event_at(w, i);
        const perfile_bytes attr = perfile_session_event(s, i)->stored;
        same = e->attr_len == attr.len && memcmp(w->facts.ptr + e->attr, attr.ptr, attr.len) == 0;
    }
    w->compared = s;
    w->compared_generation = generation;
    w->compared_attrs = w->n_attr_records;
    w->compared_same = same;
    return same;
}

/* Writes adjacent records and reports to the sink where they are. */
static perfile_status put_adjacent(pf_perf_writer *w, const perfile_record *first, size_t n,
                                   perfile_error *err)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += bytes_of(&first[i]);
    perfile_status st = put_records(w, first, n, err);
    if (st == PERFILE_OK)
        st = pf_write_flush_span(w, err);
    if (st != PERFILE_OK || !has_events_of(w, first->session))
        return st;
    perfile_sink *sink = w->part->sink;
    return pf_sink_records(sink, pf_sink_count(sink) - bytes, &(pf_batch){.at = first, .n = n},
                           err);
}

static perfile_status put_for_archive(pf_perf_writer *w, const perfile_record *first, size_t n,
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
            st = put_records(w, first, some, err);
        }
        first += some;
        n -= some;
    }
    return st;
}

bool pf_write_takes(perfile_writer *writer, const perfile_session *session)
{
    pf_perf_writer *w = (pf_perf_writer *)writer;
    return w->to_archive && w->base.sink->takes_stored && !w->base.extra_left &&
           pf_session_swapped(session) == w->base.swap && has_events_of(w, session);
}

static perfile_status put_stored(pf_perf_writer *w, const pf_batch *b, perfile_error *err)
{
    const pf_stored *range = b->stored;
    perfile_status st = pf_write_check_at_record(w, err);
    if (st == PERFILE_OK)
        st = pf_write_begin(w, err);
    if (st == PERFILE_OK && w->base.directory && range->part != w->at)
        st = pf_write_select_part(w, range->part, err);
    if (st == PERFILE_OK)
        st = pf_write_flush_span(w, err);
    if (st == PERFILE_OK)
        st = pf_sink_records(w->part->sink, pf_sink_count(w->part->sink), b, err);
    if (st != PERFILE_OK)
        return st;
    w->kernel = true;
    pf_write_count(w, range->bytes);
    return st;
}

/* Writes contiguous samples as one span of bytes, without examining any record. */
static perfile_status put_plain_samples(pf_perf_writer *w, const pf_batch *b, perfile_error *err)
{
    const perfile_bytes last = b->at[b->n - 1].body;
    const uint8_t *from = b->at->header;
    w->kernel = true;
    perfile_status st = add_span(w, from, (size_t)(last.ptr + last.len - from), err);
    return st == PERFILE_OK && !(b->at->flags & PERFILE_REC_STABLE) ? pf_write_flush_span(w, err)
                                                                    : st;
}

perfile_status pf_write_put(perfile_writer *writer, const pf_batch *b, perfile_error *err)
{
    pf_perf_writer *w = (pf_perf_writer *)writer;
    if (b->n == 1 && put_fast(w, b->at))
        return PERFILE_OK;
    perfile_status st = pf_write_check_usable(w, err);
    if (st != PERFILE_OK)
        return st;
    if (b->stored)
        return put_stored(w, b, err);
    if (w->to_archive)
        return put_for_archive(w, b->at, b->n, err);
    if (pf_batch_is_plain(b) && can_copy_plain(w) && !(b->at->flags & PERFILE_REC_SWAPPED))
        return put_plain_samples(w, b, err);
    return put_records(w, b->at, b->n, err);
}

perfile_status pf_write_record(pf_perf_writer *w, perfile_bytes bytes, uint32_t part,
                               perfile_error *err)
{
    pf_frame f = pf_frame_at(bytes.ptr, w->base.swap);
    perfile_record r = {.header = bytes.ptr,
                        .body = {bytes.ptr + PF_PERF_RECORD_HEADER, f.size - PF_PERF_RECORD_HEADER},
                        .type = f.type,
                        .misc = f.misc,
                        .flags = w->base.swap ? PERFILE_REC_SWAPPED : 0,
                        .part = part};
    r.extra.len = (size_t)pf_frame_extra(bytes.ptr, &f, w->base.swap);
    return pf_write_put(&w->base, &(pf_batch){.at = &r, .n = 1}, err);
}

perfile_status pf_write_extra(perfile_writer *writer, perfile_bytes chunk, perfile_error *err)
{
    pf_perf_writer *w = (pf_perf_writer *)writer;
    perfile_status st = pf_write_check_usable(w, err);
    if (st != PERFILE_OK)
        return st;
    if (chunk.len > w->base.extra_left)
        return pf_fail(err, PERFILE_E_USAGE, "writer.extra",
                       "%zu bytes after the record, but only %llu are due", chunk.len,
                       (unsigned long long)w->base.extra_left);
    w->base.extra_left -= chunk.len;
    return pf_write_bytes(w, chunk, err);
}

/* Records that are encoded from structs (perfile_writer_put_…, one function for each record of the
 * tables), and spans of records from the kernel's ring buffer.
 *
 * A struct has the fields of the record.  Its event defines the layout of samples and the content
 * of the trailer (sample_id) of other kernel records.  perfile_put_options has the values of the
 * trailer.  The record is encoded into w->scratch and then written like any other. */

/* A record that is being encoded. */
typedef struct record_build {
    perfile_put_options given;
    perfile_encode_options how;
    perfile_sample_id trailer;     /* how.sample_id points here if the record has a trailer */
    const pf_written_event *event; /* the event of a kernel record; NULL for others */
    uint8_t *record;               /* w->scratch, PF_RECORD_MOST bytes */
} record_build;

/* Fills the trailer from the put options.  Records marked `synthesized` have a trailer of zeros, as
 * in perf. */
static void fill_trailer(record_build *m)
{
    const perfile_put_options *g = &m->given;
    const uint64_t id = g->id ? g->id : m->event->id;
    perfile_sample_id v = {0};
    if (!g->synthesized)
        v = (perfile_sample_id){.pid = g->pid,
                                .tid = g->tid,
                                .time = g->time,
                                .id = id,
                                .stream_id = g->stream_id ? g->stream_id : id,
                                .cpu = g->cpu,
                                .identifier = id};
    m->trailer = pf_trailer_of(&m->event->layout, &v);
}

/* Refuses an id that is not an id of the event: the record would belong to another event, with
 * perhaps another layout, or to no event. */
static perfile_status check_id(const pf_perf_writer *w, const record_build *m, uint64_t id,
                               perfile_error *err)
{
    const pf_written_event *e = m->event;
    if (!id || !e->ids_len) /* an event without ids is the only one */
        return PERFILE_OK;
    for (size_t k = 0; k < e->ids_len; k += 8)
        if (pf_load_u64(w->facts.ptr + e->ids + k, w->base.swap) == id)
            return PERFILE_OK;
    return pf_fail(err, PERFILE_E_USAGE, "writer.put", "the id %llu is none of event %u",
                   (unsigned long long)id, m->given.event);
}

/* Prepares encoding a record of `type`.  If `how` is NULL, it is a synthesized record of event 0
 * with misc 0. */
static perfile_status begin_record(pf_perf_writer *w, uint32_t type, const perfile_put_options *how,
                                   record_build *m, perfile_error *err)
{
    *m = (record_build){.given = {.synthesized = !how}, .how = pf_write_encoding(w)};
    perfile_status st = pf_write_check_usable(w, err);
    if (how && st == PERFILE_OK)
        st = pf_options_copy(&m->given, how, "put.how", err);
    if (st == PERFILE_OK)
        st = pf_write_scratch(w, PF_RECORD_MOST + 1, &m->record, err);
    if (st != PERFILE_OK)
        return st;
    m->how.misc = m->given.misc;
    if (type >= PERFILE_RECORD_USER)
        return PERFILE_OK;
    if (m->given.event >= w->n_events)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                       "a record of event %u, there are %u: add it first", m->given.event,
                       w->n_events);
    m->event = pf_write_event_at(w, m->given.event);
    if (!m->event->readable)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                       "the attr of event %u cannot be read: the layout of its "
                       "records is unknown",
                       m->given.event);
    st = check_id(w, m, m->given.id, err);
    if (st != PERFILE_OK)
        return st;
    m->how.layout = &m->event->layout;
    if (type != PERFILE_RECORD_SAMPLE && m->event->layout.trailer_size) {
        fill_trailer(m);
        m->how.sample_id = &m->trailer;
    }
    return PERFILE_OK;
}

/* Writes the `len` bytes that were encoded. */
static perfile_status finish_record(pf_perf_writer *w, const record_build *m, size_t len,
                                    perfile_error *err)
{
    return pf_write_record(w, (perfile_bytes){m->record, len}, m->given.part, err);
}

/* Returns the id to store in a field of ids: `given`, or `id` if it is 0; 0 if the event does not
 * have the field. */
static uint64_t sample_id(bool has_field, uint64_t given, uint64_t id)
{
    return !has_field ? 0 : given ? given : id;
}

/* Encodes and writes a sample.  If in->present is 0, it has the fields of its sample_type.  Ids of
 * 0 are replaced by the id of the options, or else by the first id of the event.  Other values in
 * fields that the event does not have are refused by the encoder. */
static perfile_status put_sample(pf_perf_writer *w, const perfile_sample *in, size_t size,
                                 const perfile_put_options *how, perfile_error *err)
{
    const uint64_t weights = PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT;
    record_build m;
    perfile_sample s = {0};
    size_t len;
    perfile_status st = begin_record(w, PERFILE_RECORD_SAMPLE, how, &m, err);
    if (st != PERFILE_OK)
        return st;
    if (size > sizeof s) /* a newer struct: the encoder checks whether the rest is zero */
        return perfile_sample_encode(in, size, &m.how, m.record, PF_RECORD_MOST, &len, err) ==
                       PERFILE_OK
                   ? finish_record(w, &m, len, err)
                   : PERFILE_E_USAGE;
    memcpy(&s, in, size);
    uint64_t fields = m.event->layout.sample_type & PERFILE_SAMPLE_KNOWN & ~weights;
    st = check_id(w, &m, s.id, err);
    if (st == PERFILE_OK)
        st = check_id(w, &m, s.identifier, err);
    if (st != PERFILE_OK)
        return st;
    uint64_t id = m.given.id ? m.given.id : m.event->id;
    if (!s.present)
        s.present = fields;
    s.identifier = sample_id(fields & PERFILE_SAMPLE_IDENTIFIER, s.identifier, id);
    s.id = sample_id(fields & PERFILE_SAMPLE_ID, s.id, id);
    st = perfile_sample_encode(&s, sizeof s, &m.how, m.record, PF_RECORD_MOST, &len, err);
    return st == PERFILE_OK ? finish_record(w, &m, len, err) : st;
}

/* Spans of the ring buffer. */

/* Returns the header of the record at index `at` of the two spans.  It may cross the border between
 * them. */
static pf_frame frame_at(const perfile_bytes spans[2], size_t at)
{
    uint8_t header[PF_PERF_RECORD_HEADER];
    if (at + sizeof header <= spans[0].len)
        return pf_frame_at(spans[0].ptr + at, false);
    if (at >= spans[0].len)
        return pf_frame_at(spans[1].ptr + (at - spans[0].len), false);
    size_t n = spans[0].len - at;
    memcpy(header, spans[0].ptr + at, n);
    memcpy(header + n, spans[1].ptr, sizeof header - n);
    return pf_frame_at(header, false);
}

/* Fails because the bytes at `at` are not a kernel record. */
static perfile_status report_bad_span(const pf_frame *f, size_t at, size_t left, perfile_error *err)
{
    perfile_status st =
        f->type >= PERFILE_RECORD_USER || f->type == 0
            ? pf_fail(err, PERFILE_E_CORRUPT, "record.type",
                      "the kernel writes no record of type %u", f->type)
            : pf_fail(err, PERFILE_E_CORRUPT, "record.size",
                      "size %u, with %zu bytes left: not a whole record", f->size, left);
    if (err)
        err->offset = at;
    return st;
}

/* Checks that the two spans together consist of complete kernel records. */
static perfile_status check_spans(const perfile_bytes spans[2], perfile_error *err)
{
    size_t size = spans[0].len + spans[1].len;
    for (size_t at = 0; at < size;) {
        pf_frame f = {.type = PERFILE_RECORD_SAMPLE};
        if (size - at >= PF_PERF_RECORD_HEADER)
            f = frame_at(spans, at);
        if (f.size < PF_PERF_RECORD_HEADER || f.size > size - at || f.type == 0 ||
            f.type >= PERFILE_RECORD_USER)
            return report_bad_span(&f, at, size - at, err);
        at += f.size;
    }
    return PERFILE_OK;
}

/* Writes two spans of one ring buffer: the one up to its end, and the one from its beginning. */
static perfile_status put_spans(pf_perf_writer *w, const perfile_bytes spans[2], uint32_t part,
                                perfile_error *err)
{
    perfile_status st = pf_write_check_at_record(w, err);
    if (st == PERFILE_OK && w->base.swap)
        st = pf_fail(err, PERFILE_E_USAGE, "writer.put",
                     "the kernel's records are not in the byte order of the capture");
    if (st == PERFILE_OK)
        st = check_spans(spans, err);
    if (st != PERFILE_OK || spans[0].len + spans[1].len == 0)
        return st;
    st = pf_write_begin(w, err);
    if (st == PERFILE_OK && w->base.directory && part != w->at)
        st = pf_write_select_part(w, part, err);
    if (st != PERFILE_OK)
        return st;
    w->kernel = true;
    for (unsigned i = 0; i < 2 && st == PERFILE_OK; i++)
        st = w->base.level ? pf_write_add_to_stage(w, spans[i], err)
                           : pf_write_bytes(w, spans[i], err);
    return st;
}

/* A progressive file is flushed after a FINISHED_ROUND, so that readers see the round. */
perfile_status perfile_writer_put_struct(perfile_writer *writer, uint32_t type, const void *in,
                                         size_t size, const perfile_put_options *how,
                                         perfile_error *err)
{
    pf_perf_writer *w = pf_perf_writer_of(writer, "such records", err);
    record_build m;
    size_t len;
    if (!w)
        return PERFILE_E_UNSUPPORTED;
    if (type == PERFILE_RECORD_SAMPLE)
        return put_sample(w, in, size, how, err);
    perfile_status st = begin_record(w, type, how, &m, err);
    if (type >= PERFILE_RECORD_SIMPLEPERF)
        m.how.misc = 0; /* its headers have none */
    if (st == PERFILE_OK)
        st = perfile_encode(type, in, size, &m.how, m.record, PF_RECORD_MOST, &len, err);
    if (st == PERFILE_OK)
        st = finish_record(w, &m, len, err);
    if (st == PERFILE_OK && type == PERFILE_RECORD_FINISHED_ROUND && w->progressive)
        st = perfile_sink_flush(writer->sink, err);
    return st;
}

perfile_status perfile_writer_put_spans(perfile_writer *writer, const perfile_bytes spans[2],
                                        uint32_t part, perfile_error *err)
{
    pf_perf_writer *w = pf_perf_writer_of(writer, "records of the kernel", err);
    return w ? put_spans(w, spans, part, err) : PERFILE_E_UNSUPPORTED;
}
