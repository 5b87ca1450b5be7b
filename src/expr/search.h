/* Finding the ways to a name in one struct of the tables. */
#ifndef PF_EXPR_SEARCH_H
#define PF_EXPR_SEARCH_H

#include "expr/program.h"

/* Adds to `slot`, which must be the last one, a way for each meaning of the dotted `name` in
 * `shape`: the struct of `row` (position for pf_row_at(), or PF_ROW_TRAILER) with PF_WAY_MEMBER as
 * `from`, or of list elements (PF_SHAPE_… as `row`) with PF_WAY_ELEMENT.  Failures are collected in
 * *st; nothing is done if it is one already. */
void pf_expr_search(perfile_expr *e, pf_slot *slot, const pf_row_shape *shape, uint8_t row,
                    uint8_t from, const char *name, perfile_status *st, perfile_error *err);

/* Appends a copy of `way` to the slot, with the same conditions. */
void pf_expr_add_way(perfile_expr *e, pf_slot *slot, const pf_way *way, perfile_status *st,
                     perfile_error *err);

#endif
