/* The context `k`: what conditions of the tables can use besides the fields of their own layout. */
#ifndef PF_SCHEMA_CONTEXT_H
#define PF_SCHEMA_CONTEXT_H

#include "base/cursor.h"
#include "perfile/event.h"
#include "perfile/field.h"

typedef struct pf_context {
    uint64_t sample_type;
    uint64_t read_format;
    uint64_t branch_sample_type;
    uint64_t sample_regs_user;
    uint64_t sample_regs_intr;
    uint64_t attr_flags;    /* of the attr being decoded, as in a little-endian file */
    uint32_t nr_cpus_avail; /* of feature NRCPUS, 0 when not known */
    uint32_t schedstat_version;
    uint32_t attr_size; /* of EVENT_DESC */
    uint16_t misc;
    bool no_hw_idx;    /* a branch stack without its hw_idx */
    bool old_build_id; /* BUILD_ID entries without pid */
    bool as_stored;
    const perfile_layout *layout; /* lists remember it for their elements */
} pf_context;

/* A context with what `layout` (may be NULL) decides. */
static inline pf_context pf_context_of(const perfile_layout *layout)
{
    pf_context k = {.layout = layout};
    if (layout) {
        k.sample_type = layout->sample_type;
        k.read_format = layout->read_format;
        k.branch_sample_type = layout->branch_sample_type;
        k.sample_regs_user = layout->sample_regs_user;
        k.sample_regs_intr = layout->sample_regs_intr;
    }
    return k;
}

#endif
