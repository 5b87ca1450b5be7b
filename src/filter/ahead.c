/* Samples that are tested before the stream makes records of them.
 *
 * pf_run_peek() shows runs of samples with one layout where they lie in memory. Terms on fields at
 * fixed offsets can be tested there, and samples of which none is selected are skipped: framing is
 * most of the cost of a sample that is dropped. */
#include "filter/filter.h"

/* True if all terms test fields at fixed offsets. */
static bool tests_fixed_fields_only(const pf_filter *x)
{
    return x->given && !(x->given & ~pf_place_kinds()) && x->resolved;
}

perfile_status pf_filter_select_ahead(pf_filter *x, perfile_stream *s, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    pf_peeked peeked;
    pf_run run;
    while (st == PERFILE_OK && tests_fixed_fields_only(x) && pf_run_peek(s, &peeked, &run)) {
        pf_filter_report_progress(x, run.first);
        st = pf_filter_select_run(x, &run, err);
        s->ops->skip(s, peeked.n, peeked.n * peeked.size);
    }
    return st;
}

/* True if samples may be tested here and again as records if one is selected. Not with --every and
 * --head, which count what they test. */
static bool may_drop(const pf_filter *x)
{
    /* The bits of the selecting pass answer again and again. */
    if (x->selection_known && !x->selected.incomplete)
        return x->resolved;
    return !x->selection_known && tests_fixed_fields_only(x) && x->options.every < 2 &&
           !x->options.head;
}

/* Skips a range in which the selecting pass selected nothing. */
static void skip_unselected_range(pf_filter *x, perfile_stream *below)
{
    pf_record_range passed;
    if (!x->selection_known || !may_drop(x) || !pf_stretches_skip(&x->unselected, below, &passed))
        return;
    x->result.records += passed.records;
    pf_filter_report_progress(x, &(perfile_record){.part = passed.part,
                                                   .sequence = passed.sequence + passed.records,
                                                   .offset = passed.offset + passed.bytes});
}

/* Stops before the first run with a selected sample: that has to become records. Counts what it
 * drops just as the stage would. */
perfile_status pf_filter_drop_ahead(pf_filter *x, perfile_stream *below, perfile_error *err)
{
    pf_peeked peeked;
    pf_run run;
    skip_unselected_range(x, below);
    while (may_drop(x) && pf_run_peek(below, &peeked, &run)) {
        uint64_t selected;
        perfile_status st = pf_filter_select(x, &run, &selected, err);
        if (st != PERFILE_OK || selected)
            return st;
        if (!x->selection_known)
            st = pf_filter_count(x, &run, 0, err);
        if (st != PERFILE_OK)
            return st;
        pf_filter_count_run(x, &run, 0, 0);
        pf_filter_report_progress(x, run.first);
        below->ops->skip(below, peeked.n, peeked.n * peeked.size);
    }
    return PERFILE_OK;
}
