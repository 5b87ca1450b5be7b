/* What a part needs besides the records that are at home in it: side-band and features.  The filter
 * stage knows that already, so each part has a pf_filter whose selection is not made by terms but
 * by homes.  The filter still gets the terms that would select the part, where its decisions depend
 * on them (losses by time, AUX data by processor or thread). */
#include "base/error.h"
#include "split/split.h"
#include "schema/family.h"

/* Sets the terms of the filter that would select the part: by processor, thread or time. */
static perfile_status terms_of(const pf_split *x, const pf_split_home *home, pf_filter *part,
                               perfile_error *err)
{
    uint64_t from = home->first_time, to = home->last_time;
    bool by_cpu = x->options.by == PERFILE_SPLIT_CPU, by_tid = x->options.by == PERFILE_SPLIT_TID;
    part->window_end = PERFILE_NO_TIME;
    if (by_cpu || by_tid) {
        part->given = 1U << (by_cpu ? PERFILE_FILTER_BY_CPU : PERFILE_FILTER_BY_TID);
        return home->key == PF_SPLIT_NO_KEY
                   ? PERFILE_OK
                   : pf_ranges_add(by_cpu ? &part->cpus : &part->tids, home->key, home->key, err);
    }
    if (x->options.by == PERFILE_SPLIT_EVERY && x->scan->first_time != PERFILE_NO_TIME) {
        from = x->scan->first_time + home->key * x->options.amount;
        /* The end of the last window may overflow, or be the number that means no time. */
        to = from + (x->options.amount - 1);
        to = to < from || to == PERFILE_NO_TIME ? PERFILE_NO_TIME - 1 : to;
    }
    if (!x->in_order || from == PERFILE_NO_TIME)
        return PERFILE_OK;
    part->given = 1U << PERFILE_FILTER_BY_TIME;
    part->window_end = to;
    return pf_ranges_add(&part->times, from, to, err);
}

perfile_status pf_split_part(const pf_split *x, uint32_t n, pf_filter **part, perfile_error *err)
{
    const pf_split_home *home = &pf_split_homes(x)[n];
    perfile_filter_options how = {.size = sizeof how};
    if (!x->state)
        how.flags = PERFILE_FILTER_NO_SIDEBAND;
    if (x->compact)
        how.flags = PERFILE_FILTER_COMPACT_SIDEBAND;
    perfile_status st = perfile_filter_new(&how, part, err);
    if (st != PERFILE_OK)
        return st;
    (*part)->is_part = true;
    (*part)->result.samples = x->samples;
    (*part)->result.kept_samples = home->samples;
    (*part)->kept_first = home->first_sample;
    (*part)->kept_last = home->last_sample == PERFILE_NO_TIME ? 0 : home->last_sample;
    return terms_of(x, home, *part, err);
}

bool pf_split_concerns_all(const pf_split *x, const perfile_record *first, size_t n)
{
    /* AUX data may be needed by other parts, but not where it is cut with the parts; compacted
     * side-band needs all changes of processes in order. */
    if (first->type == PERFILE_RECORD_AUXTRACE)
        return !x->stored;
    for (size_t i = 0; i < n && x->compact; i++)
        if (pf_role_of(&first[i]) == PF_ROLE_TASK)
            return true;
    return false;
}

perfile_status pf_split_note_run(pf_filter *part, const pf_run *run, uint64_t home,
                                 perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    /* Samples are data; of other records at home only those of role data count as selected. */
    uint64_t data = home, others = run->all & ~run->samples;
    for (uint64_t left = home & others; left; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        if (pf_role_of(&run->first[i]) != PF_ROLE_DATA)
            data &= ~(UINT64_C(1) << i);
    }
    if (data)
        st = pf_filter_count(part, run, data, err);
    return st == PERFILE_OK && others ? pf_filter_note_others(part, run, data, err) : st;
}

bool pf_split_part_needs(const pf_split *x, pf_filter *part, const perfile_record *r)
{
    /* AUX data is by far the largest: in stored order it is only in the part where it is at
     * home. */
    if (r->type == PERFILE_RECORD_AUXTRACE && x->stored)
        return false;
    return pf_filter_keep(part, r);
}
