/* Which records are selected, a bit for each; and sets of numbers.
 *
 * The bits begin at the first selected record: if that is late in a large capture, bits for earlier
 * records would cost more memory than everything else in a small selection. */
#include "filter/filter.h"

#include <string.h>
#include <stdlib.h>

#include "base/byte_order.h"
#include "base/alloc.h"
#include "base/error.h"

enum { MOST_BYTES = 16 << 20 }; /* limit for the bits: 128 million records */

/* Sets the bits of `word` from `sequence` on.  64 bits from any position touch 9 bytes. */
static bool set_word(pf_selected *x, uint64_t sequence, uint64_t word)
{
    enum { ROOM = 18 }; /* get_word() reads 9 bytes from any of these 64 bits */
    if (!x->bits.len)
        x->from = sequence;
    const uint64_t at = sequence - x->from;
    if (sequence < x->from || at / 8 >= MOST_BYTES) {
        x->incomplete = true;
        return true;
    }
    if (at / 8 + ROOM > x->bits.len) {
        const size_t more = (size_t)(at / 8 + ROOM - x->bits.len);
        if (!pf_buffer_reserve(&x->bits, more))
            return false;
        memset(x->bits.ptr + x->bits.len, 0, more);
        x->bits.len += more;
    }
    uint8_t *p = x->bits.ptr + at / 8;
    const unsigned shift = at % 8;
    pf_store_u64(p, pf_load_u64(p, PF_NATIVE_BIG) | word << shift, PF_NATIVE_BIG);
    if (shift)
        p[8] |= (uint8_t)(word >> (64 - shift));
    return true;
}

/* Returns the bits of 64 records from `sequence` on. */
static uint64_t get_word(const pf_selected *x, uint64_t sequence)
{
    enum { ROOM = 9 };
    const uint64_t before = sequence < x->from ? x->from - sequence : 0;
    const uint64_t at = before ? 0 : sequence - x->from;
    if (before >= 64 || at / 8 + ROOM > x->bits.len)
        return 0; /* set_word() makes room for the bits it sets, so nothing is set here */
    const uint8_t *p = x->bits.ptr + at / 8;
    const unsigned shift = at % 8;
    const uint64_t word = pf_load_u64(p, PF_NATIVE_BIG) >> shift << before;
    return shift ? word | (uint64_t)p[8] << (64 - shift) : word;
}

bool pf_selected_set(pf_selected *x, const pf_run *run, uint64_t selected)
{
    const perfile_record *first = run->first;
    bool ok = true;
    if (!selected || x->incomplete)
        return true;
    /* Consecutive sequences: one word, whatever its position. */
    if (run->consecutive)
        return set_word(x, first->sequence, selected);
    for (uint64_t left = selected; left && ok && !x->incomplete; left &= left - 1)
        ok = set_word(x, first[__builtin_ctzll(left)].sequence, 1);
    return ok;
}

bool pf_selected_set_range(pf_selected *x, uint64_t sequence, uint64_t records)
{
    bool ok = true;
    for (uint64_t n = 0; n < records && ok && !x->incomplete; n += 64) {
        const uint64_t left = records - n;
        ok = set_word(x, sequence + n, left < 64 ? pf_run_bits((size_t)left) : UINT64_MAX);
    }
    return ok;
}

uint64_t pf_selected_of(const pf_selected *x, const pf_run *run)
{
    const perfile_record *first = run->first;
    uint64_t yes = 0;
    if (run->consecutive)
        return get_word(x, first->sequence) & run->all;
    for (size_t i = 0; i < run->n; i++)
        yes |= (get_word(x, first[i].sequence) & 1) << i;
    return yes;
}

/* Returns in *word the bits of the next 64 records from sequence + *n on, and advances *n by 64.
 * Skips records before the first bit, and ends where the bits end: an archive may claim any number
 * of records. */
static bool next_word(const pf_selected *x, uint64_t sequence, uint64_t records, uint64_t *n,
                      uint64_t *word)
{
    const uint64_t before = sequence < x->from ? (x->from - sequence) / 64 * 64 : 0;
    const uint64_t end = x->from + 8 * (uint64_t)x->bits.len;
    *n = *n < before ? before : *n;
    if (*n >= records || sequence + *n >= end)
        return false;
    const uint64_t left = records - *n;
    *word = get_word(x, sequence + *n) & (left < 64 ? pf_run_bits((size_t)left) : UINT64_MAX);
    *n += 64;
    return true;
}

uint64_t pf_selected_count(const pf_selected *x, uint64_t sequence, uint64_t records)
{
    uint64_t sum = 0, n = 0, word;
    while (next_word(x, sequence, records, &n, &word))
        sum += (uint64_t)__builtin_popcountll(word);
    return sum;
}

void pf_selected_free(pf_selected *x)
{
    pf_buffer_free(&x->bits);
}

/* Sets of numbers: a sorted array of ranges that do not overlap. */

perfile_status pf_ranges_add(pf_ranges *r, uint64_t first, uint64_t last, perfile_error *err)
{
    if (r->n == r->cap) {
        uint32_t cap = r->cap ? 2 * r->cap : 8;
        pf_interval *more = pf_realloc(r->at, cap, sizeof *more);
        if (!more)
            return pf_fail_nomem(err, "filter");
        r->at = more;
        r->cap = cap;
    }
    r->at[r->n++] = (pf_interval){first, last};
    return PERFILE_OK;
}

static int by_first(const void *a, const void *b)
{
    const pf_interval *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Ranges that touch without overlapping are not joined; searching works with them. */
void pf_ranges_sort(pf_ranges *r)
{
    if (r->n < 2)
        return;
    qsort(r->at, r->n, sizeof *r->at, by_first);
    uint32_t n = 1;
    for (uint32_t i = 1; i < r->n; i++) {
        pf_interval *before = &r->at[n - 1];
        if (r->at[i].first > before->last)
            r->at[n++] = r->at[i];
        else if (r->at[i].last > before->last)
            before->last = r->at[i].last;
    }
    r->n = n;
}

/* Finds the first range that does not end before the value. */
bool pf_ranges_search(const pf_ranges *r, uint64_t value)
{
    uint32_t low = 0, high = r->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (value > r->at[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->n && value >= r->at[low].first;
}

void pf_ranges_free(pf_ranges *r)
{
    pf_free(r->at);
    *r = (pf_ranges){0};
}
