/* Facts from records: HEADER_ATTR, HEADER_FEATURE, EVENT_UPDATE and others say in a stream what a
 * file has in its sections.  For each such type a function here decodes the record and adds the
 * fact to the session, with the origin STREAM.  A record that cannot be decoded adds nothing: the
 * checker reports it, reading goes on. */
#include <string.h>

#include "base/error.h"
#include "core/readable.h"
#include "core/state.h"
#include "perfile/field.h"
#include "schema/attr_places.h"
#include "base/alloc.h"
#include "perfile/records.h"

/* True if the bytes of the record outlive the session: then they need not be copied. */
static bool is_stable(const perfile_record *r)
{
    return r->flags & PERFILE_REC_STABLE;
}

/* HEADER_ATTR: an event with its ids.  A size of 0 in the attr means the size of the first version.
 */
static perfile_status learn_attr(perfile_session *s, const perfile_record *r, perfile_error *err)
{
    perfile_header_attr v;
    if (perfile_header_attr_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    size_t size = v.attr.size ? v.attr.size : PF_ATTR_LEAST;
    pf_attr_fact fact = {
        .attr = {r->body.ptr, size},
        .ids = {v.id.ptr, 8 * v.id.n},
        .offset = r->offset + 8,
        .origin = PERFILE_ORIGIN_STREAM,
        .stable = is_stable(r),
    };
    return pf_session_add_attr(s, &fact, err);
}

/* HEADER_EVENT_TYPE: a name for a config, of perf up to 3.11. */
static perfile_status learn_event_type(perfile_session *s, const perfile_record *r,
                                       perfile_error *err)
{
    perfile_header_event_type v;
    if (perfile_header_event_type_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    return pf_session_add_event_type(s, v.event_id, v.name, is_stable(r), err);
}

/* A feature that came in record `r`; it borrows `payload`. */
static perfile_feature feature_of(const perfile_record *r, uint32_t number, perfile_bytes payload)
{
    return (perfile_feature){
        .number = number,
        .origin = PERFILE_ORIGIN_STREAM,
        .flags = r->flags & PERFILE_REC_SWAPPED,
        .offset = r->offset,
        .size = payload.len,
        .payload = payload,
        .session = r->session,
    };
}

/* Feature TRACING_DATA from a record.  A blob that was cut is no payload, only a damaged feature.
 */
static perfile_status learn_tracing(perfile_session *s, const perfile_record *r, perfile_bytes blob,
                                    perfile_error *err)
{
    perfile_feature f = feature_of(r, PERFILE_FEATURE_TRACING_DATA, blob);
    if (r->flags & PERFILE_REC_PAYLOAD_CUT)
        f.damage = PERFILE_DAMAGE_TRUNCATED_PAYLOAD;
    if (f.damage || !blob.ptr)
        f.payload = (perfile_bytes){NULL, 0};
    return pf_session_add_feature(s, &f, is_stable(r), err);
}

/* HEADER_TRACING_DATA: the blob follows the record, or is in it. */
static perfile_status learn_tracing_data(perfile_session *s, const perfile_record *r,
                                         perfile_error *err)
{
    perfile_header_tracing_data v;
    if (perfile_header_tracing_data_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    return learn_tracing(s, r, v.has_data ? v.data : r->extra, err);
}

/* simpleperf's TRACING_DATA: the blob is in the record. */
static perfile_status learn_sp_tracing_data(perfile_session *s, const perfile_record *r,
                                            perfile_error *err)
{
    perfile_sp_tracing_data v;
    if (perfile_sp_tracing_data_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    return learn_tracing(s, r, v.data, err);
}

/* HEADER_BUILD_ID.  Records without a pid are of the host: -1. */
static perfile_status learn_build_id(perfile_session *s, const perfile_record *r,
                                     perfile_error *err)
{
    perfile_header_build_id v;
    if (perfile_header_build_id_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    perfile_build_id id = {.id = v.build_id,
                           .filename = v.filename,
                           .pid = v.has_pid ? v.pid : -1,
                           .misc = r->misc,
                           .origin = PERFILE_ORIGIN_STREAM};
    return pf_session_add_build_id(s, &id, is_stable(r), err);
}

/* ID_INDEX says where the counter of an id runs.  It does not say to which event an id belongs, so
 * ids are added to an event only if exactly one event has an attr without ids. */
static perfile_status learn_id_index(perfile_session *s, const perfile_record *r,
                                     perfile_error *err)
{
    perfile_id_index v;
    if (perfile_id_index_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    perfile_id_index_entry e;
    perfile_status st = pf_instances_collect(s, &v, err);
    while (s->n_idless == 1 && st == PERFILE_OK &&
           perfile_id_index_entry_next(&v.entries, &e, sizeof e) == PERFILE_OK)
        st = pf_session_add_id(s, s->events[s->idless], e.id, err);
    return st;
}

/* simpleperf's EVENT_ID: ids by index of the attr. */
static perfile_status learn_event_id(perfile_session *s, const perfile_record *r,
                                     perfile_error *err)
{
    perfile_sp_event_id v;
    if (perfile_sp_event_id_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    perfile_event_id_entry e;
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK && perfile_event_id_entry_next(&v.entries, &e, sizeof e) == PERFILE_OK)
        if (e.attr_index < s->n_events)
            st = pf_session_add_id(s, s->events[e.attr_index], e.id, err);
    return st;
}

/* A double from its bits. */
static double scale_of(uint64_t bits)
{
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return scale;
}

/* The processors of an event, from EVENT_UPDATE.  The decoded set borrows from the record, so the
 * body is copied; some writers repeat the record, and a repeated body is not copied again. */
static perfile_status set_cpus(perfile_session *s, pf_event *event, const perfile_record *r,
                               perfile_error *err)
{
    perfile_bytes body = r->body;
    perfile_event_update v;
    if (body.len == event->cpus_stored.len &&
        memcmp(body.ptr, event->cpus_stored.ptr, body.len) == 0)
        return PERFILE_OK;
    if (!is_stable(r)) {
        perfile_status st = pf_arena_copy(&s->arena, body, &body, err);
        if (st != PERFILE_OK)
            return st;
    }
    perfile_record kept = *r;
    kept.body = body;
    if (perfile_event_update_decode(&kept, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    event->cpus_stored = body;
    event->cpus = v.cpus;
    event->shown.cpus = &event->cpus;
    s->generation++;
    return PERFILE_OK;
}

/* Name, unit, scale or processors of an event, which is found by its id.  An only event without ids
 * is meant by any. */
static perfile_status learn_event_update(perfile_session *s, const perfile_record *r,
                                         perfile_error *err)
{
    perfile_event_update v;
    if (perfile_event_update_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    uint32_t i = pf_ids_find(&s->ids, v.id);
    if (i >= s->n_events && s->n_events == 1 && s->n_idless == 1)
        i = 0;
    if (i >= s->n_events)
        return PERFILE_OK;

    pf_event *event = s->events[i];
    if (v.has_name)
        return pf_names_set(s, event, PF_NAME_UPDATE, v.name, PERFILE_ORIGIN_STREAM, err);
    if (v.has_cpus)
        return set_cpus(s, event, r, err);
    if (v.has_scale) {
        event->shown.scale = scale_of(v.scale);
        s->generation++;
    } else if (v.has_unit) {
        s->generation++;
        return pf_arena_text(&s->arena, v.unit, &event->shown.unit, err);
    }
    return PERFILE_OK;
}

/* The old, short form of TIME_CONV does not say whether the conversion is valid: perf wrote it only
 * if it was. */
static perfile_status learn_time_conv(perfile_session *s, const perfile_record *r,
                                      perfile_error *err)
{
    (void)err;
    perfile_time_conv v;
    if (perfile_time_conv_decode(r, &v, sizeof v, NULL) != PERFILE_OK ||
        (v.has_short && !v.cap_user_time_zero))
        return PERFILE_OK;
    s->has_conversion = true;
    s->shift = v.time_shift;
    s->mult = v.time_mult;
    s->zero = v.time_zero;
    s->cycles = v.time_cycles;
    s->mask = v.time_mask;
    s->is_short = v.has_short && v.cap_user_time_short;
    s->generation++;
    return PERFILE_OK;
}

perfile_status perfile_record_feature(const perfile_record *r, perfile_feature *feature,
                                      perfile_error *err)
{
    if (r->family != PERFILE_FAMILY_PERF || r->type != PERFILE_RECORD_HEADER_FEATURE)
        return pf_fail(err, PERFILE_E_USAGE, "record.type", "record of type %u, not %u", r->type,
                       (unsigned)PERFILE_RECORD_HEADER_FEATURE);
    perfile_header_feature v;
    perfile_status st = perfile_header_feature_decode(r, &v, sizeof v, err);
    if (st != PERFILE_OK)
        return st;
    *feature = feature_of(r, v.feat_id < UINT32_MAX ? (uint32_t)v.feat_id : UINT32_MAX, v.data);
    return PERFILE_OK;
}

/* HEADER_FEATURE.  The empty one at the end of the list is no feature. */
static perfile_status learn_feature(perfile_session *s, const perfile_record *r, perfile_error *err)
{
    perfile_feature f;
    if (perfile_record_feature(r, &f, NULL) != PERFILE_OK)
        return PERFILE_OK;
    if (pf_feature_ends_list(&f))
        return PERFILE_OK;
    return pf_session_add_feature(s, &f, is_stable(r), err);
}

typedef perfile_status learn_fn(perfile_session *s, const perfile_record *r, perfile_error *err);

/* The function for a type of record; NULL if records of this type have no facts for the session. */
static learn_fn *learner(uint32_t type)
{
    switch (type) {
    case PERFILE_RECORD_HEADER_ATTR:
        return learn_attr;
    case PERFILE_RECORD_HEADER_EVENT_TYPE:
        return learn_event_type;
    case PERFILE_RECORD_HEADER_TRACING_DATA:
        return learn_tracing_data;
    case PERFILE_RECORD_HEADER_BUILD_ID:
        return learn_build_id;
    case PERFILE_RECORD_ID_INDEX:
        return learn_id_index;
    case PERFILE_RECORD_EVENT_UPDATE:
        return learn_event_update;
    case PERFILE_RECORD_TIME_CONV:
        return learn_time_conv;
    case PERFILE_RECORD_HEADER_FEATURE:
        return learn_feature;
    case PERFILE_RECORD_SIMPLEPERF_EVENT_ID:
        return learn_event_id;
    case PERFILE_RECORD_SIMPLEPERF_TRACING_DATA:
        return learn_sp_tracing_data;
    default:
        return NULL;
    }
}

/* Readers in other threads are notified only if the type can change the session. */
perfile_status pf_session_collect(perfile_session *s, const perfile_record *r, perfile_error *err)
{
    learn_fn *learn = r->family == PERFILE_FAMILY_PERF ? learner(r->type) : NULL;
    if (!learn)
        return PERFILE_OK;
    pf_session_will_change(s);
    return learn(s, r, err);
}

/* Event instances: for each id the buffer, processor, thread and guest of its counter, from
 * ID_INDEX records.  The first entry of an id counts. */

/* The memory counts in the arena; an id that is known already is refunded. */
perfile_status pf_instances_add(perfile_session *s, const perfile_instance *x, perfile_error *err)
{
    bool added;
    perfile_instance *all =
        pf_array_more(s->instances, s->n_instances, &s->instances_cap, sizeof *all);
    if (!all)
        return pf_fail_nomem(err, "session.instances");
    s->instances = all;
    perfile_status st = pf_arena_charge(&s->arena, sizeof *x, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_ids_add(&s->instance_ids, &s->arena, x->id, s->n_instances, &added, err);
    if (st == PERFILE_OK && added)
        all[s->n_instances++] = *x;
    else
        pf_arena_refund(&s->arena, sizeof *x);
    return st;
}

perfile_status pf_instances_collect(perfile_session *s, const perfile_id_index *index,
                                    perfile_error *err)
{
    perfile_list entries = index->entries, guests = index->guests;
    perfile_id_index_entry e;
    perfile_id_index_guest g = {0};
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK && perfile_id_index_entry_next(&entries, &e, sizeof e) == PERFILE_OK) {
        perfile_instance x = {.id = e.id, .buffer = e.idx, .cpu = e.cpu, .tid = e.tid};
        /* Some writers store "any" as all ones in 32 bits. */
        if (x.cpu == UINT32_MAX)
            x.cpu = UINT64_MAX;
        if (x.tid == UINT32_MAX)
            x.tid = UINT64_MAX;
        if (index->has_guests && perfile_id_index_guest_next(&guests, &g, sizeof g) == PERFILE_OK) {
            x.machine_pid = g.machine_pid;
            x.vcpu = g.vcpu;
        }
        st = pf_instances_add(s, &x, err);
    }
    s->generation++;
    return st;
}

bool perfile_session_instance(const perfile_session *s, uint64_t id, perfile_instance *out,
                              size_t size)
{
    uint32_t i = pf_ids_find(&s->instance_ids, id);
    if (i >= s->n_instances)
        return false;
    memcpy(out, &s->instances[i], size < sizeof *out ? size : sizeof *out);
    return true;
}

/* Groups of events (feature GROUP_DESC): which event is the leader of which.  The feature may come
 * before the events in a pipe, so groups are kept and assigned when the session is settled. */

typedef struct pf_group {
    uint32_t leader;
    uint32_t end; /* the first event behind the group */
} pf_group;

/* perf writes groups in the order of their leaders, and they do not overlap.  Entries that break
 * this are ignored. */
perfile_status pf_groups_collect(perfile_session *s, const perfile_feature *f, perfile_error *err)
{
    perfile_group_desc v;
    if (f->number != PERFILE_FEATURE_GROUP_DESC ||
        perfile_group_desc_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;

    perfile_group_desc_entry e;
    uint32_t behind = 0, cap = 0;
    while (perfile_group_desc_entry_next(&v.groups, &e, sizeof e) == PERFILE_OK) {
        if (e.leader_idx < behind || e.nr_members > UINT32_MAX - e.leader_idx)
            continue;
        pf_group *more = pf_array_more(s->groups, s->n_groups, &cap, sizeof *more);
        if (!more)
            return pf_fail_nomem(err, "session.groups");
        behind = e.leader_idx + e.nr_members;
        s->groups = more;
        s->groups[s->n_groups++] = (pf_group){e.leader_idx, behind};
    }
    s->regroup = s->n_groups != 0;
    return PERFILE_OK;
}

void pf_groups_assign(perfile_session *s, uint32_t from)
{
    if (from == 0)
        s->group_at = 0;
    for (uint32_t i = from; i < s->n_events; i++) {
        while (s->group_at < s->n_groups && s->groups[s->group_at].end <= i)
            s->group_at++;
        if (s->group_at == s->n_groups)
            return;
        const pf_group *g = &s->groups[s->group_at];
        if (g->leader <= i)
            s->events[i]->shown.group_leader = g->leader;
    }
}
