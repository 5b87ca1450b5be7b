/* All allocation of the library goes through these functions, so that tests can make the n-th one
 * fail. */
#ifndef PF_BASE_ALLOC_H
#define PF_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory for `n` items of `width` bytes; `n` may be 0.  NULL if there is no memory or the
 * product overflows.  The caller releases it with pf_free(). */
void *pf_alloc(size_t n, size_t width);

/* Resizes `old` (may be NULL) to `n` items of `width` bytes.  Bytes behind the old size are
 * undefined.  On NULL, `old` is unchanged. */
void *pf_realloc(void *old, size_t n, size_t width);

void pf_free(void *p);

/* For memory that will be used from one end to the other, of which many megabytes are used at once:
 * asks for large pages, since the first use of each small one costs more than decoding into it. */
void pf_prefer_large_pages(void *p, size_t bytes);

/* For tests: the number of allocations so far, and the number of the one that fails (0: none).  The
 * counter is atomic; which allocation fails is only predictable in one thread. */
extern uint64_t pf_alloc_count;
extern uint64_t pf_alloc_fail_at;

/* Makes room for one more item of `width` bytes in an array of `n` items and capacity *cap.
 * Returns the array, which may have moved, or NULL: then `items` is unchanged. */
void *pf_array_more(void *items, uint32_t n, uint32_t *cap, size_t width);

#endif
