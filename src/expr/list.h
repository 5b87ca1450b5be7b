/* Listing all names that the tables have, in dotted form: for help, completion and suggestions. */
#ifndef PF_EXPR_LIST_H
#define PF_EXPR_LIST_H

#include "expr/program.h"

typedef void pf_expr_show_fn(void *user, const perfile_expr_name *what);

/* Calls show() for each member of a struct and of the structs in it.  `record` is passed on. `list`
 * is the name of the list whose elements these are: names then begin with a dot.  With NULL they do
 * not, and the members of elements of its own lists are shown, too. */
void pf_expr_list_shape(const pf_row_shape *shape, const char *record, const char *list,
                        pf_expr_show_fn *show, void *user);

#endif
