/* Walks the records of all parts, in stored order. */
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "perf/take.h"
#include "perf/walk.h"
#include "schema/rows.h"
#include "schema/family.h"

enum {
    HINT_BYTES = 3 << 20,
    HINT_AHEAD = 1 << 20,
    EXTRA_PIECE = 1 << 20, /* payloads up to this are held in memory when read through a window */
};

perfile_status pf_perf_at_least(pf_perf_stream *p, uint64_t need, perfile_bytes *run,
                                perfile_error *err)
{
    perfile_source *source = p->file->source;
    uint64_t left = p->file->end == PF_SIZE_UNKNOWN ? UINT64_MAX : p->file->end - p->pos;
    if (need > left)
        need = left;
    if (p->pos + HINT_AHEAD > p->hinted && source->stable && left > 0) {
        uint64_t n = left < HINT_BYTES ? left : HINT_BYTES;
        pf_source_hint(source, p->pos, (size_t)n);
        p->hinted = p->pos + n;
        if (p->salvage && p->pos > p->released + 2 * (uint64_t)HINT_BYTES) {
            /* What comes out is a file of the same size: the input need not be in memory too. */
            uint64_t behind = p->pos - HINT_BYTES;
            pf_source_release(source, p->released, behind - p->released);
            p->released = behind;
        }
    }
    uint64_t most = source->limits.window_bytes;
    perfile_status st;
    if (!source->stable && need > most) {
        /* The size may be nonsense: no reason to give up when the input ends before the limit. */
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

static void end_part(pf_perf_stream *p)
{
    bool damaged = p->part_damaged;
    pf_perf_end_envelopes(p);
    if (!damaged && p->file->declared)
        pf_perf_damage(p, &(pf_perf_pending){.damage = PERFILE_DAMAGE_TRUNCATED_DATA,
                                             .offset = p->file->end,
                                             .lost = p->file->declared - p->file->end});
    p->part_over = true;
}

void pf_walk_begin_part(pf_perf_stream *p)
{
    p->salvage =
        p->base.options.on_damage == PERFILE_ON_DAMAGE_SALVAGE && !p->base.options.as_stored;
    p->island = p->gap = false;
    p->trusted = 0;
    p->released = 0;
    p->vet = (pf_record_fit){.session = p->base.session, .swap = p->swap};
    p->inner_vet = p->vet;
    p->file = &p->parts[p->part];
    p->pos = p->file->start;
    p->hinted = 0;
    p->part_over = false;
    p->part_damaged = false;
    p->deferred = 0;
    p->extra_left = 0;
    pf_perf_begin_envelopes(p);
    pf_perf_prepare(p, false, PERFILE_RUN_RECORDS);
}

/* Two pipe streams put into one file: the header of the second stands where a record should.  *run
 * grows to hold all of it. */
static perfile_status look_for_header(pf_perf_stream *p, perfile_bytes *run, bool *found,
                                      perfile_error *err)
{
    pf_perf_header h;
    *found = false;
    if (p->base.options.as_stored)
        return PERFILE_OK;
    unsigned damage = pf_perf_header_begin(*run, &h);
    if (damage == PERFILE_DAMAGE_TRUNCATED_HEADER) {
        perfile_status st = pf_perf_at_least(p, PF_PERF_PIPE_HEADER, run, err);
        if (st != PERFILE_OK)
            return st;
        damage = pf_perf_header_begin(*run, &h);
    }
    *found = damage == 0 && h.form == PERFILE_FORM_PIPE && h.swap == p->swap;
    return PERFILE_OK;
}

/* What follows the record at p->pos (whole in *run): how many bytes, and whether they are there.
 * They are brought into memory where the session wants them, and of a stream, whose end nobody
 * knows, where that is cheap. */
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
        !(section || (!ends && *extra <= EXTRA_PIECE)))
        return PERFILE_OK;
    perfile_status st = pf_perf_at_least(p, whole, run, err);
    *cut = st == PERFILE_OK && run->len < whole;
    return st;
}

/* Fills slot 0 with the record at p->pos, whole in `run`, and moves behind it and its extra. */
static void place_record(pf_perf_stream *p, const pf_frame *f, perfile_bytes run, uint64_t extra,
                         bool cut)
{
    perfile_record *r = &p->base.run[0];
    uint64_t offset = p->pos;
    pf_perf_prepare(p, false, p->slots_inner ? PERFILE_RUN_RECORDS : 1);
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
    p->extra_of = offset;
    p->extra_left = 0;
    if (cut) {
        r->flags |= PERFILE_REC_PAYLOAD_CUT;
        pf_perf_defer(p, PERFILE_DAMAGE_TRUNCATED_PAYLOAD, offset, 0);
    } else if (extra) {
        bool here = run.len - f->size >= extra;
        r->extra = (perfile_bytes){here ? run.ptr + f->size : NULL, (size_t)extra};
        p->extra_start = p->pos;
        p->extra_pos = p->pos;
        p->extra_left = extra;
        p->base.summary.bytes += extra;
        p->pos += extra;
    }
}

/* One record that is not plain, or not in memory as a whole yet, or none. */
static perfile_status take_one(pf_perf_stream *p, perfile_bytes run, perfile_error *err)
{
    if (run.len < PF_PERF_RECORD_HEADER)
        return pf_walk_stop(p, PERFILE_DAMAGE_TRUNCATED_HEADER, p->pos, err);
    bool second;
    perfile_status st = look_for_header(p, &run, &second, err);
    if (st != PERFILE_OK)
        return st;
    if (second) {
        pf_perf_damage(p, &(pf_perf_pending){.damage = PERFILE_DAMAGE_CONCATENATED,
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
        st = pf_perf_at_least(p, f.size, &run, err);
    if (st != PERFILE_OK)
        return st;
    if (run.len < f.size)
        return pf_walk_bad_record(p, PERFILE_DAMAGE_TRUNCATED_RECORD, err);

    uint64_t extra;
    bool cut;
    st = find_extra(p, &f, &run, &extra, &cut, err);
    if (st != PERFILE_OK)
        return st;
    place_record(p, &f, run, extra, cut);
    perfile_record *r = &p->base.run[0];
    st = pf_perf_learn(p, r, err);
    if (st == PERFILE_OK && p->base.options.envelopes == PERFILE_ENVELOPES_BOTH)
        st = pf_perf_open_envelope(p, r, err);
    return st;
}

static perfile_status fill_outer(pf_perf_stream *p, perfile_error *err)
{
    if (p->deferred)
        return pf_walk_stop_deferred(p, err);
    if (p->file->skip > p->pos)
        return pf_walk_resync(p, PERFILE_DAMAGE_OVERLAP, p->file->skip - p->pos, err);
    perfile_bytes run;
    if (p->gap && p->pos >= p->trusted)
        return pf_walk_pass_gap(p, err);
    bool ahead = p->salvage && p->pos >= p->trusted;
    perfile_status st = ahead ? pf_walk_look_ahead(p, &run, err)
                              : pf_perf_at_least(p, PF_PERF_RECORD_HEADER, &run, err);
    if (st != PERFILE_OK)
        return st;
    if (p->gap && p->pos >= p->trusted)
        return pf_walk_pass_gap(p, err);
    if (run.len == 0) {
        if (p->pos > p->file->source->size)
            return pf_walk_stop_in_extra(p, err);
        end_part(p);
        return PERFILE_OK;
    }
    pf_perf_slots(p);
    perfile_bytes good = run;
    if (p->salvage && good.len > p->trusted - p->pos)
        good.len = (size_t)(p->trusted - p->pos);
    size_t taken = pf_perf_take(p, good, p->pos, false);
    if (taken == 0)
        return take_one(p, run, err);
    p->extra_left = 0;
    p->pos += taken;
    p->base.summary.bytes += taken;
    return PERFILE_OK;
}

static perfile_status fill(perfile_stream *s, perfile_error *err)
{
    pf_perf_stream *p = pf_perf_of(s);
    s->n_run = 0;
    while (s->n_run == 0) {
        perfile_status st = PERFILE_OK;
        if (!p->file && p->part < p->n_parts)
            pf_walk_begin_part(p);
        else if (p->split_ready || (p->inner_at < p->inner.len && !p->inner_waits))
            st = pf_perf_fill_inner(p, err);
        if (st == PERFILE_OK && s->n_run == 0) {
            if (p->n_pending)
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

static perfile_status extra(perfile_stream *s, const perfile_record *r, perfile_bytes *piece,
                            perfile_error *err)
{
    pf_perf_stream *p = pf_perf_of(s);
    if (r != &s->run[0] || p->extra_of != r->offset)
        return pf_fail(err, PERFILE_E_USAGE, "record.extra", "the stream is not at this record");
    if (p->extra_left == 0)
        return PERFILE_END;
    uint64_t n = p->extra_left < EXTRA_PIECE ? p->extra_left : EXTRA_PIECE;
    perfile_status st = pf_source_run(p->file->source, p->extra_pos, (size_t)n, piece, err);
    if (st != PERFILE_OK)
        return st;
    if (piece->len > n)
        piece->len = (size_t)n;
    if (piece->len == 0) {
        p->extra_left = 0;
        return pf_fail(err, PERFILE_E_TRUNCATED, "record.extra",
                       "the input ends inside the bytes behind the record");
    }
    p->extra_pos += piece->len;
    p->extra_left -= piece->len;
    return PERFILE_OK;
}

static void close_stream(perfile_stream *s)
{
    pf_perf_stream *p = pf_perf_of(s);
    pf_perf_look_end(p);
    for (uint32_t i = 0; i < p->n_parts; i++) {
        perfile_source_close(p->parts[i].source);
        pf_free(p->parts[i].name);
    }
    pf_free(p->parts);
    pf_free(p->name);
    pf_free(p->part_names);
    pf_free(p->ids);
    pf_free(p->extents);
    pf_free(p->damages);
    pf_inflate_free(p->inflate);
    pf_buffer_free(&p->inner);
    pf_buffer_free(&p->split);
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
