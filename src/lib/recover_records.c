/* The records of a damaged capture: those that can be trusted are written, and the ranges between
 * them are reported as gaps.
 *
 * Most of this is decided by the stream: with PERFILE_ON_DAMAGE_SALVAGE it yields trusted records,
 * and damage records for the bytes between.  This file leaves out records that break a rule or
 * contain a damaged fact.  A gap is reported with the records around it, so it waits in x->gaps for
 * the next recovered record.
 *
 * Fragments of simpleperf wait in x->held: only the record joined from them shows whether they are
 * good. */
#include "base/error.h"
#include "core/facts.h"
#include "core/writer.h"
#include "io/source_kind.h"
#include "lib/recover.h"
#include "schema/rows.h"
#include "check/command.h"
#include "core/command.h"

/* Returns a record as the neighbor of a gap. */
static perfile_gap_side side_of(const perfile_record *r)
{
    return (perfile_gap_side){.there = true,
                              .family = r->family,
                              .type = r->type,
                              .offset = r->offset,
                              .size = perfile_record_size(r),
                              .time = perfile_record_time(r)};
}

/* Reports the waiting gaps.  `next` is the first recovered record after them, or NULL. */
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

/* Counts a gap; it is reported with the next recovered record.  Gaps inside decompressed bytes do
 * not count as lost bytes of the file. */
static perfile_status add_gap(pf_recover *x, const perfile_gap *gap, perfile_error *err)
{
    enum { MOST = 256 }; /* if more are waiting, they are reported without the record after them */
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

/* Drops the held fragments: each of their ranges is a gap.  The bytes between the ranges were
 * already recovered or reported. */
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

/* Turns a damage record of the stream into a gap. */
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
        gap.bytes = 0; /* the bytes are after the end of the file; result.missing counts them */
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
    uint32_t n = pf_session_n_events(x->session);
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

/* Adds a recovered run to the summary: bytes, samples, first and last time.  This is hot: a run of
 * adjacent samples is counted by its ends, without a loop over the records.  Only the first record
 * can be followed by extra bytes. */
static void count(pf_recover *x, const pf_batch *batch)
{
    const perfile_record *first = batch->at;
    const size_t n = batch->n;
    perfile_recover_summary *sum = &x->result;
    uint64_t times[PERFILE_RUN_RECORDS];
    uint64_t bytes = first->extra.len, samples = 0;
    if (pf_batch_is_plain(batch)) {
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
    uint64_t least = sum->first_time; /* PERFILE_NO_TIME is greater than all others */
    uint64_t most = sum->last_time == PERFILE_NO_TIME ? 0 : sum->last_time;
    for (size_t i = 0; i < timed; i++) {
        least = times[i] < least ? times[i] : least;
        most = times[i] > most && times[i] != PERFILE_NO_TIME ? times[i] : most;
    }
    sum->first_time = least;
    if (least != PERFILE_NO_TIME)
        sum->last_time = most;
}

/* Copies the bytes after `r` to the writer.  If there is none, still reads them: damage in them
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
        st = copy_extra(x, first, err); /* this releases the record */
    return st;
}

/* Holds a fragment until the record joined from it and others arrives. */
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

/* `joined` is the record joined from the held fragments.  Writes them if it can be decoded, breaks
 * no rule and contains no damaged fact; otherwise they become gaps.  The fragments are split again
 * from x->held; their sizes were checked when they arrived. */
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

/* Makes a gap of a record that is left out, with the rule that it breaks (NULL if none). */
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

/* Writes the records of a run that break no rule, and leaves out the others. */
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

/* Handles a run.  A record that needs a decision of its own is alone in its run, so the first
 * record represents all.  Compressed records are skipped: their inner records follow. */
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
        return PERFILE_OK; /* readers would learn its event in addition to the assumed ones */
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

/* Decides whether a capture is intact, so that recover must leave nothing out.  An intact capture,
 * read strictly, has no damage; the checker finds no error in its events and records; and no record
 * has swallowed others because its size was damaged.  The heuristics of recover are made for
 * damaged captures, and would leave out valid records of a capture that is only odd.
 *
 * The answer costs a pass over the input up to its first error.  So it is computed only if
 * something looks wrong, and only once.  The pass uses the source of the running stream, between
 * two of its reads. */

/* A source that forwards all reads to `of`, which it does not own. */
typedef struct pf_same {
    perfile_source base;
    perfile_source *of;
} pf_same;

static perfile_status same_run(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                               perfile_error *err)
{
    const pf_same *v = (const pf_same *)(void *)s;
    return pf_source_run(v->of, offset, need, run, err);
}

static perfile_status same_view(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                                perfile_error *err)
{
    const pf_same *v = (const pf_same *)(void *)s;
    return pf_source_view(v->of, offset, need, run, err);
}

/* Makes a source with the properties of `of`, but seekable. */
static perfile_status open_same(perfile_source *of, perfile_source **same, perfile_error *err)
{
    static const pf_source_ops ops = {.run = same_run, .view = same_view};
    pf_same *v;
    perfile_status st = pf_source_new(sizeof *v, &ops, of->name, &of->options, &v, err);
    if (st != PERFILE_OK)
        return st;
    v->of = of;
    v->base.size = of->size;
    v->base.stable = of->stable;
    v->base.lasting = of->lasting;
    v->base.seekable = true;
    *same = &v->base;
    return PERFILE_OK;
}

typedef struct pf_verdict {
    bool strict; /* errors of the container and of feature sections count, too */
    bool wrong;  /* the capture is not intact */
    const perfile_session *session;
    /* Sequence of each record in the run that has bytes after the string that should end it
     * (V-216). */
    uint64_t slack[PERFILE_RUN_RECORDS];
    size_t n_slack;
} pf_verdict;

/* Returns true if the feature is in a section of the file, not in a record. */
static bool in_section(const perfile_session *s, uint32_t number)
{
    const perfile_feature *f =
        number < PERFILE_N_FEATURES ? perfile_session_feature(s, number) : NULL;
    return f && f->origin == PERFILE_ORIGIN_CONTAINER;
}

/* Callback of the checker. */
static void on_finding(void *user, const perfile_finding *f)
{
    pf_verdict *v = user;
    if (f->rule == PERFILE_RULE_V_216 && v->n_slack < PERFILE_RUN_RECORDS)
        v->slack[v->n_slack++] = f->sequence;
    if (f->severity != PERFILE_SEVERITY_ERROR)
        return;
    const perfile_rule *rule = pf_rule_of(f->rule);
    bool outside_records =
        rule->where == PERFILE_RULE_SCOPE_CONTAINER ||
        (rule->where == PERFILE_RULE_SCOPE_FEATURE && in_section(v->session, f->feature));
    v->wrong |= v->strict || !outside_records;
}

/* Returns true if the stream has found no damage except a header that declares more data than there
 * is.  Such a header says nothing about the records that exist. */
static bool no_damage(const perfile_stream *s)
{
    perfile_stream_summary sum;
    pf_stream_get_summary(s, &sum, sizeof sum);
    return sum.damages == sum.by_damage[PERFILE_DAMAGE_TRUNCATED_DATA];
}

/* Returns true if a record could hide others after its content: its type is unknown, or it has
 * bytes after the string that should end it. */
static bool has_room(const pf_verdict *v, const perfile_record *r)
{
    bool room = r->family == PERFILE_FAMILY_PERF && r->header && !pf_row_of(r);
    for (size_t i = 0; i < v->n_slack && !room; i++)
        room = v->slack[i] == r->sequence;
    return room;
}

/* Returns true if a record of the run has swallowed others: it breaks no rule, but its size is
 * damaged.  Empties the list of V-216 for the next run. */
static bool some_swallows(const pf_repair_ops *repair, pf_verdict *verdict, const perfile_record *r,
                          size_t n)
{
    bool swallows = false;
    for (size_t i = 0; i < n && !swallows; i++) {
        swallows =
            has_room(verdict, &r[i]) && repair && repair->swallows && repair->swallows(&r[i]);
    }
    verdict->n_slack = 0;
    return swallows;
}

/* Returns true if the header declares no records, but the file has bytes in no section: these may
 * be records, as in a recording that was killed. */
static bool hides_records(const perfile_stream *s)
{
    const perfile_container *k = perfile_stream_container(s);
    bool unclaimed = false;
    for (uint32_t i = 0; i < k->n_extents; i++)
        unclaimed |=
            k->extents[i].role == PERFILE_EXTENT_GAP || k->extents[i].role == PERFILE_EXTENT_TAIL;
    return k->form == PERFILE_FORM_FILE && k->data.size == 0 && unclaimed;
}

/* Returns errors of memory and of reading, after which there is no answer.  All other errors mean
 * "not intact". */
static perfile_status unanswered(perfile_status st)
{
    return st == PERFILE_E_NOMEM || st == PERFILE_E_IO ? st : PERFILE_OK;
}

/* See lib/recover.h.  A source that cannot seek is never intact, because it cannot be read
 * twice. */
perfile_status pf_recover_check_sound(const pf_recover *x, perfile_source *source,
                                      const perfile_assume *assume, bool strict, bool *sound,
                                      perfile_error *err)
{
    perfile_source *own;
    perfile_stream *s;
    const perfile_record *r;
    size_t n;
    pf_verdict v = {.strict = strict};
    perfile_open_options how = {
        .size = sizeof how, .from = x->options.from, .limits = x->options.limits, .assume = assume};
    perfile_check_options check = {.size = sizeof check,
                                   .finding = on_finding,
                                   .user = &v,
                                   .severity = PERFILE_SEVERITY_WARNING};
    *sound = false;
    if (!pf_source_has_entries(source) && !source->seekable)
        return PERFILE_OK;
    perfile_status st = pf_source_has_entries(source)
                            ? perfile_source_path(source->name, &source->options, &own, err)
                            : open_same(source, &own, err);
    if (st != PERFILE_OK)
        return unanswered(st);
    st = perfile_open(own, &how, &s, err);
    if (st != PERFILE_OK) {
        perfile_source_close(own);
        /* For a directory without `data` the error is also PERFILE_E_IO, but it is an answer. */
        return pf_source_has_entries(source) && st == PERFILE_E_IO ? PERFILE_OK : unanswered(st);
    }
    v.session = perfile_stream_session(s);
    v.wrong = strict && hides_records(s);
    st = perfile_check(s, &check, &s, err);
    while (st == PERFILE_OK && !v.wrong && no_damage(s)) {
        st = perfile_stream_next_run(s, &r, &n, err);
        v.wrong |= st == PERFILE_OK && some_swallows(x->repair, &v, r, n);
    }
    *sound = st == PERFILE_END && !v.wrong && no_damage(s);
    perfile_stream_close(s);
    return unanswered(st);
}

bool pf_recover_is_sound(pf_recover *x)
{
    if (!x->sound_known) {
        /* Not x->failed itself: errors that are an answer ("not intact") are also written here. */
        perfile_error err;
        x->sound_known = true;
        if (pf_recover_check_sound(x, x->source, x->assume, false, &x->sound, &err) != PERFILE_OK)
            x->failed = err;
    }
    return x->sound;
}

/* Callback of the driver's stream: returns true if nothing may be left out. */
static bool on_gap(void *user)
{
    return pf_recover_is_sound(user);
}

void pf_recover_ask_before_gaps(pf_recover *x)
{
    perfile_stream *s = x->stream; /* the driver's stream is the lowest */
    while (s->below)
        s = s->below;
    if (x->repair && x->repair->ask_before_gaps)
        x->repair->ask_before_gaps(s, on_gap, x);
}
