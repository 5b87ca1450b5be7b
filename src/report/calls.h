/* Call trees of rows: the functions that called a row's function, or that it called (the nodes of
 * perfile/profile.h). */
#ifndef PF_PROFILE_CALLS_H
#define PF_PROFILE_CALLS_H

#include "report/rows.h"
#include "report/command.h"

/* A node.  Its key is everything before `figures`.  The first nodes are the roots, one for each row
 * with a tree. */
typedef struct pf_call {
    uint32_t parent; /* number; PF_INTERN_NONE: a root */
    uint32_t place;  /* index in pf_calls.places; for a root the number of the row */
    pf_figures figures;
    uint32_t first, next; /* first child and next sibling among shown nodes; PF_INTERN_NONE: none */
    uint32_t below;       /* number of shown children */
    bool cut;             /* some nodes below it are hidden */
} pf_call;

/* A node that is shown. */
typedef struct pf_shown_call {
    uint32_t node, root, depth;
} pf_shown_call;

typedef struct pf_calls {
    pf_rows *rows;
    pf_calls_options options;
    pf_intern nodes, places; /* places: pf_report_place of functions */
    uint32_t *place_of;      /* by frame */
    uint32_t *root_of;       /* by row: its root + 1; 0: no tree */
    uint32_t *marked;        /* by root: number + 1 of the last sum that was added to it */
    size_t n_roots;
    uint64_t steps;      /* steps along call chains that are still allowed */
    uint64_t nodes_most; /* maximum number of nodes */
    pf_stack_path path;  /* of the current stack */
    pf_shown_call *shown;
    size_t n_shown, shown_cap;
} pf_calls;

/* Makes the trees after the rows.  `samples` and `period` are totals of all samples.
 * `record_bytes` is the size of all records, which limits the number of nodes and the bytes of
 * their names.  Call pf_calls_free() in any case.  PERFILE_E_USAGE, PERFILE_E_NOMEM,
 * PERFILE_E_LIMIT. */
perfile_status pf_calls_make(pf_calls *c, pf_rows *rows, const pf_calls_options *options,
                             uint64_t samples, uint64_t period, uint64_t record_bytes,
                             perfile_error *err);
void pf_calls_free(pf_calls *c);

static inline const pf_call *pf_calls_node(const pf_calls *c, uint32_t number)
{
    return pf_intern_at(&c->nodes, number);
}

#endif
