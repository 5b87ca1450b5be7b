/* Hash tables: from 64-bit numbers to positions (pf_index), and of texts stored once (pf_texts).
 *
 * Both use open addressing with linear probing, are at most half full, and do not support removal.
 * Other rooms use them, too. */
#ifndef PF_MODEL_INDEX_H
#define PF_MODEL_INDEX_H

#include "base/alloc.h"
#include "perfile/base.h"

/* Returns a seed that differs between objects and between runs of the program.  It makes hash
 * positions unpredictable, so that no capture can be crafted with keys that all collide.  `address`
 * is the address of any object of the caller. */
uint64_t pf_index_seed(const void *address);

/* Returns the hash of `n` bytes with `seed`. */
uint64_t pf_index_hash(uint64_t seed, const uint8_t *p, size_t n);

/* A map from a number to a position.  It is empty if all members except `seed` are zero. */
typedef struct pf_index {
    uint64_t seed;
    pf_budget *budget; /* may be NULL */
    struct pf_index_slot {
        uint64_t key;
        uint32_t value; /* position + 1; 0: the slot is free */
    } * slots;
    size_t n, size; /* entries in use; number of slots, a power of two */
} pf_index;

#define PF_INDEX_NONE UINT32_MAX

/* Returns the value for `key`, or PF_INDEX_NONE. */
uint32_t pf_index_get(const pf_index *x, uint64_t key);

/* Adds `key`, which must not exist, with a value below PF_INDEX_NONE.  Returns false when out of
 * memory or the budget is exhausted. */
bool pf_index_put(pf_index *x, uint64_t key, uint32_t value);
void pf_index_free(pf_index *x);

/* Texts (strings), each stored once: equal texts are equal pointers, which stay valid until
 * pf_texts_free().  It is empty if all members except `seed` are zero. */
typedef struct pf_texts {
    uint64_t seed;
    pf_budget *budget;             /* may be NULL */
    char **slots;                  /* hash table of pointers into the blocks; NULL: free */
    size_t n, size;                /* texts; number of slots, a power of two */
    struct pf_texts_block *blocks; /* memory of the texts, the latest block first */
    size_t left;                   /* bytes free in the first block */
} pf_texts;

/* Returns the stored copy of `text` up to its first NUL; adds it if needed.  Returns NULL when out
 * of memory or the budget is exhausted. */
const char *pf_texts_keep(pf_texts *t, perfile_bytes text);

/* Returns the stored copy of `text`, or NULL if there is none. */
const char *pf_texts_find(const pf_texts *t, perfile_bytes text);
void pf_texts_free(pf_texts *t);

#endif
