/* The records of a damaged capture: those that can be trusted are written, and what lies between
 * them is reported as gaps.
 *
 * Most distrust is the stream's: with PERFILE_ON_DAMAGE_SALVAGE it yields trusted records, and
 * damage records for the bytes between.  Here records are left out that break a rule, or that hold
 * a damaged fact.  A gap is reported with the records around it, so it waits in x->gaps for the
 * next one that is kept.
 *
 * Fragments of simpleperf wait in x->held: only the record joined from them shows whether they are
 * good. */
#include "base/error.h"
#include "core/readable.h"
#include "lib/recover.h"
#include "schema/frame.h"
#include "core/writer.h"
#include "schema/family.h"

/* A record as the neighbour of a gap. */
static perfile_gap_side side_of(const perfile_record *r)
{
    return (perfile_gap_side){.there = true,
                              .family = r->family,
                              .type = r->type,
                              .offset = r->offset,
                              .size = perfile_record_size(r),
                              .time = perfile_record_time(r)};
}

/* Reports the gaps that wait; `next` is the first record kept behind them, or NULL. */
static void report_gaps(pf_recover *x, const perfile_record *next)
{
    const perfile_gap *gaps = (const perfile_gap *)(const void *)x->gaps.ptr;
    size_t n = x->gaps.len / sizeof *gaps;
    for (size_t i = 0; i < n && x->options.gap; i++) {
        perfile_gap g = gaps[i];
        const char *name = g.part < x->container->n_parts ? x->container->parts[g.part].name : NULL;
        if (next && next->part == g.part)
            g.after = side_of(next);
        x->options.gap(x->options.user, &g, name);
    }
    pf_buffer_clear(&x->gaps);
}

/* Counts a gap and lets it wait for the next record.  Gaps inside decompressed bytes do not count
 * as lost bytes of the file. */
static perfile_status add_gap(pf_recover *x, const perfile_gap *gap, perfile_error *err)
{
    enum { MOST = 256 }; /* if more wait, they are reported without the record behind them */
    x->result.gaps++;
    x->result.damaged = true;
    if (!gap->inner)
        x->result.lost += gap->bytes;
    if (x->gaps.len >= MOST * sizeof *gap)
        report_gaps(x, NULL);
    return pf_buffer_append(&x->gaps, gap, sizeof *gap) ? PERFILE_OK
                                                        : pf_fail_nomem(err, "recover");
}

static void drop_held(pf_recover *x)
{
    pf_buffer_clear(&x->held);
    pf_buffer_clear(&x->fragments);
}

/* Gives up the fragments that wait: each range of theirs is a gap.  What lies between the ranges
 * was kept or reported already. */
static perfile_status lose_held(pf_recover *x, const perfile_record *joined, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    const perfile_section *fragments = (const perfile_section *)(const void *)x->fragments.ptr;
    for (size_t i = 0; i < x->fragments.len / sizeof *fragments && st == PERFILE_OK; i++) {
        perfile_gap gap = {.damage = PERFILE_DAMAGE_BAD_SPLIT,
                           .part = joined->part,
                           .offset = fragments[i].offset,
                           .bytes = fragments[i].size};
        st = add_gap(x, &gap, err);
    }
    drop_held(x);
    return st;
}

/* A damage record of the stream becomes a gap. */
static perfile_status handle_damage(pf_recover *x, const perfile_record *r, perfile_error *err)
{
    perfile_gap gap = {.damage = r->damage,
                       .part = r->part,
                       .offset = r->offset,
                       .bytes = r->body.len,
                       .inner = r->flags & PERFILE_REC_INNER};
    if (x->last.there && x->last_part == r->part)
        gap.before = x->last;
    if (r->damage == PERFILE_DAMAGE_BAD_SPLIT && x->fragments.len)
        return lose_held(x, r, err);
    if (r->damage == PERFILE_DAMAGE_TRUNCATED_DATA)
        gap.bytes = 0; /* bytes beyond the end of the file; result.missing counts them */
    return add_gap(x, &gap, err);
}

/* Reports damage of the container and of events as gaps without bytes: the stream has no records
 * for it. */
static perfile_status report_container(pf_recover *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < x->container->n_damages && st == PERFILE_OK; i++) {
        const perfile_container_damage *d = &x->container->damages[i];
        perfile_gap gap = {.damage = d->damage, .offset = d->offset};
        st = add_gap(x, &gap, err);
    }
    uint32_t n = perfile_session_n_events(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_event *e = perfile_session_event(x->session, i);
        const uint32_t damage[2] = {e->damage, e->ids_damage};
        for (unsigned k = 0; k < 2 && st == PERFILE_OK; k++) {
            perfile_gap gap = {.damage = damage[k], .offset = e->offset};
            if (damage[k])
                st = add_gap(x, &gap, err);
        }
    }
    report_gaps(x, NULL);
    return st;
}

/* Adds a run that is kept to the summary: bytes, samples, first and last time.  This is hot: a run
 * of adjacent samples is counted by its ends, without a loop over the records.  Extra bytes can
 * only be behind the first record. */
static void count(pf_recover *x, const pf_batch *batch)
{
    const perfile_record *first = batch->at;
    const size_t n = batch->n;
    perfile_recover_summary *sum = &x->result;
    uint64_t times[PERFILE_RUN_RECORDS];
    uint64_t bytes = first->extra.len, samples = 0;
    if (batch->plain) {
        const perfile_bytes last = first[n - 1].body;
        bytes += (size_t)(last.ptr + last.len - first->header);
        samples = n;
    } else {
        for (const perfile_record *r = first; r < first + n; r++) {
            bytes += perfile_record_size(r);
            samples += r->type == PERFILE_RECORD_SAMPLE;
        }
    }
    sum->bytes += bytes;
    sum->samples += samples;
    sum->records += n;
    size_t timed = perfile_sample_fields(first, n, PERFILE_SAMPLE_TIME, times, NULL);
    uint64_t least = sum->first_time; /* PERFILE_NO_TIME is above all others */
    uint64_t most = sum->last_time == PERFILE_NO_TIME ? 0 : sum->last_time;
    for (size_t i = 0; i < timed; i++) {
        least = times[i] < least ? times[i] : least;
        most = times[i] > most && times[i] != PERFILE_NO_TIME ? times[i] : most;
    }
    sum->first_time = least;
    if (least != PERFILE_NO_TIME)
        sum->last_time = most;
}

/* Copies the bytes behind `r` to the writer, or only reads them if there is none: damage in them
 * must be found in both cases. */
static perfile_status copy_extra(pf_recover *x, const perfile_record *r, perfile_error *err)
{
    perfile_bytes chunk;
    perfile_status st;
    while ((st = perfile_stream_extra(x->stream, r, &chunk, err)) == PERFILE_OK)
        if (x->writer && (st = perfile_writer_extra(x->writer, chunk, err)) != PERFILE_OK)
            return st;
    return st == PERFILE_END ? PERFILE_OK : st;
}

/* Writes and counts a run. */
static perfile_status keep_run(pf_recover *x, const perfile_record *first, size_t n,
                               perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (x->gaps.len)
        report_gaps(x, first);
    const pf_batch batch = pf_stream_batch(x->stream, first, n);
    count(x, &batch);
    if (x->writer)
        st = x->writer->ops->put(x->writer, &batch, err);
    x->last = side_of(first + n - 1);
    x->last_part = first->part;
    if (st == PERFILE_OK && first->extra.len && !first->extra.ptr)
        st = copy_extra(x, first, err); /* which releases the record */
    return st;
}

/* Lets a fragment wait for the record joined from it and others. */
static perfile_status hold(pf_recover *x, const perfile_record *r, perfile_error *err)
{
    perfile_section range = {r->offset, perfile_record_size(r)};
    if (!pf_buffer_append(&x->held, r->header, perfile_record_size(r)))
        return pf_fail_nomem(err, "recover");
    size_t n = x->fragments.len / sizeof range;
    perfile_section *last = n ? (perfile_section *)(void *)x->fragments.ptr + (n - 1) : NULL;
    if (last && last->offset + last->size == range.offset)
        last->size += range.size;
    else if (!pf_buffer_append(&x->fragments, &range, sizeof range))
        return pf_fail_nomem(err, "recover");
    return PERFILE_OK;
}

/* `joined` has come: keeps the fragments that make it if it can be decoded, breaks no rule and
 * holds no damaged fact; otherwise they are gaps.  The fragments are framed again from x->held;
 * their sizes were checked when they came. */
static perfile_status keep_held(pf_recover *x, const perfile_record *joined, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    size_t at = 0;
    bool sound = pf_record_readable(joined, PERFILE_WALK_ALL) &&
                 !pf_recover_fact_damage(x, joined) && !pf_recover_broken_rule(x, joined) &&
                 (joined->type != PERFILE_RECORD_SAMPLE || x->repair->sample_fits(joined));
    if (!sound && !pf_recover_is_sound(x))
        return lose_held(x, joined, err);
    while (at < x->held.len && st == PERFILE_OK) {
        const uint8_t *p = x->held.ptr + at;
        pf_frame f = pf_frame_at(p, joined->flags & PERFILE_REC_SWAPPED);
        perfile_record r = {.header = p,
                            .body = {p + PF_PERF_RECORD_HEADER, f.size - PF_PERF_RECORD_HEADER},
                            .type = f.type,
                            .flags = joined->flags & PERFILE_REC_SWAPPED,
                            .offset = joined->offset,
                            .part = joined->part,
                            .session = joined->session};
        at += f.size;
        st = keep_run(x, &r, 1, err);
    }
    drop_held(x);
    return st;
}

/* Makes a gap of a record that is left out, with the rule that it breaks (NULL: none). */
static perfile_status leave_out(pf_recover *x, const perfile_record *r, uint32_t damage,
                                const char *rule, perfile_error *err)
{
    perfile_gap gap = {.damage = damage,
                       .rule = rule,
                       .part = r->part,
                       .offset = r->offset,
                       .bytes = perfile_record_size(r) + r->extra.len,
                       .inner = r->flags & PERFILE_REC_INNER};
    if (x->last.there && x->last_part == r->part)
        gap.before = x->last;
    return add_gap(x, &gap, err);
}

/* Keeps the records of a run that break no rule, and leaves out the others. */
static perfile_status keep_valid(pf_recover *x, const perfile_record *first, size_t n,
                                 perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    const perfile_record *end = first + n, *from = first;
    for (const perfile_record *r = first; r <= end && st == PERFILE_OK; r++) {
        const char *rule = r < end ? pf_recover_broken_rule(x, r) : NULL;
        if (r < end && !rule)
            continue;
        if (r > from)
            st = keep_run(x, from, (size_t)(r - from), err);
        if (rule && st == PERFILE_OK)
            st = leave_out(x, r, PERFILE_DAMAGE_IMPLAUSIBLE, rule, err);
        from = r + 1;
    }
    return st;
}

/* Decides about a run.  A record that needs a decision of its own is alone in its run, so that the
 * first record stands for all.  Compressed records are passed over: what was in them follows. */
static perfile_status handle_run(pf_recover *x, const perfile_record *first, size_t n,
                                 perfile_error *err)
{
    if (first->family == PERFILE_FAMILY_DAMAGE)
        return handle_damage(x, first, err);
    if (first->flags & PERFILE_REC_ENVELOPE) {
        if (pf_is_fragment(first))
            return hold(x, first, err);
        x->result.decompressed = true;
        return PERFILE_OK;
    }
    if (x->held.len && first->flags & PERFILE_REC_INNER)
        return keep_held(x, first, err);
    if (first->flags & PERFILE_REC_PAYLOAD_CUT)
        return PERFILE_OK; /* the next record is the damage, which becomes the gap */
    if (first->type == PERFILE_RECORD_HEADER_ATTR && x->assumed_events)
        return PERFILE_OK; /* readers would learn its event besides the assumed ones */
    uint32_t damage = pf_recover_fact_damage(x, first);
    if (damage)
        return leave_out(x, first, damage, NULL, err);
    return x->bad.len || x->dropped.len ? keep_valid(x, first, n, err) : keep_run(x, first, n, err);
}

perfile_status pf_recover_records(pf_recover *x, perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    perfile_status st = report_container(x, err);
    while (st == PERFILE_OK &&
           (st = perfile_stream_next_run(x->stream, &first, &n, err)) == PERFILE_OK) {
        if (pf_progress_at(&x->progress, first) && x->options.progress)
            x->options.progress(x->options.user, x->progress.done, x->progress.total);
        st = handle_run(x, first, n, err);
        pf_buffer_clear(&x->bad);
    }
    report_gaps(x, NULL);
    return st == PERFILE_END ? PERFILE_OK : st;
}
