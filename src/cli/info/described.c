/* Samples of an archive that `info` counts by their descriptions, without decoding them.
 *
 * A description has processes and threads apart, and may name some that no side-band says anything
 * of: which thread is of which process is known then only by reading the samples.  That is found
 * out at the end, and the capture is read again without descriptions. */
#include <stdlib.h>
#include <string.h>

#include "cli/info/info.h"

/* Appends numbers to a list; false if there is no memory. */
static bool append(cli_info_numbers *all, const uint32_t *numbers, uint32_t n)
{
    if (!n)
        return true;
    if (all->n + n > all->cap) {
        const size_t cap = 2 * (all->n + n);
        uint32_t *at = realloc(all->at, cap * sizeof *at);
        if (!at)
            return false;
        all->at = at;
        all->cap = cap;
    }
    memcpy(all->at + all->n, numbers, n * sizeof *numbers);
    all->n += n;
    return true;
}

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Sorts, and leaves each number once. */
static void sort(cli_info_numbers *all)
{
    size_t n = 0;
    if (all->n)
        qsort(all->at, all->n, sizeof *all->at, compare);
    for (size_t i = 0; i < all->n; i++)
        if (i == 0 || all->at[i] != all->at[i - 1])
            all->at[n++] = all->at[i];
    all->n = n;
}

/* Descriptions of many chunks mostly name the same tasks. */
static bool add_tasks(cli_info_facts *x, const perfile_described *d)
{
    enum { SORTED_AT = 1 << 16 };
    if (x->described_pids.n + x->described_tids.n > SORTED_AT) {
        sort(&x->described_pids);
        sort(&x->described_tids);
    }
    return append(&x->described_pids, d->pids, d->n_pids) &&
           append(&x->described_tids, d->tids, d->n_tids);
}

/* True if a list that is not known is not missed: no sample has the field. */
static bool is_known(const cli_info_facts *x, const perfile_described *d, const uint32_t *list,
                     uint64_t field)
{
    bool has = false;
    for (uint32_t i = 0; i < d->n_events; i++)
        has |= (perfile_session_event(x->session, (uint32_t)d->events[i].index)->attr->sample_type &
                field) != 0;
    return list || !has;
}

static bool enough(void *user, const perfile_described *d)
{
    cli_info_facts *x = user;
    uint64_t samples = 0;
    const uint32_t n = perfile_session_n_events(x->session);
    /* Time 0 counts for none, and hides what is the least other one. */
    if (d->first_time == PERFILE_NO_TIME || d->first_time == 0)
        return false;
    for (uint32_t i = 0; i < d->n_events; i++)
        if (d->events[i].index >= n)
            return false;
    if (!is_known(x, d, d->cpus, PERFILE_SAMPLE_CPU) ||
        !is_known(x, d, d->pids, PERFILE_SAMPLE_TID))
        return false;
    if (!cli_info_grow_events(x, n) || !add_tasks(x, d))
        return false;
    for (uint32_t i = 0; i < d->n_events; i++) {
        x->events[d->events[i].index].records += d->events[i].samples;
        x->events[d->events[i].index].samples += d->events[i].samples;
        samples += d->events[i].samples;
    }
    x->other.records += d->samples - samples;
    x->other.samples += d->samples - samples;
    x->samples += d->samples;
    cli_info_widen(x, d->first_time);
    cli_info_widen(x, d->last_time);
    for (uint32_t i = 0; i < d->n_cpus; i++)
        cli_info_mark_cpu(x, d->cpus[i]);
    return true;
}

void cli_info_describe(cli_info_facts *x)
{
    x->described = perfile_stream_describe(x->in.stream, enough, x);
}

/* True if all numbers are in `known`. */
static bool are_known(cli_info_numbers *all, cli_info_numbers *known)
{
    sort(all);
    sort(known);
    size_t k = 0;
    for (size_t i = 0; i < all->n; i++) {
        while (k < known->n && known->at[k] < all->at[i])
            k++;
        if (k == known->n || known->at[k] != all->at[i])
            return false;
    }
    return true;
}

bool cli_info_is_complete(cli_info_facts *x)
{
    const perfile_thread *all;
    cli_info_numbers pids = {0}, tids = {0};
    size_t n;
    bool ok = true;
    if (!x->described || !(x->described_pids.n + x->described_tids.n))
        return true;
    if (perfile_model_threads(x->model, &all, &n, NULL) != PERFILE_OK)
        return false;
    for (size_t i = 0; i < n && ok; i++)
        ok = append(&pids, &all[i].pid, 1) && append(&tids, &all[i].tid, 1);
    ok = ok && are_known(&x->described_pids, &pids) && are_known(&x->described_tids, &tids);
    free(pids.at);
    free(tids.at);
    return ok;
}
