/* Sessions made by programs (perfile/live.h), and copies of sessions.
 *
 * A program adds the facts that a file has in its header, so they have the origin CONTAINER and no
 * offset.  Everything goes through the functions that drivers use (core/session.h).  This file
 * checks only the mistakes that a program can make and a driver cannot. */
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/options.h"
#include "base/byte_order.h"
#include "core/facts.h"
#include "core/state.h"
#include "perfile/live.h"
#include "core/command.h"

perfile_status perfile_session_open(const perfile_session_options *given, perfile_session **session,
                                    perfile_error *err)
{
    perfile_session_options o;
    perfile_status st = pf_options_copy(&o, given, "session.options", err);
    if (st == PERFILE_OK)
        st = pf_byte_order_check(o.byte_order, "session.options", err);
    if (st != PERFILE_OK)
        return st;
    const perfile_open_options options = {.size = sizeof options, .limits = o.limits};
    return pf_session_open(pf_byte_order_swaps(o.byte_order), &options, session, err);
}

void perfile_session_close(perfile_session *session)
{
    pf_session_free(session);
}

/* Appends the ids to `out` as a file would store them.  Each must be new to the session. */
static perfile_status store_ids(const perfile_session *s, const perfile_words *ids, pf_buffer *out,
                                perfile_error *err)
{
    if (!ids || !ids->n)
        return PERFILE_OK;
    if (ids->width != 8)
        return pf_fail(err, PERFILE_E_USAGE, "session.ids", "ids of %u bytes, needed 8",
                       ids->width);
    if (ids->n > SIZE_MAX / 16 || !pf_buffer_reserve(out, 8 * ids->n))
        return pf_fail_nomem(err, "session.ids");
    for (size_t i = 0; i < ids->n; i++, out->len += 8) {
        uint64_t id = perfile_word(ids, i);
        const perfile_event *owner = id ? perfile_session_event_by_id(s, id) : NULL;
        if (owner)
            return pf_fail(err, PERFILE_E_USAGE, "session.ids", "id %llu is that of event %u",
                           (unsigned long long)id, owner->index);
        pf_store_u64(out->ptr + out->len, id, s->swapped);
    }
    return PERFILE_OK;
}

/* Checks for errors of the caller that a driver would have reported as damage of the file. */
static perfile_status check_attr(const perfile_session *s, perfile_bytes attr, perfile_error *err)
{
    if (attr.len < PF_ATTR_LEAST || attr.len > PF_ATTR_MOST)
        return pf_fail(err, PERFILE_E_USAGE, "session.attr",
                       "an attr of %zu bytes, needed %d to %d", attr.len, PF_ATTR_LEAST,
                       PF_ATTR_MOST);
    uint32_t size = pf_load_u32(attr.ptr + PF_ATTR_SIZE_AT, s->swapped);
    if (size && (size < PF_ATTR_LEAST || size > attr.len))
        return pf_fail(err, PERFILE_E_USAGE, "attr.size", "size %u: needed %d to the %zu given",
                       size, PF_ATTR_LEAST, attr.len);
    perfile_attr a;
    return perfile_attr_decode(attr, s->swapped, &a, sizeof a, err);
}

/* A name from a program has the rank of EVENT_DESC, the highest. */
static perfile_status name_event(perfile_session *s, pf_event *event, const char *name,
                                 perfile_error *err)
{
    const perfile_bytes text = {(const uint8_t *)name, strlen(name)};
    return pf_names_set(s, event, PF_NAME_DESC, text, PERFILE_ORIGIN_CONTAINER, err);
}

perfile_status perfile_session_add_attr(perfile_session *s, perfile_bytes attr,
                                        const perfile_words *ids, const char *name, uint32_t *index,
                                        perfile_error *err)
{
    pf_buffer stored = {0};
    perfile_status st = check_attr(s, attr, err);
    if (st == PERFILE_OK)
        st = store_ids(s, ids, &stored, err);
    const pf_attr_fact fact = {.attr = attr,
                               .ids = {stored.ptr, stored.len},
                               .offset = PERFILE_NO_OFFSET,
                               .origin = PERFILE_ORIGIN_CONTAINER};
    if (st == PERFILE_OK)
        st = pf_session_add_attr(s, &fact, err);
    if (st == PERFILE_OK)
        st = pf_session_resolve(s, err);
    if (st == PERFILE_OK && name && *name)
        st = name_event(s, s->events[s->n_events - 1], name, err);
    if (st == PERFILE_OK && index)
        *index = s->n_events - 1;
    pf_buffer_free(&stored);
    return st;
}

/* Sets unit and scale, as EVENT_UPDATE does.  A scale of 0 and a unit of NULL mean that there is
 * none. */
static perfile_status set_unit(perfile_session *s, pf_event *event, const char *unit, double scale,
                               perfile_error *err)
{
    if (scale != 0)
        event->shown.scale = scale;
    if (!unit)
        return PERFILE_OK;
    const perfile_bytes text = {(const uint8_t *)unit, strlen(unit)};
    return pf_arena_text(&s->arena, text, &event->shown.unit, err);
}

/* Encodes the attr, adds it like a stored one, then sets name, unit and scale. */
perfile_status perfile_session_add_event(perfile_session *s, const perfile_new_event *given,
                                         uint32_t *index, perfile_error *err)
{
    perfile_new_event n;
    uint8_t attr[PF_ATTR_MOST];
    size_t len = 0;
    perfile_status st = pf_new_event_copy(given, &n, err);
    if (st == PERFILE_OK)
        st = pf_new_event_encode(&n, s->swapped, attr, &len, err);
    if (st != PERFILE_OK)
        return st;
    const perfile_words ids = perfile_words_u64(n.ids, n.n_ids);
    uint32_t at;
    st = perfile_session_add_attr(s, (perfile_bytes){attr, len}, &ids, n.name, &at, err);
    if (st == PERFILE_OK)
        st = set_unit(s, s->events[at], n.unit, n.scale, err);
    if (st == PERFILE_OK && index)
        *index = at;
    return st;
}

/* Adds a feature.  The caller has checked that the session does not have it yet. */
static perfile_status add_feature(perfile_session *s, uint32_t number, perfile_bytes payload,
                                  perfile_error *err)
{
    const perfile_feature f = {.number = number,
                               .origin = PERFILE_ORIGIN_CONTAINER,
                               .flags = s->swapped ? PERFILE_REC_SWAPPED : 0,
                               .offset = PERFILE_NO_OFFSET,
                               .size = payload.len,
                               .payload = payload};
    perfile_status st = pf_session_add_feature(s, &f, false, err);
    return st == PERFILE_OK ? pf_session_resolve(s, err) : st;
}

perfile_status perfile_session_set_feature(perfile_session *s, uint32_t number,
                                           perfile_bytes payload, perfile_error *err)
{
    if (number >= PERFILE_N_FEATURES)
        return pf_fail(err, PERFILE_E_USAGE, "session.feature",
                       "feature %u: a header has room for those up to %d", number,
                       PERFILE_N_FEATURES - 1);
    if (s->by_number[number])
        return pf_fail(err, PERFILE_E_USAGE, "session.feature", "feature %u is set already",
                       number);
    return add_feature(s, number, payload, err);
}

/* Copies of sessions. */

/* Copies events and event types.  Ids are copied as stored, in the same order. */
static perfile_status copy_events(perfile_session *to, const perfile_session *from,
                                  perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < from->n_events && st == PERFILE_OK; i++) {
        const perfile_event *e = &from->events[i]->shown;
        const pf_attr_fact fact = {.attr = e->stored,
                                   .ids = {e->ids.ptr, 8 * e->ids.n},
                                   .offset = PERFILE_NO_OFFSET,
                                   .origin = PERFILE_ORIGIN_CONTAINER,
                                   .ids_damage = e->ids_damage};
        st = pf_session_add_attr(to, &fact, err);
        if (st == PERFILE_OK)
            st = set_unit(to, to->events[i], e->unit, e->scale, err);
    }
    for (uint32_t i = 0; i < from->event_types.n && st == PERFILE_OK; i++) {
        const pf_event_type *t = from->event_types.items[i];
        st = pf_session_add_event_type(to, t->event_id, t->name, false, err);
    }
    return st;
}

/* Copies features; damaged ones keep their damage.  Features with a payload outside memory are left
 * out. */
static perfile_status copy_features(perfile_session *to, const perfile_session *from,
                                    perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < from->n_features && st == PERFILE_OK; i++) {
        perfile_feature f = *from->features[i];
        if (!f.damage && f.payload.len != f.size)
            continue;
        f.origin = PERFILE_ORIGIN_CONTAINER;
        f.offset = PERFILE_NO_OFFSET;
        st = pf_session_add_feature(to, &f, false, err);
    }
    return st;
}

/* Copies names from EVENT_UPDATE, EVENT_DESC or a program.  Writers take names from EVENT_DESC, so
 * this feature is made if the session does not have it. */
static perfile_status copy_names(perfile_session *to, const perfile_session *from,
                                 perfile_error *err)
{
    bool given = false;
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < from->n_events && st == PERFILE_OK; i++) {
        if (from->events[i]->name_rank < PF_NAME_UPDATE)
            continue;
        st = name_event(to, to->events[i], from->events[i]->shown.name, err);
        given = true;
    }
    if (st != PERFILE_OK || !given || to->by_number[PERFILE_FEATURE_EVENT_DESC])
        return st;
    pf_buffer desc = {0};
    st = pf_event_desc_make(to, NULL, (perfile_bytes){0}, &desc, err);
    if (st == PERFILE_OK)
        st = add_feature(to, PERFILE_FEATURE_EVENT_DESC, (perfile_bytes){desc.ptr, desc.len}, err);
    pf_buffer_free(&desc);
    return st;
}

static perfile_status copy_instances(perfile_session *to, const perfile_session *from,
                                     perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < from->n_instances && st == PERFILE_OK; i++)
        st = pf_instances_add(to, &from->instances[i], err);
    return st;
}

/* Copies the conversion from TIME_CONV; everything else about the clock is in attrs and
 * features. */
static void copy_conversion(perfile_session *to, const perfile_session *from)
{
    to->has_conversion = from->has_conversion;
    to->is_short = from->is_short;
    to->shift = from->shift;
    to->mult = from->mult;
    to->zero = from->zero;
    to->cycles = from->cycles;
    to->mask = from->mask;
}

perfile_status pf_session_copy(const perfile_session *from, const perfile_open_options *options,
                               perfile_session **copy, perfile_error *err)
{
    perfile_session *to;
    perfile_status st = pf_session_open(from->swapped, options, &to, err);
    if (st != PERFILE_OK)
        return st;
    st = copy_events(to, from, err);
    if (st == PERFILE_OK)
        st = copy_features(to, from, err);
    if (st == PERFILE_OK)
        st = copy_instances(to, from, err);
    if (st == PERFILE_OK)
        st = pf_session_resolve(to, err);
    if (st == PERFILE_OK)
        st = copy_names(to, from, err);
    copy_conversion(to, from);
    to->files = from->files;
    if (st != PERFILE_OK) {
        pf_session_free(to);
        return st;
    }
    *copy = to;
    return PERFILE_OK;
}
