/* Samples that are looked at where they lie, before they are made records. */
#include "filter/filter.h"

/* Whether fields of fixed places say what of them is selected. */
static bool by_places(const pf_filter *x)
{
    return x->given && !(x->given & ~pf_place_kinds()) && x->resolved;
}

perfile_status pf_filter_choose_ahead(pf_filter *x, perfile_stream *s, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    pf_peeked peeked;
    pf_run run;
    while (st == PERFILE_OK && by_places(x) && pf_run_peek(s, &peeked, &run)) {
        pf_filter_tell(x, run.first);
        st = pf_filter_choose(x, &run, err);
        s->ops->skip(s, peeked.n, peeked.n * peeked.size);
    }
    return st;
}

/* Whether a sample can be tested twice, now and when it is a record. */
static bool may_drop(const pf_filter *x)
{
    if (x->chosen && !x->bits_full)
        return x->resolved;
    return !x->chosen && by_places(x) && x->options.every < 2 && !x->options.head;
}

/* What a pass has found nothing in is not looked at. */
static void pass_over(pf_filter *x, perfile_stream *below)
{
    pf_stretch passed;
    if (!x->chosen || !may_drop(x) || !pf_stretches_pass(&x->unwanted, below, &passed))
        return;
    x->result.records += passed.records;
    pf_filter_tell(x, &(perfile_record){.part = passed.part,
                                        .sequence = passed.sequence + passed.records,
                                        .offset = passed.offset + passed.bytes});
}

perfile_status pf_filter_drop_ahead(pf_filter *x, perfile_stream *below, perfile_error *err)
{
    pf_peeked peeked;
    pf_run run;
    pass_over(x, below);
    while (may_drop(x) && pf_run_peek(below, &peeked, &run)) {
        uint64_t selected;
        perfile_status st = pf_filter_select(x, &run, &selected, err);
        if (st != PERFILE_OK || selected)
            return st;
        if (!x->chosen)
            st = pf_filter_count(x, &run, 0, err);
        if (st != PERFILE_OK)
            return st;
        pf_filter_sum(x, &run, 0, 0);
        pf_filter_tell(x, run.first);
        below->ops->skip(below, peeked.n, peeked.n * peeked.size);
    }
    return PERFILE_OK;
}
