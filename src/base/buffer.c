/* Growth of pf_buffer: moves the bytes to the front of the allocation if enough were consumed
 * there, otherwise doubles the allocation. */
#include "base/buffer.h"

#include "base/alloc.h"

#define BUFFER_FIRST 256 /* bytes of the first allocation */

bool pf_buffer_grow(pf_buffer *b, size_t n)
{
    size_t allocated = b->head + b->cap;
    if (n > PTRDIFF_MAX - b->len - b->head)
        return false; /* keeps the sums below from overflowing */
    size_t want = b->len + n;

    /* Moves no more bytes than were consumed since the last move: amortized O(1) per byte. */
    if (want <= allocated && b->head >= b->len) {
        memmove(b->ptr - b->head, b->ptr, b->len);
        b->ptr -= b->head;
        b->cap = allocated;
        b->head = 0;
        return true;
    }

    size_t cap = allocated < BUFFER_FIRST ? BUFFER_FIRST : allocated;
    while (cap - b->head < want)
        cap = cap > PTRDIFF_MAX / 2 ? PTRDIFF_MAX : cap * 2;
    /* The consumed bytes are copied, too: that is simpler, and the next growth may reuse their
     * space. */
    uint8_t *base = pf_realloc(b->head ? b->ptr - b->head : b->ptr, cap, 1);
    if (!base)
        return false;
    b->ptr = base + b->head;
    b->cap = cap - b->head;
    return true;
}

bool pf_buffer_reserve_large(pf_buffer *b, size_t n)
{
    enum { LEAST = 1 << 20 };
    if (b->cap - b->len >= n)
        return true;
    if (n > PTRDIFF_MAX / 2 - b->len || b->cap > PTRDIFF_MAX / 4)
        return false;
    const size_t want = b->len + n, twice = 2 * (b->head + b->cap);
    if (want < LEAST)
        return pf_buffer_grow(b, n);
    const size_t cap = want > twice ? want : twice;
    uint8_t *ptr = pf_alloc_large(cap);
    if (!ptr)
        return false;
    if (b->len)
        memcpy(ptr, b->ptr, b->len);
    pf_free(b->head ? b->ptr - b->head : b->ptr);
    *b = (pf_buffer){.ptr = ptr, .len = b->len, .cap = cap};
    return true;
}

void pf_buffer_free(pf_buffer *b)
{
    pf_buffer_clear(b);
    pf_free(b->ptr);
    *b = (pf_buffer){0};
}
