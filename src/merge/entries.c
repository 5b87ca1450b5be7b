/* A set of entries that several inputs have, each kept once: an array in the order of adding, and
 * an index of hashes into it. Entries with the same hash are chained. */
#include "merge/facts.h"

/* Hash of the key of *want. */
static uint64_t hash_of(const pf_merge_entries *e, const pf_merge_entry *want)
{
    uint64_t h = pf_index_hash(e->heads.seed ^ want->number, want->name.ptr, want->name.len);
    return e->by_value ? pf_index_hash(h, want->value.ptr, want->value.len) : h;
}

/* True if both have the same key. */
static bool has_key(const pf_merge_entries *e, const pf_merge_entry *one,
                    const pf_merge_entry *want)
{
    return one->number == want->number && pf_same_bytes(one->name, want->name) &&
           (!e->by_value || pf_same_bytes(one->value, want->value));
}

pf_merge_entry *pf_merge_entries_at(const pf_merge_entries *e, uint32_t position)
{
    return (pf_merge_entry *)(void *)e->items.ptr + position;
}

uint32_t pf_merge_entries_position(const pf_merge_entries *e, const pf_merge_entry *one)
{
    return (uint32_t)(one - pf_merge_entries_at(e, 0));
}

/* Follows the chain of a hash. `next` is position + 1, so 0 becomes PF_INDEX_NONE. */
static pf_merge_entry *find(const pf_merge_entries *e, const pf_merge_entry *want, uint64_t hash)
{
    uint32_t at = pf_index_get(&e->heads, hash);
    while (at != PF_INDEX_NONE) {
        pf_merge_entry *one = pf_merge_entries_at(e, at);
        if (has_key(e, one, want))
            return one;
        at = one->next - 1;
    }
    return NULL;
}

pf_merge_entry *pf_merge_entries_find(const pf_merge_entries *e, const pf_merge_entry *want)
{
    return e->items.len ? find(e, want, hash_of(e, want)) : NULL;
}

/* The seed is random, so that an input cannot be made to have equal hashes. */
pf_merge_entry *pf_merge_entries_add(pf_merge_entries *e, const pf_merge_entry *want, bool *added)
{
    if (e->items.len == 0)
        e->heads.seed = pf_index_seed(e);
    uint64_t hash = hash_of(e, want);
    pf_merge_entry *one = find(e, want, hash);
    *added = one == NULL;
    if (one)
        return one;
    uint32_t at = (uint32_t)(e->items.len / sizeof *want);
    uint32_t same_hash = pf_index_get(&e->heads, hash);
    if (at == PF_INDEX_NONE - 1 || !pf_buffer_append(&e->items, want, sizeof *want))
        return NULL;
    one = pf_merge_entries_at(e, at);
    one->next = 0;
    if (same_hash != PF_INDEX_NONE) {
        /* Second in the chain, so that the index need not change. */
        pf_merge_entry *head = pf_merge_entries_at(e, same_hash);
        one->next = head->next;
        head->next = at + 1;
    } else if (!pf_index_put(&e->heads, hash, at)) {
        return NULL;
    }
    return one;
}

void pf_merge_entries_free(pf_merge_entries *e)
{
    pf_index_free(&e->heads);
    pf_buffer_free(&e->items);
}
