/* What the ways of usual samples share: as records, and as bytes. */
#ifndef PF_MERGE_USUAL_H
#define PF_MERGE_USUAL_H

#include "merge/merge.h"

enum { PF_MERGE_LARGE = 1024 /* bytes: such a record is not copied where it can stay */ };

/* The number of an id in the output, when it was asked for lately; false: it has to be looked for.
 */
static inline bool pf_merge_known_id(pf_merge_input *in, uint64_t id, uint64_t *new_id)
{
    pf_merge_known *slot = &in->known[id % PF_MERGE_KNOWN];
    if (slot->new_id && slot->id == id) {
        *new_id = slot->new_id;
        return true;
    }
    if (!id || !pf_merge_find_id(in, id, new_id))
        return false;
    *slot = (pf_merge_known){id, *new_id};
    return true;
}

#endif
