/* Blocks from which pieces are cut one behind the other.
 *
 * A reader decodes many chunks of the same size: after the first one, which may have needed several
 * blocks, pf_pool_reset() lets the next block be as large as all of them, so that later chunks
 * allocate nothing.  Under AddressSanitizer each piece has a block of its own, so that a read
 * behind its end is seen. */
#include "archive/columns_decode.h"

#include <stddef.h>

#include "base/alloc.h"

#if defined(__SANITIZE_ADDRESS__)
#define PIECES_APART 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PIECES_APART 1
#endif
#endif
#ifndef PIECES_APART
#define PIECES_APART 0
#endif

enum {
    LEAST = 256 << 10, /* bytes of a block */
    LARGE = 1 << 20    /* on large pages from so many on */
};

struct pf_pool_block {
    pf_pool_block *next;
    max_align_t bytes[];
};

static uint8_t *new_block(pf_pool *p, size_t n)
{
    pf_pool_block *block = n > SIZE_MAX - sizeof *block ? NULL
                           : n < LARGE                  ? pf_realloc(NULL, sizeof *block + n, 1)
                                                        : pf_alloc_large(sizeof *block + n);
    if (!block)
        return NULL;
    block->next = p->blocks;
    p->blocks = block;
    return (uint8_t *)block->bytes;
}

void *pf_pool_get(pf_pool *p, size_t n)
{
    const size_t mask = _Alignof(max_align_t) - 1;
    if (PIECES_APART)
        return new_block(p, n ? n : 1);
    if (n > SIZE_MAX / 2)
        return NULL;
    n = (n + mask) & ~mask;
    if (n > p->left || !p->at) {
        /* Without a block `total` is what all blocks in front of the last reset had together, or
         * what is expected. */
        size_t size = p->blocks ? 0 : p->total;
        size = size > LEAST ? size : LEAST;
        size = size > n ? size : n;
        uint8_t *fresh = new_block(p, size);
        if (!fresh)
            return NULL;
        p->total = p->blocks->next ? p->total + size : size;
        p->at = fresh;
        p->left = size;
    }
    uint8_t *piece = p->at;
    p->at += n;
    p->left -= n;
    return piece;
}

static void free_blocks(pf_pool *p)
{
    while (p->blocks) {
        pf_pool_block *next = p->blocks->next;
        pf_free(p->blocks);
        p->blocks = next;
    }
    p->at = NULL;
    p->left = 0;
}

void pf_pool_reset(pf_pool *p)
{
    if (!p->blocks)
        return;
    if (p->blocks->next || PIECES_APART) {
        free_blocks(p);
    } else {
        p->at = (uint8_t *)p->blocks->bytes;
        p->left = p->total;
    }
}

void pf_pool_expect(pf_pool *p, size_t n)
{
    if (!p->blocks && p->total < n)
        p->total = n;
}

void pf_pool_free(pf_pool *p)
{
    free_blocks(p);
    p->total = 0;
}
