/* The filter as an object: options, passes, and the decision which records of a run are selected
 * and kept. Terms are tested in test.c, side-band is decided on in keep.c, and the stage is in
 * stage.c. */
#include "filter/filter.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "schema/rows.h"
#include "filter/command.h"

/* Returns the records of a run that are tested against the terms: data, and side-band if terms can
 * select it. Facts are always kept. */
static uint64_t records_to_test(const pf_filter *x, const pf_run *run)
{
    uint64_t tested = run->samples;
    if (x->terms.only)
        return run->all;
    for (uint64_t left = run->all & ~run->samples; left; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        unsigned class = pf_role_of(&run->first[i]);
        bool is = class == PF_ROLE_DATA || (class != PF_ROLE_FACT && x->terms.tests_sideband);
        tested |= (uint64_t)is << i;
    }
    return tested;
}

bool pf_filter_selects_all(const pf_filter *x)
{
    return !x->terms.given && !x->terms.invert && x->options.every < 2 && !x->options.head;
}

/* After the selecting pass this looks up the bits. Before it, or if bits are missing, it tests the
 * records. */
perfile_status pf_filter_select(pf_filter *x, const pf_run *run, uint64_t *selected,
                                perfile_error *err)
{
    perfile_status st = pf_filter_resolve(x, run->first, err);
    if (st != PERFILE_OK)
        return st;
    if (x->selection.known && !x->selection.bits.incomplete) {
        *selected = pf_selected_of(&x->selection.bits, run);
        return PERFILE_OK;
    }
    uint64_t tested = records_to_test(x, run);
    /* Only until something is selected: after that no empty result needs to be explained. */
    if (x->terms.given && !x->there.over)
        pf_observed_look(&x->there, run, x->terms.given);
    if (pf_filter_selects_all(x) || !tested) {
        *selected = tested;
        return PERFILE_OK;
    }
    st = pf_filter_test(x, run, tested, selected, err);
    x->there.over |= st == PERFILE_OK && (*selected & run->samples);
    return st;
}

/* Returns false for damage and for envelopes. */
static bool is_plain(const perfile_record *r)
{
    return r->family != PERFILE_FAMILY_DAMAGE && !(r->flags & PERFILE_REC_ENVELOPE);
}

/* Returns true if such records are tested. Envelopes are passed on untested for the sake of their
 * content, except with PERFILE_FILTER_ONLY, which tests every record. */
static bool is_tested(const pf_filter *x, const perfile_record *r)
{
    return is_plain(r) || (x->terms.only && r->family != PERFILE_FAMILY_DAMAGE);
}

/* Reads a run in the collecting pass: updates the model if it is needed, and widens the range of
 * times. Families without samples use the times of data records. */
static perfile_status collect(pf_filter *x, const perfile_record *first, size_t n,
                              perfile_error *err)
{
    /* Only perf has samples; other families follow below. */
    uint64_t times[PERFILE_RUN_RECORDS];
    size_t found = perfile_sample_fields(first, n, PERFILE_SAMPLE_TIME, times, NULL);
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < n && first->family != PERFILE_FAMILY_PERF; i++) {
        uint64_t time = perfile_record_time(&first[i]);
        if (time != PERFILE_NO_TIME && pf_role_of(&first[i]) == PF_ROLE_DATA)
            times[found++] = time;
    }
    for (size_t i = 0; i < found; i++) {
        x->first_time = times[i] < x->first_time ? times[i] : x->first_time;
        x->last_time = times[i] > x->last_time ? times[i] : x->last_time;
    }
    if (!pf_filter_needs_model(x))
        return PERFILE_OK;
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        if (first[i].type != PERFILE_RECORD_SAMPLE)
            st = pf_filter_feed(x, &first[i], err);
    return st;
}

perfile_status pf_filter_select_run(pf_filter *x, const pf_run *run, perfile_error *err)
{
    uint64_t selected = 0;
    perfile_status st = pf_filter_select(x, run, &selected, err);
    if (st == PERFILE_OK)
        st = pf_filter_count(x, run, selected, err);
    if (st == PERFILE_OK)
        st = pf_filter_note(x, run, selected, err);
    x->result.samples += (unsigned)__builtin_popcountll(pf_run_counted(run));
    x->result.kept_samples += (unsigned)__builtin_popcountll(pf_run_counted(run) & selected);
    return st;
}

bool pf_filter_needs_time_range(const pf_filter *x)
{
    bool relative = false;
    for (uint32_t i = 0; i < x->terms.n_periods; i++) {
        const pf_moment *ends[] = {&x->terms.periods[i].from, &x->terms.periods[i].to};
        for (size_t k = 0; k < 2; k++)
            relative |= ends[k]->kind == PF_AFTER_FIRST || ends[k]->kind == PF_SHARE;
    }
    return relative;
}

/* Returns true if the collecting pass is needed and not yet done: for relative times, or for names,
 * because side-band may come after the samples that it concerns. */
static bool needs_collecting_pass(const pf_filter *x)
{
    return !x->collected && (pf_filter_needs_time_range(x) || pf_filter_needs_model(x));
}

/* Returns true if the selecting pass is useful and not yet done: without it the stage keeps all
 * side-band. It is useless if only selected records are kept, unless features must be right before
 * the first record. */
static bool wants_selecting_pass(const pf_filter *x)
{
    bool facts = x->options.flags & PERFILE_FILTER_FACTS_FIRST;
    return !x->selection.known && !pf_filter_selects_all(x) && (!x->terms.no_sideband || facts);
}

/* *needed is set if the collecting pass is missing: without it relative times cannot be used, and
 * names come only from earlier side-band. */
bool pf_filter_wants_pass(const perfile_filter_state *x, bool *needed)
{
    if (needed)
        *needed = needs_collecting_pass(x);
    return needs_collecting_pass(x) || wants_selecting_pass(x);
}

void pf_filter_get_passes(const perfile_filter_state *x, perfile_filter_passes *out, size_t size)
{
    perfile_filter_passes full = {0};
    full.wanted = pf_filter_wants_pass(x, &full.needed);
    memcpy(out, &full, size < sizeof full ? size : sizeof full);
}

/* UINT64_MAX is not a valid generation, so events are resolved at the first run. */
void pf_filter_begin_pass(pf_filter *x, const perfile_stream *s)
{
    x->pass.session = perfile_stream_session(s);
    x->kept.needs_times = perfile_session_feature(x->pass.session, PERFILE_FEATURE_SAMPLE_TIME) &&
                          (x->sideband.is_part || !pf_filter_selects_all(x));
    x->pass.generation = UINT64_MAX;
    x->pass.resolved = false;
    x->pass.n_events = 0;
    x->selection.countdown = x->selection.counted = 0;
    x->rounds.has_kept = x->rounds.has_dropped = false;
    x->ranges.given_to = 0;
}

/* Makes the collecting pass if it is needed, else the selecting pass. */
perfile_status perfile_filter_learn(perfile_filter_state *x, perfile_stream *s, perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    bool collecting = needs_collecting_pass(x);
    perfile_status st = pf_stream_unread(s, "filter", err);
    if (st != PERFILE_OK)
        return st;
    pf_filter_begin_pass(x, s);
    pf_filter_narrow(x, s, collecting, false);
    while ((st = perfile_stream_next_run(s, &first, &n, err)) == PERFILE_OK) {
        pf_filter_report_progress(x, first);
        if (!is_plain(first))
            continue;
        const pf_run run = pf_run_examine(s, first, n);
        st = collecting ? collect(x, first, n, err) : pf_filter_select_run(x, &run, err);
        if (st != PERFILE_OK)
            return st;
    }
    pf_filter_widen(x, s);
    if (st == PERFILE_END)
        st = pf_filter_narrow_status(x, err);
    if (st != PERFILE_OK)
        return st;
    if (collecting) {
        x->collected = true;
        return PERFILE_OK;
    }
    x->selection.known = true;
    pf_ancestors_sort(&x->sideband.ancestors);
    /* The FORKs are not needed for anything else. */
    st = pf_filter_find_ancestors(x, &x->sideband.ancestors, err);
    pf_ancestors_free(&x->sideband.ancestors);
    return st;
}

/* Adds to *keep those records of `others` that are kept, and counts AUX data that is dropped. */
static perfile_status keep_sideband(pf_filter *x, const perfile_record *first, uint64_t others,
                                    uint64_t *keep, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (uint64_t left = others; left && st == PERFILE_OK; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        const perfile_record *r = &first[i];
        /* Mappings are noted even if they are selected, so that their files keep their build ids.
         */
        bool kept = *keep >> i & 1 || pf_filter_keep(x, r);
        *keep |= (uint64_t)kept << i;
        if (r->type == PERFILE_RECORD_MMAP || r->type == PERFILE_RECORD_MMAP2) {
            st = pf_filter_note_file(x, r, kept, err);
        } else if (!kept && r->type == PERFILE_RECORD_AUXTRACE) {
            x->result.aux_dropped++;
            x->result.aux_bytes += r->extra.len;
        }
    }
    return st;
}

/* Returns true if the run has a selected record that the terms request. Side-band does not count if
 * it is selected only for its process or time: for the user the result is still empty. */
static bool selects_any(const pf_filter *x, const pf_run *run, uint64_t selected)
{
    bool state =
        pf_filter_has(x, PERFILE_FILTER_BY_TYPE) || pf_filter_has(x, PERFILE_FILTER_BY_WHERE);
    if (selected & run->samples || (selected && state))
        return true;
    for (uint64_t left = selected; left; left &= left - 1)
        if (pf_role_of(&run->first[__builtin_ctzll(left)]) == PF_ROLE_DATA)
            return true;
    return false;
}

void pf_filter_count_run(pf_filter *x, const pf_run *run, uint64_t selected, uint64_t keep)
{
    perfile_filter_summary *sum = &x->result;
    sum->records += run->n;
    sum->kept += (unsigned)__builtin_popcountll(keep);
    sum->selected += (unsigned)__builtin_popcountll(selected);
    x->selection.any = x->selection.any || selects_any(x, run, selected);
    if (x->selection.known)
        return; /* the selecting pass counted the samples */
    sum->samples += (unsigned)__builtin_popcountll(pf_run_counted(run));
    sum->kept_samples += (unsigned)__builtin_popcountll(pf_run_counted(run) & keep);
}

/* Without a selecting pass, names, processes and counts have to be found here. */
perfile_status pf_filter_decide(pf_filter *x, const pf_run *run, uint64_t *keep, perfile_error *err)
{
    uint64_t selected;
    const perfile_record *first = run->first;
    perfile_status st = PERFILE_OK;
    if (!is_tested(x, first)) {
        *keep = run->all;
        return PERFILE_OK;
    }
    if (pf_filter_note_given(x, run)) {
        *keep = 0;
        return PERFILE_OK;
    }
    if (!x->collected && pf_filter_needs_model(x))
        st = collect(x, first, run->n, err);
    if (st == PERFILE_OK)
        st = pf_filter_select(x, run, &selected, err);
    if (st == PERFILE_OK && !x->selection.known)
        st = pf_filter_count(x, run, selected, err);
    if (st != PERFILE_OK)
        return st;
    /* Without terms every record of the run is passed on. */
    *keep = pf_filter_selects_all(x) ? run->all : selected;
    if (!pf_filter_selects_all(x) && !x->terms.only)
        st = keep_sideband(x, first, run->all & ~run->samples, keep, err);
    pf_filter_drop_rounds(x, run, selected, keep);
    if (st == PERFILE_OK)
        pf_filter_count_run(x, run, selected, *keep);
    return st;
}

/* Parses the terms; the caller's texts are not needed afterwards. */
perfile_status perfile_filter_open(const perfile_filter_options *options,
                                   perfile_filter_state **filter, perfile_error *err)
{
    pf_filter *x = pf_alloc(1, sizeof *x);
    if (!x)
        return pf_fail_nomem(err, "filter");
    perfile_status st = pf_options_copy(&x->options, options, "filter.options", err);
    if (st != PERFILE_OK) {
        pf_free(x);
        return st;
    }
    x->terms.marks = x->options.flags & PERFILE_FILTER_MARK;
    x->terms.only = x->terms.marks || x->options.flags & PERFILE_FILTER_ONLY;
    x->terms.no_sideband = x->terms.only || x->options.flags & PERFILE_FILTER_NO_SIDEBAND;
    x->terms.compact = x->options.flags & PERFILE_FILTER_COMPACT_SIDEBAND;
    x->terms.invert = x->options.flags & PERFILE_FILTER_INVERT;
    x->first_time = x->kept.first = PERFILE_NO_TIME;
    pf_observed_begin(&x->there);
    st = pf_filter_terms(x, err);
    x->terms.tests_sideband = x->terms.no_sideband || pf_filter_has(x, PERFILE_FILTER_BY_TYPE) ||
                              pf_filter_has(x, PERFILE_FILTER_BY_WHERE);
    if (st != PERFILE_OK) {
        perfile_filter_close(x);
        return st;
    }
    *filter = x;
    return PERFILE_OK;
}

void pf_filter_get_summary(const perfile_filter_state *x, perfile_filter_summary *out, size_t size)
{
    memcpy(out, &x->result, size < sizeof x->result ? size : sizeof x->result);
}

static void free_patterns(pf_patterns *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        pf_free(p->at[i].text);
        pf_free(p->at[i].name);
    }
    pf_free(p->at);
    pf_index_free(&p->known);
}

void perfile_filter_close(perfile_filter_state *x)
{
    if (!x)
        return;
    /* Frees everything that a filter owns; streams and sessions are borrowed. */
    pf_ranges *sets[] = {&x->terms.pids,  &x->terms.tids, &x->terms.cpus,
                         &x->terms.types, &x->terms.ips,  &x->terms.times};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        pf_ranges_free(sets[i]);
    pf_patterns *patterns[] = {&x->terms.events, &x->terms.comms, &x->terms.dsos,
                               &x->terms.cgroups};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        free_patterns(patterns[i]);
    for (uint32_t i = 0; i < x->terms.n_wheres; i++)
        perfile_expr_close(x->terms.wheres[i]);
    pf_free(x->terms.wheres);
    pf_free(x->terms.periods);
    pf_free(x->pass.event_fits);
    pf_answers_forget(&x->names.answers);
    perfile_model_close(x->names.model);
    pf_texts_free(&x->names.texts);
    pf_texts_free(&x->kept.files);
    pf_buffer_free(&x->kept.build_ids);
    pf_index_free(&x->names.cgroup_of);
    pf_buffer_free(&x->names.cgroups);
    pf_selected_free(&x->selection.bits);
    pf_ancestors_free(&x->sideband.ancestors);
    pf_pids_free(&x->sideband.seen);
    pf_pids_free(&x->sideband.wanted);
    pf_pids_free(&x->sideband.needed);
    pf_pids_free(&x->sideband.forked_parents);
    pf_index_free(&x->sideband.last_of_key);
    pf_buffer_free(&x->sideband.last_records);
    pf_free(x);
}
