/* The ways to a name in one struct of the tables. */
#ifndef PF_EXPR_SEARCH_H
#define PF_EXPR_SEARCH_H

#include "expr/program.h"

/* Adds to `slot`, the last one, what the dotted `name` is in `shape`, the struct of `row` (PF_AT_…
 * or PF_ROW_TRAILER; PF_SHAPE_… of elements); `from` is PF_WAY_MEMBER, or PF_WAY_ELEMENT.
 * Nothing is done when *st is a failure already. */
void pf_expr_search(perfile_expr *e, pf_slot *slot, const pf_row_shape *shape, uint8_t row,
                    uint8_t from, const char *name, perfile_status *st, perfile_error *err);

void pf_expr_add_way(perfile_expr *e, pf_slot *slot, const pf_way *way, perfile_status *st,
                     perfile_error *err);

#endif
