/* The record walk: the fill function of a perf.data stream.
 *
 * A capture is a sequence of parts (files).  The walk goes through each part from its first record
 * to its last, in stored order.  Each call of fill() makes one batch: plain records framed by
 * perf/take.h (the fast path), or one record that needs more than framing, or one DAMAGE record.  A
 * record is "plain" if its 8-byte header is all that must be known: it has no effect on the
 * session, no payload after it, and no records inside.
 *
 * fill() delivers in the order of the stream: first the records inside an envelope
 * (perf/envelope.c), then pending damage (p->pending), then the next outer record.  The functions
 * at the end of this file handle bytes that are not a valid record; salvage (perf/salvage.c) limits
 * the walk to the bytes before p->salvage.trusted. */
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "core/zone.h"
#include "perf/stream.h"
#include "perf/take.h"
#include "schema/rows.h"
#include "core/command.h"

#include <inttypes.h>

enum {
    /* extra() returns payloads in chunks of this size.  From a window, a payload up to this size is
     * read together with its record. */
    EXTRA_CHUNK = 1 << 20,
};

perfile_status pf_perf_fetch(pf_perf_stream *p, uint64_t need, perfile_bytes *run,
                             perfile_error *err)
{
    perfile_source *source = p->file->source;
    uint64_t left = p->file->end == PF_SIZE_UNKNOWN ? UINT64_MAX : p->file->end - p->pos;
    if (need > left)
        need = left;
    uint64_t most = source->limits.window_bytes;
    perfile_status st;
    if (!source->stable && need > most) {
        /* `need` may come from a damaged size field.  If the input ends before the window limit,
         * the record is only truncated, and the read below must not fail with PERFILE_E_LIMIT. */
        st = pf_source_run(source, p->pos, (size_t)most, run, err);
        if (st == PERFILE_OK && run->len < most)
            need = run->len;
    }
    st = pf_source_run(source, p->pos, (size_t)need, run, err);
    if (st != PERFILE_OK)
        return st;
    if (run->len > left)
        run->len = (size_t)left;
    return PERFILE_OK;
}

/* Called at the regular end of a part.  Reports records that are still incomplete inside envelopes.
 * Unless other damage was reported, also reports data that the header declares and the file lacks.
 */
static void finish_part(pf_perf_stream *p)
{
    bool damaged = p->part_damaged;
    pf_perf_end_envelopes(p);
    if (!damaged && p->file->declared)
        pf_perf_add_damage(p, &(pf_perf_pending){.damage = PERFILE_DAMAGE_TRUNCATED_DATA,
                                                 .offset = p->file->end,
                                                 .lost = p->file->declared - p->file->end});
    p->part_over = true;
}

void pf_walk_begin_part(pf_perf_stream *p)
{
    p->salvage.on = p->base.options.on_damage == PERFILE_ON_DAMAGE_SALVAGE;
    p->salvage.island = p->salvage.gap = false;
    p->salvage.trusted = 0;
    p->salvage.fit = (pf_record_fit){.session = p->base.session, .swap = p->swap};
    p->inner.fit = p->salvage.fit;
    p->file = &p->parts[p->part];
    p->pos = p->file->start;
    p->part_over = false;
    p->part_damaged = false;
    p->deferred.damage = 0;
    p->extra.left = 0;
    pf_perf_begin_envelopes(p);
    pf_perf_prepare_slots(p, false, PERFILE_RUN_RECORDS);
}

/* Checks for a second pipe header at p->pos: `cat a.pipe b.pipe` puts one between records.  Extends
 * *run until it holds the whole header.  Does nothing with options.as_stored. */
static perfile_status check_second_header(pf_perf_stream *p, perfile_bytes *run, bool *found,
                                          perfile_error *err)
{
    pf_perf_header h;
    *found = false;
    if (p->base.options.as_stored)
        return PERFILE_OK;
    unsigned damage = pf_perf_header_begin(*run, &h);
    if (damage == PERFILE_DAMAGE_TRUNCATED_HEADER) {
        perfile_status st = pf_perf_fetch(p, PF_PERF_PIPE_HEADER, run, err);
        if (st != PERFILE_OK)
            return st;
        damage = pf_perf_header_begin(*run, &h);
    }
    *found = damage == 0 && h.form == PERFILE_FORM_PIPE && h.swap == p->swap;
    return PERFILE_OK;
}

/* Finds the payload after the record at p->pos, which is complete in *run.  Sets *extra to its
 * length, and *cut if the part ends inside it.  Reads the payload into *run if the session needs it
 * (TRACING_DATA).  Also reads a small payload if the end of the input is not known yet (a pipe),
 * because only reading shows whether it is complete. */
static perfile_status find_extra(pf_perf_stream *p, const pf_frame *f, perfile_bytes *run,
                                 uint64_t *extra, bool *cut, perfile_error *err)
{
    *extra = pf_frame_extra(run->ptr, f, p->swap);
    *cut = false;
    if (*extra == 0)
        return PERFILE_OK;
    uint64_t whole, behind;
    const bool ends = p->file->end != PF_SIZE_UNKNOWN;
    *cut = pf_add_u64(*extra, f->size, &whole) || pf_add_u64(whole, p->pos, &behind) ||
           (ends && whole > p->file->end - p->pos);
    const bool section = pf_record_row(f->type)->marks & PF_ROW_SECTION;
    if (*cut || whole > p->base.limits.window_bytes ||
        !(section || (!ends && *extra <= EXTRA_CHUNK)))
        return PERFILE_OK;
    perfile_status st = pf_perf_fetch(p, whole, run, err);
    *cut = st == PERFILE_OK && run->len < whole;
    return st;
}

/* Sets slot 0 to the record at p->pos, complete in `run`, and advances p->pos past the record and
 * its payload of `extra` bytes.  With `cut`, the payload is incomplete: the record is still
 * delivered, and the next call ends the part with damage. */
static void deliver_record(pf_perf_stream *p, const pf_frame *f, perfile_bytes run, uint64_t extra,
                           bool cut)
{
    perfile_record *r = &p->base.run[0];
    uint64_t offset = p->pos;
    pf_perf_prepare_slots(p, false, p->slots_inner ? PERFILE_RUN_RECORDS : 1);
    r->header = run.ptr;
    r->body = (perfile_bytes){run.ptr + PF_PERF_RECORD_HEADER, f->size - PF_PERF_RECORD_HEADER};
    r->type = f->type;
    r->misc = f->misc;
    r->offset = offset;
    r->sequence = p->sequence++;
    p->slot_dirty = true;
    p->base.n_run = 1;
    p->base.summary.records++;
    p->base.summary.bytes += f->size;
    if (!pf_record_row(f->type))
        p->base.summary.unknown_types++;

    p->pos += f->size;
    p->extra.record = offset;
    p->extra.left = 0;
    if (cut) {
        r->flags |= PERFILE_REC_PAYLOAD_CUT;
        pf_perf_defer(p, PERFILE_DAMAGE_TRUNCATED_PAYLOAD, offset, 0);
    } else if (extra) {
        bool here = run.len - f->size >= extra;
        r->extra = (perfile_bytes){here ? run.ptr + f->size : NULL, (size_t)extra};
        p->extra.start = p->pos;
        p->extra.pos = p->pos;
        p->extra.left = extra;
        p->base.summary.bytes += extra;
        p->pos += extra;
    }
}

/* Handles the bytes at which the fast path stopped: a record that is not plain, a record that is
 * not completely in memory yet, or bytes that are not a record. */
static perfile_status frame_one_record(pf_perf_stream *p, perfile_bytes run, perfile_error *err)
{
    if (run.len < PF_PERF_RECORD_HEADER)
        return pf_walk_stop_part(p, PERFILE_DAMAGE_TRUNCATED_HEADER, p->pos, err);
    bool second;
    perfile_status st = check_second_header(p, &run, &second, err);
    if (st != PERFILE_OK)
        return st;
    if (second) {
        pf_perf_add_damage(p, &(pf_perf_pending){.damage = PERFILE_DAMAGE_CONCATENATED,
                                                 .offset = p->pos,
                                                 .lost = PF_PERF_PIPE_HEADER,
                                                 .bytes = {run.ptr, PF_PERF_PIPE_HEADER}});
        p->pos += PF_PERF_PIPE_HEADER;
        return PERFILE_OK;
    }
    pf_frame f = pf_frame_at(run.ptr, p->swap);
    if (f.size < PF_PERF_RECORD_HEADER)
        return pf_walk_bad_record(p, PERFILE_DAMAGE_BAD_SIZE, err);

    if (run.len < f.size)
        st = pf_perf_fetch(p, f.size, &run, err);
    if (st != PERFILE_OK)
        return st;
    if (run.len < f.size)
        return pf_walk_bad_record(p, PERFILE_DAMAGE_TRUNCATED_RECORD, err);

    uint64_t extra;
    bool cut;
    st = find_extra(p, &f, &run, &extra, &cut, err);
    if (st != PERFILE_OK)
        return st;
    deliver_record(p, &f, run, extra, cut);
    perfile_record *r = &p->base.run[0];
    st = pf_perf_feed_session(p, r, err);
    if (st == PERFILE_OK && p->base.options.envelopes == PERFILE_ENVELOPES_BOTH)
        st = pf_perf_add_envelope(p, r, err);
    return st;
}

/* Makes a batch of records that are directly in the part (not inside an envelope), or adds pending
 * damage, or ends the part. base.n_run may still be 0 afterwards; fill() then calls again. */
static perfile_status fill_outer(pf_perf_stream *p, perfile_error *err)
{
    if (p->deferred.damage)
        return pf_walk_end_deferred(p, err);
    if (p->file->skip > p->pos)
        return pf_walk_resync(p, PERFILE_DAMAGE_OVERLAP, p->file->skip - p->pos, err);
    perfile_bytes run;
    /* The records before a known gap were delivered: the gap is next. */
    if (p->salvage.gap && p->pos >= p->salvage.trusted)
        return pf_walk_skip_gap(p, err);
    if (p->narrow.on && !p->salvage.on)
        pf_perf_pass_absent(p);
    bool ahead = p->salvage.on && p->pos >= p->salvage.trusted;
    perfile_status st = ahead ? pf_walk_look_ahead(p, &run, err)
                              : pf_perf_fetch(p, PF_PERF_RECORD_HEADER, &run, err);
    if (st != PERFILE_OK)
        return st;
    if (p->salvage.gap && p->pos >= p->salvage.trusted)
        return pf_walk_skip_gap(p, err);
    if (run.len == 0) {
        /* p->pos is after a payload that was skipped.  The size of a pipe is known only now. */
        if (p->pos > p->file->source->size)
            return pf_walk_end_in_extra(p, err);
        finish_part(p);
        return PERFILE_OK;
    }
    pf_perf_ensure_slots(p);
    perfile_bytes good = run; /* with salvage: only bytes that were examined and are trusted */
    if (p->salvage.on && good.len > p->salvage.trusted - p->pos)
        good.len = (size_t)(p->salvage.trusted - p->pos);
    size_t taken = pf_perf_frame_run(p, good, p->pos, false);
    if (taken == 0)
        return frame_one_record(p, run, err);
    p->extra.left = 0;
    p->pos += taken;
    p->base.summary.bytes += taken;
    return PERFILE_OK;
}

/* pf_stream_ops.fill: repeats until there is a batch of at least one record.  Records inside an
 * envelope are delivered directly after it, and so before pending damage, which was found at later
 * bytes. */
static perfile_status fill(perfile_stream *s, perfile_error *err)
{
    pf_perf_stream *p = pf_perf_of(s);
    s->n_run = 0;
    while (s->n_run == 0) {
        perfile_status st = PERFILE_OK;
        if (!p->file && p->part < p->n_parts)
            pf_walk_begin_part(p);
        else if (p->split.ready || (p->inner.at < p->inner.bytes.len && !p->inner.waits))
            st = pf_perf_fill_inner(p, err);
        if (st == PERFILE_OK && s->n_run == 0) {
            if (p->pending.n)
                pf_walk_report(p);
            else if (p->part == p->n_parts)
                return PERFILE_END;
            else if (!p->part_over)
                st = fill_outer(p, err);
            else if (++p->part < p->n_parts)
                pf_walk_begin_part(p);
        }
        if (st != PERFILE_OK)
            return st;
    }
    return PERFILE_OK;
}

/* pf_stream_ops.extra: sets *chunk to the next chunk of the payload after `r`, which must be the
 * last record that was returned.  Returns PERFILE_END after the last chunk. */
static perfile_status extra(perfile_stream *s, const perfile_record *r, perfile_bytes *chunk,
                            perfile_error *err)
{
    pf_perf_stream *p = pf_perf_of(s);
    if (r != &s->run[0] || p->extra.record != r->offset)
        return pf_fail(err, PERFILE_E_USAGE, "record.extra", "the stream is not at this record");
    if (p->extra.left == 0)
        return PERFILE_END;
    uint64_t n = p->extra.left < EXTRA_CHUNK ? p->extra.left : EXTRA_CHUNK;
    perfile_status st = pf_source_run(p->file->source, p->extra.pos, (size_t)n, chunk, err);
    if (st != PERFILE_OK)
        return st;
    if (chunk->len > n)
        chunk->len = (size_t)n;
    if (chunk->len == 0) {
        p->extra.left = 0;
        return pf_fail(err, PERFILE_E_TRUNCATED, "record.extra",
                       "the input ends inside the bytes after the record");
    }
    p->extra.pos += chunk->len;
    p->extra.left -= chunk->len;
    return PERFILE_OK;
}

/* pf_stream_ops.close. */
static void close_stream(perfile_stream *s)
{
    pf_perf_stream *p = pf_perf_of(s);
    for (uint32_t i = 0; i < p->n_parts; i++) {
        perfile_source_close(p->parts[i].source);
        pf_free(p->parts[i].name);
    }
    perfile_source_close(p->directory);
    pf_free(p->parts);
    pf_free(p->name);
    pf_free(p->part_names);
    pf_free(p->ids);
    pf_free(p->extents);
    pf_free(p->damages);
    pf_inflate_free(p->inner.inflate);
    pf_buffer_free(&p->inner.bytes);
    pf_buffer_free(&p->split.bytes);
    pf_session_free(s->session);
    pf_free(p);
}

const pf_stream_ops pf_perf_ops = {
    .fill = fill,
    .extra = extra,
    .close = close_stream,
    .seek = pf_perf_seek,
    PF_PERF_AHEAD,
};

/* perfile_stream_seek(): continues the walk at another record.
 *
 * The part is begun again, as if it had just been opened, and p->pos is set to the record.  This
 * resets all state that covers several records (fragments of simpleperf, the bytes that salvage has
 * examined ahead).  Only a zstd stream cannot be entered in its middle. */

static bool has_compressed_records(const pf_perf_stream *p)
{
    return p->inner.compressed > 0 ||
           perfile_session_feature(p->base.session, PERFILE_FEATURE_COMPRESSED) != NULL;
}

static perfile_status check_place(const pf_perf_stream *p, uint32_t part, uint64_t offset,
                                  perfile_error *err)
{
    if (part >= p->n_parts)
        return pf_fail(err, PERFILE_E_USAGE, "stream.part", "part %u of %u", part, p->n_parts);
    const pf_perf_part *to = &p->parts[part];
    uint64_t end = to->end == PF_SIZE_UNKNOWN ? to->source->size : to->end;
    if (!to->source->seekable || end == PF_SIZE_UNKNOWN)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "stream.seek", "'%s' is read as a stream",
                       to->source->name);
    if (offset < to->start || offset > end)
        return pf_fail(err, PERFILE_E_USAGE, "stream.offset",
                       "offset %" PRIu64 ", but records are from %" PRIu64 " to %" PRIu64, offset,
                       to->start, end);
    if (offset != to->start && has_compressed_records(p))
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "stream.seek",
                       "compressed records are read from the beginning of their part, at %" PRIu64,
                       to->start);
    return PERFILE_OK;
}

perfile_status pf_perf_seek(perfile_stream *s, uint32_t part, uint64_t offset, perfile_error *err)
{
    pf_perf_stream *p = pf_perf_of(s);
    perfile_status st = check_place(p, part, offset, err);
    if (st != PERFILE_OK)
        return st;
    /* Damage that was found and not reported yet still counts. */
    while (p->pending.n)
        pf_walk_report(p);
    p->part = part;
    pf_walk_begin_part(p);
    p->pos = offset;
    return PERFILE_OK;
}

/* Records that a source does not show, because an archive is read for a filter or for counts.  They
 * are skipped here as if they had been read: see core/zone.h. */

void pf_perf_narrow(perfile_stream *s, const pf_narrow *how)
{
    pf_perf_stream *p = pf_perf_of(s);
    p->narrow.how = how;
    for (uint32_t i = 0; i < p->n_parts; i++) {
        perfile_source *source = p->parts[i].source;
        if (!source->ops->absent)
            continue;
        source->narrows = true;
        source->narrow = how;
        p->narrow.on = how != NULL;
        p->narrow.counts = how == NULL;
    }
}

bool pf_perf_absent(const pf_perf_stream *p, pf_absent *absent)
{
    perfile_source *source = p->file->source;
    return source->ops->absent && source->ops->absent(source, p->pos, p->sequence, absent) &&
           absent->bytes <= p->file->end - p->pos;
}

/* Skips records, which count as read. */
static void skip(pf_perf_stream *p, uint64_t records, uint64_t bytes)
{
    perfile_stream_summary *sum = &p->base.summary;
    p->pos += bytes;
    p->sequence += records;
    p->extra.left = 0;
    sum->records += records;
    sum->bytes += bytes;
}

void pf_perf_pass(perfile_stream *s, pf_passed *passed)
{
    pf_perf_stream *p = pf_perf_of(s);
    pf_absent absent;
    if (!p->file && p->part < p->n_parts && p->parts[p->part].source->ops->absent)
        pf_walk_begin_part(p); /* before its first records are decoded */
    if (!pf_perf_at_records(p) || p->narrow.on || !p->file->source->ops->absent)
        return;
    if (!p->narrow.counts)
        pf_perf_narrow(s, NULL);
    if (!pf_perf_absent(p, &absent))
        return;
    *passed = (pf_passed){
        .samples = absent.records, .bytes = absent.bytes, .offset = p->pos, .part = p->part};
    skip(p, absent.records, absent.bytes);
}

/* Tells the reader which records are skipped. */
static void report(const pf_perf_stream *p, const pf_absent *absent)
{
    const pf_narrow *how = p->narrow.how;
    if (absent->chunk) {
        const pf_stored range = {.archive = absent->archive,
                                 .chunk = absent->chunk,
                                 .zone = absent->zone,
                                 .records = absent->zone->records,
                                 .samples = pf_zone_plain_samples(absent->zone),
                                 .bytes = pf_zone_bytes(absent->zone),
                                 .offset = p->pos,
                                 .part = p->part,
                                 .session = p->base.session};
        how->stored(how->user, &range);
    } else if (how->passed) {
        how->passed(how->user, absent->zone, p->sequence, absent->records);
    }
}

void pf_perf_pass_absent(pf_perf_stream *p)
{
    pf_absent absent;
    while (p->pos < p->file->end && pf_perf_absent(p, &absent)) {
        report(p, &absent);
        skip(p, absent.records, absent.bytes);
    }
}

/* Here the record walk handles bytes that are not a record, or an incomplete one: it reports them,
 * ends the part, or searches for the next records. perf/stream.h describes how the functions share
 * the work. */

enum {
    RESYNC_CHUNK = 4 << 20,     /* bytes searched at a time */
    RESYNC_OVERLAP = 256 << 10, /* searched again with the next chunk: four 64-KiB records */
    LOOK_AHEAD = 1 << 20,       /* bytes examined before salvage delivers the first of them */
    ISLAND_BYTES = 8 << 10 /* this many bytes of valid records after a gap are no coincidence */
};

void pf_perf_add_damage(pf_perf_stream *p, const pf_perf_pending *what)
{
    p->part_damaged = true;
    /* p->pending has room for all damage that one step of the walk can find. */
    p->pending.at[p->pending.n++] = *what;
}

void pf_walk_report(pf_perf_stream *p)
{
    /* In order of discovery, which is the order of the bytes. */
    pf_perf_pending d = p->pending.at[0];
    memmove(p->pending.at, p->pending.at + 1, --p->pending.n * sizeof p->pending.at[0]);
    pf_stream_damage(&p->base, d.damage, d.offset, d.lost);
    if (!(p->base.options.deliver & PERFILE_DELIVER_DAMAGE))
        return;
    uint8_t swapped = p->swap ? PERFILE_REC_SWAPPED : 0;
    p->base.run[0] = (perfile_record){.family = PERFILE_FAMILY_DAMAGE,
                                      .flags = (uint8_t)(d.flags | swapped),
                                      .body = {d.bytes.ptr, (size_t)d.lost},
                                      .offset = d.offset,
                                      .stream_offset = d.stream_offset,
                                      .sequence = PERFILE_NO_SEQUENCE,
                                      .envelope = d.flags & PERFILE_REC_INNER ? p->inner.envelope
                                                                              : PERFILE_NO_SEQUENCE,
                                      .part = p->part,
                                      .damage = d.damage,
                                      .session = p->base.session};
    p->base.n_run = 1;
    p->slot_dirty = true;
}

perfile_status pf_perf_count_rest(pf_perf_stream *p, uint64_t *rest, perfile_error *err)
{
    perfile_source *source = p->file->source;
    if (p->file->end != PF_SIZE_UNKNOWN) {
        *rest = p->file->end - p->pos;
        return PERFILE_OK;
    }
    uint64_t at = p->pos;
    perfile_bytes run;
    if (source->live) { /* do not block on a live source only to count lost bytes */
        perfile_status st = pf_source_run(source, at, 0, &run, err);
        *rest = st == PERFILE_OK ? run.len : 0;
        return st;
    }
    for (;;) {
        perfile_status st = pf_source_run(source, at, 1, &run, err);
        if (st != PERFILE_OK)
            return st;
        if (run.len == 0)
            break;
        at += run.len;
    }
    *rest = at - p->pos;
    return PERFILE_OK;
}

/* Sets *bytes to the lost bytes from p->pos to the end of the part, if the source keeps them valid
 * until it is closed, or, in an archive, until the next read.  Otherwise leaves *bytes empty. */
static perfile_status view_lost_bytes(const pf_perf_stream *p, perfile_bytes *bytes,
                                      perfile_error *err)
{
    perfile_source *source = p->file->source;
    if (source->lasting)
        return pf_source_view(source, p->pos, 1, bytes, err);
    if (!source->origin || !source->seekable || p->file->end == PF_SIZE_UNKNOWN ||
        p->file->end - p->pos > source->limits.window_bytes)
        return PERFILE_OK;
    perfile_status st = pf_source_run(source, p->pos, (size_t)(p->file->end - p->pos), bytes, err);
    if (st == PERFILE_OK && bytes->len < p->file->end - p->pos)
        *bytes = (perfile_bytes){NULL, 0};
    return st;
}

perfile_status pf_walk_stop_part(pf_perf_stream *p, unsigned damage, uint64_t offset,
                                 perfile_error *err)
{
    pf_perf_pending d = {.damage = damage, .offset = offset};
    perfile_status st = view_lost_bytes(p, &d.bytes, err);
    if (st == PERFILE_OK)
        st = pf_perf_count_rest(p, &d.lost, err);
    if (st != PERFILE_OK)
        return st;
    pf_perf_add_damage(p, &d);
    pf_perf_end_envelopes(p);
    p->part_over = true;
    return PERFILE_OK;
}

perfile_status pf_walk_resync(pf_perf_stream *p, unsigned damage, uint64_t from, perfile_error *err)
{
    uint64_t start = p->pos;
    bool stable = p->file->source->stable;
    uint64_t most = p->file->source->limits.window_bytes;
    uint64_t chunk = stable || most > RESYNC_CHUNK ? RESYNC_CHUNK : most;
    uint64_t overlap = chunk > 2 * RESYNC_OVERLAP ? RESYNC_OVERLAP : chunk / 2;
    pf_perf_pending d = {.damage = damage, .offset = start};
    perfile_status st = view_lost_bytes(p, &d.bytes, err);
    if (st != PERFILE_OK)
        return st;
    for (;;) {
        perfile_bytes run;
        st = pf_perf_fetch(p, chunk, &run, err);
        if (st != PERFILE_OK)
            return st;
        size_t skip = from < run.len ? (size_t)from : run.len;
        size_t found = pf_perf_resync(&p->salvage.fit, run, skip);
        if (found < run.len || stable || run.len < chunk) {
            p->pos += found;
            break;
        }
        /* A chain that begins in the last RESYNC_OVERLAP bytes could not be followed for four
         * records.  So these bytes are searched again together with the next chunk. */
        uint64_t step = run.len - overlap;
        from = from > step ? from - step : 0;
        p->pos += step;
    }
    d.lost = p->pos - start;
    pf_perf_add_damage(p, &d);
    return PERFILE_OK;
}

/* Skips a range that is lost in a damaged archive, if p->pos is at one and records go on after it.
 * Whatever the options say about damage, nothing has to be searched or guessed there.  Returns
 * false if this is not the case. */
static bool pass_lost(pf_perf_stream *p, perfile_status *status, perfile_error *err)
{
    perfile_source *source = p->file->source;
    pf_perf_pending d = {.damage = PERFILE_DAMAGE_ARCHIVE, .offset = p->pos};
    pf_absent absent;
    if (!source->ops->absent || !source->ops->absent(source, p->pos, PERFILE_NO_SEQUENCE, &absent))
        return false;
    const uint64_t left = p->file->end - p->pos;
    d.lost = absent.bytes < left ? absent.bytes : left;
    if (!absent.at_record && d.lost < left)
        return false;
    *status = view_lost_bytes(p, &d.bytes, err);
    p->pos += d.lost;
    if (*status != PERFILE_OK)
        return true;
    pf_perf_add_damage(p, &d);
    p->base.told.places += absent.lost;
    p->base.told.bytes += d.lost;
    return true;
}

perfile_status pf_walk_bad_record(pf_perf_stream *p, unsigned damage, perfile_error *err)
{
    perfile_status st;
    if (damage == PERFILE_DAMAGE_BAD_SIZE && pass_lost(p, &st, err))
        return st;
    if (p->base.options.on_damage != PERFILE_ON_DAMAGE_STOP)
        return pf_walk_resync(p, damage, 1, err);
    return pf_walk_stop_part(p, damage, p->pos, err);
}

perfile_status pf_walk_end_deferred(pf_perf_stream *p, perfile_error *err)
{
    perfile_status st = pf_walk_stop_part(p, p->deferred.damage, p->deferred.offset, err);
    if (st == PERFILE_OK && p->deferred.lost) {
        /* The deferred bytes are directly before the rest of the part: one damage for both. */
        pf_perf_pending *d = &p->pending.at[0];
        d->lost += p->deferred.lost;
        if (d->bytes.ptr)
            d->bytes.ptr -= p->deferred.lost;
    }
    p->deferred.damage = 0;
    return st;
}

perfile_status pf_walk_end_in_extra(pf_perf_stream *p, perfile_error *err)
{
    uint64_t size = p->file->source->size;
    p->base.summary.bytes -= p->pos - p->extra.start;
    pf_perf_defer(p, PERFILE_DAMAGE_TRUNCATED_PAYLOAD, p->extra.record, size - p->extra.start);
    p->pos = size;
    perfile_status st = pf_walk_end_deferred(p, err);
    /* Other damage at the end of the part gets the offset that it would have in a file, where the
     * length of the payload is known before it is skipped. */
    for (uint32_t i = 1; i < p->pending.n; i++)
        if (p->pending.at[i].offset == size)
            p->pending.at[i].offset = p->extra.start;
    return st;
}

perfile_status pf_walk_skip_gap(pf_perf_stream *p, perfile_error *err)
{
    pf_perf_pending d = {.damage = p->salvage.gap_damage, .offset = p->pos};
    perfile_status st;
    p->salvage.gap = false;
    p->salvage.island = true;
    if (pass_lost(p, &st, err))
        return st;
    if (!p->salvage.gap_ends)
        return pf_walk_resync(p, p->salvage.gap_damage, p->salvage.gap_end - p->pos, err);
    st = view_lost_bytes(p, &d.bytes, err);
    d.lost = p->salvage.gap_end - p->pos;
    p->pos = p->salvage.gap_end;
    if (st == PERFILE_OK)
        pf_perf_add_damage(p, &d);
    return st;
}

void pf_perf_ask_before_gaps(perfile_stream *s, bool (*is_intact)(void *user), void *user)
{
    pf_perf_stream *p = pf_perf_of(s);
    p->salvage.is_intact = is_intact;
    p->salvage.user = user;
}

perfile_status pf_walk_look_ahead(pf_perf_stream *p, perfile_bytes *run, perfile_error *err)
{
    perfile_source *source = p->file->source;
    uint64_t left = p->file->end == PF_SIZE_UNKNOWN ? UINT64_MAX : p->file->end - p->pos;
    uint64_t need =
        source->limits.window_bytes < LOOK_AHEAD ? source->limits.window_bytes : LOOK_AHEAD;
    perfile_status st = pf_perf_fetch(p, need, run, err);
    if (st != PERFILE_OK)
        return st;
    /* `last`: nothing follows, so an incomplete record at the end is damage and not just unread. */
    bool last = run->len >= left || run->len < need;
    pf_salvage_result a = pf_perf_look_ahead(&p->salvage.fit, *run, last, p->salvage.island);
    if (a.broken && pf_perf_check_intact(p))
        return pf_perf_fetch(p, PF_PERF_RECORD_HEADER, run, err);
    if (a.broken) { /* the callback may have read the source and moved its window */
        st = pf_perf_fetch(p, need, run, err);
        if (st != PERFILE_OK)
            return st;
    }
    p->salvage.trusted = p->pos + a.trusted;
    p->salvage.gap = a.broken;
    p->salvage.gap_damage = a.damage;
    p->salvage.gap_end = p->pos + a.resume;
    p->salvage.gap_ends = last || a.resume < run->len;
    /* A long sequence of good records proves itself: the next gap does not cast doubt on it. */
    if (a.trusted >= ISLAND_BYTES)
        p->salvage.island = false;
    return PERFILE_OK;
}
