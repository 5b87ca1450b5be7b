/* Samples by label and time (see timeline.h).  Samples of a thread mostly come in order of time, so
 * that those of each label are gathered first, in the order in which they came, and sorted only
 * where they are not in order. */
#include "emit/export.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"

bool pf_timeline_add(pf_timeline *t, pf_profile *p, const pf_moment *m)
{
    if (t->n == t->cap) {
        const size_t cap = t->cap ? 2 * t->cap : 1024;
        pf_moment *at = pf_budget_realloc(&p->budget, t->at, t->cap, cap, sizeof *at);
        if (!at)
            return false;
        t->at = at;
        t->cap = cap;
    }
    t->at[t->n] = *m;
    t->at[t->n].sequence = t->n;
    t->n++;
    return true;
}

static int by_time(const void *a, const void *b)
{
    const pf_moment *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* Sorts the samples of a label, if they are not in order already. */
static void sort_label(pf_moment *at, size_t n)
{
    size_t i = 1;
    while (i < n && at[i - 1].time <= at[i].time)
        i++;
    if (i < n)
        qsort(at, n, sizeof *at, by_time);
}

perfile_status pf_timeline_sort(pf_timeline *t, pf_profile *p, perfile_error *err)
{
    t->n_labels = p->labels.n;
    t->begins = pf_alloc(t->n_labels + 2, sizeof *t->begins);
    pf_moment *sorted = pf_budget_alloc(&p->budget, t->n + 1, sizeof *sorted);
    if (!t->begins || !sorted) {
        pf_free(sorted);
        return pf_profile_fail(p, err);
    }
    /* Each label's number at its successor's place; summed up they are where the labels begin. */
    for (size_t i = 0; i < t->n; i++)
        t->begins[t->at[i].label + 2]++;
    for (size_t i = 2; i < t->n_labels + 2; i++)
        t->begins[i] += t->begins[i - 1];
    for (size_t i = 0; i < t->n; i++)
        sorted[t->begins[t->at[i].label + 1]++] = t->at[i];
    pf_free(t->at);
    t->at = sorted;
    for (size_t i = 0; i < t->n_labels; i++)
        sort_label(t->at + t->begins[i], t->begins[i + 1] - t->begins[i]);
    return PERFILE_OK;
}

void pf_timeline_free(pf_timeline *t)
{
    pf_free(t->at);
    pf_free(t->begins);
}
