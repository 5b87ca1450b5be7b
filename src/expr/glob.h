/* Comparing texts, also those that are hex digits of bytes: digits of the expression may be in
 * upper or lower case there. */
#ifndef PF_EXPR_GLOB_H
#define PF_EXPR_GLOB_H

#include "expr/fetch.h"

bool pf_expr_text_equal(const pf_expr_text *t, perfile_bytes wanted);
bool pf_expr_texts_equal(const pf_expr_text *a, const pf_expr_text *b);

/* Orders by bytes, a prefix first: the order of the texts of a set. */
int pf_expr_bytes_compare(perfile_bytes a, perfile_bytes b);

/* True if all of `t` matches the pattern: * ? [a-z] [!a-z], and \ in front of a character that
 * stands for itself.  The pattern must have passed pf_expr_glob_error(). */
bool pf_expr_glob(const pf_expr_text *t, perfile_bytes pattern);

/* Returns what is wrong with the pattern, as a static text, or NULL. */
const char *pf_expr_glob_error(perfile_bytes pattern);

#endif
