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

/* Memory for at least `bytes` that are used from one end to the other, on large pages (2 MiB) where
 * the system has them: on a virtual machine the first use of a small page costs as much as copying
 * a hundred kilobytes.  Not zeroed.  A large page counts as used as a whole, so that what is
 * smaller than half of one should not be allocated like that. */
void *pf_alloc_large(size_t bytes);

/* For tests: the number of allocations so far, and the number of the one that fails (0: none).  The
 * counter is atomic; which allocation fails is only predictable in one thread. */
extern uint64_t pf_alloc_count;
extern uint64_t pf_alloc_fail_at;

/* Makes room for one more item of `width` bytes in an array of `n` items and capacity *cap.
 * Returns the array, which may have moved, or NULL: then `items` is unchanged. */
void *pf_array_more(void *items, uint32_t n, uint32_t *cap, size_t width);

#endif
