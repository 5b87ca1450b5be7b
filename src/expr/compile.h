/* The two halves of perfile_expr_compile(): parsing makes slots and steps, linking makes them
 * fast. */
#ifndef PF_EXPR_COMPILE_H
#define PF_EXPR_COMPILE_H

#include "expr/program.h"

/* Fills `e` from the text.  On failure err has the column and shows the place. */
perfile_status pf_expr_parse(perfile_expr *e, const char *text, perfile_error *err);

/* Sets pf_step.next past all jumps, sorts the ways of each slot by row, picks faster steps where a
 * field has a fixed place, and allocates what testing needs. */
perfile_status pf_expr_link(perfile_expr *e, perfile_error *err);

#endif
