/* Names that the model and the symbols add to the fields of a sample: comm, dso, sym, caller ….
 *
 * This is the provider (perfile/expr.h) of conditions, of columns, and of keys of counts.
 * Addresses are resolved with a resolver and a profile of its own, so that functions have the same
 * names as in reports and exports. */
#ifndef PF_PROFILE_ANSWERS_H
#define PF_PROFILE_ANSWERS_H

#include "perfile/expr.h"
#include "profile/resolve.h"

typedef struct pf_answers {
    const perfile_symbols_options *options; /* borrowed; NULL: functions are not looked up */
    const perfile_model *model;             /* set by the owner before each query; may be NULL */
    bool stale;                   /* set by the owner: the model has changed since the last query */
    bool uses_model;              /* some name needs the model; … */
    bool uses_code;               /* … some name needs functions */
    struct pf_answers_code *code; /* NULL before the first query */
    pf_buffer text;
} pf_answers;

/* perfile_expr_provider.knows and .answer; `user` is the pf_answers.  All records must be from one
 * session until pf_answers_forget() is called. */
uint32_t pf_answers_know(void *user, const char *name, uint32_t *handle);
perfile_status pf_answers_give(void *user, const perfile_record *r, uint32_t handle,
                               perfile_expr_value *value, perfile_error *err);

/* Returns the i-th name and its description, NULL after the last. */
const char *pf_answers_name(size_t i, const char **doc);

/* Forgets the session. */
void pf_answers_forget(pf_answers *a);

#endif
