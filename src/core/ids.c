/* The hash map of core/ids.h.  Its memory is allocated separately but charged to the session's
 * arena, so that perfile_limits.session_bytes bounds it. */
#include "core/ids.h"

#include "base/alloc.h"
#include "base/error.h"

#define SLOTS_FIRST 16

/* The slot of `id`, or the free one where it would go.  There is always a free slot: see
 * pf_ids_add(). */
static pf_id_slot *place(pf_ids *m, uint64_t id)
{
    size_t i = pf_ids_home(m, id);
    while (m->slots[i].taken && m->slots[i].id != id)
        i = (i + 1) & m->mask;
    return &m->slots[i];
}

/* Doubles the slots and enters all keys again. */
static perfile_status grow(pf_ids *m, pf_arena *arena, perfile_error *err)
{
    size_t old_n = m->slots ? m->mask + 1 : 0;
    size_t new_n = old_n ? old_n * 2 : SLOTS_FIRST;
    if (new_n < old_n || new_n > UINT32_MAX)
        return pf_fail_nomem(err, "session.ids");

    uint64_t bytes = (uint64_t)new_n * sizeof(pf_id_slot);
    perfile_status st = pf_arena_charge(arena, bytes, err);
    if (st != PERFILE_OK)
        return st;
    pf_id_slot *slots = pf_alloc(new_n, sizeof *slots);
    if (!slots) {
        pf_arena_refund(arena, bytes);
        return pf_fail_nomem(err, "session.ids");
    }

    pf_id_slot *old = m->slots;
    m->slots = slots;
    m->mask = new_n - 1;
    for (size_t i = 0; i < old_n; i++)
        if (old[i].taken)
            *place(m, old[i].id) = old[i];
    pf_free(old);
    pf_arena_refund(arena, (uint64_t)old_n * sizeof(pf_id_slot));
    return PERFILE_OK;
}

perfile_status pf_ids_add(pf_ids *m, pf_arena *arena, uint64_t id, uint32_t owner, bool *added,
                          perfile_error *err)
{
    if (pf_ids_find(m, id) != PF_NO_OWNER) {
        if (added)
            *added = false;
        return PERFILE_OK;
    }
    if (!m->slots || m->n >= (m->mask + 1) / 4 * 3) {
        perfile_status st = grow(m, arena, err);
        if (st != PERFILE_OK)
            return st;
    }
    *place(m, id) = (pf_id_slot){.id = id, .taken = owner + 1};
    m->n++;
    if (added)
        *added = true;
    return PERFILE_OK;
}

void pf_ids_free(pf_ids *m)
{
    pf_free(m->slots);
    m->slots = NULL;
    m->mask = 0;
    m->n = 0;
}
