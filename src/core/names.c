/* Names of events: collected from EVENT_DESC, META_INFO, PMU_MAPPINGS, TRACING_DATA, event types
 * and EVENT_UPDATE, and applied to events when the session is settled.
 *
 * A pipe may have thousands of events and facts in any order, so nothing here is quadratic: every
 * lookup goes through a hash map, and events are named again only after a feature that can name any
 * of them (`stale`). */
#include "core/names.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "core/state.h"

#define NAME_SIZE 512

/* All maps get the seed of the session: see core/session.h. */
void pf_names_init(pf_names *n, uint64_t seed)
{
    pf_ids *maps[] = {&n->desc_ids,     &n->meta_keys,     &n->pmu_types,
                      &n->type_configs, &n->trace_configs, &n->tracepoints.by_id};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        maps[i]->seed = seed;
}

void pf_names_free(pf_names *n)
{
    pf_free(n->desc);
    pf_free(n->meta);
    pf_free(n->pmus);
    pf_ids_free(&n->desc_ids);
    pf_ids_free(&n->meta_keys);
    pf_ids_free(&n->pmu_types);
    pf_ids_free(&n->type_configs);
    pf_ids_free(&n->trace_configs);
    pf_tracepoints_free(&n->tracepoints);
}

/* Appends to one of the arrays of pf_named. */
static perfile_status add_named(pf_named **items, uint32_t *n, uint32_t *cap, const pf_named *one,
                                perfile_error *err)
{
    pf_named *more = pf_array_more(*items, *n, cap, sizeof *more);
    if (!more)
        return pf_fail_nomem(err, "session.names");
    *items = more;
    more[(*n)++] = *one;
    return PERFILE_OK;
}

/* EVENT_DESC: a name for each attr, with its ids. */
static perfile_status take_desc(perfile_session *s, const perfile_feature *f, perfile_error *err)
{
    pf_names *n = &s->names;
    perfile_event_desc v;
    if (perfile_event_desc_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;

    perfile_event_desc_entry e;
    while (perfile_event_desc_entry_next(&v.events, &e, sizeof e) == PERFILE_OK) {
        for (size_t i = 0; i < e.ids.n; i++) {
            perfile_status st =
                pf_ids_add(&n->desc_ids, &s->arena, perfile_word(&e.ids, i), n->n_desc, NULL, err);
            if (st != PERFILE_OK)
                return st;
        }
        pf_named one = {e.name, e.attr.type, e.attr.config, e.ids.n != 0};
        perfile_status st = add_named(&n->desc, &n->n_desc, &n->desc_cap, &one, err);
        if (st != PERFILE_OK)
            return st;
    }
    n->stale = true;
    return PERFILE_OK;
}

/* A key for the map; find_meta() compares type and config, too, because two pairs may have one key.
 */
static uint64_t meta_key(uint32_t type, uint64_t config)
{
    return config * UINT64_C(0x100000001b3) ^ type;
}

/* Reads the number after the last comma of *line and cuts it off, comma included. */
static bool last_number(perfile_bytes *line, uint64_t *number)
{
    size_t at = line->len;
    while (at && line->ptr[at - 1] >= '0' && line->ptr[at - 1] <= '9')
        at--;
    if (at == 0 || at == line->len || line->len - at > 20 || line->ptr[at - 1] != ',')
        return false;
    *number = 0;
    for (size_t i = at; i < line->len; i++)
        *number = *number * 10 + (uint64_t)(line->ptr[i] - '0');
    line->len = at - 1;
    return true;
}

/* event_type_info of META_INFO: lines of "name,type,config". */
static perfile_status take_event_types(perfile_session *s, perfile_bytes text, perfile_error *err)
{
    pf_names *n = &s->names;
    while (text.len) {
        const uint8_t *nl = memchr(text.ptr, '\n', text.len);
        perfile_bytes line = {text.ptr, nl ? (size_t)(nl - text.ptr) : text.len};
        size_t step = nl ? line.len + 1 : line.len;
        text.ptr += step;
        text.len -= step;

        uint64_t config, type;
        if (!last_number(&line, &config) || !last_number(&line, &type) || !line.len ||
            type > UINT32_MAX)
            continue;
        pf_named one = {line, (uint32_t)type, config, false};
        perfile_status st =
            pf_ids_add(&n->meta_keys, &s->arena, meta_key(one.type, config), n->n_meta, NULL, err);
        if (st != PERFILE_OK ||
            (st = add_named(&n->meta, &n->n_meta, &n->meta_cap, &one, err)) != PERFILE_OK)
            return st;
    }
    n->stale = true;
    return PERFILE_OK;
}

/* META_INFO of simpleperf: the names are in its entry "event_type_info". */
static perfile_status take_meta(perfile_session *s, const perfile_feature *f, perfile_error *err)
{
    static const char key[] = "event_type_info";
    perfile_sp_meta_info v;
    if (perfile_sp_meta_info_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    perfile_meta_entry e;
    while (perfile_meta_entry_next(&v.entries, &e, sizeof e) == PERFILE_OK)
        if (e.key.len == sizeof key - 1 && memcmp(e.key.ptr, key, e.key.len) == 0)
            return take_event_types(s, e.value, err);
    return PERFILE_OK;
}

/* PMU_MAPPINGS: names of PMUs, which derived names of events begin with. */
static perfile_status take_pmus(perfile_session *s, const perfile_feature *f, perfile_error *err)
{
    pf_names *n = &s->names;
    perfile_pmu_mappings v;
    if (perfile_pmu_mappings_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;

    perfile_pmu_mapping e;
    while (perfile_pmu_mapping_next(&v.pmus, &e, sizeof e) == PERFILE_OK) {
        pf_pmu *more = pf_array_more(n->pmus, n->n_pmus, &n->pmus_cap, sizeof *more);
        if (!more)
            return pf_fail_nomem(err, "session.names");
        n->pmus = more;
        pf_pmu *pmu = &more[n->n_pmus];
        pmu->type = e.type;
        perfile_status st = pf_arena_text(&s->arena, e.name, &pmu->name, err);
        if (st != PERFILE_OK ||
            (st = pf_ids_add(&n->pmu_types, &s->arena, e.type, n->n_pmus, NULL, err)) != PERFILE_OK)
            return st;
        n->n_pmus++;
    }
    n->stale = true;
    return PERFILE_OK;
}

/* Features that can name any event set `stale`: all events are named again. */
perfile_status pf_names_collect(perfile_session *s, const perfile_feature *f, perfile_error *err)
{
    switch (f->number) {
    case PERFILE_FEATURE_EVENT_DESC:
        return take_desc(s, f, err);
    case PERFILE_FEATURE_META_INFO:
        return take_meta(s, f, err);
    case PERFILE_FEATURE_PMU_MAPPINGS:
        return take_pmus(s, f, err);
    case PERFILE_FEATURE_TRACING_DATA:
        s->names.stale = true;
        return pf_tracepoints_scan(&s->names.tracepoints, &s->arena, f->payload, err);
    default:
        return PERFILE_OK;
    }
}

const char *perfile_session_pmu_name(const perfile_session *s, uint32_t pmu_type)
{
    uint32_t i = pf_ids_find(&s->names.pmu_types, pmu_type);
    return i < s->names.n_pmus ? s->names.pmus[i].name : NULL;
}

perfile_status pf_names_set(perfile_session *s, pf_event *event, unsigned rank, perfile_bytes name,
                            uint16_t origin, perfile_error *err)
{
    perfile_event *e = &event->shown;
    if (rank < event->name_rank || name.len == 0)
        return PERFILE_OK;
    event->name_rank = (uint8_t)rank;
    e->name_origin = origin;
    if (strlen(e->name) == name.len && memcmp(e->name, name.ptr, name.len) == 0)
        return PERFILE_OK;
    s->generation++;
    return pf_arena_text(&s->arena, name, &e->name, err);
}

/* True if the entry is about an event of this type and config. */
static bool same_event(const pf_named *named, const perfile_attr *attr)
{
    return named->type == attr->type && named->config == attr->config;
}

/* The entry of EVENT_DESC for an event: by id, or, if the event or the entry has no ids, by
 * position, provided that type and config agree. */
static const pf_named *find_desc(const perfile_session *s, const perfile_event *e)
{
    const pf_names *n = &s->names;
    if (e->ids.n) {
        uint32_t i = pf_ids_find(&n->desc_ids, perfile_word(&e->ids, 0));
        if (i < n->n_desc)
            return &n->desc[i];
    }
    if (e->index >= n->n_desc)
        return NULL;
    const pf_named *named = &n->desc[e->index];
    return (e->ids.n && named->has_ids) || !same_event(named, e->attr) ? NULL : named;
}

/* Whether the list of event types of old perf may name the event.  Generic events are named by type
 * and config instead, because that list has what the user asked for: "cycles" even where perf fell
 * back to cpu-clock. */
static bool needs_type_name(const perfile_attr *attr)
{
    return attr->type == PERFILE_TYPE_TRACEPOINT || attr->type == PERFILE_TYPE_RAW ||
           attr->type > PERFILE_TYPE_BREAKPOINT;
}

/* The event type of old perf for an event.  The entries have a config but no type, so a config
 * identifies an event only at the event's own position, or if the event is a tracepoint: the list
 * was made for those. */
static const perfile_event_type *find_type(const perfile_session *s, const perfile_event *e)
{
    if (!needs_type_name(e->attr))
        return NULL;
    const perfile_event_type *type = perfile_session_event_type(s, e->index);
    if (type && type->event_id == e->attr->config)
        return type;
    if (e->attr->type != PERFILE_TYPE_TRACEPOINT)
        return NULL;
    return perfile_session_event_type(s, pf_ids_find(&s->names.type_configs, e->attr->config));
}

/* The line of event_type_info for this type and config. */
static const pf_named *find_meta(const perfile_session *s, const perfile_attr *attr)
{
    const pf_names *n = &s->names;
    uint32_t i = pf_ids_find(&n->meta_keys, meta_key(attr->type, attr->config));
    return i < n->n_meta && same_event(&n->meta[i], attr) ? &n->meta[i] : NULL;
}

/* The origin of a feature that the session has. */
static uint16_t origin_of(const perfile_session *s, uint32_t feature)
{
    return s->by_number[feature]->origin;
}

static perfile_bytes bytes_of(const char *text)
{
    return (perfile_bytes){(const uint8_t *)text, strlen(text)};
}

/* Gives an event the best name that is known: of EVENT_DESC, of EVENT_UPDATE (set before), of the
 * event types, of META_INFO, or derived. */
static perfile_status name_event(perfile_session *s, pf_event *event, perfile_error *err)
{
    const perfile_event *e = &event->shown;
    const pf_named *named = find_desc(s, e);
    if (named && named->name.len)
        return pf_names_set(s, event, PF_NAME_DESC, named->name,
                            origin_of(s, PERFILE_FEATURE_EVENT_DESC), err);
    if (event->name_rank >= PF_NAME_UPDATE)
        return PERFILE_OK;
    const perfile_event_type *type = find_type(s, e);
    if (type && type->name.len)
        return pf_names_set(s, event, PF_NAME_TYPE, type->name, e->origin, err);

    char text[NAME_SIZE];
    named = find_meta(s, e->attr);
    if (named && named->name.len < sizeof text) {
        memcpy(text, named->name.ptr, named->name.len);
        text[named->name.len] = 0;
        pf_name_modifiers(e->attr, text, sizeof text);
        return pf_names_set(s, event, PF_NAME_META, bytes_of(text),
                            origin_of(s, PERFILE_FEATURE_META_INFO), err);
    }
    pf_name_derive(s, e->attr, text, sizeof text);
    return pf_names_set(s, event, PF_NAME_DERIVED, bytes_of(text), PERFILE_ORIGIN_DERIVED, err);
}

/* Names the event that an event type which came after it is about. */
static perfile_status name_by_type(perfile_session *s, uint32_t position, perfile_error *err)
{
    const perfile_event_type *type = s->event_types.items[position];
    uint32_t i = position;
    if (i >= s->n_events || s->events[i]->shown.attr->config != type->event_id)
        i = pf_ids_find(&s->names.trace_configs, type->event_id);
    if (i >= s->n_events || s->events[i]->name_rank >= PF_NAME_TYPE ||
        !needs_type_name(s->events[i]->shown.attr))
        return PERFILE_OK;
    return pf_names_set(s, s->events[i], PF_NAME_TYPE, type->name, s->events[i]->shown.origin, err);
}

/* New tracepoints are entered by config first, so that event types find them. */
perfile_status pf_names_assign(perfile_session *s, perfile_error *err)
{
    pf_names *n = &s->names;
    perfile_status st;
    for (uint32_t i = s->n_settled; i < s->n_events; i++) {
        const perfile_attr *attr = s->events[i]->shown.attr;
        if (attr->type == PERFILE_TYPE_TRACEPOINT &&
            (st = pf_ids_add(&n->trace_configs, &s->arena, attr->config, i, NULL, err)) !=
                PERFILE_OK)
            return st;
    }
    for (uint32_t i = n->stale ? 0 : s->n_settled; i < s->n_events; i++)
        if ((st = name_event(s, s->events[i], err)) != PERFILE_OK)
            return st;
    n->stale = false;
    for (; n->n_types_seen < s->event_types.n; n->n_types_seen++)
        if ((st = name_by_type(s, n->n_types_seen, err)) != PERFILE_OK)
            return st;
    return PERFILE_OK;
}
