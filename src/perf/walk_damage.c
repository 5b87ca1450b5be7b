/* What the record walk does where there is no record, or an incomplete one: report, end the part,
 * or find the next records.  perf/walk.h describes how the functions share the work. */
#include "base/error.h"
#include "perf/walk.h"

enum {
    RESYNC_CHUNK = 4 << 20,     /* bytes searched at a time */
    RESYNC_OVERLAP = 256 << 10, /* searched again with the next chunk: four records of 64 KiB */
    LOOK_AHEAD = 1 << 20,       /* bytes examined before salvage delivers the first of them */
    ISLAND_BYTES = 8 << 10      /* so many bytes of valid records behind a gap are no coincidence */
};

void pf_perf_add_damage(pf_perf_stream *p, const pf_perf_pending *what)
{
    p->part_damaged = true;
    /* pending has room for what one step of the walk can find. */
    p->pending[p->n_pending++] = *what;
}

void pf_walk_report(pf_perf_stream *p)
{
    /* In order of discovery, which is the order of the bytes. */
    pf_perf_pending d = p->pending[0];
    memmove(p->pending, p->pending + 1, --p->n_pending * sizeof p->pending[0]);
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
                                      .envelope = d.flags & PERFILE_REC_INNER ? p->envelope
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

/* Sets *bytes to the lost bytes from p->pos to the end of the part if the source keeps them valid
 * until it is closed, or, in an archive, until it is read again; otherwise leaves it empty. */
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
        size_t found = pf_perf_resync(&p->fit, run, skip);
        if (found < run.len || stable || run.len < chunk) {
            p->pos += found;
            break;
        }
        /* A chain that begins in the last RESYNC_OVERLAP bytes could not be followed for four
         * records, so these bytes are searched again together with the next chunk. */
        uint64_t step = run.len - overlap;
        from = from > step ? from - step : 0;
        p->pos += step;
    }
    d.lost = p->pos - start;
    pf_perf_add_damage(p, &d);
    return PERFILE_OK;
}

/* Passes by bytes that are lost in a damaged archive, if that is what p->pos is at and records go
 * on behind them: whatever is to be done about damage, nothing has to be searched or guessed there.
 */
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
    perfile_status st = pf_walk_stop_part(p, p->deferred, p->deferred_offset, err);
    if (st == PERFILE_OK && p->deferred_lost) {
        /* The deferred bytes lie directly in front of the rest of the part: one damage for both. */
        pf_perf_pending *d = &p->pending[0];
        d->lost += p->deferred_lost;
        if (d->bytes.ptr)
            d->bytes.ptr -= p->deferred_lost;
    }
    p->deferred = 0;
    return st;
}

perfile_status pf_walk_end_in_extra(pf_perf_stream *p, perfile_error *err)
{
    uint64_t size = p->file->source->size;
    p->base.summary.bytes -= p->pos - p->extra_start;
    pf_perf_defer(p, PERFILE_DAMAGE_TRUNCATED_PAYLOAD, p->extra_of, size - p->extra_start);
    p->pos = size;
    perfile_status st = pf_walk_end_deferred(p, err);
    /* Other damage at the end of the part gets the offset it would have in a file, where the length
     * of the payload is known before it is skipped. */
    for (uint32_t i = 1; i < p->n_pending; i++)
        if (p->pending[i].offset == size)
            p->pending[i].offset = p->extra_start;
    return st;
}

perfile_status pf_walk_skip_gap(pf_perf_stream *p, perfile_error *err)
{
    pf_perf_pending d = {.damage = p->gap_damage, .offset = p->pos};
    perfile_status st;
    p->gap = false;
    p->island = true;
    if (pass_lost(p, &st, err))
        return st;
    if (!p->gap_ends)
        return pf_walk_resync(p, p->gap_damage, p->gap_end - p->pos, err);
    st = view_lost_bytes(p, &d.bytes, err);
    d.lost = p->gap_end - p->pos;
    p->pos = p->gap_end;
    if (st == PERFILE_OK)
        pf_perf_add_damage(p, &d);
    return st;
}

void pf_perf_ask_before_gaps(perfile_stream *s, bool (*is_intact)(void *user), void *user)
{
    pf_perf_stream *p = pf_perf_of(s);
    p->is_intact = is_intact;
    p->is_intact_user = user;
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
    /* `last`: nothing follows, so an incomplete record at the end is damage, not just unread. */
    bool last = run->len >= left || run->len < need;
    pf_salvage_result a = pf_perf_look_ahead(&p->fit, *run, last, p->island);
    if (a.broken && pf_perf_check_intact(p))
        return pf_perf_fetch(p, PF_PERF_RECORD_HEADER, run, err);
    if (a.broken) { /* who was asked may have read the source, whose window has moved then */
        st = pf_perf_fetch(p, need, run, err);
        if (st != PERFILE_OK)
            return st;
    }
    p->trusted = p->pos + a.trusted;
    p->gap = a.broken;
    p->gap_damage = a.damage;
    p->gap_end = p->pos + a.resume;
    p->gap_ends = last || a.resume < run->len;
    /* Long rows of good records prove themselves: the next gap does not cast doubt on them. */
    if (a.trusted >= ISLAND_BYTES)
        p->island = false;
    return PERFILE_OK;
}
