#include "model/space.h"

#include <stdlib.h>
#include <string.h>

/* Each span is in up to 2 log n lists, whose places are counted in 32 bits. */
enum { LARGEST_RUN = 1 << 25 };

static bool later(const pf_mapping_span *a, const pf_mapping_span *b)
{
    return a->time != b->time ? a->time > b->time : a->sequence > b->sequence;
}

static int by_time(const void *a, const void *b)
{
    const pf_mapping_span *x = a;
    const pf_mapping_span *y = b;
    return later(x, y) - later(y, x);
}

/* Whether two spans differ in nothing but when they were said. */
static bool repeats(const pf_mapping_span *a, const pf_mapping_span *b)
{
    return a->time == b->time && a->mapping == b->mapping && a->begin == b->begin &&
           a->end == b->end;
}

/* Brings spans that repeat each other together, the last one last. */
static int by_content(const void *a, const void *b)
{
    const pf_mapping_span *x = a;
    const pf_mapping_span *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->mapping != y->mapping)
        return x->mapping < y->mapping ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* Keeps the last of spans that repeat each other; returns how many are left. */
static uint32_t drop_repeats(pf_mapping_span *spans, uint32_t n)
{
    uint32_t kept = 0;
    qsort(spans, n, sizeof *spans, by_content);
    for (uint32_t i = 0; i < n; i++)
        if (i + 1 == n || !repeats(&spans[i], &spans[i + 1]))
            spans[kept++] = spans[i];
    return kept;
}

static int by_address(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return (*x > *y) - (*x < *y);
}

static void run_free(pf_budget *budget, pf_space_run *r)
{
    pf_budget_free(budget, r->spans, r->n, sizeof *r->spans);
    pf_budget_free(budget, r->points, (size_t)r->n * 2, sizeof *r->points);
    pf_budget_free(budget, r->first, 2 * (size_t)r->n_leaves + 1, sizeof *r->first);
    pf_budget_free(budget, r->lists, r->n_lists, sizeof *r->lists);
    *r = (pf_space_run){0};
}

/* The last point at or below `addr`, which is not below the first. */
static uint32_t leaf_of(const pf_space_run *r, uint64_t addr)
{
    uint32_t low = 0;
    uint32_t high = r->n_leaves;
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        if (r->points[mid] <= addr)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Calls for each node that makes up a span: counts, or puts `position` into its list. */
static void cover(pf_space_run *r, const pf_mapping_span *span, uint32_t position, bool put)
{
    uint32_t from = leaf_of(r, span->begin) + r->n_leaves;
    uint32_t to =
        (span->end == r->points[r->n_leaves] ? r->n_leaves : leaf_of(r, span->end)) + r->n_leaves;
    for (; from < to; from >>= 1, to >>= 1) {
        if (from & 1) {
            if (put)
                r->lists[r->first[from]] = position;
            r->first[from++]++;
        }
        if (to & 1) {
            --to;
            if (put)
                r->lists[r->first[to]] = position;
            r->first[to]++;
        }
    }
}

static bool make_points(pf_budget *budget, pf_space_run *r)
{
    r->points = pf_budget_alloc(budget, (size_t)r->n * 2, sizeof *r->points);
    if (!r->points)
        return false;
    for (uint32_t i = 0; i < r->n; i++) {
        r->points[2 * i] = r->spans[i].begin;
        r->points[2 * i + 1] = r->spans[i].end;
    }
    qsort(r->points, (size_t)r->n * 2, sizeof *r->points, by_address);
    uint32_t kept = 0;
    for (uint32_t i = 1; i < 2 * r->n; i++)
        if (r->points[i] != r->points[kept])
            r->points[++kept] = r->points[i];
    r->n_leaves = kept;
    return true;
}

/* Makes the tree over r->spans; false when there is no memory, or no room in the budget. */
static bool make_tree(pf_budget *budget, pf_space_run *r)
{
    qsort(r->spans, r->n, sizeof *r->spans, by_time);
    if (!make_points(budget, r))
        return false;
    uint32_t n_nodes = 2 * r->n_leaves;
    r->first = pf_budget_alloc(budget, (size_t)n_nodes + 1, sizeof *r->first);
    if (!r->first)
        return false;
    for (uint32_t i = 0; i < r->n; i++)
        cover(r, &r->spans[i], i, false);

    /* Counts become places where lists begin; filling moves them on, then they are set back. */
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n_nodes; i++) {
        uint32_t count = r->first[i];
        r->first[i] = sum;
        sum += count;
    }
    r->lists = pf_budget_alloc(budget, sum, sizeof *r->lists);
    if (!r->lists)
        return false;
    r->n_lists = sum;
    for (uint32_t i = 0; i < r->n; i++)
        cover(r, &r->spans[i], i, true);
    memmove(r->first + 1, r->first, (size_t)n_nodes * sizeof *r->first);
    r->first[0] = 0;
    return true;
}

/* The runs from `from` on and the tail become one. */
static bool merge(pf_space *s, uint32_t from)
{
    pf_space_run r = {.n = s->n_tail};
    for (uint32_t i = from; i < s->n_runs; i++)
        r.n += s->runs[i].n;
    r.spans = pf_budget_alloc(s->budget, r.n, sizeof *r.spans);
    if (!r.spans)
        return false;
    uint32_t n = 0;
    for (uint32_t i = from; i < s->n_runs; i++) {
        memcpy(r.spans + n, s->runs[i].spans, s->runs[i].n * sizeof *r.spans);
        n += s->runs[i].n;
    }
    memcpy(r.spans + n, s->tail, s->n_tail * sizeof *r.spans);
    if (s->repeated) {
        n = drop_repeats(r.spans, r.n);
        pf_budget_give(s->budget, (r.n - n) * sizeof *r.spans);
        r.n = n;
    }
    if (!make_tree(s->budget, &r)) {
        run_free(s->budget, &r);
        return false;
    }
    for (uint32_t i = from; i < s->n_runs; i++)
        run_free(s->budget, &s->runs[i]);
    s->runs[from] = r;
    s->n_runs = (uint16_t)(from + 1);
    s->n_tail = 0;
    return true;
}

static bool flush(pf_space *s)
{
    if (s->n_runs == PF_SPACE_RUNS)
        return false;
    if (!s->runs) {
        s->runs = pf_budget_alloc(s->budget, PF_SPACE_RUNS, sizeof *s->runs);
        if (!s->runs)
            return false;
    }
    uint32_t from = s->n_runs;
    for (uint64_t n = s->n_tail; from > 0 && s->runs[from - 1].n <= 2 * n; from--) {
        n += s->runs[from - 1].n;
        if (n > LARGEST_RUN)
            break;
    }
    return merge(s, from);
}

bool pf_space_add(pf_space *s, const pf_mapping_span *span, bool again)
{
    if (again && s->n_tail && repeats(&s->tail[s->n_tail - 1], span)) {
        s->tail[s->n_tail - 1].sequence = span->sequence;
        return true;
    }
    if (s->n_tail == PF_SPACE_TAIL && !flush(s))
        return false;
    if (s->n_tail == s->cap_tail) {
        unsigned cap = s->cap_tail ? s->cap_tail * 2U : 2;
        pf_mapping_span *tail =
            pf_budget_realloc(s->budget, s->tail, s->cap_tail, cap, sizeof *tail);
        if (!tail)
            return false;
        s->tail = tail;
        s->cap_tail = (uint8_t)cap;
    }
    s->repeated |= again;
    s->tail[s->n_tail++] = *span;
    return true;
}

/* The last of a node's list up to `time`. */
static const pf_mapping_span *floor_in(const pf_space_run *r, uint32_t node, uint64_t time)
{
    uint32_t low = r->first[node];
    uint32_t high = r->first[node + 1];
    uint32_t begin = low;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (r->spans[r->lists[mid]].time <= time)
            low = mid + 1;
        else
            high = mid;
    }
    return low > begin ? &r->spans[r->lists[low - 1]] : NULL;
}

const pf_mapping_span *pf_space_at(const pf_space *s, uint64_t addr, uint64_t time)
{
    const pf_mapping_span *best = NULL;
    for (uint32_t i = 0; i < s->n_tail; i++) {
        const pf_mapping_span *x = &s->tail[i];
        if (x->begin <= addr && addr < x->end && x->time <= time && (!best || later(x, best)))
            best = x;
    }
    for (uint32_t i = 0; i < s->n_runs; i++) {
        const pf_space_run *r = &s->runs[i];
        if (addr < r->points[0] || addr >= r->points[r->n_leaves])
            continue;
        for (uint32_t node = leaf_of(r, addr) + r->n_leaves; node >= 1; node >>= 1) {
            const pf_mapping_span *x = floor_in(r, node, time);
            if (x && (!best || later(x, best)))
                best = x;
        }
    }
    return best;
}

void pf_space_free(pf_space *s)
{
    for (uint32_t i = 0; i < s->n_runs; i++)
        run_free(s->budget, &s->runs[i]);
    pf_budget_free(s->budget, s->runs, PF_SPACE_RUNS, sizeof *s->runs);
    pf_budget_free(s->budget, s->tail, s->cap_tail, sizeof *s->tail);
    *s = (pf_space){0};
}
