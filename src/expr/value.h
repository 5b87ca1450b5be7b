/* Values of names without a condition: the columns of a table (emit/tsv.c).
 *
 * The names are looked up as those of conditions are, so that whatever can be shown can be tested
 * and whatever can be tested can be shown; only groups of fields have no value of their own.
 *
 * Use: pf_expr_names_open(), pf_expr_add_name() for each name, pf_expr_link(); then for each record
 * pf_expr_begin(), and pf_expr_value() for each name; perfile_expr_close(). */
#ifndef PF_EXPR_VALUE_H
#define PF_EXPR_VALUE_H

#include "expr/fetch.h"

/* Makes an expression without names.  `provider` (may be NULL) is copied. */
perfile_status pf_expr_names_open(const perfile_expr_provider *provider, perfile_expr **e,
                                  perfile_error *err);

/* Adds a name.  Its position is the number of names added before.
 * PERFILE_E_USAGE: it is unknown (the message has similar ones), or a group of fields. */
perfile_status pf_expr_add_name(perfile_expr *e, const char *name, perfile_error *err);

/* After linking: true if records are decoded for the name at `position`; with `samples`: if
 * samples are.  Most fields of samples are words at places that the layout knows. */
bool pf_expr_decodes(const perfile_expr *e, uint32_t position, bool samples);

/* The value of the name at `position` in the record of pf_expr_begin(), and the type, element and
 * kind by which it is shown.  What it borrows belongs to the record.  False if the record does not
 * have it; a damaged record has only fields at fixed places (pf_expr_is_decoded()). */
bool pf_expr_value(perfile_expr *e, uint32_t position, perfile_field *field, perfile_value *value);

#endif
