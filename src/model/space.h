/* The mappings of one address space: which was the last to be laid over an address, up to a time?
 *
 * Mappings are kept in runs of about doubling length.  A run is a segment tree over the addresses
 * where its mappings begin and end; every node lists, in order of time, those that cover it whole.
 * A question walks from a leaf to the root.  So both adding and asking stay near log n whatever
 * overlaps what and in whatever order it comes.  A span that is added again (the same mapping over
 * the same addresses at the same time) takes the place of the first one. */
#ifndef PF_MODEL_SPACE_H
#define PF_MODEL_SPACE_H

#include "base/budget.h"

typedef struct pf_mapping_span {
    uint64_t begin;
    uint64_t end; /* behind the last byte; above begin */
    uint64_t time;
    uint64_t sequence;
    uint32_t mapping; /* what the caller calls it */
} pf_mapping_span;

enum { PF_SPACE_TAIL = 32, PF_SPACE_RUNS = 48 };

typedef struct pf_space_run {
    pf_mapping_span *spans; /* in order of time */
    uint32_t n;
    uint32_t n_leaves;
    uint32_t n_lists;
    uint64_t *points; /* n_leaves + 1 addresses */
    uint32_t *first;  /* of node i: lists[first[i] .. first[i + 1]) */
    uint32_t *lists;  /* positions in spans */
} pf_space_run;

/* All zeros is an empty space. */
typedef struct pf_space {
    pf_budget *budget; /* may be NULL */
    pf_mapping_span *tail;
    uint32_t n_tail;
    uint8_t cap_tail;
    bool repeated; /* some span was added again */
    uint16_t n_runs;
    pf_space_run *runs;
} pf_space;

/* `again`: it may have been added before.  False when there is no memory, or no room in the budget;
 * the space is unchanged. */
bool pf_space_add(pf_space *s, const pf_mapping_span *span, bool again);

/* The last span over `addr` with a time up to `time`, or NULL. */
const pf_mapping_span *pf_space_at(const pf_space *s, uint64_t addr, uint64_t time);

void pf_space_free(pf_space *s);

#endif
