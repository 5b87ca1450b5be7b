/* Sets of process ids; see pids.h. */
#include "stage/pids.h"

#include "base/alloc.h"

enum { WORDS = PF_PIDS_BLOCK / 64, BLOCKS = PF_PIDS_USUAL / PF_PIDS_BLOCK };

/* Returns the block with the bit of `pid`, allocated if necessary; NULL when out of memory. */
static uint64_t *block_of(pf_pids *p, uint32_t pid)
{
    if (!p->blocks && !(p->blocks = pf_alloc(BLOCKS, sizeof *p->blocks)))
        return NULL;
    uint64_t **block = &p->blocks[pid / PF_PIDS_BLOCK];
    if (!*block)
        *block = pf_alloc(WORDS, sizeof **block);
    return *block;
}

bool pf_pids_add(pf_pids *p, uint32_t pid, bool *is_new)
{
    *is_new = !pf_pids_have(p, pid);
    if (!*is_new)
        return true;
    if (pid >= PF_PIDS_USUAL) {
        if (p->odd.n == PF_PIDS_ODD) {
            p->full = true;
            return true;
        }
        /* A random seed, so that numbers from input cannot be chosen to collide. */
        if (!p->odd.seed)
            p->odd.seed = pf_index_seed(p);
        if (!pf_index_put(&p->odd, pid, 0))
            return false;
    } else {
        uint64_t *block = block_of(p, pid);
        if (!block)
            return false;
        block[pid % PF_PIDS_BLOCK / 64] |= UINT64_C(1) << pid % 64;
    }
    p->n++;
    return true;
}

/* *at is the next number to test; from PF_PIDS_USUAL on it is that plus the next slot of the
 * table. */
bool pf_pids_next(const pf_pids *p, uint64_t *at, uint32_t *pid)
{
    while (p->blocks && *at < PF_PIDS_USUAL) {
        const uint64_t *block = p->blocks[*at / PF_PIDS_BLOCK];
        uint64_t word = block ? block[*at % PF_PIDS_BLOCK / 64] >> *at % 64 : 0;
        if (word) {
            *pid = (uint32_t)*at + (uint32_t)__builtin_ctzll(word);
            *at = (uint64_t)*pid + 1;
            return true;
        }
        /* Nothing is left in this word, or the whole block was never allocated. */
        uint64_t step = block ? 64 : PF_PIDS_BLOCK;
        *at += step - *at % step;
    }
    if (*at < PF_PIDS_USUAL)
        *at = PF_PIDS_USUAL;
    while (*at - PF_PIDS_USUAL < p->odd.size) {
        const struct pf_index_slot *slot = &p->odd.slots[*at - PF_PIDS_USUAL];
        ++*at;
        if (slot->value) { /* 0: the slot is empty */
            *pid = (uint32_t)slot->key;
            return true;
        }
    }
    return false;
}

void pf_pids_free(pf_pids *p)
{
    for (size_t i = 0; p->blocks && i < BLOCKS; i++)
        pf_free(p->blocks[i]);
    pf_free(p->blocks);
    pf_index_free(&p->odd);
}
