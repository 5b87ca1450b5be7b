/* The allocator of the library: the C library's, with a counter for tests of failing allocations.
 */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/checked.h"

uint64_t pf_alloc_count;
uint64_t pf_alloc_fail_at;

/* True if a test asked for this allocation to fail. */
static int fails_by_test(void)
{
    uint64_t n = __atomic_add_fetch(&pf_alloc_count, 1, __ATOMIC_RELAXED);
    return n == pf_alloc_fail_at;
}

void *pf_alloc(size_t n, size_t width)
{
    /* calloc() checks the product; with 0 items it might return NULL, which means failure here. */
    return fails_by_test() ? NULL : calloc(n ? n : 1, width);
}

void *pf_realloc(void *old, size_t n, size_t width)
{
    size_t bytes;
    if (pf_mul_size(n, width, &bytes) || fails_by_test())
        return NULL;
    return realloc(old, bytes ? bytes : 1);
}

void pf_free(void *p)
{
    free(p);
}

void *pf_array_more(void *items, uint32_t n, uint32_t *cap, size_t width)
{
    if (n < *cap)
        return items;
    if (n > UINT32_MAX / 2)
        return NULL; /* 2 * n must fit in 32 bits */
    uint32_t more = n ? 2 * n : 8;
    void *moved = pf_realloc(items, more, width);
    if (moved)
        *cap = more;
    return moved;
}

/* It begins at a large page, which the C library must not have touched: one small page in it, such
 * as a header in front of the memory, and the system gives nothing but small ones for it.  If
 * address space is too short for that, the memory is on small pages. */
void *pf_alloc_large(size_t bytes)
{
    const size_t page = 2 << 20;
    if (bytes > PTRDIFF_MAX - page || fails_by_test())
        return NULL;
    const size_t rounded = (bytes + page - 1) / page * page;
    void *p = aligned_alloc(page, rounded ? rounded : page);
    if (!p)
        return malloc(bytes ? bytes : 1);
#ifdef MADV_HUGEPAGE
    (void)madvise(p, rounded, MADV_HUGEPAGE);
#endif
    return p;
}
