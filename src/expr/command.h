/* Conditions on many records at once, and the names that a condition can use. */
#ifndef PF_EXPR_COMMAND_H
#define PF_EXPR_COMMAND_H

#include "perfile/expr.h"

/* The same for first[0 .. n), n at most 64 (PERFILE_RUN_RECORDS): bit i of *yes is for first[i].
 * After a failure *yes is unchanged. */
PERFILE_MUST_USE perfile_status pf_expr_test_run(perfile_expr *expr, const perfile_record *first,
                                                 size_t n, uint64_t *yes, perfile_error *err);

#endif
