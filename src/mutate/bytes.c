/* Mutates bytes without asking what they mean, for what no table describes: unknown forms, content
 * that is compressed, choices that a fuzz target keeps after a capture. */
#include "mutate/operations.h"

#include <string.h>

enum { LAST = 16, MOST = 32 };

static void change(pf_buffer *b, pf_random *r)
{
    size_t last = pf_random_one_in(r, 4) && b->size > LAST ? b->size - LAST : 0;
    size_t at = last + (size_t)pf_random_below(r, b->size - last);
    pf_mutate_blob(b, r, (pf_range){at, b->size - at});
}

static bool insert(pf_buffer *b, pf_random *r)
{
    size_t n = 1 + (size_t)pf_random_below(r, MOST), at = (size_t)pf_random_below(r, b->size + 1);
    if (n > b->room - b->size)
        return false;
    memmove(b->bytes + at + n, b->bytes + at, b->size - at);
    b->size += n;
    for (size_t i = 0; i < n; i++)
        b->bytes[at + i] = (uint8_t)pf_random_next(r);
    return true;
}

static bool erase(pf_buffer *b, pf_random *r)
{
    size_t n = 1 + (size_t)pf_random_below(r, MOST);
    if (n >= b->size)
        return false;
    size_t at = (size_t)pf_random_below(r, b->size - n + 1);
    memmove(b->bytes + at, b->bytes + at + n, b->size - n - at);
    b->size -= n;
    return true;
}

bool pf_mutate_bytes(pf_buffer *b, const pf_outer *o, pf_random *r)
{
    (void)o;
    if (b->size == 0)
        return insert(b, r);
    switch (pf_random_below(r, 8)) {
    case 0:
        return insert(b, r);
    case 1:
        return erase(b, r);
    default:
        change(b, r);
        return true;
    }
}
