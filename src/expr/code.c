/* Steps for operators: arithmetic and comparisons.
 *
 * Operations on constants are folded.  A comparison with a constant becomes a test whether a number
 * is in a range (range_of()).  So six operators need only one step, which run.c can also execute
 * for whole batches. */
#include "expr/parse.h"

#include "base/error.h"
#include "expr/fetch.h"
#include "expr/program.h"

bool pf_code_fail_nomem(pf_compiler *c)
{
    c->status = pf_fail_nomem(c->err, "expression");
    return false;
}

/* The step is zeroed except for its code; the caller fills in the rest. */
pf_step *pf_code_step(pf_compiler *c, unsigned code, uint32_t at)
{
    perfile_expr *e = c->e;
    if (e->n_steps == PF_EXPR_STEPS) {
        pf_code_fail(c, at, PERFILE_E_LIMIT, "the expression is too large");
        return NULL;
    }
    void *items = e->steps;
    pf_step *s = pf_expr_grow(&items, &e->n_steps, &e->steps_cap, sizeof *s);
    e->steps = items;
    if (!s) {
        pf_code_fail_nomem(c);
        return NULL;
    }
    s->code = (uint8_t)code;
    return s;
}

/* Appends a step that leaves one more number on the stack. */
static pf_step *push_step(pf_compiler *c, unsigned code, uint32_t at)
{
    if (c->on_stack == PF_EXPR_VALUES) {
        pf_code_fail(c, at, PERFILE_E_LIMIT, "the expression is nested too deeply");
        return NULL;
    }
    c->on_stack++;
    return pf_code_step(c, code, at);
}

/* The text stays in e->texts even on failure, because the expression is then dropped. */
bool pf_code_text(pf_compiler *c, const pf_operand *o, bool pattern, uint32_t *position)
{
    perfile_expr *e = c->e;
    uint32_t wrong = o->at;
    perfile_error err;
    pf_token t = {.at = o->at, .len = o->len}; /* the TEXT token of the operand */
    void *items = e->spans;
    pf_text_span *span = pf_expr_grow(&items, &e->n_spans, &e->spans_cap, sizeof *span);
    e->spans = items;
    if (!span)
        return pf_code_fail_nomem(c);
    span->at = (uint32_t)e->texts.len;
    if (pf_lex_text(c->text, &t, pattern, &e->texts, &wrong, &err) != PERFILE_OK)
        return pf_code_fail_token(c, wrong, &err);
    span->len = (uint32_t)e->texts.len - span->at;
    *position = e->n_spans - 1;
    const char *why = pattern ? pf_expr_glob_error(pf_span_text(e, *position)) : NULL;
    return why ? pf_code_fail(c, o->at, PERFILE_E_USAGE, "%s", why) : true;
}

/* Stores a range in a step. */
static void set_range(pf_step *s, pf_range r)
{
    s->lo = r.lo.n;
    s->hi = r.hi.n;
    s->lo_negative = r.lo.negative;
    s->hi_negative = r.hi.negative;
}

/* Generates steps that push the number of the operand, unless it is on the stack already. */
static bool push(pf_compiler *c, pf_operand *o)
{
    pf_step *s;
    switch (o->what) {
    case PF_IS_VALUE:
        return true;
    case PF_IS_NUMBER:
        s = push_step(c, PF_STEP_CONSTANT, o->at);
        if (!s)
            return false;
        set_range(s, (pf_range){o->number, o->number});
        break;
    case PF_IS_NAME:
        if (!pf_code_find_class(c, o, PERFILE_EXPR_NUMBER))
            return false;
        s = push_step(c, PF_STEP_PUSH, o->at);
        if (!s)
            return false;
        s->slot = (uint16_t)o->slot;
        break;
    case PF_IS_TEXT:
        return pf_code_fail(c, o->at, PERFILE_E_USAGE, "text, where a number is needed");
    default:
        return pf_code_fail(c, o->at, PERFILE_E_USAGE, "a condition, where a number is needed");
    }
    o->what = PF_IS_VALUE;
    return true;
}

/* The same for both operands, `a` below `b`.  If only `b` is on the stack already, its steps were
 * generated when it was read; the two are swapped afterwards. */
static bool push_both(pf_compiler *c, pf_operand *a, pf_operand *b)
{
    bool swap = a->what != PF_IS_VALUE && b->what == PF_IS_VALUE;
    if (!push(c, a) || !push(c, b))
        return false;
    return !swap || pf_code_step(c, PF_STEP_SWAP, a->at) != NULL;
}

/* Computes an operation on two constants into *a. */
static bool fold(pf_compiler *c, unsigned code, pf_operand *a, const pf_operand *b)
{
    if (!pf_expr_calculate(code, a->number, b->number, &a->number))
        return pf_code_fail(c, a->at, PERFILE_E_USAGE,
                            "the result is not between -2^63 and 2^64 - 1");
    return true;
}

/* Folds two constants; otherwise pushes both operands. */
bool pf_code_arithmetic(pf_compiler *c, unsigned token, pf_operand *a, pf_operand *b)
{
    unsigned code = token == PF_TOKEN_PLUS    ? PF_STEP_ADD
                    : token == PF_TOKEN_MINUS ? PF_STEP_SUB
                    : token == PF_TOKEN_STAR  ? PF_STEP_MUL
                                              : PF_STEP_AND;
    /* In `flags & WRITE` the right operand can be a word of the left one, and vice versa.  The
     * result keeps the words: (prot & 3) == EXEC. */
    if (code == PF_STEP_AND && !pf_code_resolve_words(c, a, b))
        return false;
    if (a->what == PF_IS_NUMBER && b->what == PF_IS_NUMBER)
        return fold(c, code, a, b);
    uint32_t words = PF_NO_SLOT; /* only & keeps the meaning of the bits */
    if (code == PF_STEP_AND)
        words = a->what != PF_IS_NUMBER ? a->slot : b->slot;
    if (!push_both(c, a, b) || !pf_code_step(c, code, a->at))
        return false;
    c->on_stack--; /* two numbers became one */
    a->slot = words;
    return true;
}

bool pf_code_minus(pf_compiler *c, pf_operand *a)
{
    if (a->what == PF_IS_NUMBER)
        return fold(c, PF_STEP_NEG, a, a);
    if (!push(c, a) || !pf_code_step(c, PF_STEP_NEG, a->at))
        return false;
    a->slot = PF_NO_SLOT;
    return true;
}

static const pf_number lowest = {UINT64_C(1) << 63, true};
static const pf_number highest = {UINT64_MAX, false};
static const pf_range empty = {{1, false}, {0, false}};

bool pf_code_in_range(pf_compiler *c, pf_operand *a, pf_range r, bool negate)
{
    pf_step *s;
    if (a->what == PF_IS_NAME) {
        if (!pf_code_find_class(c, a, PERFILE_EXPR_NUMBER))
            return false;
        s = pf_code_step(c, PF_STEP_RANGE, a->at);
        if (s)
            s->slot = (uint16_t)a->slot;
    } else {
        if (!push(c, a))
            return false;
        c->on_stack--;
        s = pf_code_step(c, PF_STEP_VALUE_RANGE, a->at);
    }
    if (!s)
        return false;
    set_range(s, r);
    s->negate = negate;
    a->what = PF_IS_CONDITION;
    return true;
}

/* A number as a condition is `number != 0`: the range 0..0, negated. */
bool pf_code_condition(pf_compiler *c, pf_operand *o)
{
    pf_number zero = {0, false};
    switch (o->what) {
    case PF_IS_CONDITION:
        return true;
    case PF_IS_NUMBER:
    case PF_IS_TEXT:
        return pf_code_fail(c, o->at, PERFILE_E_USAGE,
                            "a constant, where a condition is needed: compare it with something");
    case PF_IS_NAME:
        if (!pf_code_find(c, o))
            return false;
        if (!(c->e->slots[o->slot].classes & PERFILE_EXPR_NUMBER))
            return pf_code_fail(c, o->at, PERFILE_E_USAGE,
                                "a condition is needed: compare it, or ask has(%.*s)",
                                o->len < 40 ? (int)o->len : 40, c->text + o->at);
        return pf_code_in_range(c, o, (pf_range){zero, zero}, true);
    default:
        return pf_code_in_range(c, o, (pf_range){zero, zero}, true);
    }
}

/* Returns the PF_LESS … bits of a comparison.  The tokens of comparisons are consecutive. */
static unsigned relation_of(unsigned token)
{
    static const uint8_t relations[] = {PF_EQUAL,           PF_LESS | PF_MORE, PF_LESS,
                                        PF_LESS | PF_EQUAL, PF_MORE,           PF_MORE | PF_EQUAL};
    return relations[token - PF_TOKEN_EQ];
}

/* Returns the relation after exchanging both sides: < becomes >. */
static unsigned mirrored(unsigned relation)
{
    return (relation & PF_EQUAL) | (relation & PF_LESS ? PF_MORE : 0U) |
           (relation & PF_MORE ? PF_LESS : 0U);
}

/* Returns the numbers v for which `v relation n` is true.  Not for !=, which would be two ranges:
 * the caller negates == instead. */
static pf_range range_of(unsigned relation, pf_number n)
{
    pf_number one = {1, false}, lo = lowest, hi = highest;
    if (relation & PF_LESS) {
        hi = n;
        if (!(relation & PF_EQUAL) &&
            (pf_number_compare(n, lowest) == 0 || !pf_expr_calculate(PF_STEP_SUB, n, one, &hi)))
            return empty;
    } else if (relation & PF_MORE) {
        lo = n;
        if (!(relation & PF_EQUAL) && !pf_expr_calculate(PF_STEP_ADD, n, one, &lo))
            return empty;
    } else {
        lo = hi = n;
    }
    return (pf_range){lo, hi};
}

bool pf_code_is_minus_one(const pf_operand *o)
{
    return o->what == PF_IS_NUMBER && o->number.negative && o->number.n == UINT64_MAX;
}

/* Generates `a relation n` for a constant n.  *a becomes a condition. */
static bool compare_constant(pf_compiler *c, unsigned relation, pf_operand *a, pf_operand *n)
{
    bool equality = relation == PF_EQUAL || relation == (PF_LESS | PF_MORE);
    if (a->what == PF_IS_NAME && equality && pf_code_is_minus_one(n)) {
        /* -1 also means "none" in fields where all ones do: a set of both values. */
        pf_code_set set;
        pf_code_set_begin(c, &set);
        if (!pf_code_set_add(c, &set, a, n, NULL) || !pf_code_set_end(c, &set, a))
            return false;
        c->e->steps[c->e->n_steps - 1].negate = relation != PF_EQUAL;
        return true;
    }
    bool negate = relation == (PF_LESS | PF_MORE);
    return pf_code_in_range(c, a, range_of(negate ? PF_EQUAL : relation, n->number), negate);
}

/* Returns true if the operand may be a field of tracepoints with a class that is not known yet.  If
 * looking it up fails, c->status has the error. */
static bool may_be_either(pf_compiler *c, pf_operand *o)
{
    const unsigned either = PERFILE_EXPR_NUMBER | PERFILE_EXPR_TEXT;
    return o->what == PF_IS_NAME && pf_code_find(c, o) &&
           (c->e->slots[o->slot].payload_classes & either) == either;
}

/* Allows the slot to be a number again, too. */
static void let_be_either(pf_compiler *c, const pf_operand *o)
{
    pf_slot *s = &c->e->slots[o->slot];
    s->payload_classes |= PERFILE_EXPR_NUMBER;
    s->classes |= PERFILE_EXPR_NUMBER;
}

/* Generates a comparison of texts: ==, != with a constant or another name, ~ with a pattern.  If
 * both are fields of tracepoints, their class is only found when records are tested. */
static bool text_step(pf_compiler *c, unsigned token, pf_operand *a, pf_operand *b)
{
    const bool pattern = token == PF_TOKEN_LIKE || token == PF_TOKEN_HAS;
    if (token != PF_TOKEN_EQ && token != PF_TOKEN_NE && !pattern)
        return pf_code_fail(c, a->at, PERFILE_E_USAGE, "texts are compared with ==, !=, ~ and in");
    if (a->what == PF_IS_TEXT && b->what == PF_IS_NAME && !pattern) {
        pf_operand t = *a;
        *a = *b;
        *b = t;
    }
    if (a->what != PF_IS_NAME)
        return pf_code_fail(c, a->at, PERFILE_E_USAGE,
                            a->what == PF_IS_TEXT ? "write the name first, then the text"
                                                  : "a number cannot be compared with text");
    const bool either = may_be_either(c, a) && may_be_either(c, b);
    if (c->status != PERFILE_OK || !pf_code_find_class(c, a, PERFILE_EXPR_TEXT))
        return false;
    unsigned code = token == PF_TOKEN_LIKE  ? PF_STEP_TEXT_GLOB
                    : token == PF_TOKEN_HAS ? PF_STEP_TEXT_ITEM
                                            : PF_STEP_TEXT_SET;
    uint32_t text = 0;
    if (b->what == PF_IS_NAME) {
        code = PF_STEP_TEXT_COMPARE;
        if (!pf_code_find_class(c, b, PERFILE_EXPR_TEXT))
            return false;
    } else if (!pf_code_text(c, b, pattern, &text)) {
        return false;
    }
    pf_step *s = pf_code_step(c, code, a->at);
    if (!s)
        return false;
    s->slot = (uint16_t)a->slot;
    s->other = b->what == PF_IS_NAME ? (uint16_t)b->slot : 0;
    s->first = text;
    s->n = 1;
    s->negate = token == PF_TOKEN_NE;
    if (either) {
        let_be_either(c, a);
        let_be_either(c, b);
    }
    a->what = PF_IS_CONDITION;
    return true;
}

/* Returns true if both operands are names that can be texts, or fields of tracepoints with a class
 * that is not known yet.  If looking them up fails, c->status has the error. */
static bool both_texts(pf_compiler *c, unsigned token, pf_operand *a, pf_operand *b)
{
    const bool equality = token == PF_TOKEN_EQ || token == PF_TOKEN_NE;
    if (!equality && may_be_either(c, a) && may_be_either(c, b))
        return false;
    return a->what == PF_IS_NAME && b->what == PF_IS_NAME && pf_code_find(c, a) &&
           pf_code_find(c, b) && c->e->slots[a->slot].classes & PERFILE_EXPR_TEXT &&
           c->e->slots[b->slot].classes & PERFILE_EXPR_TEXT;
}

/* Words come first, because `type == SAMPLE` turns a name into a number; then texts; anything else
 * must be numbers. */
bool pf_code_compare(pf_compiler *c, unsigned token, pf_operand *a, pf_operand *b)
{
    if (a->what == PF_IS_CONDITION || b->what == PF_IS_CONDITION)
        return pf_code_fail(c, a->what == PF_IS_CONDITION ? a->at : b->at, PERFILE_E_USAGE,
                            "a condition cannot be compared: join conditions with && and ||, and "
                            "write !(a == b)");
    if (token == PF_TOKEN_LIKE || token == PF_TOKEN_HAS) {
        if (token == PF_TOKEN_HAS && !pf_code_find_stack(c, a))
            return false;
        if (b->what != PF_IS_TEXT)
            return pf_code_fail(c, b->at, PERFILE_E_USAGE,
                                "a pattern is needed, in quotes: \"gcc*\"");
        return text_step(c, token, a, b);
    }
    if (!pf_code_resolve_words(c, a, b))
        return false;
    if (a->what == PF_IS_TEXT || b->what == PF_IS_TEXT || both_texts(c, token, a, b))
        return text_step(c, token, a, b);
    if (c->status != PERFILE_OK) /* set by both_texts() */
        return false;
    unsigned relation = relation_of(token);
    if (a->what == PF_IS_NUMBER && b->what == PF_IS_NUMBER)
        return pf_code_fail(c, a->at, PERFILE_E_USAGE, "two constants are compared");
    if (b->what == PF_IS_NUMBER)
        return compare_constant(c, relation, a, b);
    if (a->what == PF_IS_NUMBER) { /* `5 < pid` as `pid > 5`; errors show the left operand */
        uint32_t at = a->at;
        if (!compare_constant(c, mirrored(relation), b, a))
            return false;
        *a = *b;
        a->at = at;
        return true;
    }
    if (!push_both(c, a, b))
        return false;
    pf_step *s = pf_code_step(c, PF_STEP_COMPARE, a->at);
    if (!s)
        return false;
    s->relation = (uint8_t)relation;
    c->on_stack -= 2;
    a->what = PF_IS_CONDITION;
    return true;
}

/* Sets and ranges: `name in {1, 2, 7..9}`.
 *
 * The members are collected at the end of the pool of ranges or texts, then sorted, so that testing
 * can use binary search.  A set that turns out to be one range becomes a RANGE step. */

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

/* Adds the all-ones value of each width (2, 4, 8 bytes), which -1 also means. */
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
    /* -1 also means "none" in fields of processes, threads and CPUs. */
    if (!hi && pf_code_is_minus_one(lo) && a->what == PF_IS_NAME &&
        (!pf_code_find_class(c, a, PERFILE_EXPR_NUMBER) ||
         !add_all_ones(c, pf_expr_none_widths(c->e, &c->e->slots[a->slot]))))
        return false;
    return add_range(c, lo->number, end);
}

/* Heap sort of items in a pool.  qsort() of C libraries may allocate memory, and can be slow for an
 * order that an attacker chooses. */
typedef struct items {
    perfile_expr *e;
    uint32_t first;
    bool (*less)(const perfile_expr *e, uint32_t a, uint32_t b);
    void (*swap)(perfile_expr *e, uint32_t a, uint32_t b);
} items;

/* Moves the item at `at` down to its position in the heap of n items. */
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

/* Sorts the ranges from `first` on, and merges those that overlap or are adjacent.  There is at
 * least one. */
static void join_ranges(perfile_expr *e, uint32_t first)
{
    pf_range *r = e->ranges + first;
    uint32_t n = e->n_ranges - first, kept = 0;
    sort(&(items){e, first, range_less, range_swap}, n);
    for (uint32_t i = 1; i < n; i++) {
        pf_number behind;
        /* If no number is above r[kept].hi, it includes all following ranges. */
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
    /* Generates the step for a single range, and changes it to one for a set if there are more. */
    if (!pf_code_in_range(c, a, c->e->ranges[set->first], false))
        return false;
    pf_step *s = &c->e->steps[c->e->n_steps - 1];
    if (n == 1) { /* the step has the range; the pool does not need it */
        c->e->n_ranges = set->first;
        return true;
    }
    s->code = s->code == PF_STEP_RANGE ? PF_STEP_SET : PF_STEP_VALUE_SET;
    s->first = set->first;
    s->n = n;
    return true;
}
