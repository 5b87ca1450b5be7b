/* Fetching values from a record.
 *
 * A slot has ways for each row.  They are tried in order, and the first one with a value is used;
 * then the trailer, and last the provider.  Fields at fixed offsets of the body, and words that the
 * layout knows, are read directly from the stored record.  For everything else the record is
 * decoded, at most once per test and only when the first name needs it. */
#include "expr/fetch.h"

#include <stdio.h>

#include "core/swap.h"
#include "core/session.h"
#include "schema/rows.h"
#include "expr/program.h"
#include "base/alloc.h"
#include "base/error.h"
#include "schema/command.h"

static inline bool is_swapped(const perfile_record *r)
{
    return r->flags & PERFILE_REC_SWAPPED;
}

/* Loads an integer of type PERFILE_STORED_…, sign-extended if it is signed. */
static uint64_t load(const uint8_t *p, unsigned type, bool swapped)
{
    switch (type) {
    case PERFILE_STORED_U8:
        return *p;
    case PERFILE_STORED_U16:
        return pf_load_u16(p, swapped);
    case PERFILE_STORED_U32:
        return pf_load_u32(p, swapped);
    case PERFILE_STORED_S32:
        return (uint64_t)(int64_t)(int32_t)pf_load_u32(p, swapped);
    default:
        return pf_load_u64(p, swapped);
    }
}

/* Returns the row of the record's type, looked up once.  NULL if there is none. */
static const pf_row *row_of(pf_subject *x)
{
    if (!x->has_row) {
        x->row = pf_row_of(x->r);
        x->has_row = true;
    }
    return x->row;
}

/* Decodes the record into e->record.  Its type must have a row. */
static bool decode(perfile_expr *e)
{
    pf_parts p;
    const perfile_record *r = e->subject.r;
    const pf_row *row = e->subject.row;
    /* The decoder of samples has fast paths for common sample types. */
    if (r->type == PERFILE_RECORD_SAMPLE)
        return perfile_sample_decode(r, e->record, sizeof(perfile_sample), NULL) == PERFILE_OK;
    if (pf_record_parts(r, &p, NULL) != PERFILE_OK)
        return false;
    pf_context k = pf_record_context(r, &p);
    pf_cursor c = pf_cur(p.body, is_swapped(r));
    memset(e->record, 0, row->size);
    row->decode(&k, &c, e->record);
    return !c.bad;
}

bool pf_expr_is_decoded(perfile_expr *e)
{
    if (!e->subject.decoded)
        e->subject.decoded = row_of(&e->subject) && decode(e) ? 1 : 2;
    return e->subject.decoded == 1;
}

/* Returns true if a condition holds in a decoded struct. */
static bool guard_holds(const uint8_t *decoded, const pf_guard *g)
{
    uint64_t bits;
    uint32_t word;
    bool is;
    switch (g->test) {
    case PF_GUARD_IS:
        memcpy(&is, decoded + g->at, sizeof is);
        return is;
    case PF_GUARD_BITS:
        memcpy(&bits, decoded + g->at, sizeof bits);
        return bits & g->mask;
    default:
        memcpy(&word, decoded + g->at, sizeof word);
        return word >= g->mask;
    }
}

static bool guards_hold(const uint8_t *decoded, const pf_way *w)
{
    for (unsigned i = 0; i < w->n_guards; i++)
        if (!guard_holds(decoded, &w->guards[i]))
            return false;
    return true;
}

/* Returns the word of the trailer for `w`, NULL if the record has none.  The layout counts the
 * words of a trailer from its end. */
static const uint8_t *trailer_word(pf_subject *x, const pf_way *w)
{
    perfile_bytes body, trailer;
    const perfile_layout *l = pf_expr_layout(x);
    if (!l || l->trailer_slot[w->bit] < 1 ||
        !pf_record_split(x->r, l, pf_session_as_stored(x->r->session), &body, &trailer))
        return NULL;
    size_t back = 8 * (size_t)l->trailer_slot[w->bit];
    return trailer.len >= back ? trailer.ptr + trailer.len - back : NULL;
}

/* Returns the word of a sample for `w`, NULL if its event does not record it. */
static const uint8_t *sample_word(pf_subject *x, const pf_way *w)
{
    const perfile_layout *l = pf_expr_layout(x);
    if (!l || l->sample_slot[w->bit] < 0)
        return NULL;
    size_t at = 8 * (size_t)l->sample_slot[w->bit];
    return x->r->body.len >= at + 8 ? x->r->body.ptr + at : NULL;
}

/* Returns a pointer to the value of a way, NULL if the record does not have it.  If *native, it
 * points to a member of a decoded struct; otherwise to the stored record, in the record's byte
 * order. */
static const uint8_t *find_value(perfile_expr *e, const pf_way *w, bool *native)
{
    pf_subject *x = &e->subject;
    const uint8_t *word;
    *native = false;
    switch (w->from) {
    case PF_WAY_PLACE:
        if (x->r->body.len < (size_t)w->at + pf_type_width(w->type))
            return NULL;
        return x->r->body.ptr + w->at;
    case PF_WAY_SAMPLE:
        word = sample_word(x, w);
        return word ? word + w->at : NULL;
    case PF_WAY_TRAILER:
        word = trailer_word(x, w);
        return word ? word + w->at : NULL;
    case PF_WAY_ELEMENT:
        word = e->loop.element;
        break;
    default:
        word = pf_expr_is_decoded(e) ? e->record : NULL;
        break;
    }
    *native = true;
    return word && guards_hold(word, w) ? word + w->at : NULL;
}

/* Returns the way at `position` of the slot, counted from 1; NULL for 0. */
static inline const pf_way *way_at(const perfile_expr *e, const pf_slot *s, uint16_t position)
{
    return position ? &e->ways[s->ways + position - 1] : NULL;
}

/* Tries the ways for the record's row (or the element's shape) in order, then the trailer.  Sets
 * *way to the first one with a value. */
static const uint8_t *find_first(perfile_expr *e, const pf_slot *s, const pf_way **way,
                                 bool *native)
{
    const uint8_t *p;
    pf_subject *x = &e->subject;
    if (!s->n_ways)
        return NULL;
    const pf_row *row = s->element ? NULL : row_of(x);
    if (!s->element && !row)
        return NULL;
    /* s->first is indexed by rows or by shapes, depending on the kind of slot. */
    unsigned first = s->element ? e->loop.shape : pf_row_position(x->r->family, row);
    if (s->element && e->loop.is_words)
        return NULL;
    for (const pf_way *w = way_at(e, s, s->first[first]); w; w = way_at(e, s, w->next))
        if ((p = find_value(e, w, native))) {
            *way = w;
            return p;
        }
    *way = way_at(e, s, s->trailer);
    if (!*way || x->r->type >= PERFILE_RECORD_USER || x->r->type == PERFILE_RECORD_SAMPLE)
        return NULL;
    return find_value(e, *way, native);
}

bool pf_expr_ask_provider(perfile_expr *e, pf_slot *s)
{
    if (s->answered != e->tests) {
        s->answered = e->tests;
        s->answer = (perfile_expr_value){0};
        s->answer_status = e->provider.answer(e->provider.user, e->subject.r, s->handle, &s->answer,
                                              e->subject.err);
    }
    /* PERFILE_END is positive: the provider has no value for this record. */
    if (s->answer_status < 0)
        e->subject.status = s->answer_status;
    return s->answer_status == PERFILE_OK;
}

static bool cpumode(pf_subject *x, pf_number *out)
{
    const perfile_record *r = x->r;
    /* In records written by tools, misc has other meanings or is garbage. */
    if (!row_of(x) || (r->type >= PERFILE_RECORD_USER && r->type != PERFILE_RECORD_HEADER_BUILD_ID))
        return false;
    out->n = r->misc & PERFILE_MISC_CPUMODE_MASK;
    return true;
}

/* Returns the number of a name that every record has (PF_OF_…), or of a list element. */
static bool common_number(perfile_expr *e, const pf_slot *s, pf_number *out)
{
    pf_subject *x = &e->subject;
    const perfile_record *r = x->r;
    const perfile_event *event;
    bool is_record = r->family != PERFILE_FAMILY_DAMAGE;
    *out = (pf_number){0, false};
    switch (s->of) {
    case PF_OF_TYPE:
        out->n = r->type;
        return is_record;
    case PF_OF_MISC:
        out->n = r->misc;
        return is_record && (!s->misc_types || s->misc_types & pf_expr_type_bit(r->type));
    case PF_OF_SIZE:
        out->n = perfile_record_size(r);
        return true;
    case PF_OF_OFFSET:
        out->n = r->offset;
        return true;
    case PF_OF_SEQUENCE:
        out->n = r->sequence;
        return r->sequence != PERFILE_NO_SEQUENCE;
    case PF_OF_PART:
        out->n = r->part;
        return true;
    case PF_OF_CPUMODE:
        return cpumode(x, out);
    case PF_OF_EVENT:
        event = perfile_record_event(r);
        out->n = event ? event->index : 0;
        return event != NULL;
    default:
        out->n = e->loop.number;
        return e->loop.is_words;
    }
}

bool pf_expr_known_besides(const perfile_expr *e, const pf_slot *s, uint64_t *number)
{
    const perfile_record *r = e->subject.r;
    uint32_t cpu;
    if (s->timed && r->flags & PERFILE_REC_TIMED) {
        *number = perfile_record_time(r);
        return true;
    }
    if (!s->located || r->family == PERFILE_FAMILY_PERF || !perfile_record_cpu(r, &cpu))
        return false;
    *number = cpu;
    return true;
}

/* Loads the number at `p`, or its bit field, which is unsigned. */
static uint64_t load_field(const perfile_expr *e, const pf_way *w, const uint8_t *p, bool native)
{
    uint64_t n = load(p, w->type, !native && is_swapped(e->subject.r));
    if (!w->width)
        return n;
    return n >> w->shift & (w->width < 64 ? (UINT64_C(1) << w->width) - 1 : UINT64_MAX);
}

/* The order matters: fields of the record, then pf_expr_known_besides(), then the payload, then the
 * provider. */
bool pf_expr_get_number(perfile_expr *e, pf_slot *s, pf_number *out)
{
    const pf_way *w;
    bool native;
    if (s->of != PF_OF_FIELDS)
        return common_number(e, s, out);
    const uint8_t *p = find_first(e, s, &w, &native);
    uint64_t known;
    if (!p && pf_expr_known_besides(e, s, &known)) {
        *out = (pf_number){known, false};
        return true;
    }
    if (!p) {
        const perfile_tracepoint_field *f;
        perfile_value value;
        if (pf_expr_payload(e, s, &f, &value)) {
            if (!pf_type_width(f->field.type)) /* it is a text; the slot may be either */
                return false;
            *out =
                (pf_number){value.number, pf_is_signed(f->field.type) && (int64_t)value.number < 0};
            return true;
        }
        if (!s->provided || !pf_expr_ask_provider(e, s))
            return false;
        *out = (pf_number){s->answer.number, s->answer.negative};
        return true;
    }
    out->n = load_field(e, w, p, native);
    out->negative = !w->width && pf_is_signed(w->type) && (int64_t)out->n < 0;
    return true;
}

/* Returns the text of a name that every record has: type and event have one. */
static bool common_text(const perfile_expr *e, const pf_slot *s, pf_expr_text *out)
{
    const perfile_record *r = e->subject.r;
    const char *text = NULL;
    if (s->of == PF_OF_TYPE)
        text = pf_type_name(r->family, r->type);
    if (s->of == PF_OF_EVENT) {
        const perfile_event *event = perfile_record_event(r);
        text = event ? event->name : NULL;
    }
    if (text)
        *out = (pf_expr_text){{(const uint8_t *)text, strlen(text)}, false};
    return text != NULL;
}

bool pf_expr_get_text(perfile_expr *e, pf_slot *s, pf_expr_text *out)
{
    const pf_way *w;
    bool native;
    if (s->of != PF_OF_FIELDS)
        return common_text(e, s, out);
    const uint8_t *p = find_first(e, s, &w, &native);
    if (p) {
        memcpy(&out->bytes, p, sizeof out->bytes);
        out->hex = w->type == PERFILE_STORED_BLOB;
        return true;
    }
    const perfile_tracepoint_field *f;
    perfile_value value;
    if (pf_expr_payload(e, s, &f, &value)) {
        if (f->field.type != PERFILE_STORED_TEXT && f->field.type != PERFILE_STORED_BLOB)
            return false;
        *out = (pf_expr_text){value.u.bytes, f->field.type == PERFILE_STORED_BLOB};
        return true;
    }
    if (!s->provided || !pf_expr_ask_provider(e, s))
        return false;
    *out = (pf_expr_text){s->answer.text, false};
    return true;
}

bool pf_expr_get_list(perfile_expr *e, pf_slot *s, pf_loop *loop)
{
    const pf_way *w;
    bool native;
    const uint8_t *p = find_first(e, s, &w, &native);
    const perfile_tracepoint_field *f;
    perfile_value value;
    loop->i = loop->count = 0;
    if (!p && pf_expr_payload(e, s, &f, &value) && f->field.type == PERFILE_STORED_WORDS) {
        loop->is_words = true;
        loop->words = value.u.words;
        loop->n = loop->words.n;
        return true;
    }
    if (!p)
        return false;
    loop->is_words = w->type == PERFILE_STORED_WORDS;
    loop->shape = w->of;
    if (loop->is_words) {
        memcpy(&loop->words, p, sizeof loop->words);
        loop->n = loop->words.n;
    } else {
        memcpy(&loop->list, p, sizeof loop->list);
        loop->n = loop->list.n;
    }
    return true;
}

bool pf_expr_next_element(pf_loop *loop)
{
    if (loop->is_words) {
        loop->number = perfile_word(&loop->words, (size_t)loop->i);
        return true;
    }
    const pf_row_shape *shape = &pf_struct_shapes[loop->shape];
    return perfile_next(&loop->list, shape->list, loop->element, shape->size) == PERFILE_OK;
}

bool pf_expr_has(perfile_expr *e, pf_slot *s)
{
    const pf_way *w;
    bool native;
    pf_number number;
    pf_expr_text text;
    if (s->of != PF_OF_FIELDS)
        return common_number(e, s, &number) || common_text(e, s, &text);
    uint64_t known;
    const perfile_tracepoint_field *f;
    perfile_value value;
    return find_first(e, s, &w, &native) || pf_expr_known_besides(e, s, &known) ||
           pf_expr_payload(e, s, &f, &value) || (s->provided && pf_expr_ask_provider(e, s));
}

bool pf_expr_get_field(perfile_expr *e, const pf_slot *s, const pf_way **way, perfile_value *value)
{
    bool native;
    const uint8_t *p = find_first(e, s, way, &native);
    if (!p)
        return false;
    switch ((*way)->type) {
    case PERFILE_STORED_TEXT:
    case PERFILE_STORED_BLOB:
        memcpy(&value->u.bytes, p, sizeof value->u.bytes);
        break;
    case PERFILE_STORED_WORDS:
        memcpy(&value->u.words, p, sizeof value->u.words);
        break;
    case PERFILE_STORED_STRINGS:
        memcpy(&value->u.strings, p, sizeof value->u.strings);
        break;
    default:
        value->number = load_field(e, *way, p, native);
        break;
    }
    return true;
}

/* Values of names without a condition.  Each name is a slot of an expression that has no steps. */

perfile_status pf_expr_names_open(const perfile_expr_provider *provider, perfile_expr **out,
                                  perfile_error *err)
{
    perfile_expr *e = pf_alloc(1, sizeof *e);
    if (!e)
        return pf_fail_nomem(err, "expression");
    if (provider) {
        e->provider = *provider;
        e->has_provider = true;
    }
    *out = e;
    return PERFILE_OK;
}

perfile_status pf_expr_add_name(perfile_expr *e, const char *name, perfile_error *err)
{
    pf_slot *slot;
    char what[256];
    if (strlen(name) >= PF_EXPR_NAME_BYTES)
        return pf_fail(err, PERFILE_E_USAGE, "name", "the name is longer than %d bytes",
                       PF_EXPR_NAME_BYTES - 1);
    perfile_status st = pf_expr_find(e, name, NULL, &slot, err);
    if (st == PERFILE_END) {
        pf_expr_explain_unknown(e, name, NULL, false, what, sizeof what);
        return pf_fail(err, PERFILE_E_USAGE, "name", "%s", what);
    }
    if (st == PERFILE_OK && !pf_expr_keep_values(e, slot))
        return pf_fail(err, PERFILE_E_USAGE, "name", "'%s' is a group of fields: name one of them",
                       name);
    return st;
}

bool pf_expr_decodes(const perfile_expr *e, uint32_t position, bool samples)
{
    const pf_slot *s = &e->slots[position];
    return samples ? (s->first[PF_AT_sample] && !s->fast) || s->payload_classes : s->n_ways != 0;
}

static void set_number(perfile_field *f, perfile_value *v, uint64_t number)
{
    f->type = PERFILE_STORED_U64;
    f->kind = PERFILE_KIND_DEC;
    v->number = number;
}

static void set_text(perfile_field *f, perfile_value *v, perfile_bytes text)
{
    f->type = PERFILE_STORED_TEXT;
    v->u.bytes = text;
}

/* Returns the value of a name that every record has (PF_OF_…): the word for the number, if there is
 * one. */
static bool common_value(perfile_expr *e, pf_slot *s, perfile_field *f, perfile_value *v)
{
    pf_number number;
    pf_expr_text text;
    const char *word = NULL;
    if (s->classes & PERFILE_EXPR_TEXT && pf_expr_get_text(e, s, &text)) {
        set_text(f, v, text.bytes);
        return true;
    }
    if (!pf_expr_get_number(e, s, &number))
        return false;
    if (s->of == PF_OF_TYPE) /* no table describes it */
        number.n = perfile_record_stored_type(e->subject.r);
    if (s->of == PF_OF_CPUMODE)
        word = perfile_vocabulary_word(pf_vocabulary_find("cpumode"), number.n);
    if (word)
        set_text(f, v, (perfile_bytes){(const uint8_t *)word, strlen(word)});
    else
        set_number(f, v, number.n);
    return true;
}

bool pf_expr_value(perfile_expr *e, uint32_t position, perfile_field *f, perfile_value *v)
{
    pf_slot *s = &e->slots[position];
    const pf_way *way;
    const perfile_tracepoint_field *payload;
    uint64_t known;
    if (s->of != PF_OF_FIELDS) {
        *f = (perfile_field){0};
        return common_value(e, s, f, v);
    }
    if (s->fast && pf_expr_get_fast(e, s, &v->number)) {
        way = &e->ways[s->ways + s->first[PF_AT_sample] - 1];
        *f = (perfile_field){.type = way->type, .kind = way->kind};
        return true;
    }
    if (pf_expr_get_field(e, s, &way, v)) {
        *f = (perfile_field){.type = way->type, .element = way->element, .kind = way->kind};
        return true;
    }
    if (pf_expr_known_besides(e, s, &known)) {
        *f = (perfile_field){0};
        set_number(f, v, known);
        return true;
    }
    if (pf_expr_payload(e, s, &payload, v)) {
        *f = payload->field;
        return true;
    }
    if (!s->provided || !pf_expr_ask_provider(e, s))
        return false;
    *f = (perfile_field){0};
    if (s->provided_class == PERFILE_EXPR_TEXT)
        set_text(f, v, s->answer.text);
    else
        set_number(f, v, s->answer.number);
    return true;
}
