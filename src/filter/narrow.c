/* Ranges of records that a capture in an archive passes over, because their zones say that nothing
 * in them is selected.
 *
 * The result must be that of reading them: what is counted of data that is not selected (records,
 * samples, their processes, their times) is taken from the zone, and a range is passed over only if
 * its zone says all of that exactly, as it does where all data are samples.  While nothing is
 * selected yet, it must also say what a message about an empty result would need. */
#include "core/narrow.h"
#include "filter/filter.h"

/* How values of a set or range lie to those that a term asks for. */
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

/* One kind of terms whose field stands in samples: how the zone lies to it, and its values. */
static unsigned compare_place(const pf_filter *x, const pf_zone *z, unsigned place,
                              pf_observed_range *values)
{
    const pf_zone_set *set = place == PF_PLACE_PID   ? &z->pids
                             : place == PF_PLACE_TID ? &z->tids
                                                     : &z->cpus;
    const pf_ranges *asked = place == PF_PLACE_PID   ? &x->pids
                             : place == PF_PLACE_TID ? &x->tids
                                                     : &x->cpus;
    if (place == PF_PLACE_IP)
        return PARTLY;
    if (place == PF_PLACE_TIME) {
        *values = (pf_observed_range){z->data_first, z->data_last};
        return z->has_data_times ? compare_range(&x->times, z->data_first, z->data_last) : PARTLY;
    }
    const unsigned how = compare_set(asked, set);
    if (how != PARTLY)
        *values = (pf_observed_range){set->at[0], set->at[set->n - 1]};
    return how;
}

/* True if no event of the samples fits. */
static bool has_other_events(const pf_filter *x, const pf_zone *z)
{
    if (!z->events.known)
        return false;
    for (uint32_t i = 0; i < x->n_events; i++)
        if (x->event_fits[i] && pf_zone_has_event(z, i))
            return false;
    return true;
}

/* True if nothing of the zone is selected, and what else is to be noted about that was. */
static bool is_unselected(pf_filter *x, const pf_zone *z)
{
    if (!x->resolved || !x->given || x->invert)
        return false;
    for (unsigned k = 0; k < PF_PLACES; k++) {
        pf_observed_range values;
        if (!pf_filter_has(x, pf_places[k].kind))
            continue;
        const unsigned how = compare_place(x, z, k, &values);
        if (how == OUTSIDE) {
            if (!x->there.over) {
                pf_observed_range *all = pf_observed_place(&x->there, k);
                pf_observed_widen(all, values.least);
                pf_observed_widen(all, values.most);
            }
            return true;
        }
        if (how == PARTLY && !x->there.over)
            return false; /* which of the samples pass this test is not known */
    }
    return x->there.over && pf_filter_has(x, PERFILE_FILTER_BY_EVENT) && has_other_events(x, z);
}

/* Adds the processes of samples that are not selected. */
static bool add_seen(pf_filter *x, const pf_zone *z)
{
    bool is_new, ok = true;
    for (uint32_t i = 0; i < z->pids.n && ok; i++)
        ok = z->pids.at[i] == PERFILE_NO_PID || pf_pids_add(&x->seen, z->pids.at[i], &is_new);
    x->result.processes = x->seen.n;
    return ok;
}

/* pf_narrow.needs of the selecting pass and of the last one. */
static unsigned needs_selected(void *user, const pf_zone *z)
{
    pf_filter *x = user;
    const pf_zone_count *samples = pf_zone_only_samples(z);
    const bool counts_here = !x->selection_known || !x->in_stage;
    if (!samples || !z->pids.known || x->is_part || !is_unselected(x, z))
        return samples && x->narrow.words && !x->is_part ? PF_NEED_WORDS : PF_NEED_ALL;
    if (counts_here && !add_seen(x, z))
        return PF_NEED_ALL;
    if (counts_here)
        x->result.samples += samples->records;
    if (x->in_stage)
        x->result.records += samples->records;
    return PF_NEED_APART;
}

/* The words of samples that the selecting pass looks at, in all layouts; 0: not known, or there are
 * terms that look at more. */
static uint64_t words_looked_at(const pf_filter *x)
{
    uint64_t words = 0, fields = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_ID |
                                 PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU;
    if (!x->resolved || x->n_wheres || pf_filter_has(x, PERFILE_FILTER_BY_CGROUP))
        return 0;
    if (pf_filter_has(x, PERFILE_FILTER_BY_IP) || pf_filter_has(x, PERFILE_FILTER_BY_DSO))
        fields |= PERFILE_SAMPLE_IP;
    for (uint32_t i = 0; i < perfile_session_n_events(x->session); i++) {
        const perfile_layout *l = perfile_session_event(x->session, i)->layout;
        for (unsigned bit = 0; bit < sizeof l->sample_slot; bit++)
            if (fields >> bit & 1 && l->sample_slot[bit] >= 0)
                words |= UINT64_C(1) << (l->sample_slot[bit] < 63 ? l->sample_slot[bit] : 63);
    }
    return words;
}

/* The same of the collecting pass, which needs the times of samples, and the side-band. */
static unsigned needs_times(void *user, const pf_zone *z)
{
    pf_filter *x = user;
    if (!pf_zone_only_samples(z) || !z->has_data_times)
        return PF_NEED_ALL;
    x->first_time = z->data_first < x->first_time ? z->data_first : x->first_time;
    x->last_time = z->data_last > x->last_time ? z->data_last : x->last_time;
    return PF_NEED_APART;
}

/* Of a file, whose facts are known before its first record, the terms can be resolved at once. What
 * is wrong with them is reported when the first record is tested. */
static void resolve_early(pf_filter *x, perfile_stream *s)
{
    const perfile_record r = {.type = PERFILE_RECORD_SAMPLE, .session = x->session};
    if (perfile_stream_container(s)->form != PERFILE_FORM_FILE || x->resolved ||
        pf_filter_resolve(x, &r, NULL) == PERFILE_OK)
        return;
    x->resolved = false;
    x->generation = UINT64_MAX;
}

void pf_filter_narrow(pf_filter *x, perfile_stream *s, bool collecting, bool in_stage)
{
    if (!s->ops->narrow)
        return;
    if (!collecting)
        resolve_early(x, s);
    x->in_stage = in_stage;
    x->narrow = (pf_narrow){.needs = collecting ? needs_times : needs_selected, .user = x};
    x->narrow.words = collecting || in_stage ? 0 : words_looked_at(x);
    pf_stream_narrow(s, &x->narrow);
}

void pf_filter_widen(pf_filter *x, perfile_stream *s)
{
    x->narrow = (pf_narrow){.needs = NULL};
    pf_stream_narrow(s, &x->narrow);
}
