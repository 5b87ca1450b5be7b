/* Hash tables: 64-bit numbers to positions (pf_index), and texts stored once (pf_texts).
 *
 * Both use open addressing with linear probing, are at most half full, and have no removal.  Other
 * rooms use them, too. */
#ifndef PF_MODEL_INDEX_H
#define PF_MODEL_INDEX_H

#include "base/alloc.h"
#include "perfile/base.h"

/* A seed that differs from object to object and run to run.  It makes hash positions unpredictable,
 * so that no capture can be crafted whose keys all collide.  `address` is of any object of the
 * caller. */
uint64_t pf_index_seed(const void *address);

/* Hash of `n` bytes under `seed`. */
uint64_t pf_index_hash(uint64_t seed, const uint8_t *p, size_t n);

/* A map from a number to a position.  All zeros except `seed` is an empty one. */
typedef struct pf_index {
    uint64_t seed;
    pf_budget *budget; /* may be NULL */
    struct pf_index_slot {
        uint64_t key;
        uint32_t value; /* position + 1; 0 is empty */
    } * slots;
    size_t n, size; /* entries in use; slots, a power of two */
} pf_index;

#define PF_INDEX_NONE UINT32_MAX

/* The value for `key`, or PF_INDEX_NONE. */
uint32_t pf_index_get(const pf_index *x, uint64_t key);

/* Adds `key`, which must not exist, with a value below PF_INDEX_NONE.  False if there is no memory
 * or the budget is exhausted. */
bool pf_index_put(pf_index *x, uint64_t key, uint32_t value);
void pf_index_free(pf_index *x);

/* Texts (strings), each stored once: equal texts are equal pointers, which stay valid until
 * pf_texts_free().  All zeros except `seed` is empty. */
typedef struct pf_texts {
    uint64_t seed;
    pf_budget *budget;             /* may be NULL */
    char **slots;                  /* hash table of pointers into the blocks; NULL: free */
    size_t n, size;                /* texts; slots, a power of two */
    struct pf_texts_block *blocks; /* memory of the texts, the latest block first */
    size_t left;                   /* bytes free in the first block */
} pf_texts;

/* The stored copy of `text` up to its first NUL, added if needed.  NULL if there is no memory or
 * the budget is exhausted. */
const char *pf_texts_keep(pf_texts *t, perfile_bytes text);

/* The stored copy of `text` if there is one, otherwise NULL. */
const char *pf_texts_find(const pf_texts *t, perfile_bytes text);
void pf_texts_free(pf_texts *t);

#endif
