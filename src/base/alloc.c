/* The allocator of the library: the C library's, with a counter for tests of failing allocations.
 */
#include "base/alloc.h"

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

/* All of the mapping is named: one of two kinds of pages cannot grow, so that realloc() would copy
 * it. */
void pf_prefer_large_pages(void *p, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const size_t least = 4 << 20; /* two large pages: what is smaller may share them with others */
    const uintptr_t page = 4096, from = (uintptr_t)p & ~(page - 1);
    if (p && bytes >= least)
        (void)madvise((void *)from, ((uintptr_t)p + bytes - from + page - 1) & ~(page - 1),
                      MADV_HUGEPAGE);
#else
    (void)p, (void)bytes;
#endif
}
