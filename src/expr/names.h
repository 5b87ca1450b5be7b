/* Names of an expression: what the tables know by them. */
#ifndef PF_EXPR_NAMES_H
#define PF_EXPR_NAMES_H

#include "expr/program.h"

/* Finds `name` (dotted, without the dot in front for members of elements) and makes a slot of all
 * it may mean, at the end of e->slots.  `list` is the slot of the list that the expression is in:
 * for names of elements, else NULL.  PERFILE_END: nobody knows it. */
perfile_status pf_expr_find(perfile_expr *e, const char *name, const pf_slot *list, pf_slot **slot,
                            perfile_error *err);

/* Leaves only what is of `class`; false, and nothing is changed, when there is none. */
bool pf_expr_narrow(perfile_expr *e, pf_slot *s, unsigned class);

enum { PF_WORD_NONE, PF_WORD_FOUND, PF_WORD_SEVERAL };

/* The number that `word` stands for where `s` is of a kind that has it, and leaves only that in
 * `s`.  SEVERAL: it means different things in different records, and nothing is changed. */
int pf_expr_word(perfile_expr *e, pf_slot *s, const char *word, uint64_t *number);

/* Bytes of fields in `s` where all ones stand for "none": 2, 4 and 8 added up. */
unsigned pf_expr_none_widths(const perfile_expr *e, const pf_slot *s);

/* The row, or "sample_id", that stands in front of a dotted name, and what stands behind; NULL:
 * none. */
const char *pf_expr_row_of(const char *name, const char **rest);

/* Puts names that look like `name` into `out`, as "period or pid", or nothing.  `list`: names of
 * its elements.  The words of `s` likewise. */
void pf_expr_near_names(const perfile_expr *e, const char *name, const pf_slot *list, char *out,
                        size_t size);
void pf_expr_near_words(const perfile_expr *e, const pf_slot *s, const char *word, char *out,
                        size_t size);

#endif
