/* Event instances: for each id the buffer, processor, thread and guest of its counter, from
 * ID_INDEX records.  The first entry of an id counts. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "core/state.h"
#include "perfile/records.h"

/* The memory counts in the arena; an id that is known already is refunded. */
perfile_status pf_instances_add(perfile_session *s, const perfile_instance *x, perfile_error *err)
{
    bool added;
    perfile_instance *all =
        pf_array_more(s->instances, s->n_instances, &s->instances_cap, sizeof *all);
    if (!all)
        return pf_fail_nomem(err, "session.instances");
    s->instances = all;
    perfile_status st = pf_arena_charge(&s->arena, sizeof *x, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_ids_add(&s->instance_ids, &s->arena, x->id, s->n_instances, &added, err);
    if (st == PERFILE_OK && added)
        all[s->n_instances++] = *x;
    else
        pf_arena_refund(&s->arena, sizeof *x);
    return st;
}

perfile_status pf_instances_collect(perfile_session *s, const perfile_id_index *index,
                                    perfile_error *err)
{
    perfile_list entries = index->entries, guests = index->guests;
    perfile_id_index_entry e;
    perfile_id_index_guest g = {0};
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK && perfile_id_index_entry_next(&entries, &e, sizeof e) == PERFILE_OK) {
        perfile_instance x = {.id = e.id, .buffer = e.idx, .cpu = e.cpu, .tid = e.tid};
        /* Some writers store "any" as all ones in 32 bits. */
        if (x.cpu == UINT32_MAX)
            x.cpu = UINT64_MAX;
        if (x.tid == UINT32_MAX)
            x.tid = UINT64_MAX;
        if (index->has_guests && perfile_id_index_guest_next(&guests, &g, sizeof g) == PERFILE_OK) {
            x.machine_pid = g.machine_pid;
            x.vcpu = g.vcpu;
        }
        st = pf_instances_add(s, &x, err);
    }
    s->generation++;
    return st;
}

bool perfile_session_instance(const perfile_session *s, uint64_t id, perfile_instance *out,
                              size_t size)
{
    uint32_t i = pf_ids_find(&s->instance_ids, id);
    if (i >= s->n_instances)
        return false;
    memcpy(out, &s->instances[i], size < sizeof *out ? size : sizeof *out);
    return true;
}
