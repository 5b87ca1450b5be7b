/* Joins what reads damaged captures with what writes whole ones. */
#include "lib/recover.h"

#include "base/error.h"
#include "core/readable.h"
#include "io/out.h"
#include "perfile/field.h"
#include "io/source.h"
#include "lib/foreign.h"
#include "perf/frame.h"
#include "perf/repair.h"
#include "perf/vet.h"
#include "perf/write.h"

static perfile_gap_side side_of(const perfile_record *r)
{
    return (perfile_gap_side){.there = true,
                              .type = r->type,
                              .offset = r->offset,
                              .size = perfile_record_size(r),
                              .time = perfile_record_time(r)};
}

/* Hands out the gaps behind x->last; `next` is the record behind them, or NULL. */
static void tell_gaps(pf_recover *x, const perfile_record *next)
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

static perfile_status add_gap(pf_recover *x, const perfile_gap *gap, perfile_error *err)
{
    enum { MOST = 256 }; /* waiting ones: of more the records behind them are not told */
    x->result.gaps++;
    x->result.damaged = true;
    if (!gap->inner)
        x->result.lost += gap->bytes;
    if (x->gaps.len >= MOST * sizeof *gap)
        tell_gaps(x, NULL);
    return pf_buffer_append(&x->gaps, gap, sizeof *gap) ? PERFILE_OK
                                                        : pf_fail_nomem(err, "recover");
}

static void drop_held(pf_recover *x)
{
    pf_buffer_clear(&x->held);
    pf_buffer_clear(&x->pieces);
}

/* The pieces make no record: what lies between them is in gaps of its own. */
static perfile_status lose_held(pf_recover *x, const perfile_record *whole, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    const perfile_section *pieces = (const perfile_section *)(const void *)x->pieces.ptr;
    for (size_t i = 0; i < x->pieces.len / sizeof *pieces && st == PERFILE_OK; i++) {
        perfile_gap gap = {.damage = PERFILE_DAMAGE_BAD_SPLIT,
                           .part = whole->part,
                           .offset = pieces[i].offset,
                           .bytes = pieces[i].size};
        st = add_gap(x, &gap, err);
    }
    drop_held(x);
    return st;
}

static perfile_status meet_damage(pf_recover *x, const perfile_record *r, perfile_error *err)
{
    perfile_gap gap = {.damage = r->damage,
                       .part = r->part,
                       .offset = r->offset,
                       .bytes = r->body.len,
                       .inner = r->flags & PERFILE_REC_INNER};
    if (x->last.there && x->last_part == r->part)
        gap.before = x->last;
    if (r->damage == PERFILE_DAMAGE_BAD_SPLIT && x->pieces.len)
        return lose_held(x, r, err);
    if (r->damage == PERFILE_DAMAGE_TRUNCATED_DATA)
        gap.bytes = 0; /* they are not in the file: result.missing counts them */
    return add_gap(x, &gap, err);
}

/* What is wrong with the container has no record. */
static perfile_status container_gaps(pf_recover *x, perfile_error *err)
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
    tell_gaps(x, NULL);
    return st;
}

/* Only few of the records of a capture are no samples, and only the first of a run has more behind
 * it than its size says. */
static void count(pf_recover *x, const perfile_record *first, size_t n, pf_framed seen)
{
    perfile_recovered *sum = &x->result;
    uint64_t times[PERFILE_RUN_RECORDS];
    uint64_t bytes = first->extra.len, samples = 0;
    if (seen.n == n && seen.adjacent && !seen.other) {
        const perfile_bytes last = first[n - 1].body;
        bytes += (size_t)(last.ptr + last.len - first->header);
        samples = n;
    } else {
        for (const perfile_record *r = first; r < first + n; r++) {
            bytes += PF_PERF_RECORD_HEADER + r->body.len;
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

static perfile_status copy_extra(pf_recover *x, const perfile_record *r, perfile_error *err)
{
    perfile_bytes piece;
    perfile_status st;
    while ((st = perfile_stream_extra(x->stream, r, &piece, err)) == PERFILE_OK)
        if (x->writer && (st = perfile_writer_extra(x->writer, piece, err)) != PERFILE_OK)
            return st;
    return st == PERFILE_END ? PERFILE_OK : st;
}

static perfile_status keep_run(pf_recover *x, const perfile_record *first, size_t n,
                               perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (x->gaps.len)
        tell_gaps(x, first);
    const pf_framed seen = pf_stream_framed(x->stream, first, n);
    count(x, first, n, seen);
    if (x->writer)
        st = pf_write_framed(x->writer, first, n, seen, err);
    if (st == PERFILE_OK && first->extra.len && !first->extra.ptr)
        st = copy_extra(x, first, err);
    x->last = side_of(first + n - 1);
    x->last_part = first->part;
    return st;
}

/* The pieces of a large record are kept when the last of them has come. */
static perfile_status hold(pf_recover *x, const perfile_record *r, perfile_error *err)
{
    perfile_section piece = {r->offset, perfile_record_size(r)};
    if (!pf_buffer_append(&x->held, r->header, perfile_record_size(r)))
        return pf_fail_nomem(err, "recover");
    size_t n = x->pieces.len / sizeof piece;
    perfile_section *last = n ? (perfile_section *)(void *)x->pieces.ptr + (n - 1) : NULL;
    if (last && last->offset + last->size == piece.offset)
        last->size += piece.size;
    else if (!pf_buffer_append(&x->pieces, &piece, sizeof piece))
        return pf_fail_nomem(err, "recover");
    return PERFILE_OK;
}

static perfile_status keep_held(pf_recover *x, const perfile_record *whole, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    size_t at = 0;
    bool sound = pf_record_readable(whole, PERFILE_WALK_ALL) && !pf_recover_fact_record(x, whole) &&
                 !pf_recover_broken(x, whole) &&
                 (whole->type != PERFILE_RECORD_SAMPLE || pf_vet_sample(whole));
    if (!sound && !pf_recover_is_sound(x))
        return lose_held(x, whole, err);
    while (at < x->held.len && st == PERFILE_OK) {
        const uint8_t *p = x->held.ptr + at;
        pf_frame f = pf_frame_at(p, whole->flags & PERFILE_REC_SWAPPED);
        perfile_record r = {.header = p,
                            .body = {p + PF_PERF_RECORD_HEADER, f.size - PF_PERF_RECORD_HEADER},
                            .type = f.type,
                            .flags = whole->flags & PERFILE_REC_SWAPPED,
                            .offset = whole->offset,
                            .part = whole->part,
                            .session = whole->session};
        at += f.size;
        st = keep_run(x, &r, 1, err);
    }
    drop_held(x);
    return st;
}

static bool is_piece(const perfile_record *r)
{
    return r->type == PERFILE_RECORD_SIMPLEPERF_SPLIT ||
           r->type == PERFILE_RECORD_SIMPLEPERF_SPLIT_END;
}

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

/* A run in which records break rules: without those. */
static perfile_status keep_sound(pf_recover *x, const perfile_record *first, size_t n,
                                 perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    const perfile_record *end = first + n, *from = first;
    for (const perfile_record *r = first; r <= end && st == PERFILE_OK; r++) {
        const char *rule = r < end ? pf_recover_broken(x, r) : NULL;
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

/* What is not plain is alone in its run. */
static perfile_status take(pf_recover *x, const perfile_record *first, size_t n, perfile_error *err)
{
    if (first->family == PERFILE_FAMILY_DAMAGE)
        return meet_damage(x, first, err);
    if (first->flags & PERFILE_REC_ENVELOPE) {
        if (is_piece(first))
            return hold(x, first, err);
        x->result.decompressed = true;
        return PERFILE_OK;
    }
    if (x->held.len && first->flags & PERFILE_REC_INNER)
        return keep_held(x, first, err);
    if (first->flags & PERFILE_REC_PAYLOAD_CUT)
        return PERFILE_OK; /* the damage follows */
    if (first->type == PERFILE_RECORD_HEADER_ATTR && x->given)
        return PERFILE_OK; /* it would be an event once more */
    uint32_t damage = pf_recover_fact_record(x, first);
    if (damage)
        return leave_out(x, first, damage, NULL, err);
    return x->bad.len || x->dropped.len ? keep_sound(x, first, n, err) : keep_run(x, first, n, err);
}

static perfile_status copy_records(pf_recover *x, perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    perfile_status st = container_gaps(x, err);
    while (st == PERFILE_OK &&
           (st = perfile_stream_next_run(x->stream, &first, &n, err)) == PERFILE_OK) {
        if (pf_progress_at(&x->progress, first) && x->options.progress)
            x->options.progress(x->options.user, x->progress.done, x->progress.total);
        st = take(x, first, n, err);
        pf_buffer_clear(&x->bad);
    }
    tell_gaps(x, NULL);
    return st == PERFILE_END ? PERFILE_OK : st;
}

/* Nothing to write, in words. */
static perfile_status nothing(pf_recover *x, perfile_error *err)
{
    const char *foreign = x->guessed & PF_GUESS_HEADER ? pf_foreign_source(x->source) : NULL;
    if (foreign)
        return pf_fail(err, PERFILE_E_CORRUPT, "recover.header", PF_FOREIGN_MESSAGE, foreign);
    if (x->guessed & PF_GUESS_HEADER && x->result.records == 0)
        return pf_fail(err, PERFILE_E_CORRUPT, "recover.header",
                       "nothing in it looks like a perf.data capture");
    if (x->result.events == 0 || x->no_events || x->unsound)
        return pf_fail(err, PERFILE_E_CORRUPT, "recover.events",
                       "no event is known that says how to read its records: give a capture of "
                       "the same command with --attrs-from, or a description with --event");
    if (x->result.unterminated)
        return pf_fail(err, PERFILE_E_TRUNCATED, "recover.records",
                       "the recording was killed before it wrote a record");
    return pf_fail(err, PERFILE_E_CORRUPT, "recover.records", "no record in it can be trusted");
}

/* What was guessed, in words. */
static void tell_guesses(pf_recover *x)
{
    static const struct {
        uint32_t guess;
        const char *text;
    } sentences[] = {
        {PF_GUESS_HEADER, "the header is damaged: form and byte order are guessed"},
        {PF_GUESS_ATTRS, "the events were found by their look"},
        {PF_GUESS_DESC, "the attr section is damaged: the events are those of EVENT_DESC"},
        {PF_GUESS_HEADER_ATTR,
         "the attr section is damaged: the events are those of HEADER_ATTR records"},
        {PF_GUESS_IDS, "the ids of the events are those of ID_INDEX"},
        {PF_GUESS_START, "where the records begin is guessed"},
        {PF_GUESS_END, "where the records end is guessed"},
        {PF_GUESS_TABLE, "the feature table was found by its look"},
        {PF_GUESS_NO_FEATURES, "which feature sections there are is not known any more"},
        {PF_GUESS_SOUND, "what is wrong with the events was put right or left out"},
    };
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++) {
        if (!(x->guessed & sentences[i].guess))
            continue;
        pf_recover_note(x, UINT32_MAX, 0, "%s", sentences[i].text);
    }
}

/* Whether what was done follows from the capture, and not from something that failed. */
static perfile_status follows(const pf_recover *x, perfile_error *err)
{
    if (x->failed.status != PERFILE_OK && err)
        *err = x->failed;
    return x->failed.status;
}

static perfile_status recover(pf_recover *x, perfile_error *err)
{
    x->session = perfile_stream_session(x->stream);
    x->container = perfile_stream_container(x->stream);
    x->result.form = x->given ? (uint32_t)PERFILE_FORM_FILE : x->container->form;
    x->result.unterminated = x->container->unterminated;
    pf_progress_begin(&x->progress, x->container);
    if (x->sink) {
        perfile_writer_options how = {.size = sizeof how,
                                      .as_stored = true,
                                      .form = x->result.form,
                                      .swapped = perfile_session_swapped(x->session)};
        perfile_status st = perfile_writer_open(x->sink, &how, &x->writer, err);
        if (st == PERFILE_OK)
            st = pf_recover_events(x, err); /* before records add ids to them */
        if (st != PERFILE_OK)
            return st;
    }
    perfile_status st = copy_records(x, err);
    if (st == PERFILE_OK)
        st = follows(x, err);
    x->result.events = perfile_session_n_events(x->session);
    perfile_summary sum;
    perfile_stream_summary(x->stream, &sum, sizeof sum);
    x->result.missing = sum.missing;
    x->result.damaged |= sum.damages != 0;
    if (st != PERFILE_OK)
        return st;
    x->result.damaged |= x->guessed != 0 || pf_recover_lacks_events(x);
    bool useless = x->result.records == 0 || x->result.events == 0 || x->unsound ||
                   (x->no_events && x->result.samples == 0);
    if ((x->result.damaged || x->unsound) && useless)
        return nothing(x, err);
    tell_guesses(x);
    if (st == PERFILE_OK)
        st = pf_recover_features(x, err);
    if (st == PERFILE_OK)
        st = follows(x, err);
    if (st == PERFILE_OK && x->writer)
        st = perfile_writer_finish(x->writer, err);
    return st;
}

/* What the file no longer says, and events that no rule minds. */
static perfile_status repair_file(pf_recover *x, perfile_source *file, pf_repair *r,
                                  perfile_error *err)
{
    const perfile_assume *given = x->options.assume;
    perfile_bytes bytes;
    perfile_status st = pf_perf_repair(file, given, r, err);
    if (st != PERFILE_OK || !file->lasting)
        return st;
    st = pf_source_view(file, 0, 1, &bytes, err);
    if (st != PERFILE_OK || bytes.len < file->size)
        return st;
    if (given && given->n_events)
        return pf_recover_compare(x, file, bytes, r, err);
    return pf_recover_choose(bytes, r, err);
}

/* Fills `r` with what the file no longer says; *source may become another one of the same bytes. */
static perfile_status repair(pf_recover *x, perfile_source **source, pf_repair *r,
                             perfile_error *err)
{
    perfile_source *whole = *source;
    perfile_status st = PERFILE_OK;
    if (whole->directory) {
        perfile_source *first;
        if (pf_source_entry(whole, "data", &first, NULL) != PERFILE_OK)
            return PERFILE_OK; /* the driver says what that means */
        st = repair_file(x, first, r, err);
        perfile_source_close(first);
        return st;
    }
    if (!whole->seekable) {
        st = pf_source_spool(whole, source, err);
        if (st != PERFILE_OK)
            return st;
        perfile_source_close(whole);
    }
    return repair_file(x, *source, r, err);
}

/* A driver that opened a directory is done with its source: to read it once more takes another. */
static perfile_status keep_source(pf_recover *x, perfile_source *source, perfile_error *err)
{
    x->source = source;
    if (!source->directory)
        return PERFILE_OK;
    perfile_status st = perfile_source_path(source->name, &source->options, &x->again, err);
    x->source = x->again;
    return st;
}

/* What is odd is guessed about, too: nothing of it holds where nothing is wrong. */
static perfile_status forget_guesses(const pf_recover *x, perfile_source *source, pf_repair *r,
                                     perfile_error *err)
{
    bool sound = false;
    perfile_status st = PERFILE_OK;
    if (r->guessed || r->no_events || r->unsound)
        st = pf_recover_sound(x, source, x->options.assume, true, &sound, err);
    if (sound) {
        r->guessed = 0;
        r->no_events = r->unsound = false;
    }
    return st;
}

perfile_status perfile_recover(perfile_source *source, perfile_sink *sink,
                               const perfile_recover_options *options, perfile_recovered *result,
                               size_t size, perfile_error *err)
{
    pf_recover x = {.sink = sink,
                    .result = {.first_time = PERFILE_NO_TIME, .last_time = PERFILE_NO_TIME}};
    pf_repair r = {.assume = {.size = sizeof r.assume}};
    if (options)
        memcpy(&x.options, options,
               options->size < sizeof x.options ? options->size : sizeof x.options);
    perfile_options how = {.size = sizeof how,
                           .on_damage = PERFILE_SALVAGE,
                           .deliver = PERFILE_DELIVER_DAMAGE,
                           .from = x.options.from,
                           .limits = x.options.limits,
                           .assume = x.options.assume};
    perfile_status st = sink ? pf_sink_reads(sink, &source->inputs, err) : PERFILE_OK;
    if (st == PERFILE_OK)
        st = repair(&x, &source, &r, err);
    if (st == PERFILE_OK)
        st = forget_guesses(&x, source, &r, err);
    if (st == PERFILE_OK)
        st = keep_source(&x, source, err);
    how.assume = r.guessed ? &r.assume : x.options.assume;
    x.assume = how.assume;
    x.given = how.assume && how.assume->n_events;
    x.guessed = r.guessed;
    x.no_events = r.no_events;
    x.unsound = r.unsound;
    if (st == PERFILE_OK)
        st = perfile_open(source, &how, &x.stream, err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    if (st == PERFILE_OK) {
        pf_recover_ask_first(&x);
        st = pf_recover_check(&x, err);
    }
    if (st == PERFILE_OK)
        st = recover(&x, err);
    perfile_writer_close(x.writer);
    perfile_stream_close(x.stream);
    perfile_source_close(x.again);
    pf_repair_free(&r);
    pf_buffer_free(&x.bad);
    pf_buffer_free(&x.bad_events);
    pf_buffer_free(&x.dropped);
    pf_buffer_free(&x.scratch);
    pf_buffer_free(&x.held);
    pf_buffer_free(&x.pieces);
    pf_buffer_free(&x.gaps);
    if (result)
        memcpy(result, &x.result, size < sizeof x.result ? size : sizeof x.result);
    return st;
}
