/* Samples that are tested, or counted, before the stream makes records of them.
 *
 * pf_run_peek() shows runs of samples with one layout where they lie in memory. Terms on fields at
 * fixed offsets can be tested there, and samples of which none is selected are skipped: framing is
 * most of the cost of a sample that is dropped. Without terms it is most of the cost of all. */
#include "core/layout.h"
#include "filter/filter.h"

bool pf_filter_tests_fixed_fields(const pf_filter *x)
{
    return x->given && !(x->given & ~pf_place_kinds()) && x->resolved;
}

perfile_status pf_filter_select_ahead(pf_filter *x, perfile_stream *s, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    pf_peeked peeked;
    pf_run run;
    while (st == PERFILE_OK && pf_filter_tests_fixed_fields(x) && pf_run_peek(s, &peeked, &run)) {
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
    return !x->selection_known && pf_filter_tests_fixed_fields(x) && x->options.every < 2 &&
           !x->options.head;
}

/* Skips a range in which the selecting pass selected nothing. */
static void skip_unselected_range(pf_filter *x, perfile_stream *below)
{
    pf_record_range passed;
    if (!x->selection_known || !may_drop(x) || !pf_stretches_skip(&x->unselected, below, &passed))
        return;
    x->result.records += passed.records;
    x->round_has_dropped = true;
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
        x->round_has_dropped = true;
        pf_filter_report_progress(x, run.first);
        below->ops->skip(below, peeked.n, peeked.n * peeked.size);
    }
    return PERFILE_OK;
}

/* Adds the processes of the samples of a span, all of one size, with their pids at `word`. */
static bool add_processes(pf_filter *x, const pf_sample_span *all, size_t word)
{
    const uint8_t *pids = all->bytes.ptr + word;
    const uint32_t one = pf_load_u32(pids, false);
    uint32_t others = 0, last = PERFILE_NO_PID;
    bool ok = true;
    for (uint64_t i = 1; i < all->n; i++)
        others |= pf_load_u32(pids + i * all->size, false) ^ one;
    for (uint64_t i = 0; i < (others ? all->n : 1) && ok; i++) {
        const uint32_t pid = pf_load_u32(pids + i * all->size, false);
        ok = pid == last || pf_filter_add_process(x, pid);
        last = pid;
    }
    return ok;
}

/* The samples that come next, where they are of one size.  Of others the headers would have to be
 * read twice, one after the other, which costs more than to make records of them. */
static pf_sample_span span_of_one_size(perfile_stream *below, uint64_t most, size_t *slot)
{
    enum { MOST = 1024 }; /* they stay in the second-level cache */
    const pf_sample_span none = {0};
    pf_peeked peeked;
    pf_run run;
    if (!below->ops->span || !pf_run_peek(below, &peeked, &run) || peeked.n < PF_SPAN_WORTH ||
        peeked.n > most || run.even->sample_slot[PF_SLOT_TID] < 0)
        return none;
    *slot = (size_t)run.even->sample_slot[PF_SLOT_TID];
    pf_sample_span all = below->ops->span(below, most < MOST ? most : MOST);
    if (all.n < peeked.n)
        return none;
    if (!all.size) { /* they differ behind those that were shown */
        all.n = peeked.n;
        all.size = (uint16_t)peeked.size;
        all.bytes.len = peeked.n * peeked.size;
    }
    return all;
}

/* Where there was no span, looking for the next one waits: twice as long each time. */
pf_sample_span pf_filter_span_of_all(pf_filter *x, perfile_stream *below, uint64_t most)
{
    enum { MOST_WAIT = 31 }; /* runs */
    const pf_sample_span none = {0};
    size_t slot;
    if (x->span_wait) {
        x->span_wait--;
        return none;
    }
    const pf_sample_span all = span_of_one_size(below, most, &slot);
    x->span_waits = all.n ? 0 : 2 * x->span_waits + 1;
    x->span_waits = x->span_waits < MOST_WAIT ? x->span_waits : MOST_WAIT;
    x->span_wait = x->span_waits;
    /* The pid is the low half of the field TID. */
    if (all.n && !add_processes(x, &all, PF_PERF_RECORD_HEADER + 8 * slot))
        x->no_memory = true;
    return x->no_memory ? none : all;
}
