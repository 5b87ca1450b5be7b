/* Steps of an expression for all records of a run at once. */
#ifndef PF_EXPR_BATCH_H
#define PF_EXPR_BATCH_H

#include "expr/program.h"
#include "stage/run.h"

/* Of which records of an even run the step holds, by bit.  False: it has to look at them one by
 * one. */
bool pf_expr_batch(const perfile_expr *e, const pf_run *run, const pf_step *s, uint64_t *yes);

/* Whether one of the ranges of a set has the number. */
bool pf_expr_in_ranges(const perfile_expr *e, const pf_step *s, pf_number v);

#endif
