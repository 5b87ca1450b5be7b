/* perfile_fuzz_cross_over(): records of one capture among those of another. */
#include <perfile-fuzz.h>

#include "mutate/operations.h"

#include <string.h>

enum { MOST_RECORDS = 16 };

/* Some records that follow each other. */
typedef struct run {
    size_t at, len;
} run;

/* Chooses a run of records. */
static bool choose_run(const pf_outer *o, pf_random *r, run *chosen)
{
    pf_piece p;
    size_t n = pf_piece_count(o), first = (size_t)pf_random_below(r, n);
    if (!pf_piece_at(o, first, &p))
        return false;
    *chosen = (run){p.at, p.whole};
    size_t at = p.at + p.whole;
    for (uint64_t more = pf_random_below(r, MOST_RECORDS); more; more--) {
        if (!pf_piece_next(o, &at, &p))
            break;
        chosen->len += p.whole;
    }
    return true;
}

/* The records of `o` at `at` came from a capture of the other byte order: their headers are
 * exchanged, so that they are found. Their bodies stay. */
static void swap_headers(uint8_t *bytes, const run *records, bool big)
{
    size_t at = records->at, end = records->at + records->len;
    while (end - at >= PF_OUTER_RECORD_HEADER) {
        uint8_t *p = bytes + at;
        uint64_t size = pf_number_get(p + 6, 2, !big);
        pf_number_put(p, 4, big, pf_number_get(p, 4, !big));
        pf_number_put(p + 4, 2, big, pf_number_get(p + 4, 2, !big));
        pf_number_put(p + 6, 2, big, size);
        if (size < PF_OUTER_RECORD_HEADER || size > end - at)
            return;
        at += (size_t)size;
    }
}

/* Without records on one side: the beginning of one and the end of the other. */
static void splice(pf_buffer *out, const uint8_t *b, size_t b_size, pf_random *r)
{
    size_t keep = (size_t)pf_random_below(r, out->size + 1);
    size_t from = (size_t)pf_random_below(r, b_size + 1), n = b_size - from;
    n = n < out->room - keep ? n : out->room - keep;
    if (n)
        memcpy(out->bytes + keep, b + from, n);
    out->size = keep + n;
}

/* Puts the records of `from` into the buffer, in place of some of its own, or between them. */
static bool put_records(pf_buffer *out, const pf_outer *from, const run *chosen, pf_random *r)
{
    pf_outer o;
    run place;
    if (!pf_outer_read(&o, out->bytes, out->size) || !choose_run(&o, r, &place))
        return false;
    bool replace = pf_random_one_in(r, 2);
    if (!replace && pf_random_one_in(r, 2))
        place.at += place.len;
    if (!pf_gap_open(out, &o, place.at, chosen->len, true))
        return false;
    memcpy(out->bytes + place.at, from->bytes + chosen->at, chosen->len);
    if (from->big != o.big)
        swap_headers(out->bytes, &(run){place.at, chosen->len}, o.big);
    if (replace && pf_outer_read(&o, out->bytes, out->size))
        pf_gap_close(out, &o, place.at + chosen->len, place.len, true);
    return true;
}

size_t perfile_fuzz_cross_over(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                               uint8_t *out, size_t max_out, unsigned seed)
{
    pf_buffer result = {out, a_size < max_out ? a_size : max_out, max_out};
    pf_random r = {seed};
    pf_outer from;
    run chosen;
    if (max_out == 0)
        return 0;
    if (result.size)
        memcpy(out, a, result.size);
    if (!pf_outer_read(&from, b, b_size) || !choose_run(&from, &r, &chosen) ||
        !put_records(&result, &from, &chosen, &r))
        splice(&result, b, b_size, &r);
    return result.size;
}
