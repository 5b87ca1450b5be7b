/* What sample.c (samples as records) and span.c (samples as bytes) share. */
#ifndef PF_MERGE_USUAL_H
#define PF_MERGE_USUAL_H

#include "merge/merge.h"

/* Bytes from which on a record is not copied if it can stay where it is. */
enum { PF_MERGE_LARGE = 1024 };

/* Gives the number of an event id in the output, through the id cache. False: the id is 0 or of no
 * event; pf_merge_new_id() decides about those. */
static inline bool pf_merge_find_cached_id(pf_merge_input *in, uint64_t id, uint64_t *new_id)
{
    pf_merge_cached_id *slot = &in->id_cache[id % PF_MERGE_ID_CACHE];
    if (slot->new_id && slot->id == id) {
        *new_id = slot->new_id;
        return true;
    }
    if (!id || !pf_merge_find_id(in, id, new_id))
        return false;
    *slot = (pf_merge_cached_id){id, *new_id};
    return true;
}

#endif
