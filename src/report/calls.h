/* Call trees of rows: the functions that called a row's, or that it called (the nodes of
 * perfile/profile.h). */
#ifndef PF_PROFILE_CALLS_H
#define PF_PROFILE_CALLS_H

#include "report/rows.h"

/* A node.  Its key is everything before `figures`.  The first nodes are the roots, which are rows.
 */
typedef struct pf_call {
    uint32_t parent; /* number; PF_INTERN_NONE: a root */
    uint32_t place;  /* in pf_calls.places; of a root the number of the row */
    pf_figures figures;
    uint32_t first, next; /* among shown nodes: first child, next sibling; PF_INTERN_NONE: none */
    uint32_t below;       /* the number of its children that are shown */
    bool cut;             /* some nodes below it are not shown */
} pf_call;

/* A node that is shown. */
typedef struct pf_shown_call {
    uint32_t node, root, depth;
} pf_shown_call;

typedef struct pf_calls {
    pf_rows *rows;
    perfile_tree_options options;
    pf_intern nodes, places; /* places: pf_report_place, of functions */
    uint32_t *place_of;      /* of each frame */
    uint32_t *root_of;       /* of each row: the node + 1; 0: it gets no tree */
    uint32_t *marked;        /* of each root: number + 1 of the last sum that was added to it */
    size_t n_roots;
    uint64_t steps;      /* how many steps along call chains are still allowed */
    uint64_t nodes_most; /* how many nodes are allowed */
    pf_stack_path path;  /* of the stack that is being added */
    pf_shown_call *shown;
    size_t n_shown, shown_cap;
} pf_calls;

/* Makes the trees, for rows that are made; to be freed in any case.  `samples`, `period`: of all
 * samples.  `record_bytes`: of all records, which bound the nodes and the bytes of their names.
 * PERFILE_E_USAGE, PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_calls_make(pf_calls *c, pf_rows *rows, const perfile_tree_options *options,
                             uint64_t samples, uint64_t period, uint64_t record_bytes,
                             perfile_error *err);
void pf_calls_free(pf_calls *c);

static inline const pf_call *pf_calls_node(const pf_calls *c, uint32_t number)
{
    return pf_intern_at(&c->nodes, number);
}

#endif
