/* A hash map from 64-bit keys (ids of events, configs) to positions of owners.  The first owner of
 * a key keeps it. Open addressing with linear probing; nothing is ever removed. */
#ifndef PF_CORE_IDS_H
#define PF_CORE_IDS_H

#include "base/arena.h"

#define PF_NO_OWNER UINT32_MAX

typedef struct pf_id_slot {
    uint64_t id;
    uint32_t taken; /* owner + 1, 0: free */
    uint32_t reserved;
} pf_id_slot;

/* All zeros but for `seed` is an empty map.  Keys come from input: without a seed that the input
 * cannot know, it could make all of them fall on one place. */
typedef struct pf_ids {
    pf_id_slot *slots;
    size_t mask; /* slots - 1, a power of two */
    size_t n;
    uint64_t seed;
} pf_ids;

static inline size_t pf_ids_home(const pf_ids *m, uint64_t id)
{
    uint64_t h = (id ^ m->seed) * (m->seed | 1);
    h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 32) & m->mask;
}

/* The owner of `id`, or PF_NO_OWNER. */
static inline uint32_t pf_ids_find(const pf_ids *m, uint64_t id)
{
    if (m->n == 0)
        return PF_NO_OWNER;
    for (size_t i = pf_ids_home(m, id);; i = (i + 1) & m->mask) {
        const pf_id_slot *slot = &m->slots[i];
        if (!slot->taken)
            return PF_NO_OWNER;
        if (slot->id == id)
            return slot->taken - 1;
    }
}

/* Gives `id` to `owner` unless it has one; *added (may be NULL) says whether it did.  The memory
 * counts in `arena`.  PERFILE_E_NOMEM, PERFILE_E_LIMIT: nothing changed. */
perfile_status pf_ids_add(pf_ids *m, pf_arena *arena, uint64_t id, uint32_t owner, bool *added,
                          perfile_error *err);

void pf_ids_free(pf_ids *m);

#endif
