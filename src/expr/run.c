/* Testing records: executes the steps of an expression.
 *
 * Every comparison with a missing value is false, including != (see format/expressions.md).  So
 * each step first checks whether the value exists, and applies `negate` after that.
 *
 * run() tests one record.  A batch of records of one layout is tested step by step, each step for
 * all records that have reached it (test_at_once()).  If pf_expr_batch() cannot execute a step,
 * run() tests the records that reached it, one by one, from there. */
#include "base/error.h"

#include "expr/fetch.h"
#include "expr/program.h"
#include "expr/command.h"

enum { BATCH_STEPS = 64 }; /* longer expressions are tested record by record */

int pf_number_compare(pf_number a, pf_number b)
{
    if (a.negative != b.negative)
        return a.negative ? -1 : 1;
    return a.n < b.n ? -1 : a.n > b.n;
}

static inline bool in_range(const pf_step *s, pf_number v)
{
    if (!v.negative && !s->lo_negative && !s->hi_negative)
        return v.n >= s->lo && v.n <= s->hi;
    return pf_number_compare(v, (pf_number){s->lo, s->lo_negative}) >= 0 &&
           pf_number_compare(v, (pf_number){s->hi, s->hi_negative}) <= 0;
}

/* Uses binary search: the ranges of a set are sorted and do not touch. */
bool pf_expr_in_ranges(const perfile_expr *e, const pf_step *s, pf_number v)
{
    uint32_t lo = 0, hi = s->n;
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        const pf_range *range = &e->ranges[s->first + middle];
        if (pf_number_compare(v, range->lo) < 0)
            hi = middle;
        else if (pf_number_compare(v, range->hi) > 0)
            lo = middle + 1;
        else
            return true;
    }
    return false;
}

/* Returns true if the text is in the set of the step.  The texts are sorted, but a search would
 * need the hex digits written out, and comparing with a few texts in turn is faster. */
static bool in_texts(const perfile_expr *e, const pf_step *s, const pf_expr_text *t)
{
    enum { FEW = 8 };
    uint32_t lo = 0, hi = s->n;
    if (t->hex || s->n <= FEW) {
        for (uint32_t i = 0; i < s->n; i++)
            if (pf_expr_text_equal(t, pf_span_text(e, s->first + i)))
                return true;
        return false;
    }
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        int order = pf_expr_bytes_compare(t->bytes, pf_span_text(e, s->first + middle));
        if (order == 0)
            return true;
        if (order < 0)
            hi = middle;
        else
            lo = middle + 1;
    }
    return false;
}

/* pf_expr_get_number() for a slot that is `fast`. */
static inline bool fast_number(perfile_expr *e, pf_slot *s, pf_number *v)
{
    v->negative = false;
    return pf_expr_get_fast(e, s, &v->n) || pf_expr_get_number(e, s, v);
}

/* Finds the number that a SET step tests. */
static bool set_number(perfile_expr *e, const pf_step *s, pf_number *v)
{
    pf_slot *slot = &e->slots[s->slot];
    return slot->fast ? fast_number(e, slot, v) : pf_expr_get_number(e, slot, v);
}

/* Arithmetic on pf_number uses sign and magnitude, because no C type covers -2^63 to 2^64 - 1.
 * These functions return false if the result is out of range. */
static bool number_from(bool negative, uint64_t size, pf_number *out)
{
    *out = (pf_number){negative ? 0 - size : size, negative && size};
    return !negative || size <= UINT64_C(1) << 63;
}

/* Returns the absolute value. */
static uint64_t magnitude(pf_number v)
{
    return v.negative ? 0 - v.n : v.n;
}

static bool add(pf_number a, pf_number b, pf_number *out)
{
    uint64_t x = magnitude(a), y = magnitude(b);
    if (a.negative == b.negative)
        return x <= UINT64_MAX - y && number_from(a.negative, x + y, out);
    return x >= y ? number_from(a.negative, x - y, out) : number_from(b.negative, y - x, out);
}

static bool multiply(pf_number a, pf_number b, pf_number *out)
{
    uint64_t x = magnitude(a), y = magnitude(b);
    if (y && x > UINT64_MAX / y)
        return false;
    return number_from(a.negative != b.negative, x * y, out);
}

static bool negate(pf_number a, pf_number *out)
{
    return number_from(!a.negative, magnitude(a), out);
}

bool pf_expr_calculate(unsigned code, pf_number a, pf_number b, pf_number *out)
{
    pf_number minus;
    switch (code) {
    case PF_STEP_ADD:
        return add(a, b, out);
    case PF_STEP_SUB:
        /* Not a + -b: -(2^64 - 1) is out of range, but (2^64 - 1) - (2^64 - 1) is 0. */
        if (!a.negative && !b.negative)
            return a.n >= b.n ? number_from(false, a.n - b.n, out)
                              : number_from(true, b.n - a.n, out);
        return negate(b, &minus) && add(a, minus, out);
    case PF_STEP_MUL:
        return multiply(a, b, out);
    case PF_STEP_NEG:
        return negate(a, out);
    default:
        *out = (pf_number){a.n & b.n, a.negative && b.negative};
        return true;
    }
}

/* Moves to the next element and returns the next step: the condition, or after the last element the
 * step after the loop.  A list that cannot be decoded further ends there.  If no element decided
 * the loop, ALL is true and ANY is false. */
static const pf_step *next_element(perfile_expr *e, const pf_step *begin, uint32_t *top)
{
    pf_loop *loop = &e->loop;
    if (loop->i < loop->n && pf_expr_next_element(loop)) {
        loop->i++;
        return begin + 1;
    }
    if (begin->loop == PF_LOOP_COUNT) {
        e->values[*top] = (pf_number){loop->count, false};
        e->absent[(*top)++] = false;
        return e->steps + begin->to;
    }
    return e->steps + begin->next[begin->loop == PF_LOOP_ALL];
}

/* Executes LOOP.  Without the list, ANY and ALL are false, and the count is absent. */
static const pf_step *begin_loop(perfile_expr *e, const pf_step *s, uint32_t *top)
{
    if (pf_expr_get_list(e, &e->slots[s->slot], &e->loop))
        return next_element(e, s, top);
    if (s->loop != PF_LOOP_COUNT)
        return e->steps + s->next[false];
    e->absent[(*top)++] = true;
    return e->steps + s->to;
}

/* Executes NEXT: the condition was `yes` for an element, which decides ANY and ALL or is
 * counted. */
static const pf_step *end_of_body(perfile_expr *e, const pf_step *begin, bool yes, uint32_t *top)
{
    if (begin->loop == PF_LOOP_COUNT)
        e->loop.count += yes;
    else if (yes == (begin->loop == PF_LOOP_ANY))
        return e->steps + begin->next[yes];
    return next_element(e, begin, top);
}

/* Executes a step that works on the stack, which has *top numbers. */
static void run_arithmetic(perfile_expr *e, const pf_step *s, uint32_t *top)
{
    pf_loop loop;
    pf_number *v = e->values;
    bool *absent = e->absent;
    uint32_t n = *top;
    switch (s->code) {
    case PF_STEP_PUSH:
        absent[n] = !pf_expr_get_number(e, &e->slots[s->slot], &v[n]);
        *top = n + 1;
        break;
    case PF_STEP_CONSTANT:
        v[n] = (pf_number){s->lo, s->lo_negative};
        absent[n] = false;
        *top = n + 1;
        break;
    case PF_STEP_COUNT:
        absent[n] = !pf_expr_get_list(e, &e->slots[s->slot], &loop);
        if (!absent[n])
            v[n] = (pf_number){loop.n, false};
        *top = n + 1;
        break;
    case PF_STEP_NEG:
        absent[n - 1] = absent[n - 1] || !pf_expr_calculate(s->code, v[n - 1], v[n - 1], &v[n - 1]);
        break;
    case PF_STEP_SWAP: {
        pf_number last = v[n - 1];
        bool gone = absent[n - 1];
        v[n - 1] = v[n - 2];
        absent[n - 1] = absent[n - 2];
        v[n - 2] = last;
        absent[n - 2] = gone;
        break;
    }
    default:
        absent[n - 2] = absent[n - 2] || absent[n - 1] ||
                        !pf_expr_calculate(s->code, v[n - 2], v[n - 1], &v[n - 2]);
        *top = n - 1;
        break;
    }
}

/* Executes COMPARE on the two topmost numbers, now at `top` and `top` + 1. */
static bool comparison_holds(const perfile_expr *e, const pf_step *s, uint32_t top)
{
    if (e->absent[top] || e->absent[top + 1])
        return false;
    int order = pf_number_compare(e->values[top], e->values[top + 1]);
    return s->relation & (order < 0 ? PF_LESS : order > 0 ? PF_MORE : PF_EQUAL);
}

/* Returns true if a part of the text, between semicolons, matches the pattern. */
static bool some_item_fits(const pf_expr_text *text, perfile_bytes pattern)
{
    perfile_bytes left = text->bytes;
    while (left.len) {
        const uint8_t *end = memchr(left.ptr, ';', left.len);
        const size_t n = end ? (size_t)(end - left.ptr) : left.len;
        if (pf_expr_glob(&(pf_expr_text){{left.ptr, n}, false}, pattern))
            return true;
        left.ptr += n + (end != NULL);
        left.len -= n + (end != NULL);
    }
    return false;
}

/* Executes a step on texts. */
static bool text_test_holds(perfile_expr *e, const pf_step *s)
{
    pf_expr_text a, b;
    pf_number m, n;
    if (!pf_expr_get_text(e, &e->slots[s->slot], &a)) /* both may be numbers of tracepoints */
        return s->code == PF_STEP_TEXT_COMPARE && pf_expr_get_number(e, &e->slots[s->slot], &m) &&
               pf_expr_get_number(e, &e->slots[s->other], &n) &&
               (pf_number_compare(m, n) == 0) != s->negate;
    switch (s->code) {
    case PF_STEP_TEXT_SET:
        return in_texts(e, s, &a) != s->negate;
    case PF_STEP_TEXT_ITEM:
        return some_item_fits(&a, pf_span_text(e, s->first)) != s->negate;
    case PF_STEP_TEXT_GLOB:
        return pf_expr_glob(&a, pf_span_text(e, s->first)) != s->negate;
    default:
        return pf_expr_get_text(e, &e->slots[s->other], &b) &&
               pf_expr_texts_equal(&a, &b) != s->negate;
    }
}

/* Executes the steps from `s` on for e->subject, with an empty stack.  All steps lead forward
 * except the ends of loops, which lead back at most once per element.  So this terminates. */
static bool run(perfile_expr *e, const pf_step *s)
{
    uint32_t top = 0;
    pf_number v;
    for (;;) {
        bool yes;
        switch (s->code) {
        case PF_STEP_FALSE:
            return false;
        case PF_STEP_TRUE:
            return true;
        case PF_STEP_RANGE_FAST:
            yes = fast_number(e, &e->slots[s->slot], &v) && in_range(s, v) != s->negate;
            break;
        case PF_STEP_RANGE_TYPE:
            v = (pf_number){e->subject.r->type, false};
            yes = e->subject.r->family != PERFILE_FAMILY_DAMAGE && in_range(s, v) != s->negate;
            break;
        case PF_STEP_RANGE:
            yes = pf_expr_get_number(e, &e->slots[s->slot], &v) && in_range(s, v) != s->negate;
            break;
        case PF_STEP_SET:
            yes = set_number(e, s, &v) && pf_expr_in_ranges(e, s, v) != s->negate;
            break;
        case PF_STEP_VALUE_RANGE:
            top--;
            yes = !e->absent[top] && in_range(s, e->values[top]) != s->negate;
            break;
        case PF_STEP_VALUE_SET:
            top--;
            yes = !e->absent[top] && pf_expr_in_ranges(e, s, e->values[top]) != s->negate;
            break;
        case PF_STEP_COMPARE:
            top -= 2;
            yes = comparison_holds(e, s, top);
            break;
        case PF_STEP_TEXT_SET:
        case PF_STEP_TEXT_GLOB:
        case PF_STEP_TEXT_ITEM:
        case PF_STEP_TEXT_COMPARE:
            yes = text_test_holds(e, s);
            break;
        case PF_STEP_HAS:
            yes = pf_expr_has(e, &e->slots[s->slot]);
            break;
        case PF_STEP_LOOP:
            s = begin_loop(e, s, &top);
            continue;
        case PF_STEP_NEXT_FALSE:
        case PF_STEP_NEXT_TRUE:
            s = end_of_body(e, e->steps + s->to, s->code == PF_STEP_NEXT_TRUE, &top);
            continue;
        default:
            run_arithmetic(e, s, &top);
            s++;
            continue;
        }
        s = e->steps + s->next[yes];
    }
}

/* Tests a record from step `from` on. */
static inline bool test(perfile_expr *e, const perfile_record *r, const pf_step *from,
                        perfile_error *err)
{
    pf_expr_begin(e, r);
    e->subject.err = err;
    return run(e, from);
}

perfile_status perfile_expr_test(perfile_expr *e, const perfile_record *r, bool *yes,
                                 perfile_error *err)
{
    e->subject.status = PERFILE_OK;
    if (pf_expr_is_unbound(e, r)) {
        perfile_status st = pf_expr_bind(e, r->session, err);
        if (st != PERFILE_OK)
            return st;
    }
    bool holds = test(e, r, e->steps, err);
    if (e->subject.status != PERFILE_OK)
        return e->subject.status;
    *yes = holds;
    return PERFILE_OK;
}

/* Tests the records of `which` (bits) one by one from step `from` on, and adds those that pass to
 * *yes. */
static perfile_status test_each(perfile_expr *e, const pf_run *all, const pf_step *from,
                                uint64_t which, uint64_t *yes, perfile_error *err)
{
    for (uint64_t left = which; left; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        *yes |= (uint64_t)test(e, &all->first[i], from, err) << i;
        if (e->subject.status != PERFILE_OK)
            return e->subject.status;
    }
    return PERFILE_OK;
}

/* Executes the steps in order, each for the records that have reached it: the bits of here[i].
 * Steps lead forward, so all records that reach a step have done so before it is executed.  Only
 * steps without the stack work this way; at any other step, its records are tested to the end one
 * by one. */
static perfile_status test_at_once(perfile_expr *e, const pf_run *all, uint64_t *yes,
                                   perfile_error *err)
{
    uint64_t here[BATCH_STEPS] = {all->all}, fits;
    for (uint32_t i = 0; i < e->n_steps; i++) {
        const pf_step *s = &e->steps[i];
        if (!here[i] || s->code == PF_STEP_FALSE)
            continue;
        if (s->code == PF_STEP_TRUE) {
            *yes |= here[i];
        } else if (pf_expr_batch(e, all, s, &fits)) {
            here[s->next[true]] |= here[i] & fits;
            here[s->next[false]] |= here[i] & ~fits;
        } else {
            perfile_status st = test_each(e, all, s, here[i], yes, err);
            if (st != PERFILE_OK)
                return st;
        }
    }
    return PERFILE_OK;
}

perfile_status pf_expr_test_run(perfile_expr *e, const perfile_record *first, size_t n,
                                uint64_t *yes, perfile_error *err)
{
    enum { MOST = 64 };
    if (n > MOST)
        return pf_fail(err, PERFILE_E_USAGE, "n", "%zu records, at most %d at once", n, MOST);
    e->subject.status = PERFILE_OK;
    if (n == 0) {
        *yes = 0;
        return PERFILE_OK;
    }
    for (size_t i = 0; i < n && e->payload.used; i++)
        if (pf_expr_is_unbound(e, &first[i])) {
            perfile_status bound = pf_expr_bind(e, first[i].session, err);
            if (bound != PERFILE_OK)
                return bound;
        }
    const pf_run all = pf_run_examine_any(first, n);
    uint64_t bits = 0;
    perfile_status st = all.even && e->n_steps <= BATCH_STEPS
                            ? test_at_once(e, &all, &bits, err)
                            : test_each(e, &all, e->steps, all.all, &bits, err);
    if (st == PERFILE_OK)
        *yes = bits;
    return st;
}

/* Steps executed for all records of an even batch at once (stage/run.h: samples of one layout, in
 * native byte order).  A field at a fixed word is loaded from each record in a tight loop without
 * branches, which compilers can vectorize. */

/* Converts the non-negative part of the step's range to `width` + 1 numbers from `low`.  Then v is
 * in the range if v - low <= width, a single unsigned comparison.  Returns false if that part is
 * empty. */
static bool unsigned_range(const pf_step *s, uint64_t *low, uint64_t *width)
{
    *low = s->lo_negative ? 0 : s->lo;
    *width = s->hi - *low;
    return !s->hi_negative && s->hi >= *low;
}

/* Computes how to extract the number of a fast slot from its 64-bit word: word >> shift & mask.
 * Only correct on little-endian machines; on others, no batch is even. */
static void part_of(const pf_slot *slot, unsigned *shift, uint64_t *mask)
{
    *shift = slot->fast_part == 2 ? 32 : 0;
    *mask = slot->fast_part ? UINT32_MAX : UINT64_MAX;
}

/* Returns the records of the batch with a number in the range of the step, as bits.  `word` is the
 * index of the word. */
static uint64_t fast_range(const pf_run *run, const pf_step *s, const pf_slot *slot, size_t word)
{
    uint64_t yes = 0, low, width, mask;
    unsigned shift;
    part_of(slot, &shift, &mask);
    if (!unsigned_range(s, &low, &width))
        return 0;
    for (size_t i = run->n; i-- > 0;) /* last record first: its bit is shifted most */
        yes = 2 * yes + ((pf_run_word(run, i, word) >> shift & mask) - low <= width);
    return yes;
}

/* The same for a set. */
static uint64_t fast_set(const perfile_expr *e, const pf_run *run, const pf_step *s,
                         const pf_slot *slot, size_t word)
{
    uint64_t yes = 0, mask;
    unsigned shift;
    part_of(slot, &shift, &mask);
    for (size_t i = 0; i < run->n; i++) {
        pf_number v = {pf_run_word(run, i, word) >> shift & mask, false};
        yes |= (uint64_t)pf_expr_in_ranges(e, s, v) << i;
    }
    return yes;
}

/* The same for a range of cpumode, which is in the header. */
static uint64_t cpumodes(const pf_run *run, const pf_step *s)
{
    uint64_t yes = 0, low, width;
    if (!unsigned_range(s, &low, &width))
        return 0;
    for (size_t i = run->n; i-- > 0;) {
        uint64_t mode = run->first[i].misc & PERFILE_MISC_CPUMODE_MASK;
        yes = 2 * yes + (mode - low <= width);
    }
    return yes;
}

bool pf_expr_batch(const perfile_expr *e, const pf_run *run, const pf_step *s, uint64_t *yes)
{
    uint64_t low, width;
    const pf_slot *slot = &e->slots[s->slot];
    bool numbers = s->code == PF_STEP_RANGE_FAST || (s->code == PF_STEP_SET && slot->fast);
    int word = numbers ? run->even->sample_slot[slot->fast_bit] : -1;
    if (s->code == PF_STEP_RANGE_FAST && word >= 0) {
        *yes = fast_range(run, s, slot, (size_t)word);
    } else if (numbers && word >= 0) {
        *yes = fast_set(e, run, s, slot, (size_t)word);
    } else if (s->code == PF_STEP_RANGE_TYPE) {
        bool is = unsigned_range(s, &low, &width) && PERFILE_RECORD_SAMPLE - low <= width;
        *yes = is ? run->all : 0;
    } else if (s->code == PF_STEP_RANGE && slot->of == PF_OF_CPUMODE) {
        *yes = cpumodes(run, s);
    } else {
        return false;
    }
    *yes = (s->negate ? ~*yes : *yes) & run->all;
    return true;
}
