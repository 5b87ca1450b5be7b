/* Comparing texts, and bytes that stand for their hex digits. */
#ifndef PF_EXPR_GLOB_H
#define PF_EXPR_GLOB_H

#include "expr/fetch.h"

bool pf_expr_text_equal(const pf_expr_text *t, perfile_bytes wanted);
bool pf_expr_texts_equal(const pf_expr_text *a, const pf_expr_text *b);

/* By bytes, a prefix first: how sets of texts are ordered. */
int pf_expr_bytes_compare(perfile_bytes a, perfile_bytes b);

/* Whether all of `t` fits the pattern: * ? [a-z] [!a-z], and \ in front of what stands for itself.
 */
bool pf_expr_glob(const pf_expr_text *t, perfile_bytes pattern);

/* What is wrong with the pattern, or NULL. */
const char *pf_expr_glob_wrong(perfile_bytes pattern);

#endif
