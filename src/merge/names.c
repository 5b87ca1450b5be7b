/* Names of the events of the output: event types (the section of old files) and EVENT_DESC.
 *
 * Where inputs give an event different names, the first input is right. Names that an input only
 * derived, from the attr or other features, are derived again from those of the output. */
#include "base/alloc.h"
#include "base/error.h"
#include "core/event_desc.h"
#include "merge/facts.h"

/* struct perf_trace_event_type has 64 bytes for the name. */
enum { LONGEST_TYPE = 63 };

/* Returns the event type of the i-th event of an input; if its event types do not have it, the
 * name of the event, as far as it fits. */
static perfile_bytes type_of(const perfile_session *s, uint32_t i)
{
    const perfile_event *e = perfile_session_event(s, i);
    const perfile_event_type *t = perfile_session_event_type(s, i);
    if (t && t->event_id == e->attr->config)
        return t->name;
    size_t len = strlen(e->name);
    return (perfile_bytes){(const uint8_t *)e->name, len < LONGEST_TYPE ? len : LONGEST_TYPE};
}

/* Adds an event type unless it is there; with `always` in any case. */
static perfile_status add_type(pf_merge *x, pf_merge_entries *seen, uint64_t config,
                               perfile_bytes name, bool always, perfile_error *err)
{
    bool added;
    if (!pf_merge_entries_add(seen, &(pf_merge_entry){.number = config, .name = name}, &added))
        return pf_fail_nomem(err, "merge");
    return added || always ? pf_session_add_event_type(x->base.session, config, name, true, err)
                           : PERFILE_OK;
}

/* Adds a type for each event of the output, in their order: readers look for the type of an event
 * at the index of the event. */
static perfile_status add_types_of_events(pf_merge *x, pf_merge_entries *seen, perfile_error *err)
{
    uint32_t n = perfile_session_n_events(x->base.session);
    perfile_status st = PERFILE_OK;
    perfile_bytes *names = pf_alloc((size_t)n + 1, sizeof *names);
    if (!names)
        return pf_fail_nomem(err, "merge");
    /* Backwards, so that the name in the first input wins. */
    for (uint32_t k = x->n_inputs; k-- > 0;) {
        const pf_merge_input *in = &x->inputs[k];
        for (uint32_t i = in->n_events; i-- > 0;)
            if (in->events[i].out < n)
                names[in->events[i].out] = type_of(in->session, i);
    }
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++)
        st = add_type(x, seen, perfile_session_event(x->base.session, i)->attr->config, names[i],
                      true, err);
    pf_free(names);
    return st;
}

/* Adds the types of an input that are not there yet. */
static perfile_status add_types(pf_merge *x, const perfile_session *s, pf_merge_entries *seen,
                                perfile_error *err)
{
    uint32_t n = perfile_session_n_event_types(s);
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_event_type *t = perfile_session_event_type(s, i);
        st = add_type(x, seen, t->event_id, t->name, false, err);
    }
    return st;
}

/* No input with event types: the output has none either. Types of events come before the others. */
perfile_status pf_join_event_types(pf_merge *x, perfile_error *err)
{
    pf_merge_entries seen = {.by_value = false};
    perfile_status st = PERFILE_OK;
    bool any = false;
    for (uint32_t k = 0; k < x->n_inputs; k++)
        any |= perfile_session_n_event_types(x->inputs[k].session) != 0;
    if (any)
        st = add_types_of_events(x, &seen, err);
    for (uint32_t k = 0; k < x->n_inputs && st == PERFILE_OK; k++)
        st = add_types(x, x->inputs[k].session, &seen, err);
    pf_merge_entries_free(&seen);
    return st;
}

/* Gives each event of the output the name in the first input that stored one. Inputs are gone
 * through backwards, so that the first one is written last. */
static void collect_names(const pf_merge *x, const char **names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        names[i] = perfile_session_event(x->base.session, i)->name;
    for (uint32_t k = x->n_inputs; k-- > 0;) {
        const pf_merge_input *in = &x->inputs[k];
        for (uint32_t i = in->n_events; i-- > 0;) {
            const perfile_event *e = perfile_session_event(in->session, i);
            if (in->events[i].out < n && e->name_origin != PERFILE_ORIGIN_DERIVED)
                names[in->events[i].out] = e->name;
        }
    }
}

/* True if an input has EVENT_DESC, or if a name would be lost without it. */
static bool needs_desc(const pf_merge *x, const char *const *names, uint32_t n)
{
    for (uint32_t k = 0; k < x->n_inputs; k++)
        if (perfile_session_feature(x->inputs[k].session, PERFILE_FEATURE_EVENT_DESC))
            return true;
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(perfile_session_event(x->base.session, i)->name, names[i]) != 0)
            return true;
    return false;
}

/* Makes EVENT_DESC and lets the session read it. */
static perfile_status add_desc(pf_merge *x, const char *const *names, perfile_error *err)
{
    pf_buffer made = {0};
    perfile_status st = pf_event_desc_make(x->base.session, names, (perfile_bytes){0}, &made, err);
    if (st == PERFILE_OK && made.len)
        st = pf_fact_add(x, PERFILE_FEATURE_EVENT_DESC, (perfile_bytes){made.ptr, made.len}, false,
                         err);
    pf_buffer_free(&made);
    return st == PERFILE_OK ? pf_session_resolve(x->base.session, err) : st;
}

/* The session settles first, so that it knows the names that it derives without EVENT_DESC. */
perfile_status pf_join_event_desc(pf_merge *x, perfile_error *err)
{
    uint32_t n = perfile_session_n_events(x->base.session);
    perfile_status st = pf_session_resolve(x->base.session, err);
    if (st != PERFILE_OK || n == 0)
        return st;
    const char **names = pf_alloc(n, sizeof *names);
    if (!names)
        return pf_fail_nomem(err, "merge");
    collect_names(x, names, n);
    if (needs_desc(x, names, n))
        st = add_desc(x, names, err);
    pf_free(names);
    return st;
}
