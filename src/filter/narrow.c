/* Ranges of an archive that a pass skips because their zones say that nothing in them is selected,
 * or everything.
 *
 * The result must be the same as if the records were read.  Counts of data (records, samples, their
 * processes, their times) are taken from the zone, so a range is skipped only if its zone has them
 * exactly, as it does if all data are samples.  While nothing is selected yet, the zone must also
 * provide what the message for an empty result would need.
 *
 * In the last pass, selected records are known from the bits of the selecting pass, whatever the
 * terms are.  A range that is passed on as a whole can go from archive to archive as it is stored.
 * The payload of a range with selected samples must be intact (core/zone.h): damaged payloads are
 * read, so that the damage is reported. */
#include "core/zone.h"

#include "base/error.h"
#include "filter/filter.h"
#include "core/command.h"

/* Whether values of a set or range are in the set that a term selects: none, some, or all. */
enum { OUTSIDE, PARTLY, INSIDE };

static unsigned compare_range(const pf_ranges *asked, uint64_t first, uint64_t last)
{
    unsigned how = OUTSIDE;
    for (uint32_t i = 0; i < asked->n; i++) {
        if (asked->at[i].first <= first && last <= asked->at[i].last)
            return INSIDE;
        if (asked->at[i].first <= last && first <= asked->at[i].last)
            how = PARTLY;
    }
    return how;
}

static unsigned compare_set(const pf_ranges *asked, const pf_zone_set *set)
{
    bool some = false, all = true;
    if (!set->known || !set->n)
        return PARTLY;
    for (uint32_t i = 0; i < set->n; i++) {
        const bool in = pf_ranges_contain(asked, set->at[i]);
        some |= in;
        all &= in;
    }
    return all ? INSIDE : some ? PARTLY : OUTSIDE;
}

/* Compares a zone with the terms for one field at a fixed offset.  Sets *values to the range of the
 * zone's values, unless the result is PARTLY. */
static unsigned compare_place(const pf_filter *x, const pf_zone *z, unsigned place,
                              pf_observed_range *values)
{
    const pf_zone_set *set = place == PF_PLACE_PID   ? &z->pids
                             : place == PF_PLACE_TID ? &z->tids
                                                     : &z->cpus;
    const pf_ranges *asked = place == PF_PLACE_PID   ? &x->terms.pids
                             : place == PF_PLACE_TID ? &x->terms.tids
                                                     : &x->terms.cpus;
    if (place == PF_PLACE_IP)
        return PARTLY;
    if (place == PF_PLACE_TIME) {
        *values = (pf_observed_range){z->data_first, z->data_last};
        return z->has_data_times ? compare_range(&x->terms.times, z->data_first, z->data_last)
                                 : PARTLY;
    }
    const unsigned how = compare_set(asked, set);
    if (how != PARTLY)
        *values = (pf_observed_range){set->at[0], set->at[set->n - 1]};
    return how;
}

/* Returns true if no event of the samples matches. */
static bool has_other_events(const pf_filter *x, const pf_zone *z)
{
    if (!z->events.known)
        return false;
    for (uint32_t i = 0; i < x->pass.n_events; i++)
        if (x->pass.event_fits[i] && pf_zone_has_event(z, i))
            return false;
    return true;
}

/* Returns true if nothing of the zone is selected and everything about its samples is known that a
 * message for an empty result needs.  Widens x->there as testing the samples would. */
static bool is_unselected(pf_filter *x, const pf_zone *z)
{
    if (!x->pass.resolved || !x->terms.given || x->terms.invert)
        return false;
    /* Terms for types are tested first; if they fail, nothing else about samples is needed. */
    if (pf_filter_has(x, PERFILE_FILTER_BY_TYPE) &&
        !pf_ranges_contain(&x->terms.types, PERFILE_RECORD_SAMPLE))
        return x->there.over || x->terms.given & pf_place_kinds();
    for (unsigned k = 0; k < PF_PLACES; k++) {
        pf_observed_range values;
        if (!pf_filter_has(x, pf_places[k].kind))
            continue;
        const unsigned how = compare_place(x, z, k, &values);
        if (how == PARTLY && !x->there.over)
            return false; /* the samples that pass this test are not known */
        if (!x->there.over) {
            pf_observed_range *all = pf_observed_place(&x->there, k);
            pf_observed_widen(all, values.least);
            pf_observed_widen(all, values.most);
        }
        if (how == OUTSIDE)
            return true;
    }
    return x->there.over && pf_filter_has(x, PERFILE_FILTER_BY_EVENT) && has_other_events(x, z);
}

/* Returns true if all samples of the zone have known events that match. */
static bool has_fitting_events(const pf_filter *x, const pf_zone *z)
{
    uint64_t samples = 0;
    for (uint32_t i = 0; i < z->events.n; i++) {
        const uint64_t event = z->events.at[i].key;
        if (event >= x->pass.n_events || !x->pass.event_fits[event])
            return false;
        samples += z->events.at[i].records;
    }
    return z->events.known && samples == z->records - z->apart;
}

/* Returns true if all samples of the zone are selected, by terms that zones can answer. */
static bool is_selected(const pf_filter *x, const pf_zone *z)
{
    const uint32_t places = 1U << PERFILE_FILTER_BY_TIME | 1U << PERFILE_FILTER_BY_PID |
                            1U << PERFILE_FILTER_BY_TID | 1U << PERFILE_FILTER_BY_CPU;
    const uint32_t answered = places | 1U << PERFILE_FILTER_BY_EVENT | 1U << PERFILE_FILTER_BY_TYPE;
    if (!x->pass.resolved || x->pass.generation != pf_session_generation(x->pass.session) ||
        x->terms.invert || x->options.every > 1 || x->options.head || x->terms.given & ~answered)
        return false;
    for (unsigned k = 0; k < PF_PLACES; k++) {
        pf_observed_range values;
        if (pf_filter_has(x, pf_places[k].kind) && compare_place(x, z, k, &values) != INSIDE)
            return false;
    }
    if (pf_filter_has(x, PERFILE_FILTER_BY_TYPE) &&
        !pf_ranges_contain(&x->terms.types, PERFILE_RECORD_SAMPLE))
        return false;
    return !pf_filter_has(x, PERFILE_FILTER_BY_EVENT) || has_fitting_events(x, z);
}

/* Returns true if everything that is counted for selected samples is known. */
static bool can_count(const pf_filter *x, const pf_zone *z)
{
    return z->pids.known && (!x->kept.needs_times || z->has_data_times);
}

/* Adds the processes of samples to `seen`, and if the samples are selected, to `wanted`. */
static bool add_processes(pf_filter *x, const pf_zone *z, bool selected)
{
    bool is_new, ok = true;
    for (uint32_t i = 0; i < z->pids.n && ok; i++) {
        const uint32_t pid = z->pids.at[i];
        ok = pid == PERFILE_NO_PID ||
             (pf_pids_add(&x->sideband.seen, pid, &is_new) &&
              (!selected || pf_pids_add(&x->sideband.wanted, pid, &is_new)));
    }
    x->result.processes = x->sideband.seen.n;
    x->result.kept_processes = x->sideband.wanted.n;
    return ok;
}

/* Counts the samples of a zone, which are all selected, as pf_filter_count() would. */
static void count_selected(pf_filter *x, const pf_zone *z)
{
    const uint64_t samples = z->records - z->apart;
    x->ranges.no_memory |= !add_processes(x, z, true);
    if (x->kept.needs_times) {
        x->kept.first = z->data_first < x->kept.first ? z->data_first : x->kept.first;
        x->kept.last = z->data_last > x->kept.last ? z->data_last : x->kept.last;
    }
    x->result.samples += samples;
    x->result.kept_samples += samples;
    x->there.over = true;
}

/* pf_narrow.passed: counts what needs_selected() has not counted. */
static void pass(void *user, const pf_zone *z, uint64_t sequence, uint64_t records)
{
    pf_filter *x = user;
    if (x->pass.in_stage)
        pf_filter_note_passed(x, sequence);
    if (x->ranges.all_selected && x->pass.in_stage)
        x->result.records += records;
    if (!x->ranges.all_selected || x->pass.in_stage)
        return;
    if (!x->ranges.counted)
        count_selected(x, z);
    x->ranges.counted = true;
    x->ranges.no_memory |= !pf_selected_set_range(&x->selection.bits, sequence, records);
}

/* Returns how many records of a range of samples and FINISHED_ROUNDs are selected if all samples
 * are. */
static uint64_t count_with_rounds(const pf_filter *x, const pf_zone *z)
{
    return x->terms.tests_sideband ? z->records : z->records - z->apart;
}

/* Returns true if a range can be passed on as it is stored.  All its records are to be passed on.
 */
static bool is_given(const pf_filter *x, const pf_zone *z, uint64_t sequence)
{
    return x->ranges.takes && !x->holds && pf_zone_plain_samples(z) &&
           x->ranges.takes->needs(x->ranges.takes->user, z, sequence) == PF_NEED_STORED;
}

/* pf_narrow.stored of the last pass: passes on a range as it is stored. */
static void give_stored(void *user, const pf_stored *range)
{
    pf_filter *x = user;
    x->result.records += range->records;
    x->result.kept += range->records;
    x->result.selected += count_with_rounds(x, range->zone);
    x->selection.any = x->rounds.has_kept = true;
    if (!x->selection.known)
        count_selected(x, range->zone);
    x->ranges.takes->stored(x->ranges.takes->user, range);
}

/* Returns what to request of a range that is passed on as it is stored.  If FINISHED_ROUNDs may be
 * dropped, those of the range are read, too, since a later one depends on them. */
static unsigned needs_given(pf_filter *x, const pf_zone *z, uint64_t sequence)
{
    if (!z->apart || pf_filter_selects_all(x))
        return PF_NEED_STORED;
    x->ranges.given_to = sequence + z->records;
    return PF_NEED_STORED_SIDEBAND;
}

/* Returns what to request of a range from which all data are dropped: its FINISHED_ROUNDs if they
 * are tested, and in the last pass unless they are dropped as well. */
static unsigned needs_of_dropped(pf_filter *x, const pf_zone *z)
{
    const bool nothing = !x->terms.tests_sideband && pf_zone_plain_samples(z) &&
                         (!x->pass.in_stage || pf_filter_drops_rounds(x));
    if (x->pass.in_stage)
        x->result.records += nothing ? z->records : z->records - z->apart;
    return nothing ? PF_NEED_SKIP : PF_NEED_SIDEBAND;
}

/* Returns what to request of a range in the last pass, if the selecting pass has selected the
 * records. */
static unsigned needs_known(pf_filter *x, const pf_zone *z, uint64_t sequence)
{
    const uint64_t selected = pf_selected_count(&x->selection.bits, sequence, z->records);
    if (z->pids.known && is_unselected(x, z))
        return needs_of_dropped(x, z);
    if (!selected) { /* or it is damaged: then the selecting pass has not seen it */
        x->ranges.all_selected = true;
        return PF_NEED_COUNT;
    }
    return selected == count_with_rounds(x, z) && is_given(x, z, sequence)
               ? needs_given(x, z, sequence)
               : PF_NEED_ALL;
}

/* Returns what to request of a range in which all samples are selected. */
static unsigned needs_of_selected(pf_filter *x, const pf_zone *z, uint64_t sequence)
{
    if (!x->pass.in_stage) {
        x->ranges.all_selected = true;
        x->ranges.counted = false;
        return PF_NEED_COUNT;
    }
    /* If FINISHED_ROUNDs are tested, it is not known whether they are selected. */
    const bool rounds_kept = !z->apart || !x->terms.tests_sideband || pf_filter_selects_all(x);
    return rounds_kept && is_given(x, z, sequence) ? needs_given(x, z, sequence) : PF_NEED_ALL;
}

/* pf_narrow.needs of the selecting pass and of the last one. */
static unsigned needs_selected(void *user, const pf_zone *z, uint64_t sequence)
{
    pf_filter *x = user;
    const pf_zone_count *samples = pf_zone_only_samples(z);
    x->ranges.all_selected = false;
    if (!samples || x->sideband.is_part)
        return PF_NEED_ALL;
    if (x->pass.in_stage && x->selection.known && !x->selection.bits.incomplete)
        return needs_known(x, z, sequence);
    if (can_count(x, z) && is_selected(x, z))
        return needs_of_selected(x, z, sequence);
    if (!z->pids.known || !is_unselected(x, z))
        return PF_NEED_ALL;
    if (!x->pass.in_stage || !x->selection.known) {
        x->ranges.no_memory |= !add_processes(x, z, false);
        x->result.samples += samples->records;
    }
    return needs_of_dropped(x, z);
}

perfile_status pf_filter_narrow_status(const pf_filter *x, perfile_error *err)
{
    return x->ranges.no_memory ? pf_fail_nomem(err, "filter") : PERFILE_OK;
}

/* Returns true if the collecting pass needs the side-band of the range: for the process model, or
 * for events of samples in other ranges. */
static bool collects_apart(const pf_filter *x, const pf_zone *z)
{
    return !pf_zone_plain_samples(z) &&
           (pf_filter_needs_model(x) || pf_zone_has_type(z, PERFILE_RECORD_HEADER_ATTR));
}

/* pf_narrow.needs of the collecting pass, which reads times of samples. */
static unsigned needs_times(void *user, const pf_zone *z, uint64_t sequence)
{
    pf_filter *x = user;
    (void)sequence;
    if (!pf_zone_only_samples(z) || !z->has_data_times)
        return PF_NEED_ALL;
    x->first_time = z->data_first < x->first_time ? z->data_first : x->first_time;
    x->last_time = z->data_last > x->last_time ? z->data_last : x->last_time;
    return collects_apart(x, z) ? PF_NEED_SIDEBAND : PF_NEED_SKIP;
}

/* Resolves the terms at once for a file, because its facts are known before its first record.
 * Errors in the terms are reported when the first record is tested. */
static void resolve_early(pf_filter *x, perfile_stream *s)
{
    const perfile_record r = {.type = PERFILE_RECORD_SAMPLE, .session = x->pass.session};
    if (perfile_stream_container(s)->form != PERFILE_FORM_FILE || x->pass.resolved ||
        pf_filter_resolve(x, &r, NULL) == PERFILE_OK)
        return;
    x->pass.resolved = false;
    x->pass.generation = UINT64_MAX;
}

void pf_filter_narrow(pf_filter *x, perfile_stream *s, bool collecting, bool in_stage)
{
    if (!s->ops->narrow || s->below)
        return;
    if (!collecting)
        resolve_early(x, s);
    x->pass.in_stage = in_stage;
    x->ranges.narrow = (pf_narrow){.needs = collecting ? needs_times : needs_selected,
                                   .passed = collecting ? NULL : pass,
                                   .stored = give_stored,
                                   .user = x};
    pf_stream_narrow(s, &x->ranges.narrow);
}

void pf_filter_widen(pf_filter *x, perfile_stream *s)
{
    x->ranges.narrow = (pf_narrow){.needs = NULL};
    pf_stream_narrow(s, &x->ranges.narrow);
}
