/* Small tables: numbers to numbers, and texts kept once. */
#ifndef PF_MODEL_INDEX_H
#define PF_MODEL_INDEX_H

#include "base/budget.h"
#include "perfile/base.h"

/* The seed makes places in the tables unknown to whoever made the input: a capture cannot be
 * written so that all its keys collide. */
uint64_t pf_index_seed(const void *address);

/* A number for `n` bytes, another one for each seed. */
uint64_t pf_index_hash(uint64_t seed, const uint8_t *p, size_t n);

/* From a number to a position.  All zeros but `seed` is an empty one. */
typedef struct pf_index {
    uint64_t seed;
    pf_budget *budget; /* may be NULL */
    struct pf_index_slot {
        uint64_t key;
        uint32_t value; /* position + 1; 0 is empty */
    } * slots;
    size_t n, size; /* size is a power of two */
} pf_index;

#define PF_INDEX_NONE UINT32_MAX

uint32_t pf_index_get(const pf_index *x, uint64_t key);
/* `key` must not be there.  False when there is no memory, or no room in the budget. */
bool pf_index_put(pf_index *x, uint64_t key, uint32_t value);
void pf_index_free(pf_index *x);

/* Texts, each kept once; they do not move. */
typedef struct pf_texts {
    uint64_t seed;
    pf_budget *budget; /* may be NULL */
    char **slots;
    size_t n, size;
    struct pf_texts_block *blocks;
    size_t left; /* bytes free in the first block */
} pf_texts;

/* The text that equals `text` (its bytes before the first NUL); NULL when there is no memory, or no
 * room in the budget. */
const char *pf_texts_keep(pf_texts *t, perfile_bytes text);
/* That text if it is kept, else NULL. */
const char *pf_texts_find(const pf_texts *t, perfile_bytes text);
void pf_texts_free(pf_texts *t);

#endif
