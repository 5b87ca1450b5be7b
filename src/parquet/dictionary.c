/* Distinct numbers (dictionary.h): a hash table with linear probing, at most half full. */
#include "parquet/dictionary.h"

/* This many distinct numbers are accepted, however few values there are. */
enum { FEW = 4096 };

/* After this many values, give up if nearly all were distinct. */
enum { ENOUGH = 16384 };

/* Average number of probes allowed for each value: numbers chosen to collide must not cost more.
 * So the hash needs no secret. */
enum { MOST_STEPS = 8 };

void pf_dictionary_free(pf_dictionary *d)
{
    pf_buffer_free(&d->distinct);
    pf_buffer_free(&d->slots);
    *d = (pf_dictionary){0};
}

static size_t hash_of(uint64_t value, unsigned shift)
{
    value ^= value >> 32;
    return (size_t)(value * 0x9e3779b97f4a7c15u >> shift);
}

/* Makes an empty table for `most` numbers; its size is 1 << (64 - *shift).  Returns false when out
 * of memory. */
static bool make_slots(pf_dictionary *d, size_t most, unsigned *shift)
{
    size_t size = 2;
    for (*shift = 63; size < 2 * most; (*shift)--)
        size *= 2;
    pf_buffer_clear(&d->distinct);
    pf_buffer_clear(&d->slots);
    if (!pf_buffer_reserve(&d->distinct, most * sizeof(uint64_t)) ||
        !pf_buffer_reserve(&d->slots, size * sizeof(uint32_t)))
        return false;
    memset(d->slots.ptr, 0, size * sizeof(uint32_t));
    return true;
}

bool pf_dictionary_make(pf_dictionary *d, const uint64_t *values, size_t n, size_t most,
                        uint32_t *indexes)
{
    d->n = d->runs = 0;
    const size_t half = n / 2 > FEW ? n / 2 : FEW;
    unsigned shift;
    most = most < half ? most : half;
    if (!n)
        return true;
    if (!make_slots(d, most, &shift))
        return false;
    uint64_t *distinct = (void *)d->distinct.ptr;
    uint32_t *slots = (void *)d->slots.ptr;
    const size_t mask = ((size_t)1 << (64 - shift)) - 1;
    size_t n_distinct = 0, runs = 0, steps = 0;
    uint32_t index = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t value = values[i];
        if (i && value == values[i - 1]) {
            indexes[i] = index;
            continue;
        }
        size_t at = hash_of(value, shift);
        while (slots[at] && distinct[slots[at] - 1] != value) {
            at = (at + 1) & mask;
            steps++;
        }
        if (!slots[at]) {
            if (n_distinct == most || (i >= ENOUGH && n_distinct > i - i / 8))
                return true;
            distinct[n_distinct] = value;
            slots[at] = (uint32_t)++n_distinct;
        }
        if (steps > MOST_STEPS * (i + FEW))
            return true;
        index = slots[at] - 1;
        indexes[i] = index;
        runs++;
    }
    d->n = n_distinct;
    d->runs = runs;
    return true;
}
