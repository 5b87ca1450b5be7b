/* Samples in order of time for each label: for forms that show what a thread did one sample after
 * the other.  Each sample takes 32 bytes, charged to perfile_limits.profile_bytes, whatever its
 * stack. */
#ifndef PF_EMIT_TIMELINE_H
#define PF_EMIT_TIMELINE_H

#include "emit/export.h"

/* A sample that waits for the end. */
typedef struct pf_moment {
    uint64_t time; /* PERFILE_NO_TIME: it has none, and stands where it came */
    uint64_t weight;
    uint32_t label, stack;
    uint64_t sequence;
} pf_moment;

/* Samples, and from which to which of them each label has once they are sorted. */
typedef struct pf_timeline {
    pf_moment *at;
    size_t n, cap;
    size_t *begins; /* of each label, and behind the last: n_labels + 1 */
    size_t n_labels;
} pf_timeline;

/* Adds a sample.  False if there is no memory or the limit of the profile is exceeded. */
bool pf_timeline_add(pf_timeline *t, pf_profile *p, const pf_moment *m);

/* Sorts them by label, then time; equal times as they came. */
perfile_status pf_timeline_sort(pf_timeline *t, pf_profile *p, perfile_error *err);

void pf_timeline_free(pf_timeline *t);

#endif
