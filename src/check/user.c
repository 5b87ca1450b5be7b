/* Rules for records of tools (types 64 and up): records that exist in pipes only, ID_INDEX,
 * EVENT_UPDATE, CPU_MAP, TIME_CONV, compressed records.  pf_check_user_end() has the rules about
 * all records of one kind. */
#include <inttypes.h>

#include "check/check.h"
#include "core/facts.h"
#include "schema/rows.h"
#include "core/command.h"

enum {
    CPU_MAP_LIST, /* PERF_CPU_MAP__CPUS, __MASK, __RANGE_CPUS */
    CPU_MAP_MASK,
    CPU_MAP_RANGE,
    UPDATE_CPUS = 3,    /* the last kind of EVENT_UPDATE */
    TIME_CONV_OLD = 24, /* size of the body, without and with the capabilities */
    TIME_CONV_NEW = 48,
    PAGE = 4096, /* perf's mmap_len is a number of whole pages; the smallest page size is 4096 */
    ZSTD = 1,    /* the only type of compression */
    PADDING = 8  /* fewer bytes at the end of a record are padding */
};

/* Checks a set of CPUs in CPU_MAP or EVENT_UPDATE (V-507). */
static void check_cpus(pf_check *c, const perfile_record *r, const perfile_cpu_map_data *m)
{
    if (m->type > CPU_MAP_RANGE)
        pf_report(c, PERFILE_RULE_V_507, PF_FULL, r, "cpu_map.type", "a CPU set of unknown type %u",
                  m->type);
    else if (m->is_range && m->start_cpu > m->end_cpu)
        pf_report(c, PERFILE_RULE_V_507, PF_FULL, r, "cpu_map.start_cpu",
                  "a range from CPU %u to %u", m->start_cpu, m->end_cpu);
}

/* Returns true if some event has this id. */
static bool known_id(const pf_check *c, uint64_t id)
{
    if (perfile_session_event_by_id(c->session, id))
        return true;
    /* A single event without ids owns every id. */
    const perfile_event *e = perfile_session_event(c->session, 0);
    return c->events.n == 1 && e && e->ids.n == 0;
}

static void check_update(pf_check *c, const perfile_record *r, const perfile_event_update *v)
{
    if (v->type > UPDATE_CPUS)
        pf_report(c, PERFILE_RULE_V_509, PF_FULL, r, "event_update.type",
                  "an update of unknown kind %" PRIu64, v->type);
    else if (!known_id(c, v->id))
        pf_report(c, PERFILE_RULE_V_509, PF_FULL, r, "event_update.id", "no event has id %" PRIu64,
                  v->id);
    if (v->has_cpus)
        check_cpus(c, r, &v->cpus);
}

/* Checks that an ID_INDEX has as many entries as it says (V-504), and that all are ids of events
 * (V-505).  Only the first unknown id is reported. */
static void check_id_index(pf_check *c, const perfile_record *r, const perfile_id_index *v,
                           size_t left)
{
    if (left)
        pf_report(c, PERFILE_RULE_V_504, PF_FULL, r, "id_index.nr",
                  "%zu bytes after %" PRIu64 " entries", left, v->nr);
    perfile_list list = v->entries;
    perfile_id_index_entry e;
    while (perfile_id_index_entry_next(&list, &e, sizeof e) == PERFILE_OK) {
        c->user.indexed_ids++;
        if (known_id(c, e.id))
            continue;
        pf_report(c, PERFILE_RULE_V_505, PF_FULL, r, "id_index.id", "no event has id %" PRIu64,
                  e.id);
        c->user.index_has_unknown = true;
        break;
    }
}

/* Checks that a TIME_CONV has one of two sizes, and values from which a time can be computed
 * (V-510). */
static void check_time_conv(pf_check *c, const perfile_record *r, const perfile_time_conv *v)
{
    if (r->body.len != TIME_CONV_OLD && r->body.len != TIME_CONV_NEW)
        pf_report(c, PERFILE_RULE_V_510, PF_FULL, r, "record.size", "%zu bytes, not 32 or 56",
                  perfile_record_size(r));
    if (v->has_short && v->cap_user_time_zero && (v->time_shift >= 64 || v->time_mult == 0))
        pf_report(c, PERFILE_RULE_V_510, PF_LESSER, r, "time_conv.time_shift",
                  "shift %" PRIu64 ", mult %" PRIu64, v->time_shift, v->time_mult);
}

/* Checks feature COMPRESSED, which gives the size of the buffer needed for decompression (V-521).
 * Called for each compressed record, but it checks only at the first one. */
static void check_compressed(pf_check *c, const perfile_record *r)
{
    perfile_compression v;
    if (c->user.compressed_checked)
        return;
    c->user.compressed_checked = true;
    const perfile_feature *f = perfile_session_feature(c->session, PERFILE_FEATURE_COMPRESSED);
    if (!f)
        pf_report(c, PERFILE_RULE_V_521, PF_FULL, r, NULL, "there is no feature COMPRESSED");
    else if (perfile_compression_decode(f, &v, sizeof v, NULL) == PERFILE_OK &&
             (v.type != ZSTD || v.mmap_len == 0 || v.mmap_len % PAGE))
        pf_report(c, PERFILE_RULE_V_521, PF_FULL, r, "compression.mmap_len",
                  "feature COMPRESSED has type %" PRIu32 " and a buffer of %" PRIu32 " bytes",
                  v.type, v.mmap_len);
}

/* Checks that COMPRESSED2 has room for the length it states, and at most padding after the data
 * (V-520). */
static void check_compressed2(pf_check *c, const perfile_record *r, const perfile_compressed2 *v)
{
    uint64_t room = r->body.len - 8; /* it was decoded, so the body has the 8 bytes of data_size */
    if (v->data_size > room)
        pf_report(c, PERFILE_RULE_V_520, PF_FULL, r, "compressed2.data_size",
                  "%" PRIu64 " bytes of data in %" PRIu64, v->data_size, room);
    else if (room - v->data_size >= PADDING)
        pf_report(c, PERFILE_RULE_V_520, PF_LESSER, r, "compressed2.data_size",
                  "%" PRIu64 " bytes after the data", room - v->data_size);
}

/* Reports a record in a file that only pipes may have (V-501). */
static void check_pipe_only(pf_check *c, const perfile_record *r)
{
    char buf[24];
    if (!c->pipe)
        pf_report(c, PERFILE_RULE_V_501, PF_FULL, r, "record.type", "%s in a file",
                  pf_check_type_name(r->type, buf));
}

/* HEADER_FEATURE: notes facts for pf_check_user_end() and traits.c, also for the empty one that
 * ends the list. */
static void check_feature_record(pf_check *c, const perfile_record *r)
{
    check_pipe_only(c, r);
    perfile_feature f;
    bool read = perfile_record_feature(r, &f, NULL) == PERFILE_OK;
    if (read && f.number > c->traits.highest_feature)
        c->traits.highest_feature = f.number;
    if (read && pf_feature_ends_list(&f)) {
        c->user.end_marker = true;
        c->traits.end_marker = f.number;
        return;
    }
    c->user.feature_records = true;
    c->user.last_feature_offset = r->offset;
}

/* Checks the types with rules that compare fields with each other. */
static void check_other_types(pf_check *c, const perfile_record *r, const void *v, size_t left)
{
    switch (r->type) {
    case PERFILE_RECORD_STAT_CONFIG:
        if (left >= PADDING)
            pf_report(c, PERFILE_RULE_V_508, PF_FULL, r, "stat_config.nr",
                      "%zu bytes after %" PRIu64 " settings", left,
                      ((const perfile_stat_config *)v)->nr);
        break;
    case PERFILE_RECORD_EVENT_UPDATE:
        check_update(c, r, v);
        break;
    case PERFILE_RECORD_TIME_CONV:
        check_time_conv(c, r, v);
        break;
    case PERFILE_RECORD_COMPRESSED:
        check_compressed(c, r);
        break;
    case PERFILE_RECORD_COMPRESSED2:
        check_compressed(c, r);
        check_compressed2(c, r, v);
        break;
    default:
        break;
    }
}

void pf_check_user(pf_check *c, const perfile_record *r, const void *v, size_t left)
{
    char buf[24];
    if (r->flags & PERFILE_REC_INNER && pf_marks_of(r) & (PF_ROW_ENVELOPE | PF_ROW_HAS_BEHIND))
        pf_report(c, PERFILE_RULE_V_519, PF_FULL, r, "record.type", "%s in compressed data",
                  pf_check_type_name(r->type, buf));
    switch (r->type) {
    case PERFILE_RECORD_HEADER_ATTR:
    case PERFILE_RECORD_HEADER_EVENT_TYPE:
    case PERFILE_RECORD_HEADER_TRACING_DATA:
        check_pipe_only(c, r);
        break;
    case PERFILE_RECORD_HEADER_FEATURE:
        check_feature_record(c, r);
        break;
    case PERFILE_RECORD_ID_INDEX:
        check_id_index(c, r, v, left);
        break;
    case PERFILE_RECORD_AUXTRACE_INFO:
        c->user.auxtrace_info = true;
        break;
    case PERFILE_RECORD_AUXTRACE:
        pf_check_auxtrace(c, r);
        break;
    case PERFILE_RECORD_CPU_MAP:
        check_cpus(c, r, &((const perfile_cpu_map *)v)->cpus);
        break;
    default:
        check_other_types(c, r, v, left);
    }
}

/* Checks that a list of HEADER_FEATURE has an end (V-503), and that all ID_INDEX records together
 * list all ids (V-505). */
void pf_check_user_end(pf_check *c)
{
    if (c->user.feature_records && !c->user.end_marker && c->pipe)
        pf_report_offset(c, PERFILE_RULE_V_503, PF_FULL, c->user.last_feature_offset,
                         "header_feature", "no empty HEADER_FEATURE follows the last one");
    uint64_t ids = 0;
    for (uint32_t i = 0; i < pf_session_n_events(c->session); i++)
        ids += perfile_session_event(c->session, i)->ids.n;
    if (c->user.indexed_ids && !c->user.index_has_unknown && ids > c->user.indexed_ids)
        pf_report_offset(c, PERFILE_RULE_V_505, PF_FULL, PERFILE_NO_OFFSET, "id_index",
                         "ID_INDEX lists %" PRIu64 " ids, the events have %" PRIu64,
                         c->user.indexed_ids, ids);
}
