/* Writes a lot of parts: a pass that finds the side-band that each part needs (select_sideband()),
 * then one that writes all of them (write_pass()).
 *
 * Each part is an output: a filter that selects the records of the part, and a pf_copy that feeds
 * the part's writer from the common stream.  For each run, output.here has a bit for each record
 * that the part gets. pf_split_assign_parts() determines the target part of each record, and
 * pf_split_part_needs() which other records a part needs (side-band, losses, rounds).
 *
 * Fragments of simpleperf are held until the record joined from them arrives; it decides about the
 * parts. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "core/zone.h"
#include "lib/split.h"
#include "perfile/archive.h"
#include "schema/rows.h"
#include "stage/fragments.h"
#include "perfile/sink.h"

/* Maximum number of bytes that each part may hold when a pipe becomes files (see
 * pf_copy.held_most).  Less than in a single copy, because hundreds of parts are open. */
enum { HELD_MOST = 256 << 10 };

typedef struct output {
    pf_filter *filter;
    perfile_sink *sink;
    perfile_sink *file; /* the sink below `sink` if `sink` makes an archive, otherwise NULL */
    perfile_writer *writer;
    pf_session_view *view; /* features that differ from those of the capture; NULL if none do */
    pf_copy copy;
    uint64_t here; /* bit i: record i of the run goes to this part */
} output;

typedef struct lot {
    pf_splitting *s;
    perfile_stream *stream;
    uint32_t first, n; /* parts of this lot: numbers first .. first + n - 1 */
    bool files;        /* the capture has BUILD_ID, so each part lists the files that it maps */
    output *at;        /* n outputs */
    uint32_t parts[PERFILE_RUN_RECORDS]; /* target part of each record of the run */

    /* Fragments are held until the record joined from them arrives: they go to the parts that get
     * that record. */
    pf_fragments fragments;

    /* Skipped ranges of a capture in an archive: see below. */
    pf_narrow narrow;
    uint32_t range_part;           /* number of the part that gets all samples of the range */
    uint64_t range_key, range_end; /* range_end: sequence of the record after the range */
    bool range_counted;
    output *given;      /* the output that got the range as it is stored … */
    uint64_t given_end; /* … up to the record of this sequence; its other records are read, too */
    perfile_status passed;
    perfile_error passed_error;
} lot;

/* Splitting a capture in an archive: a range whose samples all belong to one part is skipped, or
 * written to that part as it is stored.
 *
 * Each part gets all FINISHED_ROUND records.  Those of a stored range are inside it, so its part
 * does not get them again (lot.given); they are read for the other parts. */

/* pf_narrow.needs of the pass that finds side-band. */
static unsigned needs_noted(void *user, const pf_zone *z, uint64_t sequence)
{
    lot *l = user;
    l->range_counted = false;
    return z->pids.known &&
                   pf_split_zone_part(&l->s->split, z, sequence, &l->range_part, &l->range_key)
               ? PF_NEED_COUNT
               : PF_NEED_ALL;
}

/* Records the processes of the samples in the filter of their part.  Returns false when out of
 * memory. */
static bool add_wanted(pf_filter *part, const pf_zone *z)
{
    bool is_new, ok = true;
    for (uint32_t i = 0; i < z->pids.n && ok; i++)
        ok = z->pids.at[i] == PERFILE_NO_PID ||
             pf_pids_add(&part->sideband.wanted, z->pids.at[i], &is_new);
    part->result.kept_processes = part->sideband.wanted.n;
    return ok;
}

/* pf_narrow.passed of both passes. */
static void pass_over(void *user, const pf_zone *z, uint64_t sequence, uint64_t records)
{
    lot *l = user;
    const uint32_t k = l->range_part - l->first;
    (void)sequence, (void)records;
    l->s->split.key = l->range_key;
    if (l->range_counted || k >= l->n)
        return;
    l->range_counted = true;
    if (!add_wanted(l->at[k].filter, z) && l->passed == PERFILE_OK)
        l->passed = pf_fail_nomem(&l->passed_error, "split");
}

/* pf_narrow.needs of the pass that writes. */
static unsigned needs_written(void *user, const pf_zone *z, uint64_t sequence)
{
    lot *l = user;
    const pf_split *x = &l->s->split;
    l->range_counted = true; /* the other pass has recorded the processes */
    if (!pf_split_zone_part(x, z, sequence, &l->range_part, &l->range_key))
        return PF_NEED_ALL;
    const uint32_t k = l->range_part - l->first;
    if (k >= l->n)
        return PF_NEED_COUNT; /* its side-band may be needed here */
    /* Without side-band each FINISHED_ROUND has its own target part. */
    if (l->passed != PERFILE_OK || l->fragments.records.len || !pf_zone_plain_samples(z) ||
        (z->apart && !x->state) || !pf_copy_wants_stored(&l->at[k].copy, z))
        return PF_NEED_ALL;
    l->range_end = sequence + z->records;
    return z->apart ? PF_NEED_STORED_SIDEBAND : PF_NEED_STORED;
}

/* pf_narrow.stored. */
static void give(void *user, const pf_stored *range)
{
    lot *l = user;
    output *o = &l->at[l->range_part - l->first];
    l->given = o;
    l->given_end = l->range_end;
    l->s->split.key = l->range_key;
    o->filter->result.kept += range->records;
    if (l->passed == PERFILE_OK)
        l->passed = pf_split_grew(l->s, range->bytes, &l->passed_error);
    if (l->passed == PERFILE_OK)
        l->passed = pf_copy_stored(&o->copy, range, &l->passed_error);
}

/* Allows the stream of the current pass to skip ranges whose samples all belong to one part.  In
 * the pass that finds side-band, the processes of a skipped range are recorded.  In the pass that
 * writes, a range goes to its part as it is stored if all sinks are archives, and is skipped if its
 * part is in another lot.  Errors are stored in l->passed. */
static void narrow(lot *l, bool writes)
{
    l->narrow = (pf_narrow){.needs = writes ? needs_written : needs_noted,
                            .passed = pass_over,
                            .stored = give,
                            .user = l};
    pf_stream_narrow(l->stream, &l->narrow);
}

static perfile_status passed_status(const lot *l, perfile_error *err)
{
    if (l->passed != PERFILE_OK && err)
        *err = l->passed_error;
    return l->passed;
}

/* The pass that finds side-band. */

/* Sets output.here of all parts of the lot for a run.  Returns true if a record of the run belongs
 * to one of them.  Numbers below l->first wrap around and are not less than l->n. */
static bool assign(lot *l, const perfile_record *first, size_t n)
{
    bool any = false;
    pf_split_assign_parts(&l->s->split, first, n, l->parts);
    for (uint32_t k = 0; k < l->n; k++)
        l->at[k].here = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t k = l->parts[i] - l->first;
        if (k < l->n) {
            l->at[k].here |= UINT64_C(1) << i;
            any = true;
        }
    }
    return any;
}

/* The pass before the one that writes: passes the records of each part to its filter, which finds
 * the processes whose side-band the part needs. */
static perfile_status select_sideband(lot *l, perfile_error *err)
{
    const pf_split *x = &l->s->split;
    const perfile_record *first;
    size_t n;
    perfile_status st;
    narrow(l, false);
    while ((st = perfile_stream_next_run(l->stream, &first, &n, err)) == PERFILE_OK) {
        pf_split_report(l->s, first);
        if (!pf_split_is_plain(first))
            continue;
        bool all = pf_split_concerns_all(x, first, n);
        if (!assign(l, first, n) && !all)
            continue;
        const pf_run run = pf_run_examine(l->stream, first, n);
        for (uint32_t k = 0; k < l->n && st == PERFILE_OK; k++)
            if (all || l->at[k].here)
                st = pf_split_note_run(l->at[k].filter, &run, l->at[k].here, err);
        if (st != PERFILE_OK)
            return st;
    }
    st = st == PERFILE_END ? passed_status(l, err) : st;
    for (uint32_t k = 0; k < l->n && st == PERFILE_OK; k++)
        st = pf_filter_find_ancestors(l->at[k].filter, &x->ancestors, err);
    return st;
}

/* Writes n records to a part, and counts them against the growth limit. */
static perfile_status put(pf_splitting *s, output *o, const perfile_record *r, size_t n,
                          perfile_error *err)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += perfile_record_size(&r[i]);
    o->filter->result.kept += n;
    perfile_status st = pf_split_grew(s, bytes, err);
    return st == PERFILE_OK ? pf_copy_run(&o->copy, r, n, err) : st;
}

/* Writes the records of the run that go to the part (output.here, not 0).  Adjacent records are
 * written directly from the run; otherwise they are copied into a new run. */
static perfile_status put_selected(pf_splitting *s, output *o, const perfile_record *first,
                                   perfile_error *err)
{
    perfile_record some[PERFILE_RUN_RECORDS];
    size_t n = 0;
    unsigned from = (unsigned)__builtin_ctzll(o->here);
    unsigned len = (unsigned)__builtin_popcountll(o->here);
    if (o->here >> from == pf_run_bits(len))
        return put(s, o, first + from, len, err);
    for (uint64_t left = o->here; left; left &= left - 1)
        some[n++] = first[__builtin_ctzll(left)];
    return put(s, o, some, n, err);
}

/* Copies the extra bytes after `r` to all parts that have the record.  They can be read only
 * once. */
static perfile_status copy_extra(lot *l, const perfile_record *r, perfile_error *err)
{
    perfile_bytes chunk;
    perfile_status st = PERFILE_OK;
    bool any = false;
    for (uint32_t k = 0; k < l->n; k++)
        any |= pf_copy_wants_extra(&l->at[k].copy);
    while (any && (st = perfile_stream_extra(l->stream, r, &chunk, err)) == PERFILE_OK)
        for (uint32_t k = 0; k < l->n; k++)
            if (pf_copy_wants_extra(&l->at[k].copy) &&
                ((st = pf_split_grew(l->s, chunk.len, err)) != PERFILE_OK ||
                 (st = perfile_writer_extra(l->at[k].writer, chunk, err)) != PERFILE_OK))
                return st;
    return st == PERFILE_END ? PERFILE_OK : st;
}

/* Adds to output.here the records that a part needs although they do not belong to it.  Passes all
 * mappings to its filter, which makes the list of files in BUILD_ID from them. */
static perfile_status add_needed(lot *l, const perfile_record *first, size_t n, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < n; i++) {
        const perfile_record *r = &first[i];
        if (r->type == PERFILE_RECORD_SAMPLE)
            continue;
        bool file = l->files && (r->type == PERFILE_RECORD_MMAP || r->type == PERFILE_RECORD_MMAP2);
        for (uint32_t k = 0; k < l->n && st == PERFILE_OK; k++) {
            output *o = &l->at[k];
            bool is = o->here >> i & 1 || pf_split_part_needs(&l->s->split, o->filter, r);
            o->here |= (uint64_t)is << i;
            if (file)
                st = pf_filter_note_file(o->filter, r, is, err);
        }
    }
    return st;
}

/* If `next`, the first record of the run, is joined from the held fragments, writes them to the
 * parts that get `next`; otherwise drops them. */
static perfile_status put_fragments(lot *l, const perfile_record *next, perfile_error *err)
{
    perfile_record r;
    perfile_status st = PERFILE_OK;
    pf_fragments_resolve(&l->fragments, next, true);
    while (st == PERFILE_OK && l->fragments.giving && pf_fragments_next(&l->fragments, &r))
        for (uint32_t k = 0; k < l->n && st == PERFILE_OK; k++)
            if (l->at[k].here & 1)
                st = put(l->s, &l->at[k], &r, 1, err);
    return st;
}

/* Writes a run to the parts that get records of it.  Samples belong to exactly one part, so a run
 * of samples that belong to no part of this lot is skipped quickly. */
static perfile_status write_run(lot *l, const perfile_record *first, size_t n, perfile_error *err)
{
    bool samples = true;
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < n; i++)
        samples &= first[i].type == PERFILE_RECORD_SAMPLE;
    if (!assign(l, first, n) && samples && !l->fragments.records.len)
        return PERFILE_OK;
    if (!samples)
        st = add_needed(l, first, n, err);
    if (st == PERFILE_OK && l->fragments.records.len)
        st = put_fragments(l, first, err);
    if (l->given && first->sequence < l->given_end)
        l->given->here = 0; /* these are in the stored range that this output got */
    for (uint32_t k = 0; k < l->n && st == PERFILE_OK; k++)
        if (l->at[k].here)
            st = put_selected(l->s, &l->at[k], first, err);
    return st == PERFILE_OK && first->extra.len ? copy_extra(l, first, err) : st;
}

/* Writes all runs of the capture.  Envelopes are skipped: their inner records follow. */
static perfile_status write_all(lot *l, perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    perfile_status st;
    narrow(l, true);
    while ((st = perfile_stream_next_run(l->stream, &first, &n, err)) == PERFILE_OK) {
        pf_split_report(l->s, first);
        st = passed_status(l, err);
        if (st != PERFILE_OK)
            return st;
        if (pf_is_joined_fragment(first))
            st = pf_fragments_hold(&l->fragments, first, err);
        else if (pf_split_is_plain(first))
            st = write_run(l, first, n, err);
        if (st != PERFILE_OK)
            return st;
    }
    return st == PERFILE_END ? passed_status(l, err) : st;
}

/* Gives the copy of a part a view of the session in which features that depend on the records
 * (SAMPLE_TIME, BUILD_ID) are those of the part.  Only a capture with facts before its records has
 * such features.  The copy reads them from the view when it begins or when it ends. */
static perfile_status begin_session(const lot *l, output *o, perfile_error *err)
{
    const perfile_session *all = perfile_stream_session(l->stream);
    if (!pf_filter_changes_facts(all))
        return PERFILE_OK;
    perfile_status st = pf_session_view_new(all, &o->view, err);
    if (st == PERFILE_OK) /* a pipe needs them before the first record */
        st = pf_filter_update_sample_time(o->filter, o->view, err);
    if (st == PERFILE_OK)
        o->copy.session = pf_session_view_shown(o->view);
    return st;
}

/* Before the copy reads its features: sets those that are known only after the records. */
static perfile_status end_session(output *o, perfile_error *err)
{
    if (!o->view)
        return PERFILE_OK;
    perfile_status st = pf_session_view_refresh(o->view, err);
    if (st == PERFILE_OK)
        st = pf_filter_update_sample_time(o->filter, o->view, err);
    return st == PERFILE_OK ? pf_filter_update_build_ids(o->filter, o->view, err) : st;
}

/* Opens the file of a part, with an archive on top if the parts are archives. */
static perfile_status open_file(pf_splitting *s, output *o, const char *name, perfile_error *err)
{
    perfile_status st = pf_out_set_next(s->set, name, &o->sink, err);
    if (st != PERFILE_OK || !s->writing.archive)
        return st;
    o->file = o->sink;
    o->sink = NULL;
    st = perfile_archive_sink(o->file, s->writing.archive, &o->sink, err);
    if (st != PERFILE_OK)
        perfile_sink_close(o->file);
    return st;
}

/* Opens sink and writer of the part at index `k` of the lot, and writes the facts before the
 * records. */
static perfile_status begin_output(lot *l, uint32_t k, perfile_error *err)
{
    pf_splitting *s = l->s;
    output *o = &l->at[k];
    perfile_writer_options how = pf_copy_writing(l->stream, s->form, s->writing.format);
    how.compress_level =
        s->writing.compress_level ? s->writing.compress_level : PERFILE_COMPRESS_AS_READ;
    const perfile_copy_options copying = {.size = sizeof copying,
                                          .flags = s->failing ? 0 : PERFILE_COPY_FORCE};
    perfile_split_part part;
    const pf_inputs *inputs;
    char buffer[24];
    pf_split_describe(s, l->first + k, buffer, &part);
    perfile_status st = s->set ? open_file(s, o, part.name, err)
                               : s->writing.open(s->writing.user, &part, &o->sink, err);
    if (st == PERFILE_OK && !s->set)
        st = pf_passes_inputs(&s->all, &inputs, err);
    if (st == PERFILE_OK && !s->set)
        st = pf_sink_add_inputs(o->sink, inputs, err);
    if (st == PERFILE_OK)
        st = perfile_writer_open(o->sink, &how, &o->writer, err);
    if (st != PERFILE_OK)
        return st;
    pf_copy_start(&o->copy, l->stream, o->writer, &copying);
    st = pf_copy_check(&o->copy, err);
    if (st != PERFILE_OK)
        return st;
    o->copy.held_most = HELD_MOST;
    st = begin_session(l, o, err);
    return st == PERFILE_OK ? pf_copy_begin(&o->copy, err) : st;
}

/* Adds the notes of a part to those of the split.  All parts lose the same facts, so these are
 * noted only for the first part.  Records that are left out are counted for each part that should
 * have had them. */
static void keep_notes(lot *l, uint32_t k)
{
    const pf_notes *notes = &l->at[k].copy.notes;
    for (uint32_t i = 0; i < notes->n; i++) {
        perfile_note one = notes->at[i];
        one.message = notes->why[i];
        if (l->first + k == 0 || one.kind == PERFILE_NOTE_RECORDS_CUT)
            pf_notes_add(&l->s->notes, &one);
    }
}

/* Finishes a part, closes its file, and reports it.  A sink from writing.open() stays open;
 * writing.done() passes it to the caller. */
static perfile_status end_output(lot *l, uint32_t k, perfile_error *err)
{
    pf_splitting *s = l->s;
    output *o = &l->at[k];
    perfile_split_part part;
    char buffer[24];
    perfile_status st = end_session(o, err);
    if (st == PERFILE_OK)
        st = pf_copy_finish(&o->copy, err);
    if (st != PERFILE_OK)
        return st;
    keep_notes(l, k);
    pf_split_describe(s, l->first + k, buffer, &part);
    part.written = o->copy.result.records;
    part.bytes = pf_sink_count(o->file ? o->file : o->sink);
    s->sum.parts++;
    s->sum.written += part.written;
    s->sum.bytes += part.bytes;
    perfile_writer_close(o->writer);
    o->writer = NULL;
    if (s->set) {
        perfile_sink_close(o->sink);
        o->sink = NULL;
    }
    if (s->writing.done)
        s->writing.done(s->writing.user, &part, o->sink);
    return PERFILE_OK;
}

/* The pass that writes the parts of the lot. */
static perfile_status write_pass(lot *l, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    const perfile_session *session = perfile_stream_session(l->stream);
    l->files = perfile_session_feature(session, PERFILE_FEATURE_BUILD_ID) != NULL;
    for (uint32_t k = 0; k < l->n && st == PERFILE_OK; k++)
        st = begin_output(l, k, err);
    if (st == PERFILE_OK)
        st = write_all(l, err);
    for (uint32_t k = 0; k < l->n && st == PERFILE_OK; k++)
        st = end_output(l, k, err);
    return st;
}

/* Opens the capture, runs the pass `what`, and closes it. */
static perfile_status pass(lot *l, perfile_status (*what)(lot *l, perfile_error *err),
                           perfile_error *err)
{
    perfile_status st = pf_passes_open(&l->s->all, &l->stream, err);
    if (st != PERFILE_OK)
        return st;
    pf_split_begin_pass(&l->s->split);
    st = what(l, err);
    perfile_stream_close(l->stream);
    return st;
}

perfile_status pf_split_write(pf_splitting *s, uint32_t first, perfile_error *err)
{
    const pf_split *x = &s->split;
    lot l = {.s = s, .first = first};
    perfile_status st = PERFILE_OK;
    l.n = x->n - first < s->lot ? x->n - first : s->lot;
    l.at = pf_alloc(l.n, sizeof *l.at);
    if (!l.at)
        return pf_fail_nomem(err, "split");
    for (uint32_t k = 0; k < l.n && st == PERFILE_OK; k++)
        st = pf_split_part(x, first + k, &l.at[k].filter, err);
    if (st == PERFILE_OK && x->state)
        st = pass(&l, select_sideband, err);
    if (st == PERFILE_OK)
        st = pass(&l, write_pass, err);
    /* Members that end_output() has closed are NULL; after an error other outputs are still
     * open. */
    for (uint32_t k = 0; k < l.n; k++) {
        perfile_writer_close(l.at[k].writer);
        if (s->set)
            perfile_sink_close(l.at[k].sink);
        pf_copy_free(&l.at[k].copy);
        pf_session_view_free(l.at[k].view);
        perfile_filter_close(l.at[k].filter);
    }
    pf_fragments_free(&l.fragments);
    pf_free(l.at);
    return st;
}
