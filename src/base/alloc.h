/* Every allocation of the library, so that a test can make the n-th one fail. */
#ifndef PF_BASE_ALLOC_H
#define PF_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory for `n` items of `width` bytes; NULL when there is none or the product overflows.
 */
void *pf_alloc(size_t n, size_t width);

/* Grows `old` to `n` items; the new part is not cleared.  On NULL, `old` is untouched. */
void *pf_realloc(void *old, size_t n, size_t width);

void pf_free(void *p);

/* For tests: how many allocations were made, and which one fails (0: none).  Not for threads. */
extern uint64_t pf_alloc_count;
extern uint64_t pf_alloc_fail_at;

/* Room for one more item of `width` bytes in an array of `n`; returns it, moved perhaps, or NULL.
 */
void *pf_array_more(void *items, uint32_t n, uint32_t *cap, size_t width);

#endif
