/* Repair of damaged buffers; see repair.c. */
#ifndef PF_PERFMON_REPAIR_H
#define PF_PERFMON_REPAIR_H

#include "perfmon/perfmon.h"

/* Searches from the damage to `end` for the next offset where records that can be trusted begin,
 * with a TIME.  If there is none, sets *found to false and *next to `end`, or to the end of the
 * input if that comes first. */
perfile_status pf_perfmon_next_chain(perfile_source *source, uint64_t damage, uint64_t end,
                                     uint64_t *next, bool *found, perfile_error *err);

extern const pf_repair_ops pf_perfmon_repair;

#endif
