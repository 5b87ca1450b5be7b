/* Splitting a capture in an archive: ranges of samples that are all at home in one part are passed
 * over, or go to their part as they are stored.
 *
 * Each part gets all FINISHED_ROUND records.  Those of a range that is given are in it, so that its
 * part does not get them again (lot.given), and are read for the others. */
#include "core/zone.h"

#include "base/error.h"
#include "lib/split_lot.h"

/* pf_narrow.needs of the pass that notes side-band. */
static unsigned needs_noted(void *user, const pf_zone *z, uint64_t sequence)
{
    pf_split_lot *l = user;
    l->range_counted = false;
    return z->pids.known &&
                   pf_split_zone_part(&l->s->split, z, sequence, &l->range_part, &l->range_key)
               ? PF_NEED_COUNT
               : PF_NEED_ALL;
}

/* Notes the processes of samples in the filter of their part. */
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
static void pass(void *user, const pf_zone *z, uint64_t sequence, uint64_t records)
{
    pf_split_lot *l = user;
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
    pf_split_lot *l = user;
    const pf_split *x = &l->s->split;
    l->range_counted = true; /* the other pass has noted the processes */
    if (!pf_split_zone_part(x, z, sequence, &l->range_part, &l->range_key))
        return PF_NEED_ALL;
    const uint32_t k = l->range_part - l->first;
    if (k >= l->n)
        return PF_NEED_COUNT; /* what is apart may be needed here */
    /* Without side-band each FINISHED_ROUND has a part of its own. */
    if (l->passed != PERFILE_OK || l->fragments.records.len || !pf_zone_plain_samples(z) ||
        (z->apart && !x->state) || !pf_copy_wants_stored(&l->at[k].copy, z))
        return PF_NEED_ALL;
    l->range_end = sequence + z->records;
    return z->apart ? PF_NEED_STORED_SIDEBAND : PF_NEED_STORED;
}

/* pf_narrow.stored. */
static void give(void *user, const pf_stored *range)
{
    pf_split_lot *l = user;
    pf_split_output *o = &l->at[l->range_part - l->first];
    l->given = o;
    l->given_end = l->range_end;
    l->s->split.key = l->range_key;
    o->filter->result.kept += range->records;
    if (l->passed == PERFILE_OK)
        l->passed = pf_split_grew(l->s, range->bytes, &l->passed_error);
    if (l->passed == PERFILE_OK)
        l->passed = pf_copy_stored(&o->copy, range, &l->passed_error);
}

void pf_split_narrow_lot(pf_split_lot *l, bool writes)
{
    l->narrow = (pf_narrow){
        .needs = writes ? needs_written : needs_noted, .passed = pass, .stored = give, .user = l};
    pf_stream_narrow(l->stream, &l->narrow);
}

perfile_status pf_split_lot_status(const pf_split_lot *l, perfile_error *err)
{
    if (l->passed != PERFILE_OK && err)
        *err = l->passed_error;
    return l->passed;
}
