/* Steps executed for all records of an even run at once (stage/run.h: samples of one layout, in the
 * byte order of this machine).  A field at a fixed word is loaded from each record in a tight loop
 * without branches, which compilers can vectorize. */
#include "expr/program.h"

/* The part of the step's range that is not negative, as `width` + 1 numbers from `low`: v is in it
 * if v - low <= width without sign, a single comparison.  Returns false if that part is empty. */
static bool unsigned_range(const pf_step *s, uint64_t *low, uint64_t *width)
{
    *low = s->lo_negative ? 0 : s->lo;
    *width = s->hi - *low;
    return !s->hi_negative && s->hi >= *low;
}

/* Where in its 64-bit word the number of a fast slot is: word >> shift & mask.  This is for
 * little-endian machines; on others no run is even. */
static void part_of(const pf_slot *slot, unsigned *shift, uint64_t *mask)
{
    *shift = slot->fast_part == 2 ? 32 : 0;
    *mask = slot->fast_part ? UINT32_MAX : UINT64_MAX;
}

/* Records of the run whose number is in the range of the step, by bit; `word` is its place. */
static uint64_t fast_range(const pf_run *run, const pf_step *s, const pf_slot *slot, size_t word)
{
    uint64_t yes = 0, low, width, mask;
    unsigned shift;
    part_of(slot, &shift, &mask);
    if (!unsigned_range(s, &low, &width))
        return 0;
    for (size_t i = run->n; i-- > 0;) /* the last record first: its bit is shifted up most */
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
