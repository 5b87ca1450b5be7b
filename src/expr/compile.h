/* The two halves of compiling. */
#ifndef PF_EXPR_COMPILE_H
#define PF_EXPR_COMPILE_H

#include "expr/program.h"

perfile_status pf_expr_parse(perfile_expr *e, const char *text, perfile_error *err);

/* Makes what was parsed fast: steps that decide lead to the next that does something, names know
 * their ways by row. */
perfile_status pf_expr_link(perfile_expr *e, perfile_error *err);

#endif
