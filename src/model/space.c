/* Spans of addresses and times in segment trees (see space.h).
 *
 * Runs are merged as in a log-structured merge tree. flush_tail() makes the tail a run and merges
 * it with all preceding runs that are at most twice as long as the spans collected so far.  So each
 * remaining run is more than twice as long as the next, up to LARGEST_RUN. */
#include "model/space.h"

#include <stdlib.h>
#include <string.h>

/* The longest run made by merging: each span is in up to 2 log2(n) lists, and their elements are
 * counted in 32 bits. */
enum { LARGEST_RUN = 1 << 25 };

/* Returns true if `a` was mapped after `b`. */
static bool is_later(const pf_mapping_span *a, const pf_mapping_span *b)
{
    return a->time != b->time ? a->time > b->time : a->sequence > b->sequence;
}

/* qsort() order: by time, then sequence. */
static int compare_by_time(const void *a, const void *b)
{
    const pf_mapping_span *x = a;
    const pf_mapping_span *y = b;
    return is_later(x, y) - is_later(y, x);
}

/* Returns true if the spans differ only in their sequence numbers. */
static bool is_repetition(const pf_mapping_span *a, const pf_mapping_span *b)
{
    return a->time == b->time && a->mapping == b->mapping && a->begin == b->begin &&
           a->end == b->end;
}

/* qsort() order that puts repetitions next to each other, the latest last. */
static int compare_by_content(const void *a, const void *b)
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

/* Removes repetitions and keeps the latest of each.  Returns the number of remaining spans, which
 * are in order of content. */
static uint32_t drop_repeats(pf_mapping_span *spans, uint32_t n)
{
    uint32_t kept = 0;
    /* make_tree() sorts by time afterwards. */
    qsort(spans, n, sizeof *spans, compare_by_content);
    for (uint32_t i = 0; i < n; i++)
        if (i + 1 == n || !is_repetition(&spans[i], &spans[i + 1]))
            spans[kept++] = spans[i];
    return kept;
}

static int compare_addresses(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return (*x > *y) - (*x < *y);
}

/* Frees a run, even if it was only partly built, and returns its share of the budget. */
static void run_free(pf_budget *budget, pf_space_run *r)
{
    pf_budget_free(budget, r->spans, r->n, sizeof *r->spans);
    pf_budget_free(budget, r->bounds, (size_t)r->n * 2, sizeof *r->bounds);
    pf_budget_free(budget, r->list_start, 2 * (size_t)r->n_leaves + 1, sizeof *r->list_start);
    pf_budget_free(budget, r->lists, r->n_lists, sizeof *r->lists);
    *r = (pf_space_run){0};
}

/* Returns the number of the leaf that contains `addr`, which must not be less than the first bound.
 */
static uint32_t leaf_of(const pf_space_run *r, uint64_t addr)
{
    uint32_t low = 0;
    uint32_t high = r->n_leaves;
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        if (r->bounds[mid] <= addr)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Visits the nodes that together cover `span`, bottom-up from both ends, as iterative segment trees
 * do.  Without `fill` it counts the span in list_start[node].  With `fill` it writes `position` at
 * lists[list_start[node]] and advances list_start[node]. */
static void visit_cover(pf_space_run *r, const pf_mapping_span *span, uint32_t position, bool fill)
{
    uint32_t from = leaf_of(r, span->begin) + r->n_leaves;
    uint32_t to =
        (span->end == r->bounds[r->n_leaves] ? r->n_leaves : leaf_of(r, span->end)) + r->n_leaves;
    for (; from < to; from >>= 1, to >>= 1) {
        if (from & 1) {
            if (fill)
                r->lists[r->list_start[from]] = position;
            r->list_start[from++]++;
        }
        if (to & 1) {
            --to;
            if (fill)
                r->lists[r->list_start[to]] = position;
            r->list_start[to]++;
        }
    }
}

/* Fills `bounds` with the sorted, distinct begins and ends of all spans.  The array keeps room for
 * 2n addresses, because that size is charged to the budget. */
static bool make_bounds(pf_budget *budget, pf_space_run *r)
{
    r->bounds = pf_budget_alloc(budget, (size_t)r->n * 2, sizeof *r->bounds);
    if (!r->bounds)
        return false;
    for (uint32_t i = 0; i < r->n; i++) {
        r->bounds[2 * i] = r->spans[i].begin;
        r->bounds[2 * i + 1] = r->spans[i].end;
    }
    qsort(r->bounds, (size_t)r->n * 2, sizeof *r->bounds, compare_addresses);
    uint32_t kept = 0;
    for (uint32_t i = 1; i < 2 * r->n; i++)
        if (r->bounds[i] != r->bounds[kept])
            r->bounds[++kept] = r->bounds[i];
    r->n_leaves = kept;
    return true;
}

/* Builds the tree over r->spans: counts the length of each node's list, turns counts into starts,
 * then fills the lists in order of time.  Returns false when out of memory or the budget is
 * exhausted; the caller then frees the incomplete run. */
static bool make_tree(pf_budget *budget, pf_space_run *r)
{
    qsort(r->spans, r->n, sizeof *r->spans, compare_by_time);
    if (!make_bounds(budget, r))
        return false;
    uint32_t n_nodes = 2 * r->n_leaves;
    r->list_start = pf_budget_alloc(budget, (size_t)n_nodes + 1, sizeof *r->list_start);
    if (!r->list_start)
        return false;
    for (uint32_t i = 0; i < r->n; i++)
        visit_cover(r, &r->spans[i], i, false);

    /* Counts become the starts of lists. */
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n_nodes; i++) {
        uint32_t count = r->list_start[i];
        r->list_start[i] = sum;
        sum += count;
    }
    r->lists = pf_budget_alloc(budget, sum, sizeof *r->lists);
    if (!r->lists)
        return false;
    r->n_lists = sum;
    for (uint32_t i = 0; i < r->n; i++)
        visit_cover(r, &r->spans[i], i, true);
    /* Filling advanced each start to the end of its list, which is the start of the next one. */
    memmove(r->list_start + 1, r->list_start, (size_t)n_nodes * sizeof *r->list_start);
    r->list_start[0] = 0;
    return true;
}

/* Replaces the runs from `from` on, and the tail, by one run.  On failure nothing changes. */
static bool merge_runs(pf_space *s, uint32_t from)
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
        /* run_free() will return the budget of r.n spans only; the array itself does not shrink. */
        pf_budget_refund(s->budget, (r.n - n) * sizeof *r.spans);
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

/* Makes the tail a run, merged with preceding runs that are not much longer. */
static bool flush_tail(pf_space *s)
{
    if (s->n_runs == PF_SPACE_RUNS)
        return false;
    if (!s->runs) {
        s->runs = pf_budget_alloc(s->budget, PF_SPACE_RUNS, sizeof *s->runs);
        if (!s->runs)
            return false;
    }
    /* n: number of spans collected so far. */
    uint32_t from = s->n_runs;
    for (uint64_t n = s->n_tail; from > 0 && s->runs[from - 1].n <= 2 * n; from--) {
        n += s->runs[from - 1].n;
        if (n > LARGEST_RUN)
            break;
    }
    return merge_runs(s, from);
}

bool pf_space_add(pf_space *s, const pf_mapping_span *span, bool may_repeat)
{
    /* The most common repetition: the same span twice in a row.  Only the sequence is updated. */
    if (may_repeat && s->n_tail && is_repetition(&s->tail[s->n_tail - 1], span)) {
        s->tail[s->n_tail - 1].sequence = span->sequence;
        return true;
    }
    if (s->n_tail == PF_SPACE_TAIL && !flush_tail(s))
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
    s->repeated |= may_repeat;
    s->tail[s->n_tail++] = *span;
    return true;
}

/* Returns the position in r->lists of the first span of `node` that is later than `time`, or the
 * end of the node's list if there is none. */
static uint32_t later_in(const pf_space_run *r, uint32_t node, uint64_t time)
{
    uint32_t low = r->list_start[node];
    uint32_t high = r->list_start[node + 1];
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (r->spans[r->lists[mid]].time <= time)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Returns the latest span in the list of `node` with a time up to `time`, or NULL. */
static const pf_mapping_span *floor_in(const pf_space_run *r, uint32_t node, uint64_t time)
{
    uint32_t at = later_in(r, node, time);
    return at > r->list_start[node] ? &r->spans[r->lists[at - 1]] : NULL;
}

const pf_mapping_span *pf_space_find(const pf_space *s, uint64_t addr, uint64_t time)
{
    const pf_mapping_span *best = NULL;
    for (uint32_t i = 0; i < s->n_tail; i++) {
        const pf_mapping_span *x = &s->tail[i];
        if (x->begin <= addr && addr < x->end && x->time <= time && (!best || is_later(x, best)))
            best = x;
    }
    for (uint32_t i = 0; i < s->n_runs; i++) {
        const pf_space_run *r = &s->runs[i];
        if (addr < r->bounds[0] || addr >= r->bounds[r->n_leaves])
            continue;
        /* Each node on the way to the root has other spans that cover the address. */
        for (uint32_t node = leaf_of(r, addr) + r->n_leaves; node >= 1; node >>= 1) {
            const pf_mapping_span *x = floor_in(r, node, time);
            if (x && (!best || is_later(x, best)))
                best = x;
        }
    }
    return best;
}

/* Narrows [*low, *high] to the addresses on the same side of `begin` and of `end` as `addr`. */
static void narrow(uint64_t begin, uint64_t end, uint64_t addr, uint64_t *low, uint64_t *high)
{
    const uint64_t edges[] = {begin, end};
    for (unsigned i = 0; i < 2; i++) {
        if (edges[i] <= addr && edges[i] > *low)
            *low = edges[i];
        if (edges[i] > addr && edges[i] - 1 < *high)
            *high = edges[i] - 1;
    }
}

/* Returns the time of the first span in the list of `node` that is later than `time`, UINT64_MAX if
 * there is none. */
static uint64_t next_in(const pf_space_run *r, uint32_t node, uint64_t time)
{
    uint32_t at = later_in(r, node, time);
    return at < r->list_start[node + 1] ? r->spans[r->lists[at]].time : UINT64_MAX;
}

void pf_space_reach(const pf_space *s, uint64_t addr, uint64_t time, uint64_t *low, uint64_t *high,
                    uint64_t *next)
{
    for (uint32_t i = 0; i < s->n_tail; i++) {
        const pf_mapping_span *x = &s->tail[i];
        narrow(x->begin, x->end, addr, low, high);
        if (x->begin <= addr && addr < x->end && x->time > time && x->time < *next)
            *next = x->time;
    }
    for (uint32_t i = 0; i < s->n_runs; i++) {
        const pf_space_run *r = &s->runs[i];
        if (addr < r->bounds[0] || addr >= r->bounds[r->n_leaves]) {
            narrow(r->bounds[0], r->bounds[r->n_leaves], addr, low, high);
            continue;
        }
        uint32_t leaf = leaf_of(r, addr);
        narrow(r->bounds[leaf], r->bounds[leaf + 1], addr, low, high);
        for (uint32_t node = leaf + r->n_leaves; node >= 1; node >>= 1) {
            uint64_t later = next_in(r, node, time);
            *next = later < *next ? later : *next;
        }
    }
}

void pf_space_free(pf_space *s)
{
    for (uint32_t i = 0; i < s->n_runs; i++)
        run_free(s->budget, &s->runs[i]);
    pf_budget_free(s->budget, s->runs, PF_SPACE_RUNS, sizeof *s->runs);
    pf_budget_free(s->budget, s->tail, s->cap_tail, sizeof *s->tail);
    *s = (pf_space){0};
}
