/* Fetching the values of names from the record under test (e->subject). */
#ifndef PF_EXPR_FETCH_H
#define PF_EXPR_FETCH_H

#include "core/layout.h"
#include "expr/program.h"

/* A text, borrowed from the record or the session. */
typedef struct pf_expr_text {
    perfile_bytes bytes;
    bool hex; /* the text is the hexadecimal form of the bytes (build ids, raw data) */
} pf_expr_text;

/* These functions return false if the record does not have the value, or if the provider fails;
 * e->subject.status then has the provider's error. */
bool pf_expr_get_number(perfile_expr *e, pf_slot *s, pf_number *out);
bool pf_expr_get_text(perfile_expr *e, pf_slot *s, pf_expr_text *out);
/* Sets *loop to the beginning of a list, except for loop->element. */
bool pf_expr_get_list(perfile_expr *e, pf_slot *s, pf_loop *loop);
bool pf_expr_has(perfile_expr *e, pf_slot *s);
/* Sets the value of a field of any type except groups (STRUCT, LIST), and *way to its way. */
bool pf_expr_get_field(perfile_expr *e, const pf_slot *s, const pf_way **way, perfile_value *value);

/* Finds values that a record of another family does not store: the time that the driver assigned,
 * or the CPU of its file.  Records of perf store both if they have them. */
bool pf_expr_known_besides(const perfile_expr *e, const pf_slot *s, uint64_t *number);

/* Asks the provider for the value, once per record, and stores it in s->answer.  Returns false if
 * it has none or fails. */
bool pf_expr_ask_provider(perfile_expr *e, pf_slot *s);

/* Decodes the record of e->subject, once.  Returns false if it cannot be decoded. */
bool pf_expr_is_decoded(perfile_expr *e);

/* Makes `r` the record under test. */
static inline void pf_expr_begin(perfile_expr *e, const perfile_record *r)
{
    e->tests++;
    e->subject.r = r;
    e->subject.has_row = e->subject.has_layout = false;
    e->subject.decoded = e->subject.payload = 0;
}

/* Moves to the next element of the list.  Returns false if it cannot be decoded.  The caller
 * increments loop->i. */
bool pf_expr_next_element(pf_loop *loop);

/* Returns the layout of the record's event, looked up once per record.  NULL if the event is not
 * known. */
static inline const perfile_layout *pf_expr_layout(pf_subject *x)
{
    if (!x->has_layout) {
        uint32_t damage;
        x->layout = pf_layout_of(x->r, &damage);
        x->has_layout = true;
    }
    return x->layout;
}

/* Reads the word of a sample for a slot that is `fast`.  Returns false for other records and for
 * samples without the field; these use the general path. */
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

/* Comparing texts, including the hexadecimal form of bytes, for which the expression may use upper
 * or lower case digits. */

bool pf_expr_text_equal(const pf_expr_text *t, perfile_bytes wanted);
bool pf_expr_texts_equal(const pf_expr_text *a, const pf_expr_text *b);

/* Compares by bytes, a prefix first: the order of the texts of a set. */
int pf_expr_bytes_compare(perfile_bytes a, perfile_bytes b);

/* Returns true if all of `t` matches the pattern: * ? [a-z] [!a-z], and \ before a character that
 * is meant literally.  The pattern must have passed pf_expr_glob_error(). */
bool pf_expr_glob(const pf_expr_text *t, perfile_bytes pattern);

/* Returns an error in the pattern as a static text, or NULL if it is valid. */
const char *pf_expr_glob_error(perfile_bytes pattern);

/* Values of names without a condition: the columns of a table (emit/tsv.c).
 *
 * Names are looked up as in conditions, so everything that can be shown can be tested and vice
 * versa.  Only groups of fields have no value.
 *
 * Usage: pf_expr_names_open(), pf_expr_add_name() for each name, pf_expr_link(); then for each
 * record pf_expr_begin(), and pf_expr_value() for each name; finally perfile_expr_close(). */

/* Makes an expression without names.  `provider` (may be NULL) is copied. */
perfile_status pf_expr_names_open(const perfile_expr_provider *provider, perfile_expr **e,
                                  perfile_error *err);

/* Adds a name.  Its position is the number of names added before.  Returns PERFILE_E_USAGE if it is
 * unknown (the message suggests similar names) or a group of fields. */
perfile_status pf_expr_add_name(perfile_expr *e, const char *name, perfile_error *err);

/* Returns true if the provider answers for the name at `position`. */
static inline bool pf_expr_is_provided(const perfile_expr *e, uint32_t position)
{
    return e->slots[position].provided;
}

/* Call after linking.  Returns true if records must be decoded for the name at `position`; with
 * `samples`, if samples must be.  Most fields of samples are words at offsets that the layout
 * knows. */
bool pf_expr_decodes(const perfile_expr *e, uint32_t position, bool samples);

/* Returns the value of the name at `position` in the record given to pf_expr_begin(), with the
 * type, element and kind to show it by.  Borrowed data belongs to the record.  Returns false if the
 * record does not have the value.  A damaged record only has fields at fixed offsets
 * (pf_expr_is_decoded()). */
bool pf_expr_value(perfile_expr *e, uint32_t position, perfile_field *field, perfile_value *value);

#endif
