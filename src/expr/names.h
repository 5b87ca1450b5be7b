/* Looking up names and words of an expression in the tables.
 *
 * A name can mean fields of many rows: `pid` is in samples, MMAP, COMM ….  All of them become ways
 * of one slot.  What the name is compared with narrows them: text or number (pf_expr_narrow()), or
 * the fields that have a certain word (pf_expr_resolve_word()). */
#ifndef PF_EXPR_NAMES_H
#define PF_EXPR_NAMES_H

#include "expr/program.h"

/* Appends a slot to e->slots with all that `name` can mean.  The name is dotted; for a member of
 * list elements it has no dot in front, and `list` is the slot of the list (NULL for other names).
 * PERFILE_END: neither the tables nor the provider know the name, and no slot was added. */
perfile_status pf_expr_find(perfile_expr *e, const char *name, const pf_slot *list, pf_slot **slot,
                            perfile_error *err);

/* Removes meanings that are not of `class` (bits PERFILE_EXPR_…).  Returns false, and changes
 * nothing, if none would be left. */
bool pf_expr_narrow(perfile_expr *e, pf_slot *s, unsigned class);

/* Removes meanings that are groups of fields or lists of them.  Returns false if none is left. */
bool pf_expr_keep_values(perfile_expr *e, pf_slot *s);

enum { PF_WORD_NONE, PF_WORD_FOUND, PF_WORD_SEVERAL };

/* Sets *number to the value that `word` names, and removes meanings of `s` that do not have the
 * word. SEVERAL: its value differs between the records, and nothing is changed. */
int pf_expr_resolve_word(perfile_expr *e, pf_slot *s, const char *word, uint64_t *number);

/* The widths (2, 4, 8, added up) of fields of `s` in which all ones stand for "none": processes,
 * threads, processors. */
unsigned pf_expr_none_widths(const perfile_expr *e, const pf_slot *s);

/* If a dotted name begins with a row ("mmap2", "MMAP2") or "sample_id": returns the name of the row
 * as the tables have it, and sets *rest to what follows the dot.  Otherwise NULL. */
const char *pf_expr_split_row(const char *name, const char **rest);

/* For error messages: writes to `out` that `name` is unknown, and which known names are similar:
 * "there is no perid; did you mean period?".  With `list` they are members of its elements.
 * `functions`: the name may be meant to be a function. */
void pf_expr_explain_unknown(const perfile_expr *e, const char *name, const pf_slot *list,
                             bool functions, char *out, size_t size);

/* For a name that only a provider knows (comm, dso): what to add to an error message, maybe "".
 * NULL for others. */
const char *pf_expr_provider_hint(const char *name);

/* Writes the words for values of `s` that are similar to `word`, as "USER or KERNEL", "" if there
 * are none. */
void pf_expr_suggest_words(const perfile_expr *e, const pf_slot *s, const char *word, char *out,
                           size_t size);

#endif
