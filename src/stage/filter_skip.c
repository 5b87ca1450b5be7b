/* Samples that are dropped where they lie, before they are made records. */
#include "stage/filter.h"

/* Whether samples are selected by fields of fixed places alone, each for itself. */
static bool may_skip(const pf_filter *x)
{
    const uint32_t fixed = 1U << PERFILE_BY_TIME | 1U << PERFILE_BY_PID | 1U << PERFILE_BY_TID |
                           1U << PERFILE_BY_CPU | 1U << PERFILE_BY_IP;
    return x->given && !(x->given & ~fixed) && x->options.every < 2 && !x->options.head &&
           x->resolved && !x->chosen;
}

perfile_status pf_filter_skip(pf_filter *x, perfile_stream *below, perfile_error *err)
{
    pf_peeked peeked;
    pf_run run;
    if (!may_skip(x))
        return PERFILE_OK;
    while (pf_run_peek(below, &peeked, &run)) {
        uint64_t selected;
        perfile_status st = pf_filter_test(x, &run, run.all, &selected, err);
        if (st != PERFILE_OK || selected)
            return st;
        st = pf_filter_count(x, &run, 0, err);
        if (st != PERFILE_OK)
            return st;
        pf_filter_sum(x, &run, 0, 0);
        below->ops->skip(below, &peeked, peeked.n);
    }
    return PERFILE_OK;
}
