/* Values of names for the record that is being tested. */
#ifndef PF_EXPR_FETCH_H
#define PF_EXPR_FETCH_H

#include "core/layout.h"
#include "core/attribution.h"
#include "expr/program.h"

/* Text, or bytes that stand for their hex digits. */
typedef struct pf_expr_text {
    perfile_bytes bytes;
    bool hex;
} pf_expr_text;

/* Each is false when the record does not have it, too when the provider fails: see
 * e->subject.status. */
bool pf_expr_number(perfile_expr *e, pf_slot *s, pf_number *out);
bool pf_expr_text_of(perfile_expr *e, pf_slot *s, pf_expr_text *out);
/* Begins to go through a list. */
bool pf_expr_list_of(perfile_expr *e, pf_slot *s, pf_loop *loop);
bool pf_expr_has(perfile_expr *e, pf_slot *s);

/* Takes the next element; false: the list cannot be read further. */
bool pf_expr_next(pf_loop *loop);

/* NULL: the record belongs to no event that is known. */
static inline const perfile_layout *pf_expr_layout(pf_subject *x)
{
    if (!x->has_layout) {
        uint32_t damage;
        x->layout = pf_layout_of(x->r, &damage);
        x->has_layout = true;
    }
    return x->layout;
}

#endif
