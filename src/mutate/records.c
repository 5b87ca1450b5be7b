/* Inserts, duplicates, removes, swaps and resizes whole records, and changes their types.  Sizes
 * and offsets of the rest go on to agree. */
#include "mutate/operations.h"

#include <string.h>

#include <perfile/catalogue.h>
#include <perfile/abi.h>

static bool choose(const pf_outer *o, pf_random *r, pf_piece *p)
{
    return pf_piece_at(o, (size_t)pf_random_below(r, pf_piece_count(o)), p);
}

/* Chooses a place between two records, before the first or after the last. */
static size_t choose_place(const pf_outer *o, pf_random *r)
{
    size_t at = o->records.at, n = (size_t)pf_random_below(r, pf_piece_count(o) + 1);
    pf_piece p;
    while (n-- && pf_piece_next(o, &at, &p))
        ;
    return at;
}

/* Returns a type that the tables have, mostly. */
static uint32_t choose_type(pf_random *r)
{
    perfile_record_type t;
    size_t n = 0;
    if (pf_random_one_in(r, 8))
        return (uint32_t)pf_random_magnitude(r);
    while (perfile_record_type_at(PERFILE_FAMILY_PERF, n, &t, sizeof t))
        n++;
    return perfile_record_type_at(PERFILE_FAMILY_PERF, (size_t)pf_random_below(r, n), &t, sizeof t)
               ? t.number
               : PERFILE_RECORD_SAMPLE;
}

bool pf_mutate_set_size(uint8_t *bytes, const pf_outer *o, const pf_piece *p, size_t size)
{
    bool wide = p->type >= PERFILE_RECORD_SIMPLEPERF && p->type < PERFILE_RECORD_SIMPLEPERF_END;
    if (size < PF_OUTER_RECORD_HEADER || size > (wide ? UINT32_MAX : UINT16_MAX))
        return false;
    if (wide)
        pf_number_put(bytes + p->at + 4, 2, o->big, (uint64_t)size >> 16);
    pf_number_put(bytes + p->at + 6, 2, o->big, size);
    return true;
}

/* A new record of a type of the tables, of small numbers: counts in it are mostly possible. */
bool pf_mutate_insert_record(pf_buffer *b, const pf_outer *o, pf_random *r)
{
    pf_piece p = {.at = choose_place(o, r)};
    p.size = 8 + 8 * (size_t)pf_random_below(r, 16);
    if (o->form == PF_OUTER_NONE || !pf_gap_open(b, o, p.at, p.size, true))
        return false;
    p.type = choose_type(r);
    pf_number_put(b->bytes + p.at, 4, o->big, p.type);
    pf_number_put(b->bytes + p.at + 4, 2, o->big, pf_random_below(r, 8));
    (void)pf_mutate_set_size(b->bytes, o, &p, p.size);
    for (size_t i = 8; i < p.size; i += 8) {
        unsigned less = pf_random_one_in(r, 4) ? 0 : 60;
        pf_number_put(b->bytes + p.at + i, 8, o->big, pf_random_next(r) >> less);
    }
    return true;
}

bool pf_mutate_duplicate_record(pf_buffer *b, const pf_outer *o, pf_random *r)
{
    pf_piece p;
    if (!choose(o, r, &p))
        return false;
    size_t to = choose_place(o, r), from = p.at + (to <= p.at ? p.whole : 0);
    if (!pf_gap_open(b, o, to, p.whole, true))
        return false;
    memmove(b->bytes + to, b->bytes + from, p.whole);
    return true;
}

bool pf_mutate_remove_record(pf_buffer *b, const pf_outer *o, pf_random *r)
{
    pf_piece p;
    if (!choose(o, r, &p))
        return false;
    size_t n = p.whole;
    size_t at = p.at + p.whole;
    for (uint64_t more = pf_random_one_in(r, 4) ? pf_random_below(r, 8) : 0; more; more--) {
        pf_piece next;
        if (!pf_piece_next(o, &at, &next))
            break;
        n += next.whole;
    }
    if (!o->unterminated && n == o->records.len)
        return false; /* a size of 0 would say that the file was not finished */
    pf_gap_close(b, o, p.at, n, true);
    return true;
}

static void reverse(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        uint8_t byte = p[i];
        p[i] = p[n - 1 - i];
        p[n - 1 - i] = byte;
    }
}

/* Reversing three parts, and then the whole, exchanges the first and the last of them. */
bool pf_mutate_swap_records(pf_buffer *b, const pf_outer *o, pf_random *r)
{
    pf_piece one, two;
    if (!choose(o, r, &one) || !choose(o, r, &two) || one.at == two.at)
        return false;
    if (one.at > two.at) {
        pf_piece first = two;
        two = one;
        one = first;
    }
    uint8_t *p = b->bytes + one.at;
    size_t between = two.at - one.at - one.whole, all = two.at + two.whole - one.at;
    reverse(p, one.whole);
    reverse(p + one.whole, between);
    reverse(p + one.whole + between, two.whole);
    reverse(p, all);
    return true;
}

/* A record becomes shorter or longer at its end. */
bool pf_mutate_resize_record(pf_buffer *b, const pf_outer *o, pf_random *r)
{
    pf_piece p;
    if (!choose(o, r, &p))
        return false;
    size_t unit = pf_random_one_in(r, 4) ? 1 : 8;
    size_t n = unit * (1 + (size_t)pf_random_below(r, 4)), end = p.at + p.size;
    if (pf_random_one_in(r, 3)) {
        if (p.size + n > UINT16_MAX || !pf_gap_open(b, o, end, n, true))
            return false;
        return pf_mutate_set_size(b->bytes, o, &p, p.size + n);
    }
    if (n > p.size - PF_OUTER_RECORD_HEADER)
        return false;
    (void)pf_mutate_set_size(b->bytes, o, &p, p.size - n);
    pf_gap_close(b, o, end - n, n, true);
    return true;
}

bool pf_mutate_record_type(pf_buffer *b, const pf_outer *o, pf_random *r)
{
    pf_piece p;
    if (!choose(o, r, &p))
        return false;
    p.type = choose_type(r);
    pf_number_put(b->bytes + p.at, 4, o->big, p.type);
    (void)pf_mutate_set_size(b->bytes, o, &p, p.size);
    return true;
}
