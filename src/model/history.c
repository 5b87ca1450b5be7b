#include "model/history.h"

#include <string.h>

#include "base/alloc.h"

enum { TAIL = 64 };

static bool before(const pf_change *a, const pf_change *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    if (a->time != b->time)
        return a->time < b->time;
    return a->sequence < b->sequence;
}

/* Whether two changes differ in nothing but when they were said. */
static bool repeats(const pf_change *a, const pf_change *b)
{
    return a->key == b->key && a->time == b->time && a->value == b->value && a->pid == b->pid &&
           a->flags == b->flags;
}

/* Keeps the last of changes that repeat each other, in the last run. */
static void drop_repeats(pf_history *h)
{
    size_t kept = h->begin[h->n_runs - 1];
    for (size_t i = kept; i < h->sorted; i++)
        if (i + 1 == h->sorted || !repeats(&h->all[i], &h->all[i + 1]))
            h->all[kept++] = h->all[i];
    h->n = h->sorted = kept;
}

static size_t run_end(const pf_history *h, unsigned run)
{
    return run + 1 < h->n_runs ? h->begin[run + 1] : h->sorted;
}

/* Merges the last two runs.  The scratch, as long as the shorter one, is there. */
static void merge_last(pf_history *h)
{
    pf_change *a = h->all + h->begin[h->n_runs - 2];
    pf_change *b = h->all + h->begin[h->n_runs - 1];
    pf_change *end = h->all + h->sorted;
    h->n_runs--;
    if (a == b || b == end)
        return;
    if (!before(b, b - 1)) {
        /* In order as they stand: only where they meet may one repeat the other. */
        if (repeats(b - 1, b)) {
            memmove(b - 1, b, (size_t)(end - b) * sizeof *b);
            h->n = --h->sorted;
        }
        return;
    }

    /* From behind: the second run is the shorter one and waits in the scratch. */
    size_t n = (size_t)(end - b);
    memcpy(h->scratch, b, n * sizeof *b);
    pf_change *from_a = b;
    pf_change *from_b = h->scratch + n;
    while (from_b > h->scratch) {
        if (from_a > a && before(from_b - 1, from_a - 1))
            *--end = *--from_a;
        else
            *--end = *--from_b;
    }
    drop_repeats(h);
}

static bool scratch_for(pf_history *h, size_t n)
{
    if (h->scratch_cap >= n)
        return true;
    pf_change *p = pf_realloc(h->scratch, n, sizeof *p); /* work space is not charged */
    if (!p)
        return false;
    h->scratch = p;
    h->scratch_cap = n;
    return true;
}

/* Makes a run of the tail.  Memory is asked for before anything moves. */
static bool flush(pf_history *h, bool whole)
{
    size_t tail = h->n - h->sorted;
    /* What the second of two merged runs can come to. */
    size_t n = tail;
    for (unsigned i = h->n_runs; i-- > 0;) {
        size_t length = run_end(h, i) - h->begin[i];
        if (!whole && length > 2 * n)
            break;
        if (!scratch_for(h, n))
            return false;
        n += length;
    }

    if (tail) {
        pf_change *t = h->all + h->sorted;
        for (size_t i = 1; i < tail; i++) {
            pf_change c = t[i];
            size_t at = i;
            for (; at > 0 && before(&c, &t[at - 1]); at--)
                t[at] = t[at - 1];
            t[at] = c;
        }
        h->begin[h->n_runs++] = h->sorted;
        h->sorted = h->n;
        drop_repeats(h);
    }
    while (h->n_runs > 1) {
        size_t last = run_end(h, h->n_runs - 1) - h->begin[h->n_runs - 1];
        size_t prior = h->begin[h->n_runs - 1] - h->begin[h->n_runs - 2];
        if (!whole && prior > 2 * last)
            break;
        merge_last(h);
    }
    return true;
}

bool pf_history_add(pf_history *h, const pf_change *c)
{
    if (h->n > h->sorted && repeats(&h->all[h->n - 1], c)) {
        h->all[h->n - 1].sequence = c->sequence;
        return true;
    }
    if (h->n - h->sorted == TAIL && !flush(h, false))
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

/* The last of all[from .. to), sorted, that is not behind (key, time); `to` when there is none. */
static size_t floor_in(const pf_history *h, size_t from, size_t to, uint64_t key, uint64_t time)
{
    size_t low = from;
    size_t high = to;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const pf_change *c = &h->all[mid];
        if (c->key < key || (c->key == key && c->time <= time))
            low = mid + 1;
        else
            high = mid;
    }
    return low > from && h->all[low - 1].key == key ? low - 1 : to;
}

const pf_change *pf_history_floor(const pf_history *h, uint64_t key, uint64_t time)
{
    const pf_change *best = NULL;
    for (size_t i = h->sorted; i < h->n; i++) {
        const pf_change *c = &h->all[i];
        if (c->key == key && c->time <= time && (!best || before(best, c)))
            best = c;
    }
    for (unsigned i = 0; i < h->n_runs; i++) {
        size_t end = run_end(h, i);
        size_t at = floor_in(h, h->begin[i], end, key, time);
        if (at < end && (!best || before(best, &h->all[at])))
            best = &h->all[at];
    }
    return best;
}

bool pf_history_settle(pf_history *h)
{
    return flush(h, true);
}

size_t pf_history_lower(const pf_history *h, uint64_t key, uint64_t time)
{
    size_t low = 0;
    size_t high = h->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const pf_change *c = &h->all[mid];
        if (c->key < key || (c->key == key && c->time < time))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void pf_history_free(pf_history *h)
{
    pf_budget_free(h->budget, h->all, h->cap, sizeof *h->all);
    pf_free(h->scratch);
    *h = (pf_history){0};
}
