/* Executing a step for all records of a run at once. */
#ifndef PF_EXPR_BATCH_H
#define PF_EXPR_BATCH_H

#include "expr/program.h"
#include "stage/run.h"

/* For an even run (run->even is set): sets *yes to the records for which the step is true, by bit.
 * Returns false if the step cannot be executed so and has to be tested record by record. */
bool pf_expr_batch(const perfile_expr *e, const pf_run *run, const pf_step *s, uint64_t *yes);

/* run.c: true if one of the ranges of a SET step contains the number. */
bool pf_expr_in_ranges(const perfile_expr *e, const pf_step *s, pf_number v);

#endif
