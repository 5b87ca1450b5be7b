/* What the walk does where there is no record, or not a whole one. */
#include "base/error.h"
#include "perf/walk.h"

enum {
    RESYNC_PIECE = 4 << 20,
    RESYNC_OVERLAP = 256 << 10, /* a chain of four records fits */
    AHEAD = 1 << 20,            /* looked at before records are trusted */
    ISLAND = 8 << 10            /* records that go on so far are no chance */
};

void pf_perf_damage(pf_perf_stream *p, const pf_perf_pending *what)
{
    p->part_damaged = true;
    p->pending[p->n_pending++] = *what;
}

void pf_walk_report(pf_perf_stream *p)
{
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
    if (source->live) { /* nobody waits for records only to count them as lost */
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

/* The bytes that were lost, where they can be looked at later. */
static perfile_status lasting_bytes(const pf_perf_stream *p, perfile_bytes *bytes,
                                    perfile_error *err)
{
    perfile_source *source = p->file->source;
    return source->lasting ? pf_source_view(source, p->pos, 1, bytes, err) : PERFILE_OK;
}

perfile_status pf_walk_stop(pf_perf_stream *p, unsigned damage, uint64_t offset, perfile_error *err)
{
    pf_perf_pending d = {.damage = damage, .offset = offset};
    perfile_status st = lasting_bytes(p, &d.bytes, err);
    if (st == PERFILE_OK)
        st = pf_perf_count_rest(p, &d.lost, err);
    if (st != PERFILE_OK)
        return st;
    pf_perf_damage(p, &d);
    pf_perf_end_envelopes(p);
    p->part_over = true;
    return PERFILE_OK;
}

perfile_status pf_walk_resync(pf_perf_stream *p, unsigned damage, uint64_t from, perfile_error *err)
{
    uint64_t start = p->pos;
    bool stable = p->file->source->stable;
    uint64_t most = p->file->source->limits.window_bytes;
    uint64_t piece = stable || most > RESYNC_PIECE ? RESYNC_PIECE : most;
    uint64_t overlap = piece > 2 * RESYNC_OVERLAP ? RESYNC_OVERLAP : piece / 2;
    pf_perf_pending d = {.damage = damage, .offset = start};
    perfile_status st = lasting_bytes(p, &d.bytes, err);
    if (st != PERFILE_OK)
        return st;
    for (;;) {
        perfile_bytes run;
        st = pf_perf_at_least(p, piece, &run, err);
        if (st != PERFILE_OK)
            return st;
        size_t skip = from < run.len ? (size_t)from : run.len;
        size_t found = pf_perf_resync(&p->vet, run, skip);
        if (found < run.len || stable || run.len < piece) {
            p->pos += found;
            break;
        }
        /* Records that begin in the last bytes could not be followed far enough. */
        uint64_t step = run.len - overlap;
        from = from > step ? from - step : 0;
        p->pos += step;
    }
    d.lost = p->pos - start;
    pf_perf_damage(p, &d);
    return PERFILE_OK;
}

perfile_status pf_walk_bad_record(pf_perf_stream *p, unsigned damage, perfile_error *err)
{
    if (p->base.options.on_damage != PERFILE_ON_DAMAGE_STOP)
        return pf_walk_resync(p, damage, 1, err);
    return pf_walk_stop(p, damage, p->pos, err);
}

perfile_status pf_walk_stop_deferred(pf_perf_stream *p, perfile_error *err)
{
    perfile_status st = pf_walk_stop(p, p->deferred, p->deferred_offset, err);
    if (st == PERFILE_OK && p->deferred_lost) {
        /* They lie in front of the rest. */
        pf_perf_pending *d = &p->pending[0];
        d->lost += p->deferred_lost;
        if (d->bytes.ptr)
            d->bytes.ptr -= p->deferred_lost;
    }
    p->deferred = 0;
    return st;
}

perfile_status pf_walk_stop_in_extra(pf_perf_stream *p, perfile_error *err)
{
    uint64_t size = p->file->source->size;
    p->base.summary.bytes -= p->pos - p->extra_start;
    pf_perf_defer(p, PERFILE_DAMAGE_TRUNCATED_PAYLOAD, p->extra_of, size - p->extra_start);
    p->pos = size;
    perfile_status st = pf_walk_stop_deferred(p, err);
    /* What else is told of the end of the part is told where its bytes ended, as in a file. */
    for (uint32_t i = 1; i < p->n_pending; i++)
        if (p->pending[i].offset == size)
            p->pending[i].offset = p->extra_start;
    return st;
}

perfile_status pf_walk_pass_gap(pf_perf_stream *p, perfile_error *err)
{
    pf_perf_pending d = {.damage = p->gap_damage, .offset = p->pos};
    p->gap = false;
    p->island = true;
    if (!p->gap_ends)
        return pf_walk_resync(p, p->gap_damage, p->gap_end - p->pos, err);
    perfile_status st = lasting_bytes(p, &d.bytes, err);
    d.lost = p->gap_end - p->pos;
    p->pos = p->gap_end;
    if (st == PERFILE_OK)
        pf_perf_damage(p, &d);
    return st;
}

void pf_perf_ask_before_gaps(perfile_stream *s, bool (*believes)(void *user), void *user)
{
    pf_perf_stream *p = pf_perf_of(s);
    p->believes = believes;
    p->believes_user = user;
}

perfile_status pf_walk_look_ahead(pf_perf_stream *p, perfile_bytes *run, perfile_error *err)
{
    perfile_source *source = p->file->source;
    uint64_t left = p->file->end == PF_SIZE_UNKNOWN ? UINT64_MAX : p->file->end - p->pos;
    uint64_t need = source->limits.window_bytes < AHEAD ? source->limits.window_bytes : AHEAD;
    perfile_status st = pf_perf_at_least(p, need, run, err);
    if (st != PERFILE_OK)
        return st;
    bool last = run->len >= left || run->len < need;
    pf_ahead a = pf_perf_look_ahead(&p->vet, *run, last, p->island);
    if (a.broken && pf_perf_believed(p))
        return pf_perf_at_least(p, PF_PERF_RECORD_HEADER, run, err);
    p->trusted = p->pos + a.trusted;
    p->gap = a.broken;
    p->gap_damage = a.damage;
    p->gap_end = p->pos + a.resume;
    p->gap_ends = last || a.resume < run->len;
    if (a.trusted >= ISLAND)
        p->island = false;
    return PERFILE_OK;
}
