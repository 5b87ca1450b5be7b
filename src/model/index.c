/* Hash tables with linear probing (see index.h).
 *
 * The seed is mixed into each key, so that positions cannot be predicted from the input.  Texts are
 * copied into blocks of 16 KiB that never move. */
#include "model/index.h"

#include <string.h>
#include <time.h>

/* Mixes 64 bits: every input bit affects every output bit.  It is bijective, because the constant
 * is odd, which makes the multiplication invertible. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
    x ^= x >> 32;
    return x;
}

uint64_t pf_index_seed(const void *address)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return mix((uint64_t)(uintptr_t)address) ^
           mix((uint64_t)t.tv_nsec + ((uint64_t)t.tv_sec << 30));
}

uint64_t pf_index_hash(uint64_t seed, const uint8_t *p, size_t n)
{
    uint64_t h = mix(seed ^ n);
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        h = mix(h ^ w);
    }
    uint64_t w = 0;
    if (n)
        memcpy(&w, p, n);
    return mix(h ^ w);
}

/* Returns the slot of `key`, or the free slot for it.  There is one, because tables are at most
 * half full. */
static struct pf_index_slot *slot_of(const pf_index *x, uint64_t key)
{
    size_t at = (size_t)mix(key ^ x->seed) & (x->size - 1);
    while (x->slots[at].value && x->slots[at].key != key)
        at = (at + 1) & (x->size - 1);
    return &x->slots[at];
}

uint32_t pf_index_get(const pf_index *x, uint64_t key)
{
    if (!x->size)
        return PF_INDEX_NONE;
    return slot_of(x, key)->value - 1; /* 0, a free slot, becomes PF_INDEX_NONE */
}

/* Doubles the table. */
static bool grow(pf_index *x)
{
    pf_index grown = *x;
    grown.size = x->size ? x->size * 2 : 32;
    grown.slots = pf_budget_alloc(x->budget, grown.size, sizeof *grown.slots);
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < x->size; i++)
        if (x->slots[i].value)
            *slot_of(&grown, x->slots[i].key) = x->slots[i];
    pf_budget_free(x->budget, x->slots, x->size, sizeof *x->slots);
    *x = grown;
    return true;
}

bool pf_index_put(pf_index *x, uint64_t key, uint32_t value)
{
    if (x->n >= x->size / 2 && !grow(x)) /* stays half empty, so that probing ends soon */
        return false;
    *slot_of(x, key) = (struct pf_index_slot){key, value + 1};
    x->n++;
    return true;
}

void pf_index_free(pf_index *x)
{
    pf_budget_free(x->budget, x->slots, x->size, sizeof *x->slots);
    *x = (pf_index){0};
}

/* A block of consecutive texts, each with its NUL. */
struct pf_texts_block {
    struct pf_texts_block *next;
    size_t size; /* of `bytes` */
    char bytes[];
};

enum { BLOCK = 1 << 14 }; /* size of a block, unless a text is longer */

/* Returns the slot of the text, or the free slot for it. */
static char **text_slot(const pf_texts *t, const uint8_t *text, size_t n)
{
    size_t at = (size_t)pf_index_hash(t->seed, text, n) & (t->size - 1);
    for (; t->slots[at]; at = (at + 1) & (t->size - 1))
        if (strncmp(t->slots[at], (const char *)text, n) == 0 && !t->slots[at][n])
            break;
    return &t->slots[at];
}

/* Doubles the table of texts; the texts themselves do not move. */
static bool grow_texts(pf_texts *t)
{
    size_t size = t->size ? t->size * 2 : 64;
    char **slots = pf_budget_alloc(t->budget, size, sizeof *slots);
    if (!slots)
        return false;
    pf_texts grown = *t;
    grown.slots = slots;
    grown.size = size;
    for (size_t i = 0; i < t->size; i++)
        if (t->slots[i])
            *text_slot(&grown, (const uint8_t *)t->slots[i], strlen(t->slots[i])) = t->slots[i];
    pf_budget_free(t->budget, t->slots, t->size, sizeof *t->slots);
    t->slots = slots;
    t->size = size;
    return true;
}

/* Copies a text into the latest block, or a new one if it is full. */
static char *store_text(pf_texts *t, const uint8_t *text, size_t n)
{
    if (t->left < n + 1) {
        size_t size = n + 1 > BLOCK ? n + 1 : BLOCK;
        struct pf_texts_block *b = pf_budget_alloc(t->budget, sizeof *b + size, 1);
        if (!b)
            return NULL;
        b->next = t->blocks;
        b->size = size;
        t->blocks = b;
        t->left = size;
    }
    /* `left` counts the free bytes of the latest block, at its end. */
    char *place = t->blocks->bytes + (t->blocks->size - t->left);
    memcpy(place, text, n);
    place[n] = 0;
    t->left -= n + 1;
    return place;
}

/* Returns the bytes of `text` before its first NUL.  The pointer is never NULL. */
static perfile_bytes up_to_nul(perfile_bytes text)
{
    static const uint8_t none[1] = {0};
    if (!text.len)
        return (perfile_bytes){none, 0};
    const uint8_t *nul = memchr(text.ptr, 0, text.len);
    return (perfile_bytes){text.ptr, nul ? (size_t)(nul - text.ptr) : text.len};
}

const char *pf_texts_find(const pf_texts *t, perfile_bytes text)
{
    text = up_to_nul(text);
    return t->size ? *text_slot(t, text.ptr, text.len) : NULL;
}

const char *pf_texts_keep(pf_texts *t, perfile_bytes text)
{
    text = up_to_nul(text);
    if (t->n >= t->size / 2 && !grow_texts(t))
        return NULL;
    char **slot = text_slot(t, text.ptr, text.len);
    if (!*slot) {
        *slot = store_text(t, text.ptr, text.len);
        t->n += *slot != NULL;
    }
    return *slot;
}

void pf_texts_free(pf_texts *t)
{
    while (t->blocks) {
        struct pf_texts_block *next = t->blocks->next;
        pf_budget_free(t->budget, t->blocks, sizeof *next + t->blocks->size, 1);
        t->blocks = next;
    }
    pf_budget_free(t->budget, t->slots, t->size, sizeof *t->slots);
    *t = (pf_texts){0};
}
