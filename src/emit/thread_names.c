/* Threads with their names (see thread_names.h). */
#include "emit/tracks.h"

#include <stddef.h>

perfile_status pf_name_threads(const pf_tracks *t, pf_profile *p, pf_intern *threads,
                               perfile_error *err)
{
    *threads = (pf_intern){.seed = pf_index_seed(threads),
                           .budget = &p->budget,
                           .width = sizeof(pf_named_thread),
                           .key = offsetof(pf_named_thread, comm)};
    for (uint32_t i = 0; i < t->n; i++) {
        const pf_label *label = pf_profile_label_at(p, i);
        const pf_track *track = &t->at[i];
        const pf_named_thread key = {
            .pid = label->pid, .tid = label->tid, .cpu = label->tid ? PF_NO_LABEL : label->cpu};
        if (label->pid == PF_NO_LABEL || label->tid == PF_NO_LABEL)
            continue;
        const uint32_t number = pf_intern_add(threads, &key);
        if (number == PF_INTERN_NONE)
            return pf_profile_fail(p, err);
        pf_named_thread *one = pf_intern_at(threads, number);
        if (track->comm && (!one->comm || track->named >= one->named)) {
            one->comm = track->comm;
            one->named = track->named;
        }
    }
    return PERFILE_OK;
}
