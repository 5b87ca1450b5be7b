/* Which FINISHED_ROUND records are passed on.
 *
 * A FINISHED_ROUND says that readers may sort and hand out what they hold.  Where everything in
 * front of it was dropped, there is nothing to hand out: a short slice of a recording of many
 * processors would consist of little else.  So one is dropped if records in front of it were
 * dropped, and none was kept, since the last one that was kept.  One that directly follows another
 * stays, so that without dropped records the result is the capture.  Filters one after the other
 * drop the same ones as a filter with the terms of both.
 *
 * Readers that get fewer of them hold records for longer, which changes no order. */
#include "filter/filter.h"

static bool is_round(const perfile_record *r)
{
    return r->type == PERFILE_RECORD_FINISHED_ROUND && r->family == PERFILE_FAMILY_PERF;
}

/* Notes what became of the records `of` of a run. */
static void note(pf_filter *x, uint64_t of, uint64_t keep)
{
    x->round_has_kept |= (of & keep) != 0;
    x->round_has_dropped |= (of & ~keep) != 0;
}

static void begin_round(pf_filter *x)
{
    x->round_has_kept = x->round_has_dropped = false;
}

void pf_filter_drop_rounds(pf_filter *x, const pf_run *run, uint64_t selected, uint64_t *keep)
{
    uint64_t rest = run->all; /* behind the last FINISHED_ROUND of the run */
    for (uint64_t left = *keep & ~run->samples; left; left &= left - 1) {
        const uint64_t bit = left & -left;
        if (!is_round(&run->first[__builtin_ctzll(left)]))
            continue;
        note(x, rest & (bit - 1), *keep);
        if (x->round_has_dropped && !x->round_has_kept && !(selected & bit))
            *keep &= ~bit;
        else
            begin_round(x);
        rest &= ~(bit | (bit - 1));
    }
    note(x, rest, *keep);
}

/* Of such a range nothing but FINISHED_ROUNDs is shown; its samples are passed over. */
bool pf_filter_note_given(pf_filter *x, const pf_run *run)
{
    if (run->first->sequence >= x->given_to)
        return false;
    begin_round(x);
    return true;
}

void pf_filter_note_passed(pf_filter *x, uint64_t sequence)
{
    if (sequence < x->given_to)
        x->round_has_kept = true;
    else
        x->round_has_dropped = true;
}

bool pf_filter_drops_rounds(const pf_filter *x)
{
    return x->round_has_dropped && !x->round_has_kept && !x->holds;
}
