/* Fetching the values of names from the record that is being tested (e->subject). */
#ifndef PF_EXPR_FETCH_H
#define PF_EXPR_FETCH_H

#include "core/layout.h"
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
    e->subject.decoded = e->subject.payload = 0;
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

/* Comparing texts, also those that are hex digits of bytes: digits of the expression may be in
 * upper or lower case there. */

bool pf_expr_text_equal(const pf_expr_text *t, perfile_bytes wanted);
bool pf_expr_texts_equal(const pf_expr_text *a, const pf_expr_text *b);

/* Orders by bytes, a prefix first: the order of the texts of a set. */
int pf_expr_bytes_compare(perfile_bytes a, perfile_bytes b);

/* True if all of `t` matches the pattern: * ? [a-z] [!a-z], and \ in front of a character that
 * stands for itself.  The pattern must have passed pf_expr_glob_error(). */
bool pf_expr_glob(const pf_expr_text *t, perfile_bytes pattern);

/* Returns what is wrong with the pattern, as a static text, or NULL. */
const char *pf_expr_glob_error(perfile_bytes pattern);

/* Values of names without a condition: the columns of a table (emit/tsv.c).
 *
 * The names are looked up as those of conditions are, so that whatever can be shown can be tested
 * and whatever can be tested can be shown; only groups of fields have no value of their own.
 *
 * Use: pf_expr_names_open(), pf_expr_add_name() for each name, pf_expr_link(); then for each record
 * pf_expr_begin(), and pf_expr_value() for each name; perfile_expr_close(). */

/* Makes an expression without names.  `provider` (may be NULL) is copied. */
perfile_status pf_expr_names_open(const perfile_expr_provider *provider, perfile_expr **e,
                                  perfile_error *err);

/* Adds a name.  Its position is the number of names added before.
 * PERFILE_E_USAGE: it is unknown (the message has similar ones), or a group of fields. */
perfile_status pf_expr_add_name(perfile_expr *e, const char *name, perfile_error *err);

/* True if the provider answers for the name at `position`. */
static inline bool pf_expr_is_provided(const perfile_expr *e, uint32_t position)
{
    return e->slots[position].provided;
}

/* After linking: true if records are decoded for the name at `position`; with `samples`: if
 * samples are.  Most fields of samples are words at places that the layout knows. */
bool pf_expr_decodes(const perfile_expr *e, uint32_t position, bool samples);

/* The value of the name at `position` in the record of pf_expr_begin(), and the type, element and
 * kind by which it is shown.  What it borrows belongs to the record.  False if the record does not
 * have it; a damaged record has only fields at fixed places (pf_expr_is_decoded()). */
bool pf_expr_value(perfile_expr *e, uint32_t position, perfile_field *field, perfile_value *value);

#endif
