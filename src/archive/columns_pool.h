/* Memory of one payload while it is decoded: given out piece by piece, taken back all at once, and
 * kept for the next payload.  For the decoder's files only. */
#ifndef PF_ARCHIVE_COLUMNS_POOL_H
#define PF_ARCHIVE_COLUMNS_POOL_H

#include <stddef.h>
#include <stdint.h>

typedef struct pf_pool_block pf_pool_block;

/* All zeros is an empty pool. */
typedef struct pf_pool {
    pf_pool_block *blocks; /* the newest first */
    uint8_t *at;           /* the next free byte of the newest */
    size_t left;           /* bytes that are free from `at` on */
    size_t total;          /* bytes of all blocks */
} pf_pool;

/* `n` bytes, aligned for any type and not initialised; they live until pf_pool_reset().  NULL: no
 * memory. */
void *pf_pool_get(pf_pool *p, size_t n);

/* Takes everything back.  What the pool holds afterwards is one block, or nothing. */
void pf_pool_reset(pf_pool *p);

/* All pieces together will have about `n` bytes: a pool that holds nothing gets one block for
 * them, of which only what is used costs memory. */
void pf_pool_expect(pf_pool *p, size_t n);

void pf_pool_free(pf_pool *p);

#endif
