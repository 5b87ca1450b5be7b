/* All names that the tables have, in dotted form. */
#ifndef PF_EXPR_LIST_H
#define PF_EXPR_LIST_H

#include "expr/program.h"

typedef void pf_expr_show_fn(void *user, const perfile_expr_name *what);

/* Members of one struct, and of those in it.  `list` is what it is an element of, or NULL: then
 * names begin without a dot, and the elements of its own lists come too. */
void pf_expr_list_shape(const pf_row_shape *shape, const char *record, const char *list,
                        pf_expr_show_fn *show, void *user);

#endif
