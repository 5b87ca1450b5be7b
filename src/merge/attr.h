/* The attr of an event in the output of a merge. */
#ifndef PF_MERGE_ATTR_H
#define PF_MERGE_ATTR_H

#include "merge/merge.h"

/* What the attrs of all inputs have in common in the output. */
typedef struct pf_merge_attrs {
    const pf_merge *x;
    /* length of the longest attr of the input with the oldest perf; SIZE_MAX: do not cut */
    size_t size;
    bool swapped;
    bool use_clockid; /* attr.use_clockid and attr.clockid of the output's clock */
    int32_t clockid;
} pf_merge_attrs;

/* Call after pf_merge_clocks(). x->adds_ids and x->sample_id_all are read by pf_merge_attr() only.
 */
void pf_merge_attrs_begin(pf_merge_attrs *m, const pf_merge *x);

/* Puts the attr that event `e` of `in` has in the output into `out`, which is cleared first. */
perfile_status pf_merge_attr(const pf_merge_attrs *m, const pf_merge_input *in,
                             const perfile_event *e, pf_buffer *out, perfile_error *err);

#endif
