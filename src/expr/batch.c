#include "expr/batch.h"

/* The part of a range that is not negative: wide + 1 numbers from `low`.  False: it is empty. */
static bool range_of(const pf_step *s, uint64_t *low, uint64_t *wide)
{
    *low = s->lo_negative ? 0 : s->lo;
    *wide = s->hi - *low;
    return !s->hi_negative && s->hi >= *low;
}

/* The word of the slot holds the number from bit `shift` on. */
static void part_of(const pf_slot *slot, unsigned *shift, uint64_t *mask)
{
    *shift = slot->fast_part == 2 ? 32 : 0;
    *mask = slot->fast_part ? UINT32_MAX : UINT64_MAX;
}

static uint64_t fast_range(const pf_run *run, const pf_step *s, const pf_slot *slot, size_t word)
{
    uint64_t yes = 0, low, wide, mask;
    unsigned shift;
    part_of(slot, &shift, &mask);
    if (!range_of(s, &low, &wide))
        return 0;
    for (size_t i = run->n; i-- > 0;) /* the last first: bits are moved up by one each */
        yes = 2 * yes + ((pf_run_word(run, i, word) >> shift & mask) - low <= wide);
    return yes;
}

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

static uint64_t cpumodes(const pf_run *run, const pf_step *s)
{
    uint64_t yes = 0, low, wide;
    if (!range_of(s, &low, &wide))
        return 0;
    for (size_t i = run->n; i-- > 0;) {
        uint64_t mode = run->first[i].misc & PERFILE_MISC_CPUMODE_MASK;
        yes = 2 * yes + (mode - low <= wide);
    }
    return yes;
}

bool pf_expr_batch(const perfile_expr *e, const pf_run *run, const pf_step *s, uint64_t *yes)
{
    uint64_t low, wide;
    const pf_slot *slot = &e->slots[s->slot];
    bool numbers = s->code == PF_STEP_RANGE_FAST || (s->code == PF_STEP_SET && slot->fast);
    int word = numbers ? run->even->sample_slot[slot->fast_bit] : -1;
    if (s->code == PF_STEP_RANGE_FAST && word >= 0) {
        *yes = fast_range(run, s, slot, (size_t)word);
    } else if (numbers && word >= 0) {
        *yes = fast_set(e, run, s, slot, (size_t)word);
    } else if (s->code == PF_STEP_RANGE_TYPE) {
        bool is = range_of(s, &low, &wide) && PERFILE_RECORD_SAMPLE - low <= wide;
        *yes = is ? run->all : 0;
    } else if (s->code == PF_STEP_RANGE && slot->of == PF_OF_CPUMODE) {
        *yes = cpumodes(run, s);
    } else {
        return false;
    }
    *yes = (s->negate ? ~*yes : *yes) & run->all;
    return true;
}
