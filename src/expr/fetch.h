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
/* Sets the value of a field of any type but groups (STRUCT, LIST), and *way to where it is. */
bool pf_expr_get_field(perfile_expr *e, const pf_slot *s, const pf_way **way, perfile_value *value);

/* Sets what is known of a record that does not store it: the time that the driver has put into it,
 * and the processor of its file.  Records of perf store both where they have them. */
bool pf_expr_known_besides(const perfile_expr *e, const pf_slot *s, uint64_t *number);

/* Asks the provider for the value, once per record, into s->answer.  False if it has none, or
 * fails. */
bool pf_expr_ask_provider(perfile_expr *e, pf_slot *s);

/* Decodes the record of e->subject, once.  False if it cannot be decoded. */
bool pf_expr_is_decoded(perfile_expr *e);

/* Makes `r` the record that is tested. */
static inline void pf_expr_begin(perfile_expr *e, const perfile_record *r)
{
    e->tests++;
    e->subject.r = r;
    e->subject.has_row = e->subject.has_layout = false;
    e->subject.decoded = 0;
}

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

/* Reads the word of a sample for a slot that is `fast`.  False for other records, and for samples
 * without the field: these take the general path. */
static inline bool pf_expr_get_fast(perfile_expr *e, const pf_slot *s, uint64_t *number)
{
    const perfile_record *r = e->subject.r;
    if (r->type != PERFILE_RECORD_SAMPLE || r->family != PERFILE_FAMILY_PERF)
        return false;
    const perfile_layout *l = pf_expr_layout(&e->subject);
    int at = l ? l->sample_slot[s->fast_bit] : -1;
    if (at < 0 || r->body.len < 8 * ((size_t)at + 1))
        return false;
    const uint8_t *p = r->body.ptr + 8 * at;
    bool swapped = r->flags & PERFILE_REC_SWAPPED;
    *number = s->fast_part == 0 ? pf_load_u64(p, swapped)
                                : pf_load_u32(p + 4 * (s->fast_part - 1), swapped);
    return true;
}

#endif
