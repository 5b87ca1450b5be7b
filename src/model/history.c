/* Changes over time in sorted runs (see history.h). */
#include "model/history.h"

#include <string.h>

#include "base/alloc.h"

enum { TAIL = 64 }; /* changes that are sorted by insertion and compared one by one in a query */

/* Returns true if `a` is before `b`, by key, time and sequence. */
static bool is_before(const pf_change *a, const pf_change *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    if (a->time != b->time)
        return a->time < b->time;
    return a->sequence < b->sequence;
}

/* Returns true if the changes differ only in their sequence numbers. */
static bool is_repetition(const pf_change *a, const pf_change *b)
{
    return a->key == b->key && a->time == b->time && a->value == b->value && a->pid == b->pid &&
           a->flags == b->flags;
}

/* Removes repetitions from the last run and keeps the latest of each.  The tail must be empty. */
static void drop_repeats(pf_history *h)
{
    size_t kept = h->run_begin[h->n_runs - 1];
    for (size_t i = kept; i < h->sorted; i++)
        if (i + 1 == h->sorted || !is_repetition(&h->all[i], &h->all[i + 1]))
            h->all[kept++] = h->all[i];
    h->n = h->sorted = kept;
}

/* Returns the end of run `run`: the start of the next run, or of the tail. */
static size_t run_end(const pf_history *h, unsigned run)
{
    return run + 1 < h->n_runs ? h->run_begin[run + 1] : h->sorted;
}

/* Merges the last two runs in place.  The scratch must have room for the last one. */
static void merge_last(pf_history *h)
{
    pf_change *a = h->all + h->run_begin[h->n_runs - 2];
    pf_change *b = h->all + h->run_begin[h->n_runs - 1];
    pf_change *end = h->all + h->sorted;
    h->n_runs--;
    if (a == b || b == end)
        return;
    if (!is_before(b, b - 1)) {
        /* Already in order: only the two changes at the boundary may be repetitions. */
        if (is_repetition(b - 1, b)) { /* keep the later one */
            memmove(b - 1, b, (size_t)(end - b) * sizeof *b);
            h->n = --h->sorted;
        }
        return;
    }

    /* Merge from the back: the last run is copied to the scratch, and the array is filled from its
     * end. */
    size_t n = (size_t)(end - b);
    memcpy(h->scratch, b, n * sizeof *b);
    pf_change *from_a = b;
    pf_change *from_b = h->scratch + n;
    while (from_b > h->scratch) {
        if (from_a > a && is_before(from_b - 1, from_a - 1))
            *--end = *--from_a;
        else
            *--end = *--from_b;
    }
    drop_repeats(h);
}

/* Makes room for `n` changes in the scratch. */
static bool reserve_scratch(pf_history *h, size_t n)
{
    if (h->scratch_cap >= n)
        return true;
    pf_change *p = pf_realloc(h->scratch, n, sizeof *p); /* not charged to the budget */
    if (!p)
        return false;
    h->scratch = p;
    h->scratch_cap = n;
    return true;
}

/* Makes the tail a run and merges runs until each is more than twice as long as the next, or with
 * `everything` until one is left.  Memory is allocated first, so that a failure changes nothing. */
static bool flush_tail(pf_history *h, bool everything)
{
    size_t tail = h->n - h->sorted;
    /* n: the most that the last run can have at each of the merges below. */
    size_t n = tail;
    for (unsigned i = h->n_runs; i-- > 0;) {
        size_t length = run_end(h, i) - h->run_begin[i];
        if (!everything && length > 2 * n)
            break;
        if (!reserve_scratch(h, n))
            return false;
        n += length;
    }

    /* Insertion sort: the tail is short, and changes mostly arrive in order. */
    if (tail) {
        pf_change *t = h->all + h->sorted;
        for (size_t i = 1; i < tail; i++) {
            pf_change c = t[i];
            size_t at = i;
            for (; at > 0 && is_before(&c, &t[at - 1]); at--)
                t[at] = t[at - 1];
            t[at] = c;
        }
        h->run_begin[h->n_runs++] = h->sorted;
        h->sorted = h->n;
        drop_repeats(h);
    }
    /* Cannot fail from here on: the scratch is large enough for every merge. */
    while (h->n_runs > 1) {
        size_t last = run_end(h, h->n_runs - 1) - h->run_begin[h->n_runs - 1];
        size_t prior = h->run_begin[h->n_runs - 1] - h->run_begin[h->n_runs - 2];
        if (!everything && prior > 2 * last)
            break;
        merge_last(h);
    }
    return true;
}

bool pf_history_add(pf_history *h, const pf_change *c)
{
    /* The most common repetition: the same change twice in a row. */
    if (h->n > h->sorted && is_repetition(&h->all[h->n - 1], c)) {
        h->all[h->n - 1].sequence = c->sequence;
        return true;
    }
    if (h->n - h->sorted == TAIL && !flush_tail(h, false))
        return false;
    if (h->n == h->cap) {
        size_t cap = h->cap ? h->cap + h->cap / 2 : TAIL;
        pf_change *all = pf_budget_realloc(h->budget, h->all, h->cap, cap, sizeof *all);
        if (!all)
            return false;
        h->all = all;
        h->cap = cap;
    }
    h->all[h->n++] = *c;
    return true;
}

/* Returns true if the change is of a key less than `key`, or of `key` at a time up to `time`. */
static bool is_up_to(const pf_change *c, uint64_t key, uint64_t time)
{
    return c->key < key || (c->key == key && c->time <= time);
}

/* Returns the position of the first change in the sorted all[from .. to) that is not is_up_to()
 * `key` and `time`. */
static size_t upper_bound_in(const pf_history *h, size_t from, size_t to, uint64_t key,
                             uint64_t time)
{
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (is_up_to(&h->all[mid], key, time))
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

/* The result of a search: the latest change up to a time and the first one after it; each may be
 * NULL. */
typedef struct around {
    const pf_change *floor, *next;
} around;

static void take(around *x, const pf_change *c, uint64_t time)
{
    if (c->time <= time && (!x->floor || is_before(x->floor, c)))
        x->floor = c;
    if (c->time > time && (!x->next || c->time < x->next->time))
        x->next = c;
}

const pf_change *pf_history_floor(const pf_history *h, uint64_t key, uint64_t time,
                                  const pf_change **next)
{
    around found = {0};
    for (size_t i = h->sorted; i < h->n; i++) /* the unsorted tail */
        if (h->all[i].key == key)
            take(&found, &h->all[i], time);
    for (unsigned i = 0; i < h->n_runs; i++) {
        const size_t from = h->run_begin[i], end = run_end(h, i);
        const size_t at = upper_bound_in(h, from, end, key, time);
        if (at > from && h->all[at - 1].key == key)
            take(&found, &h->all[at - 1], time);
        if (at < end && h->all[at].key == key)
            take(&found, &h->all[at], time);
    }
    if (next)
        *next = found.next;
    return found.floor;
}

bool pf_history_sort(pf_history *h)
{
    return flush_tail(h, true);
}

size_t pf_history_lower_bound(const pf_history *h, uint64_t key, uint64_t time)
{
    return time  ? upper_bound_in(h, 0, h->n, key, time - 1)
           : key ? upper_bound_in(h, 0, h->n, key - 1, UINT64_MAX)
                 : 0;
}

void pf_history_free(pf_history *h)
{
    pf_budget_free(h->budget, h->all, h->cap, sizeof *h->all);
    pf_free(h->scratch);
    *h = (pf_history){0};
}
