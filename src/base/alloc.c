#include "base/alloc.h"

#include <stdlib.h>

#include "base/checked.h"

uint64_t pf_alloc_count;
uint64_t pf_alloc_fail_at;

static int refused(void)
{
    uint64_t n = __atomic_add_fetch(&pf_alloc_count, 1, __ATOMIC_RELAXED);
    return n == pf_alloc_fail_at;
}

void *pf_alloc(size_t n, size_t width)
{
    return refused() ? NULL : calloc(n ? n : 1, width);
}

void *pf_realloc(void *old, size_t n, size_t width)
{
    size_t bytes;
    if (pf_mul_size(n, width, &bytes) || refused())
        return NULL;
    return realloc(old, bytes ? bytes : 1);
}

void pf_free(void *p)
{
    free(p);
}
