/* Sets and ranges: `name in {1, 2, 7..9}`.
 *
 * The members are collected at the end of the pool of ranges or texts, then sorted, so that testing
 * can use binary search.  A set that is one range in the end becomes a RANGE step. */
#include "expr/parse.h"

#include "expr/fetch.h"
#include "expr/program.h"

void pf_code_set_begin(const pf_compiler *c, pf_code_set *set)
{
    *set = (pf_code_set){.first = c->e->n_ranges};
}

/* Adds a range to the pool. */
static bool add_range(pf_compiler *c, pf_number lo, pf_number hi)
{
    perfile_expr *e = c->e;
    void *items = e->ranges;
    pf_range *r = pf_expr_grow(&items, &e->n_ranges, &e->ranges_cap, sizeof *r);
    e->ranges = items;
    if (!r)
        return pf_code_fail_nomem(c);
    *r = (pf_range){lo, hi};
    return true;
}

/* Adds the value of all ones for each width (2, 4, 8 bytes), which -1 also means. */
static bool add_all_ones(pf_compiler *c, unsigned widths)
{
    for (unsigned width = 2; width <= 8; width *= 2) {
        pf_number ones = {UINT64_MAX >> (64 - 8 * width), false};
        if (widths & width && !add_range(c, ones, ones))
            return false;
    }
    return true;
}

/* Adds a text to the pool. */
static bool add_text(pf_compiler *c, pf_code_set *set, const pf_operand *lo, const pf_operand *hi)
{
    uint32_t position;
    if (hi)
        return pf_code_fail(c, lo->at, PERFILE_E_USAGE, "a range needs numbers, not text");
    if (!pf_code_text(c, lo, false, &position))
        return false;
    if (!set->texts)
        set->first = position;
    set->texts = true;
    return true;
}

bool pf_code_set_add(pf_compiler *c, pf_code_set *set, pf_operand *a, pf_operand *lo,
                     pf_operand *hi)
{
    if (!pf_code_resolve_word(c, a, lo) || (hi && (!pf_code_resolve_word(c, a, hi))))
        return false;
    if (lo->what == PF_IS_TEXT ? set->numbers : set->texts)
        return pf_code_fail(c, lo->at, PERFILE_E_USAGE,
                            "a set holds either numbers or texts, not both");
    if (lo->what == PF_IS_TEXT)
        return add_text(c, set, lo, hi);
    if (lo->what != PF_IS_NUMBER || (hi && hi->what != PF_IS_NUMBER))
        return pf_code_fail(c, lo->what != PF_IS_NUMBER ? lo->at : hi->at, PERFILE_E_USAGE,
                            "a constant is needed");
    pf_number end = hi ? hi->number : lo->number;
    if (pf_number_compare(lo->number, end) > 0)
        return pf_code_fail(c, lo->at, PERFILE_E_USAGE, "the range ends before it begins");
    set->numbers = true;
    /* -1 also means "none" in fields of processes, threads and processors. */
    if (!hi && pf_code_is_minus_one(lo) && a->what == PF_IS_NAME &&
        (!pf_code_find_class(c, a, PERFILE_EXPR_NUMBER) ||
         !add_all_ones(c, pf_expr_none_widths(c->e, &c->e->slots[a->slot]))))
        return false;
    return add_range(c, lo->number, end);
}

/* Heap sort of items in a pool: qsort() of C libraries may allocate memory, and can be slow for an
 * order that an attacker chooses. */
typedef struct items {
    perfile_expr *e;
    uint32_t first;
    bool (*less)(const perfile_expr *e, uint32_t a, uint32_t b);
    void (*swap)(perfile_expr *e, uint32_t a, uint32_t b);
} items;

/* Moves the item at `at` of the heap of n items down to its place. */
static void sift(const items *it, uint32_t at, uint32_t n)
{
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        uint32_t here = it->first + at, low = it->first + child;
        if (child + 1 < n && it->less(it->e, low, low + 1)) {
            child++;
            low++;
        }
        if (!it->less(it->e, here, low))
            return;
        it->swap(it->e, here, low);
    }
}

static void sort(const items *it, uint32_t n)
{
    for (uint32_t i = n / 2; i-- > 0;)
        sift(it, i, n);
    for (uint32_t end = n; end-- > 1;) {
        it->swap(it->e, it->first, it->first + end);
        sift(it, 0, end);
    }
}

static bool range_less(const perfile_expr *e, uint32_t a, uint32_t b)
{
    return pf_number_compare(e->ranges[a].lo, e->ranges[b].lo) < 0;
}

static void range_swap(perfile_expr *e, uint32_t a, uint32_t b)
{
    pf_range r = e->ranges[a];
    e->ranges[a] = e->ranges[b];
    e->ranges[b] = r;
}

static bool text_less(const perfile_expr *e, uint32_t a, uint32_t b)
{
    return pf_expr_bytes_compare(pf_span_text(e, a), pf_span_text(e, b)) < 0;
}

static void text_swap(perfile_expr *e, uint32_t a, uint32_t b)
{
    pf_text_span s = e->spans[a];
    e->spans[a] = e->spans[b];
    e->spans[b] = s;
}

/* Sorts the ranges from `first` on, and joins those that overlap or follow each other.  There is at
 * least one. */
static void join_ranges(perfile_expr *e, uint32_t first)
{
    pf_range *r = e->ranges + first;
    uint32_t n = e->n_ranges - first, kept = 0;
    sort(&(items){e, first, range_less, range_swap}, n);
    for (uint32_t i = 1; i < n; i++) {
        pf_number behind;
        /* If there is no number above r[kept].hi, it includes all that follow. */
        bool more = pf_expr_calculate(PF_STEP_ADD, r[kept].hi, (pf_number){1, false}, &behind);
        if (more && pf_number_compare(r[i].lo, behind) > 0)
            r[++kept] = r[i];
        else if (pf_number_compare(r[i].hi, r[kept].hi) > 0)
            r[kept].hi = r[i].hi;
    }
    e->n_ranges = first + kept + 1;
}

/* Ends a set of texts. */
static bool text_set_end(pf_compiler *c, const pf_code_set *set, pf_operand *a)
{
    if (a->what != PF_IS_NAME)
        return pf_code_fail(c, a->at, PERFILE_E_USAGE, "a number cannot be compared with text");
    if (!pf_code_find_class(c, a, PERFILE_EXPR_TEXT))
        return false;
    sort(&(items){c->e, set->first, text_less, text_swap}, c->e->n_spans - set->first);
    pf_step *s = pf_code_step(c, PF_STEP_TEXT_SET, a->at);
    if (!s)
        return false;
    s->slot = (uint16_t)a->slot;
    s->first = set->first;
    s->n = c->e->n_spans - set->first;
    a->what = PF_IS_CONDITION;
    return true;
}

bool pf_code_set_end(pf_compiler *c, pf_code_set *set, pf_operand *a)
{
    if (set->texts)
        return text_set_end(c, set, a);
    join_ranges(c->e, set->first);
    uint32_t n = c->e->n_ranges - set->first;
    /* The step for a single range, made into one for a set if there are more. */
    if (!pf_code_in_range(c, a, c->e->ranges[set->first], false))
        return false;
    pf_step *s = &c->e->steps[c->e->n_steps - 1];
    if (n == 1) { /* it is in the step; the pool does not need it */
        c->e->n_ranges = set->first;
        return true;
    }
    s->code = s->code == PF_STEP_RANGE ? PF_STEP_SET : PF_STEP_VALUE_SET;
    s->first = set->first;
    s->n = n;
    return true;
}
