/* Names that are fields of tracepoints: `prev_pid`, `sched_switch.prev_pid`.
 *
 * The fields are not known before the capture is.  Its events and their descriptions have been read
 * when the first sample comes, even from a pipe.  Until then a name that is in no table is assumed
 * to be such a field (PERFILE_EXPR_PAYLOADS).  Then it is looked up, and a name that no tracepoint
 * of the capture has is an error.  A sample has the field if its own tracepoint does. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "expr/fetch.h"
#include "expr/parse.h"
#include "perfile/abi.h"
#include "perfile/session.h"
#include "trace/tracepoints.h"
#include "core/command.h"

static bool is_word(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && s[i] != '_')
            return false;
    return n && !isdigit((unsigned char)s[0]);
}

bool pf_expr_may_be_payload(const char *name)
{
    const char *rest, *dot = strchr(name, '.');
    if (pf_expr_provider_hint(name) || pf_expr_split_row(name, &rest))
        return false;
    return dot ? is_word(name, (size_t)(dot - name)) && is_word(dot + 1, strlen(dot + 1))
               : is_word(name, strlen(name));
}

/* Returns the class of a field's value in an expression. */
static uint8_t class_of(const perfile_tracepoint_field *f)
{
    switch (f->field.type) {
    case PERFILE_STORED_TEXT:
    case PERFILE_STORED_BLOB:
        return PERFILE_EXPR_TEXT;
    case PERFILE_STORED_WORDS:
        return PERFILE_EXPR_LIST;
    case PERFILE_STORED_STRINGS:
    case PERFILE_STORED_STRUCT:
    case PERFILE_STORED_LIST:
        return 0;
    default:
        return PERFILE_EXPR_NUMBER;
    }
}

/* Returns true if the name can mean a field of this tracepoint: it has no prefix, or the name of
 * this tracepoint as prefix. */
static bool is_of(const perfile_expr *e, const pf_slot *s, const perfile_tracepoint *t)
{
    const char *name = (const char *)e->payload.names.ptr + s->payload_name;
    const char *dot = strchr(name, '.');
    return !dot || (strncmp(name, t->name, (size_t)(dot - name)) == 0 && !t->name[dot - name]);
}

/* Returns the field of the slot's name in a tracepoint, NULL if there is none. */
static const perfile_tracepoint_field *find_field(const perfile_expr *e, const pf_slot *s,
                                                  const perfile_tracepoint *t, uint32_t *position)
{
    const char *name = (const char *)e->payload.names.ptr + s->payload_name;
    const char *dot = strchr(name, '.');
    if (!is_of(e, s, t))
        return NULL;
    const int i = perfile_tracepoint_field_find(t, dot ? dot + 1 : name);
    if (i < 0)
        return NULL;
    *position = (uint32_t)i;
    return &t->fields[i];
}

/* Called by the session when it changes or is released (pf_session_reader). */
static void before_change(void *user, bool last)
{
    perfile_expr *e = user;
    if (last)
        pf_expr_unbind(e);
}

void pf_expr_unbind(perfile_expr *e)
{
    pf_session_remove_reader(&e->payload.reader);
    perfile_tracepoints_close(e->payload.tracepoints);
    e->payload.tracepoints = NULL;
    e->payload.session = NULL;
    for (uint32_t i = 0; i < e->n_slots; i++)
        memset(e->slots[i].payload, 0, sizeof e->slots[i].payload);
}

/* Sets *classes to the PERFILE_EXPR_… classes of the name's fields in the tracepoints of the
 * session, 0 if none has it.  Offers the names of all fields to `suggestions`, unless it is
 * NULL. */
static perfile_status classes_of(perfile_expr *e, const pf_slot *s, uint8_t *classes,
                                 pf_nearest *suggestions, perfile_error *err)
{
    uint32_t position;
    *classes = 0;
    for (uint32_t i = 0; i < pf_session_n_events(e->payload.session); i++) {
        const pf_trace_format *format;
        const perfile_event *event = perfile_session_event(e->payload.session, i);
        perfile_status st = pf_tracepoints_of_event(e->payload.tracepoints, event, &format, err);
        if (st < 0)
            return st;
        if (st == PERFILE_END)
            continue;
        const perfile_tracepoint *t = &format->shown;
        const perfile_tracepoint_field *f = find_field(e, s, t, &position);
        *classes |= f ? class_of(f) : 0;
        if (!f && format->is_eventheader && is_of(e, s, t)) /* payloads of this kind may have it */
            *classes |= PERFILE_EXPR_NUMBER | PERFILE_EXPR_TEXT | PERFILE_EXPR_LIST;
        for (uint32_t k = 0; k < t->n_fields && suggestions; k++)
            pf_nearest_offer(suggestions, t->fields[k].field.name);
    }
    return PERFILE_OK;
}

/* Fails: no tracepoint has the name, or its value is of another class. */
static perfile_status fail(perfile_expr *e, const pf_slot *s, uint8_t classes, perfile_error *err)
{
    char what[384], similar[160];
    const char *name = (const char *)e->payload.names.ptr + s->payload_name;
    if (classes) {
        snprintf(what, sizeof what, "%.40s is %s", name, pf_code_name_of_class(classes));
    } else {
        const char *dot = strchr(name, '.');
        pf_nearest suggestions;
        pf_nearest_begin(&suggestions, dot ? dot + 1 : name);
        perfile_status st = classes_of(e, s, &classes, &suggestions, err);
        if (st != PERFILE_OK)
            return st;
        pf_expr_offer_all(e, &suggestions);
        pf_nearest_put(&suggestions, similar, sizeof similar);
        snprintf(what, sizeof what, "there is no %.40s, nor a field of a tracepoint%s%s%s", name,
                 similar[0] ? "; did you mean " : "", similar, similar[0] ? "?" : "");
    }
    return pf_fail(err, PERFILE_E_USAGE, "expression", "%s", what);
}

perfile_status pf_expr_bind(perfile_expr *e, const perfile_session *session, perfile_error *err)
{
    pf_expr_unbind(e);
    perfile_status st = perfile_tracepoints_open(session, &e->payload.tracepoints, err);
    if (st != PERFILE_OK)
        return st;
    e->payload.session = session;
    e->payload.reader = (pf_session_reader){.before_change = before_change, .user = e};
    if (!e->payload.in_thread)
        pf_session_add_reader(session, &e->payload.reader);
    for (uint32_t i = 0; i < e->n_slots; i++) {
        uint8_t classes;
        const pf_slot *s = &e->slots[i];
        if (!s->payload_classes || s->n_ways || s->of != PF_OF_FIELDS)
            continue; /* a table has the name, too */
        st = classes_of(e, s, &classes, NULL, err);
        if (st == PERFILE_OK && !(classes & s->payload_classes))
            st = fail(e, s, classes, err);
        if (st != PERFILE_OK) {
            pf_expr_unbind(e);
            return st;
        }
    }
    return PERFILE_OK;
}

/* Finds the tracepoint and payload of the record.  Returns false if it has none. */
static bool find_payload(perfile_expr *e)
{
    pf_subject *x = &e->subject;
    const perfile_record *r = x->r;
    if (x->payload)
        return x->payload == 1;
    x->payload = 2;
    if (r->type != PERFILE_RECORD_SAMPLE || r->family != PERFILE_FAMILY_PERF ||
        !e->payload.tracepoints)
        return false;
    const perfile_event *event = perfile_record_event(r);
    const pf_trace_format *format;
    if (!event)
        return false;
    perfile_status st = pf_tracepoints_of_event(e->payload.tracepoints, event, &format, x->err);
    if (st == PERFILE_OK) {
        const perfile_sample *sample = pf_expr_is_decoded(e) ? e->record : NULL;
        if (!sample || !(sample->present & PERFILE_SAMPLE_RAW))
            return false;
        x->bytes = sample->raw;
        st = pf_tracepoints_event(e->payload.tracepoints, x->bytes, &format, x->err);
    }
    if (st < 0)
        x->status = st;
    if (st != PERFILE_OK)
        return false;
    x->tracepoint = &format->shown;
    x->payload = 1;
    return true;
}

bool pf_expr_payload(perfile_expr *e, pf_slot *s, const perfile_tracepoint_field **field,
                     perfile_value *value)
{
    if (!s->payload_classes || !find_payload(e))
        return false;
    const perfile_tracepoint *t = e->subject.tracepoint;
    pf_payload_place *place = &s->payload[t->id % PF_PAYLOAD_PLACES];
    if (place->of != t) {
        const perfile_tracepoint_field *f = find_field(e, s, t, &place->at);
        place->of = t;
        place->there = f && class_of(f) & s->payload_classes;
    }
    if (!place->there)
        return false;
    *field = &t->fields[place->at];
    return perfile_tracepoint_value(t, e->subject.bytes, place->at, value) == PERFILE_OK;
}
