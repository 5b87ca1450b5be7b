/* Values that are interesting for a kind of field: where readers go wrong.  Counts are off by one
 * or huge, sizes near the borders of what is there, addresses at the borders of address space,
 * flags toggled one by one, texts without their NUL. */
#include "mutate/operations.h"

#include <string.h>

#include <perfile/field.h>

enum { PAGE = 4096 };

/* Returns all ones in `width` bytes. */
static uint64_t ones(size_t width)
{
    return width >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * width) - 1;
}

/* Values that are interesting for each integer. */
static uint64_t any_number(pf_random *r, uint64_t now, size_t width)
{
    switch (pf_random_below(r, 7)) {
    case 0:
        return 0;
    case 1:
        return now + 1;
    case 2:
        return now - 1;
    case 3:
        return ones(width);
    case 4:
        return ones(width) >> 1; /* the largest signed number, or with + 1 the smallest */
    case 5:
        return (ones(width) >> 1) + 1;
    default:
        return pf_random_magnitude(r);
    }
}

static uint64_t count(pf_random *r, uint64_t now, size_t width)
{
    switch (pf_random_below(r, 5)) {
    case 0:
        return now * 2;
    case 1:
        return ones(width) / 8; /* times 8 is just below the end of what a number can be */
    case 2:
        return ones(width) / 8 + 1;
    default:
        return any_number(r, now, width);
    }
}

/* A size or an offset: near the borders of the parts of the file. */
static uint64_t size_or_offset(const pf_outer *o, pf_random *r, uint64_t now, size_t width)
{
    const uint64_t borders[] = {
        o->size,  o->header,   o->records.at, o->records.at + o->records.len,
        o->table, o->attrs.at, o->attr_size,  o->records.len};
    uint64_t border = borders[pf_random_below(r, sizeof borders / sizeof borders[0])];
    switch (pf_random_below(r, 4)) {
    case 0:
        return border - 8 + 8 * pf_random_below(r, 3);
    case 1:
        return now + 8;
    case 2:
        return now - 8;
    default:
        return any_number(r, now, width);
    }
}

static uint64_t address(pf_random *r, uint64_t now, size_t width)
{
    switch (pf_random_below(r, 5)) {
    case 0:
        return now + PAGE;
    case 1:
        return now - PAGE;
    case 2:
        return UINT64_C(1) << 47; /* the end of the addresses of processes on x86-64 */
    case 3:
        return ones(width) - PAGE + 1;
    default:
        return any_number(r, now, width);
    }
}

/* Times move a little, so that records change places, or far. */
static uint64_t moment(pf_random *r, uint64_t now, size_t width)
{
    uint64_t by = UINT64_C(1) << pf_random_below(r, 40);
    switch (pf_random_below(r, 4)) {
    case 0:
        return now + by;
    case 1:
        return now - by;
    default:
        return any_number(r, now, width);
    }
}

/* A kind with names for its bits or values: one of these. */
static uint64_t word(const perfile_vocabulary *v, pf_random *r, uint64_t now)
{
    uint64_t i = pf_random_below(r, v->n);
    if (!v->bits)
        return v->words[i].value;
    uint64_t part = v->bits[i].width >= 64 ? UINT64_MAX : (UINT64_C(1) << v->bits[i].width) - 1;
    uint64_t value = pf_random_one_in(r, 2) ? part : pf_random_next(r) & part;
    return now ^ (value ? value : part) << v->bits[i].shift % 64;
}

/* Returns an interesting value of a kind. */
static uint64_t of_kind(const pf_outer *o, pf_random *r, unsigned kind, uint64_t now, size_t width)
{
    const perfile_vocabulary *v = perfile_kind_words(kind);
    if (v && v->n && (v->bits || v->words) && !pf_random_one_in(r, 5))
        return word(v, r, now);
    switch (kind) {
    case PERFILE_KIND_COUNT:
        return count(r, now, width);
    case PERFILE_KIND_SIZE:
    case PERFILE_KIND_RANGE:
        return size_or_offset(o, r, now, width);
    case PERFILE_KIND_ADDR:
    case PERFILE_KIND_CHAIN:
        return address(r, now, width);
    case PERFILE_KIND_TIME:
    case PERFILE_KIND_DURATION:
    case PERFILE_KIND_WALL:
    case PERFILE_KIND_TICKS:
        return moment(r, now, width);
    case PERFILE_KIND_HEX:
    case PERFILE_KIND_REGS_MASK:
        return now ^ UINT64_C(1) << pf_random_below(r, 8 * width);
    default:
        return any_number(r, now, width);
    }
}

void pf_mutate_number(pf_buffer *b, const pf_outer *o, pf_random *r, pf_range place, unsigned kind,
                      const uint64_t *other)
{
    uint8_t *p = b->bytes + place.at;
    uint64_t now = pf_number_get(p, place.len, o->big);
    uint64_t value = other && pf_random_one_in(r, 2) ? *other : of_kind(o, r, kind, now, place.len);
    if (((value ^ now) & ones(place.len)) == 0)
        value = now + 1; /* a mutation changes something */
    pf_number_put(p, place.len, o->big, value);
}

void pf_mutate_text(pf_buffer *b, pf_random *r, pf_range place)
{
    static const uint8_t special[] = {'/', '.',  '[',  ']',  '%',  ';', ':',
                                      '"', '\n', 0x1b, 0x7f, 0xff, 0xc0};
    uint8_t *p = b->bytes + place.at;
    size_t i = (size_t)pf_random_below(r, place.len);
    switch (pf_random_below(r, 4)) {
    case 0: /* no NUL to the end of its room */
        for (size_t k = 0; k < place.len; k++)
            p[k] = p[k] ? p[k] : 'A';
        break;
    case 1: /* it ends early */
        p[i] = 0;
        break;
    case 2:
        p[i] = special[pf_random_below(r, sizeof special)];
        break;
    default:
        p[i] = (uint8_t)pf_random_next(r);
    }
}

void pf_mutate_blob(pf_buffer *b, pf_random *r, pf_range place)
{
    size_t i = (size_t)pf_random_below(r, place.len);
    size_t n = 1 + (size_t)pf_random_below(r, 8);
    n = n < place.len - i ? n : place.len - i;
    uint64_t what = pf_random_below(r, 4);
    for (; n; n--, i++) {
        uint8_t *p = b->bytes + place.at + i;
        *p = (uint8_t)(what == 0   ? 0
                       : what == 1 ? 0xff
                       : what == 2 ? *p ^ 1U << pf_random_below(r, 8)
                                   : pf_random_next(r));
    }
}
