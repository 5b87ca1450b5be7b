/* Fetching the values of names from the record that is being tested (e->subject). */
#ifndef PF_EXPR_FETCH_H
#define PF_EXPR_FETCH_H

#include "core/layout.h"
#include "core/attribution.h"
#include "expr/program.h"

/* A text, borrowed from the record or the session. */
typedef struct pf_expr_text {
    perfile_bytes bytes;
    bool hex; /* the text is the hex digits of the bytes (build ids, raw data) */
} pf_expr_text;

/* All return false if the record does not have the value; also if the provider fails, whose status
 * is in e->subject.status then. */
bool pf_expr_get_number(perfile_expr *e, pf_slot *s, pf_number *out);
bool pf_expr_get_text(perfile_expr *e, pf_slot *s, pf_expr_text *out);
/* Sets *loop to the beginning of a list; loop->element is left as it is. */
bool pf_expr_get_list(perfile_expr *e, pf_slot *s, pf_loop *loop);
bool pf_expr_has(perfile_expr *e, pf_slot *s);

/* Takes the next element of the list; false if it cannot be decoded.  loop->i is the caller's to
 * count. */
bool pf_expr_next_element(pf_loop *loop);

/* The layout of the record's event, looked up once per record.  NULL: the event is not known. */
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
