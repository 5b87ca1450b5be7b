/* Call chains from branch stacks: `perf record --call-graph lbr` lets the processor keep the calls
 * that have not returned, so that a program needs no frame pointers. */
#ifndef PF_PROFILE_BRANCHES_H
#define PF_PROFILE_BRANCHES_H

#include "base/buffer.h"
#include "perfile/event.h"
#include "perfile/records.h"

/* True if the branch stacks of the event are calls (PERFILE_BRANCH_CALL_STACK). */
bool pf_branches_are_calls(const perfile_event *event);

/* Makes the call chain of a sample of such an event: its own, `n` words in this machine's byte
 * order, up to the marker of the user part; then the function that runs, where the last call went,
 * and where each call was made, as perf has it.  *out stays empty if the chain has no user part, or
 * the sample no branches.  False if there is no memory. */
bool pf_branches_chain(const perfile_record *r, const uint8_t *words, size_t n, pf_buffer *out);

#endif
