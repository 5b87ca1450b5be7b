/* Names of events: collected from EVENT_DESC, META_INFO, PMU_MAPPINGS, TRACING_DATA, event types
 * and EVENT_UPDATE, and applied to events when the session is resolved.  Also here: releases of
 * perf, and the catalogue of types and members.
 *
 * A pipe may have thousands of events, and facts in any order, so nothing here is quadratic.  Every
 * lookup uses a hash map, and events are named again only after a feature that can name any of them
 * (`stale`). */
#include "base/alloc.h"
#include "base/error.h"
#include "core/names.h"
#include "core/state.h"
#include "perfile/abi.h"
#include "perfile/catalogue.h"
#include "perfile/record.h"
#include "schema/rows.h"
#include "core/command.h"

#include <string.h>

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

/* Returns a key for the map.  find_meta() also compares type and config, because two pairs may have
 * the same key. */
static uint64_t meta_key(uint32_t type, uint64_t config)
{
    return config * UINT64_C(0x100000001b3) ^ type;
}

/* Reads the number after the last comma of *line and cuts it off, with the comma. */
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

/* META_INFO of simpleperf: its entry "event_type_info" has the names. */
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

/* PMU_MAPPINGS: names of PMUs, with which derived names of events begin. */
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

const char *pf_session_pmu_name(const perfile_session *s, uint32_t pmu_type)
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

/* Returns true if the entry is for this type and config. */
static bool same_event(const pf_named *named, const perfile_attr *attr)
{
    return named->type == attr->type && named->config == attr->config;
}

/* Returns the entry of EVENT_DESC for an event.  It is found by id.  If the event or the entry has
 * no ids, it is found by position, provided that type and config match. */
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

/* Returns true if the event-type list of old perf may name the event.  Generic events are named by
 * type and config instead, because that list has the user's words: "cycles" even if perf fell back
 * to cpu-clock. */
static bool needs_type_name(const perfile_attr *attr)
{
    return attr->type == PERFILE_TYPE_TRACEPOINT || attr->type == PERFILE_TYPE_RAW ||
           attr->type > PERFILE_TYPE_BREAKPOINT;
}

/* Returns the event type of old perf for an event.  The entries have a config but no type.  So a
 * config identifies an event only at the event's own position, or if the event is a tracepoint: the
 * list was made for tracepoints. */
static const pf_event_type *find_type(const perfile_session *s, const perfile_event *e)
{
    if (!needs_type_name(e->attr))
        return NULL;
    const pf_event_type *type = pf_session_event_type(s, e->index);
    if (type && type->event_id == e->attr->config)
        return type;
    if (e->attr->type != PERFILE_TYPE_TRACEPOINT)
        return NULL;
    return pf_session_event_type(s, pf_ids_find(&s->names.type_configs, e->attr->config));
}

/* Returns the line of event_type_info for this type and config. */
static const pf_named *find_meta(const perfile_session *s, const perfile_attr *attr)
{
    const pf_names *n = &s->names;
    uint32_t i = pf_ids_find(&n->meta_keys, meta_key(attr->type, attr->config));
    return i < n->n_meta && same_event(&n->meta[i], attr) ? &n->meta[i] : NULL;
}

/* Returns the origin of a feature of the session. */
static uint16_t origin_of(const perfile_session *s, uint32_t feature)
{
    return s->by_number[feature]->origin;
}

static perfile_bytes bytes_of(const char *text)
{
    return (perfile_bytes){(const uint8_t *)text, strlen(text)};
}

/* Gives an event its best known name: from EVENT_DESC, EVENT_UPDATE (set before), the event types,
 * or META_INFO, or a derived one. */
static perfile_status name_event(perfile_session *s, pf_event *event, perfile_error *err)
{
    const perfile_event *e = &event->shown;
    const pf_named *named = find_desc(s, e);
    if (named && named->name.len)
        return pf_names_set(s, event, PF_NAME_DESC, named->name,
                            origin_of(s, PERFILE_FEATURE_EVENT_DESC), err);
    if (event->name_rank >= PF_NAME_UPDATE)
        return PERFILE_OK;
    const pf_event_type *type = find_type(s, e);
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

/* Names the event that a later event type refers to. */
static perfile_status name_by_type(perfile_session *s, uint32_t position, perfile_error *err)
{
    const pf_event_type *type = s->event_types.items[position];
    uint32_t i = position;
    if (i >= s->n_events || s->events[i]->shown.attr->config != type->event_id)
        i = pf_ids_find(&s->names.trace_configs, type->event_id);
    if (i >= s->n_events || s->events[i]->name_rank >= PF_NAME_TYPE ||
        !needs_type_name(s->events[i]->shown.attr))
        return PERFILE_OK;
    return pf_names_set(s, s->events[i], PF_NAME_TYPE, type->name, s->events[i]->shown.origin, err);
}

/* New tracepoints are added to the map by config first, so that event types find them. */
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

/* Releases of perf: format/versions.def expanded to arrays, and their queries. */

const pf_release pf_releases[PF_N_RELEASES] = {
#define PF_IS(id, member, value) [PF_PERF_##id].member = (value)
#define PERF(id, number, attr, last_feature)                                                       \
    PF_IS(id, name, number), PF_IS(id, attr_size, attr), PF_IS(id, feature, last_feature),
#define KNOWS(id, sample, read, branch, flag, maps, own, skips)                                    \
    PF_IS(id, sample_bits, sample), PF_IS(id, read_bits, read), PF_IS(id, branch_bits, branch),    \
        PF_IS(id, flag_bits, flag), PF_IS(id, cpu_maps, maps), PF_IS(id, own_attr, own),           \
        PF_IS(id, skips_tools, skips),
#include "format/versions.def"
};

const pf_release pf_release_any = {.name = "any",
                                   .attr_size = 256,
                                   .sample_bits = 64,
                                   .read_bits = 64,
                                   .branch_bits = 64,
                                   .flag_bits = 64,
                                   .feature = UINT32_MAX,
                                   .cpu_maps = UINT32_MAX};

static const struct {
    const char *member;
    uint32_t from;
} late[] = {
#define LATE(member, from) {#member, PF_PERF_##from},
#include "format/versions.def"
};

static const struct {
    uint32_t major, minor, number;
} ends[] = {
#define ENDS(major, minor, number) {major, minor, number},
#include "format/versions.def"
};

/* Removes the digits at the beginning of *text, at most 4, and returns their value.  Returns false
 * if there are none. */
static bool take_number(perfile_bytes *text, uint32_t *number)
{
    enum { MOST_DIGITS = 4 };
    unsigned n = 0;
    for (*number = 0; n < MOST_DIGITS && n < text->len; n++) {
        unsigned digit = text->ptr[n] - (unsigned)'0';
        if (digit > 9)
            break;
        *number = 10 * *number + digit;
    }
    if (n == 0)
        return false; /* must come before the addition: the pointer may be NULL */
    text->ptr += n;
    text->len -= n;
    return true;
}

/* The text may be any version string; everything after major and minor number is ignored. */
uint32_t pf_end_of_features(perfile_bytes version)
{
    uint32_t major, minor, number = 0;
    if (!version.len || !take_number(&version, &major) || !version.len || version.ptr[0] != '.')
        return 0;
    version.ptr++;
    version.len--;
    if (!version.len || !take_number(&version, &minor))
        return 0;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (major > ends[i].major || (major == ends[i].major && minor >= ends[i].minor))
            number = ends[i].number;
    return number;
}

uint32_t pf_end_of_features_behind(uint32_t end, uint32_t last)
{
    for (size_t i = 0; i < sizeof ends / sizeof ends[0] && end <= last; i++)
        if (ends[i].number > end)
            end = ends[i].number;
    return end;
}

perfile_status pf_release_find(const char *version, const pf_release **release, perfile_error *err)
{
    char known[200] = "";
    const char *name = strncmp(version, "perf-", 5) == 0 ? version + 5 : version;
    for (size_t i = 0; i < PF_N_RELEASES; i++) {
        if (strcmp(name, pf_releases[i].name) == 0) {
            *release = &pf_releases[i];
            return PERFILE_OK;
        }
        size_t n = strlen(known);
        if (n + strlen(pf_releases[i].name) + 8 < sizeof known) {
            strcat(known, n ? ", perf-" : "perf-");
            strcat(known, pf_releases[i].name);
        }
    }
    return pf_fail(err, PERFILE_E_USAGE, "version", "perf '%s' is not known: there are %s", version,
                   known);
}

/* See column `since` of the row. */
bool pf_release_knows_type(const pf_release *r, uint32_t type)
{
    if (r == &pf_release_any || type == 0) /* perf counts records of type 0, whatever they are */
        return true;
    const pf_row *row = pf_record_row(type);
    return row && row->since <= r - pf_releases;
}

bool pf_release_knows_map_build_ids(const pf_release *r)
{
    return r->flag_bits > PERFILE_ATTR_BIT_BUILD_ID;
}

bool pf_release_knows_member(const pf_release *r, const char *member)
{
    for (size_t i = 0; i < sizeof late / sizeof late[0]; i++)
        if (strcmp(late[i].member, member) == 0)
            return r == &pf_release_any || r >= &pf_releases[late[i].from];
    return true;
}

bool pf_release_has_trait(const pf_release *r, const char *trait)
{
    static const struct {
        const char *trait;
        uint32_t from, to;
    } traits[] = {
#define TRAIT(id, rule, from, to, form, verdict, sentence) {#id, PF_PERF_##from, PF_PERF_##to},
#include "format/versions.def"
    };
    for (size_t i = 0; i < sizeof traits / sizeof traits[0]; i++)
        if (strcmp(traits[i].trait, trait) == 0 && r != &pf_release_any &&
            r >= &pf_releases[traits[i].from] && r <= &pf_releases[traits[i].to])
            return true;
    return false;
}

bool pf_release_needs_one_sample_type(const pf_release *r)
{
    return pf_release_has_trait(r, "EVENTS_OF_TWO_TYPES");
}

/* The catalogue: the rows of format/ and the shapes of their structs, for callers of the library.
 *
 * perfile_struct is the beginning of pf_row_shape (schema/rows.h).  Its members are between marks
 * that give the conditions under which they are present; here each member gets the innermost
 * condition. */
_Static_assert(offsetof(pf_row_shape, name) == offsetof(perfile_struct, name) &&
                   offsetof(pf_row_shape, size) == offsetof(perfile_struct, bytes),
               "a shape begins with what programs see of it");

static const pf_row_shape *shape_of(const perfile_struct *of)
{
    return (const pf_row_shape *)(const void *)of;
}

static const perfile_struct *struct_of(const pf_row_shape *shape)
{
    return (const perfile_struct *)(const void *)shape;
}

/* Copies as much of `full` as fits into the struct of a caller with an older or newer header. */
static bool give(void *out, size_t size, const void *full, size_t full_size)
{
    memset(out, 0, size);
    memcpy(out, full, size < full_size ? size : full_size);
    return true;
}

bool pf_family_at(size_t position, perfile_family *out, size_t size)
{
    for (uint32_t i = 0; i < PF_N_FAMILIES; i++) {
        const pf_family *f = pf_families[i];
        if (!f || position-- > 0)
            continue;
        perfile_family full = {.number = i, .header_bytes = f->header, .name = f->name};
        return give(out, size, &full, sizeof full);
    }
    return false;
}

bool pf_record_type_at(uint32_t family, size_t position, perfile_record_type *out, size_t size)
{
    const pf_family *f = family < PF_N_FAMILIES ? pf_families[family] : NULL;
    if (!f || position >= f->n_rows)
        return false;
    const pf_row *row = &f->rows[position];
    perfile_record_type full = {.number = row->number,
                                .family = family,
                                .name = row->name,
                                .doc = row->doc,
                                .decoded = struct_of(&f->shapes[position])};
    if (family == PERFILE_FAMILY_PERF && row->since < PF_N_RELEASES)
        full.since = pf_releases[row->since].name;
    return give(out, size, &full, sizeof full);
}

bool pf_feature_type_at(size_t position, perfile_feature_type *out, size_t size)
{
    size_t n;
    const pf_row *rows = pf_feature_rows(&n);
    if (position >= n)
        return false;
    perfile_feature_type full = {.number = rows[position].number,
                                 .name = rows[position].name,
                                 .doc = rows[position].doc,
                                 .decoded = struct_of(pf_feature_shape_at(position))};
    return give(out, size, &full, sizeof full);
}

const perfile_struct *pf_struct_at(size_t position)
{
    size_t n;
    if (position < PF_N_SHAPES)
        return struct_of(&pf_struct_shapes[position]);
    position -= PF_N_SHAPES;
    if (position < pf_all_rows())
        return struct_of(pf_shape_at((unsigned)position));
    position -= pf_all_rows();
    (void)pf_feature_rows(&n);
    return position < n ? struct_of(pf_feature_shape_at(position)) : NULL;
}

/* The conditions under which the current member is present.  They nest a few levels deep: those of
 * a sample, and WHEN inside it. */
typedef struct conditions {
    uint32_t has[8];
    uint64_t bit[8];
    unsigned depth;
} conditions;

static void follow(conditions *c, const pf_member *mark)
{
    switch (mark->what) {
    case PF_MEMBER_WHEN:
    case PF_MEMBER_SAMPLE:
        c->depth++;
        c->has[c->depth] = mark->what == PF_MEMBER_WHEN ? mark->at : PERFILE_NO_MEMBER;
        c->bit[c->depth] = mark->what == PF_MEMBER_SAMPLE ? mark->bit : c->bit[c->depth - 1];
        break;
    case PF_MEMBER_ELSE:
        c->has[c->depth] = mark->at;
        break;
    case PF_MEMBER_END_WHEN:
        c->depth--;
        break;
    default:
        break;
    }
}

bool perfile_struct_member(const perfile_struct *of, size_t position, perfile_member *out,
                           size_t size)
{
    conditions c = {.has = {PERFILE_NO_MEMBER}};
    for (const pf_member *m = shape_of(of)->members; m->what != PF_MEMBER_END; m++) {
        follow(&c, m);
        const bool is_member = m->what == PF_MEMBER_FIELD || m->what == PF_MEMBER_ATTR;
        if (!is_member || position-- > 0)
            continue;
        bool nested = m->type == PERFILE_STORED_LIST || m->type == PERFILE_STORED_STRUCT;
        perfile_member full = {.name = m->name,
                               .doc = m->doc,
                               .of = nested ? struct_of(&pf_struct_shapes[m->of]) : NULL,
                               .type = m->type,
                               .element = m->element,
                               .kind = m->kind,
                               .flags = m->flags,
                               .offset = m->at,
                               .has = c.has[c.depth],
                               .sample_bit = c.bit[c.depth]};
        if (m->type == PERFILE_STORED_LIST)
            full.list = pf_struct_shapes[m->of].list;
        return give(out, size, &full, sizeof full);
    }
    return false;
}
