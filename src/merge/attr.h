/* The attr of an event in the output of a merge. */
#ifndef PF_MERGE_ATTR_H
#define PF_MERGE_ATTR_H

#include "merge/merge.h"

typedef struct pf_merge_attrs {
    const pf_merge *x;
    size_t size; /* all that the oldest writer of an input knew of an attr */
    bool swapped;
    bool use_clockid; /* of the clock of the output */
    int32_t clockid;
} pf_merge_attrs;

void pf_merge_attrs_begin(pf_merge_attrs *m, const pf_merge *x);

/* What the attr of `e` becomes, into `out`. */
perfile_status pf_merge_attr(const pf_merge_attrs *m, const pf_merge_input *in,
                             const perfile_event *e, pf_buffer *out, perfile_error *err);

#endif
