/* Names that the model and symbols add to the fields of a sample: comm, dso, sym, caller ….
 *
 * This is the provider (perfile/expr.h) of --where, of the columns of `dump --fields`, and of the
 * keys of `stats --by`.  What is looked up in code is looked up by a resolver with a profile of its
 * own, so that a function is called as reports and exports call it. */
#ifndef PF_PROFILE_ANSWERS_H
#define PF_PROFILE_ANSWERS_H

#include "perfile/expr.h"
#include "profile/resolve.h"

typedef struct pf_answers {
    const perfile_symbols_options *options; /* borrowed; NULL: functions are not looked up */
    const perfile_model *model;             /* set by the owner before each question; may be NULL */
    bool stale;                   /* set by the owner: the model was fed since the last question */
    bool uses_model;              /* some name needs it; … */
    bool uses_code;               /* … some name needs functions */
    struct pf_answers_code *code; /* NULL: nothing was asked yet */
    pf_buffer text;
} pf_answers;

/* perfile_expr_provider.knows and .answer; `user` is the pf_answers.  Answers are for records of
 * one session until pf_answers_forget(). */
uint32_t pf_answers_know(void *user, const char *name, uint32_t *handle);
perfile_status pf_answers_give(void *user, const perfile_record *r, uint32_t handle,
                               perfile_expr_value *value, perfile_error *err);

/* The i-th name and what it is, NULL after the last. */
const char *pf_answers_name(size_t i, const char **doc);

/* Forgets the session. */
void pf_answers_forget(pf_answers *a);

#endif
