/* Facts: texts and numbers (host name, tool, command line …), build ids, the clock of the session,
 * feature EVENT_DESC, facts that come in records, groups, and the scan of TRACING_DATA. */
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/options.h"
#include "core/facts.h"
#include "core/names.h"
#include "core/state.h"
#include "perfile/field.h"
#include "perfile/records.h"
#include "schema/types.h"
#include "core/command.h"

#include <string.h>

/* Stores `prefix` and `text` as a fact. */
static perfile_status set_fact(perfile_session *s, unsigned fact, const char *prefix,
                               perfile_bytes text, perfile_error *err)
{
    pf_buffer b = {0};
    perfile_status st = PERFILE_OK;
    if (!pf_buffer_append(&b, prefix, strlen(prefix)) || !pf_buffer_append(&b, text.ptr, text.len))
        st = pf_fail_nomem(err, "session.facts");
    else
        st = pf_arena_text(&s->arena, (perfile_bytes){b.ptr, b.len}, &s->facts[fact], err);
    pf_buffer_free(&b);
    return st;
}

/* Returns true if the shell needs no quotes around the word. */
static bool is_plain(perfile_bytes word)
{
    for (size_t i = 0; i < word.len; i++) {
        uint8_t c = word.ptr[i];
        bool alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!alnum && (c == 0 || !strchr("@%+=:,./_-", c)))
            return false;
    }
    return word.len != 0;
}

/* Appends a word as a shell reads it: plain, or in single quotes. */
static bool append_quoted(pf_buffer *b, perfile_bytes word)
{
    if (is_plain(word))
        return pf_buffer_append(b, word.ptr, word.len);
    bool fits = pf_buffer_append_u8(b, '\'');
    for (size_t i = 0; fits && i < word.len; i++)
        fits = word.ptr[i] == '\'' ? pf_buffer_append(b, "'\\''", 4)
                                   : pf_buffer_append_u8(b, word.ptr[i]);
    return fits && pf_buffer_append_u8(b, '\'');
}

/* CMDLINE: the words, joined by blanks and quoted if the shell needs it. */
static perfile_status take_cmdline(perfile_session *s, const perfile_feature *f, perfile_error *err)
{
    perfile_cmdline v;
    if (perfile_cmdline_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    pf_buffer b = {0};
    perfile_bytes word;
    bool fits = true, first = true;
    while (fits && perfile_strings_next(&v.cmdline, &word) == PERFILE_OK) {
        fits = (first || pf_buffer_append_u8(&b, ' ')) && append_quoted(&b, word);
        first = false;
    }
    perfile_status st =
        fits ? set_fact(s, PERFILE_FACT_CMDLINE, "", (perfile_bytes){b.ptr, b.len}, err)
             : pf_fail_nomem(err, "session.facts");
    pf_buffer_free(&b);
    return st;
}

static bool text_is(perfile_bytes text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.ptr, word, text.len) == 0;
}

/* META_INFO of simpleperf: its version is the fact TOOL. */
static perfile_status take_meta_info(perfile_session *s, const perfile_feature *f,
                                     perfile_error *err)
{
    perfile_sp_meta_info v;
    if (perfile_sp_meta_info_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    perfile_meta_entry e;
    while (perfile_meta_entry_next(&v.entries, &e, sizeof e) == PERFILE_OK)
        if (text_is(e.key, "simpleperf_version"))
            return set_fact(s, PERFILE_FACT_TOOL, "simpleperf ", e.value, err);
    return PERFILE_OK;
}

void pf_build_id_of_entry(const perfile_build_id_entry *e, uint16_t origin, perfile_build_id *id)
{
    *id = (perfile_build_id){.id = e->id.build_id,
                             .filename = e->id.filename,
                             .pid = e->id.has_pid ? e->id.pid : -1,
                             .misc = e->misc,
                             .origin = origin};
}

/* BUILD_ID: the list of build ids. */
static perfile_status take_build_ids(perfile_session *s, const perfile_feature *f,
                                     perfile_error *err)
{
    perfile_build_ids v;
    if (perfile_build_ids_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    perfile_build_id_entry e;
    while (perfile_build_id_entry_next(&v.build_ids, &e, sizeof e) == PERFILE_OK) {
        perfile_build_id id;
        pf_build_id_of_entry(&e, f->origin, &id);
        /* The session already owns the payload. */
        perfile_status st = pf_session_add_build_id(s, &id, true, err);
        if (st != PERFILE_OK)
            return st;
    }
    return PERFILE_OK;
}

#define TAKE_STRING(name, id, fact, prefix)                                                        \
    case PERFILE_FEATURE_##name: {                                                                 \
        perfile_##id v;                                                                            \
        if (perfile_##id##_decode(f, &v, sizeof v, NULL) != PERFILE_OK)                            \
            return PERFILE_OK;                                                                     \
        return set_fact(s, fact, prefix, v.string, err);                                           \
    }

/* A feature that cannot be decoded gives no fact.  perf's VERSION does not replace the version of
 * simpleperf. */
perfile_status pf_facts_collect(perfile_session *s, const perfile_feature *f, perfile_error *err)
{
    switch (f->number) {
        TAKE_STRING(HOSTNAME, hostname, PERFILE_FACT_HOSTNAME, "")
        TAKE_STRING(OSRELEASE, osrelease, PERFILE_FACT_OSRELEASE, "")
        TAKE_STRING(ARCH, arch, PERFILE_FACT_ARCH, "")
        TAKE_STRING(CPUDESC, cpudesc, PERFILE_FACT_CPUDESC, "")
        TAKE_STRING(CPUID, cpuid, PERFILE_FACT_CPUID, "")
    case PERFILE_FEATURE_VERSION: {
        perfile_tool_version v;
        if (s->facts[PERFILE_FACT_TOOL] ||
            perfile_tool_version_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
            return PERFILE_OK;
        return set_fact(s, PERFILE_FACT_TOOL, v.string.len ? "perf " : "perf", v.string, err);
    }
    case PERFILE_FEATURE_NRCPUS: {
        perfile_nrcpus v;
        if (perfile_nrcpus_decode(f, &v, sizeof v, NULL) == PERFILE_OK)
            s->n_cpus = v.nr_cpus_avail;
        return PERFILE_OK;
    }
    case PERFILE_FEATURE_CMDLINE:
        return take_cmdline(s, f, err);
    case PERFILE_FEATURE_META_INFO:
        return take_meta_info(s, f, err);
    case PERFILE_FEATURE_BUILD_ID:
        return take_build_ids(s, f, err);
    default:
        return PERFILE_OK;
    }
}

const char *perfile_session_fact(const perfile_session *s, unsigned fact)
{
    return fact < PERFILE_N_FACTS ? s->facts[fact] : NULL;
}

uint32_t pf_session_n_cpus(const perfile_session *s)
{
    return s->n_cpus;
}

/* perf stat writes CLOCK_DATA with zeros, and tools copy it between files.  So it counts only if it
 * names the clock that the events used.  Feature CLOCKID has a resolution, never the clock. */
static void add_wall(const perfile_session *s, perfile_clock *clock)
{
    const perfile_feature *f = s->by_number[PERFILE_FEATURE_CLOCK_DATA];
    perfile_clock_data v;
    if (!clock->known || !f || perfile_clock_data_decode(f, &v, sizeof v, NULL) != PERFILE_OK ||
        v.clockid != clock->clockid || (v.wall_clock_ns == 0 && v.clockid_time_ns == 0))
        return;
    clock->has_wall = true;
    clock->wall_ns = v.wall_clock_ns;
    clock->clock_ns = v.clockid_time_ns;
}

/* The clock of the first event is the clock of all: perf sets the same clockid for all. */
void perfile_session_clock(const perfile_session *s, perfile_clock *clock)
{
    *clock = (perfile_clock){0};
    if (s->n_events) {
        const perfile_attr *attr = s->events[0]->shown.attr;
        clock->known = attr->flags >> PERFILE_ATTR_BIT_USE_CLOCKID & 1;
        clock->clockid = clock->known ? attr->clockid : 0;
    }
    add_wall(s, clock);
    if (s->has_conversion) {
        clock->has_conversion = true;
        clock->shift = s->shift;
        clock->mult = s->mult;
        clock->zero = s->zero;
        clock->cycles = s->cycles;
        clock->mask = s->mask;
        clock->is_short = s->is_short;
    }
}

/* Writes feature EVENT_DESC: counts, then for each event its stored attr, padded to a common size,
 * its name and its ids.  The layout is event_desc of format/features.def; the code is hand-written
 * because attrs are copied as stored. */

enum {
    NAME_UNIT = 64, /* names are padded to a multiple of this: NAME_ALIGN of perf's header.c */
    LONGEST_NAME = 1 << 30, /* longer names are cut, because their length has 32 bits */
};

static bool put_u32(pf_buffer *out, uint32_t v, bool swap)
{
    uint8_t bytes[4];
    pf_store_u32(bytes, v, swap);
    return pf_buffer_append(out, bytes, sizeof bytes);
}

/* Appends `bytes`, then zeros up to a total of `room` bytes. */
static bool put_padded(pf_buffer *out, const void *bytes, size_t len, size_t room)
{
    if (!pf_buffer_reserve(out, room))
        return false;
    if (len)
        memcpy(out->ptr + out->len, bytes, len);
    memset(out->ptr + out->len + len, 0, room - len);
    out->len += room;
    return true;
}

static bool put_ids(pf_buffer *out, const perfile_words *ids, bool swap)
{
    uint8_t word[8];
    for (size_t i = 0; i < ids->n; i++) {
        pf_store_u64(word, perfile_word(ids, i), swap);
        if (!pf_buffer_append(out, word, sizeof word))
            return false;
    }
    return true;
}

static bool put_event(pf_buffer *out, const perfile_event *e, const char *name, size_t attr_size,
                      bool swap)
{
    size_t len = strlen(name);
    if (len > LONGEST_NAME)
        len = LONGEST_NAME;
    size_t room = len / NAME_UNIT * NAME_UNIT + NAME_UNIT;
    return put_padded(out, e->stored.ptr, e->stored.len, attr_size) &&
           put_u32(out, (uint32_t)e->ids.n, swap) && put_u32(out, (uint32_t)room, swap) &&
           put_padded(out, name, len, room) && put_ids(out, &e->ids, swap);
}

/* Returns true if index `i` is in an array of uint32_t. */
static bool is_among(perfile_bytes indices, uint32_t i)
{
    for (size_t at = 0; at < indices.len; at += sizeof i)
        if (memcmp(indices.ptr + at, &i, sizeof i) == 0)
            return true;
    return false;
}

perfile_status pf_event_desc_make(const perfile_session *s, const char *const *names,
                                  perfile_bytes left_out, pf_buffer *out, perfile_error *err)
{
    uint32_t n = pf_session_n_events(s), described = 0;
    bool swap = pf_session_swapped(s);
    size_t attr_size = PF_ATTR_LEAST;
    for (uint32_t i = 0; i < n; i++) {
        if (is_among(left_out, i))
            continue;
        described++;
        size_t size = perfile_session_event(s, i)->stored.len;
        attr_size = size > attr_size ? size : attr_size;
    }
    bool fits = put_u32(out, described, swap) && put_u32(out, (uint32_t)attr_size, swap);
    for (uint32_t i = 0; i < n && fits; i++) {
        const perfile_event *e = perfile_session_event(s, i);
        if (is_among(left_out, i))
            continue;
        fits = put_event(out, e, names ? names[i] : e->name, attr_size, swap);
    }
    return fits ? PERFILE_OK : pf_fail_nomem(err, "session.events");
}

perfile_status pf_new_event_copy(const perfile_new_event *given, perfile_new_event *event,
                                 perfile_error *err)
{
    perfile_status st = pf_options_copy(event, given, "event", err);
    if (st != PERFILE_OK)
        return st;
    if (!event->attr || (event->n_ids && !event->ids))
        return pf_fail(err, PERFILE_E_USAGE, "event.attr", "no attr, or no ids where n_ids is %zu",
                       event->n_ids);
    return PERFILE_OK;
}

perfile_status pf_new_event_encode(const perfile_new_event *event, bool swap, uint8_t *out,
                                   size_t *len, perfile_error *err)
{
    const perfile_encode_options how = {.size = sizeof how, .byte_order = pf_byte_order_of(swap)};
    perfile_attr a = {0};
    size_t size =
        event->attr_struct && event->attr_struct < sizeof a ? event->attr_struct : sizeof a;
    memcpy(&a, event->attr, size);
    if (a.sample_freq && !a.is_freq)
        return pf_fail(err, PERFILE_E_USAGE, "attr.sample_freq",
                       "sample_freq is %llu, but is_freq is not set: it would be lost",
                       (unsigned long long)a.sample_freq);
    if (a.size)
        return perfile_attr_encode(&a, sizeof a, &how, out, PF_ATTR_MOST, len, err);
    /* No size given: encode all members, then cut words of 0 off the end. */
    a.size = PF_ATTR_OURS;
    perfile_status st = perfile_attr_encode(&a, sizeof a, &how, out, PF_ATTR_MOST, len, err);
    while (st == PERFILE_OK && *len > PF_ATTR_LEAST && !pf_load_u64(out + *len - 8, false))
        *len -= 8;
    if (st == PERFILE_OK)
        pf_store_u32(out + 4, (uint32_t)*len, swap);
    return st;
}

/* Facts from records: HEADER_ATTR, HEADER_FEATURE, EVENT_UPDATE and others carry in a pipe the
 * facts that a file has in its sections.  For each such type a function here decodes the record and
 * adds the fact to the session, with the origin STREAM.  A record that cannot be decoded adds
 * nothing: the checker reports it, and reading continues. */

/* Returns true if the bytes of the record outlive the session and need not be copied. */
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

/* HEADER_EVENT_TYPE: a name for a config, written by perf up to 3.11. */
static perfile_status learn_event_type(perfile_session *s, const perfile_record *r,
                                       perfile_error *err)
{
    perfile_header_event_type v;
    if (perfile_header_event_type_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    return pf_session_add_event_type(s, v.event_id, v.name, is_stable(r), err);
}

/* Makes a feature that came in record `r`; it borrows `payload`. */
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

/* Adds feature TRACING_DATA from a record.  A truncated blob is not stored; the feature is then
 * marked as damaged. */
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

/* HEADER_TRACING_DATA: the blob is after the record, or inside it. */
static perfile_status learn_tracing_data(perfile_session *s, const perfile_record *r,
                                         perfile_error *err)
{
    perfile_header_tracing_data v;
    if (perfile_header_tracing_data_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    return learn_tracing(s, r, v.has_data ? v.data : r->extra, err);
}

/* simpleperf's TRACING_DATA: the blob is inside the record. */
static perfile_status learn_sp_tracing_data(perfile_session *s, const perfile_record *r,
                                            perfile_error *err)
{
    perfile_sp_tracing_data v;
    if (perfile_sp_tracing_data_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;
    return learn_tracing(s, r, v.data, err);
}

/* HEADER_BUILD_ID.  Records without a pid belong to the host: -1. */
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

/* ID_INDEX says where the counter of an id runs.  It does not say which event an id belongs to, so
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

/* simpleperf's EVENT_ID: ids by index of their attr. */
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

/* Converts the bits of a double. */
static double scale_of(uint64_t bits)
{
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return scale;
}

/* Sets the CPUs of an event, from EVENT_UPDATE.  The decoded set borrows from the record, so the
 * body is copied.  Some writers repeat the record; a repeated body is not copied again. */
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

/* Sets name, unit, scale or CPUs of an event, which is found by its id.  If there is only one event
 * and it has no ids, every id refers to it. */
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

/* HEADER_FEATURE.  The empty one at the end of the list is not a feature. */
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

/* Returns the function for a type of record; NULL if such records have no facts for the session. */
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

/* Event instances: for each id the buffer, CPU, thread and guest of its counter, from ID_INDEX
 * records.  If an id occurs twice, its first entry counts. */

/* The memory is charged to the arena; the charge for an id that is already known is refunded. */
perfile_status pf_instances_add(perfile_session *s, const pf_instance *x, perfile_error *err)
{
    bool added;
    pf_instance *all = pf_array_more(s->instances, s->n_instances, &s->instances_cap, sizeof *all);
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
        pf_instance x = {.id = e.id, .buffer = e.idx, .cpu = e.cpu, .tid = e.tid};
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

bool pf_session_instance(const perfile_session *s, uint64_t id, pf_instance *out, size_t size)
{
    uint32_t i = pf_ids_find(&s->instance_ids, id);
    if (i >= s->n_instances)
        return false;
    memcpy(out, &s->instances[i], size < sizeof *out ? size : sizeof *out);
    return true;
}

/* Groups of events (feature GROUP_DESC).  In a pipe the feature may come before the events, so
 * groups are collected here and assigned when the session is resolved. */

typedef struct pf_group {
    uint32_t leader;
    uint32_t end; /* the first event after the group */
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

/* A scan of TRACING_DATA for names and numbers of tracepoints.  P:
 * tools/perf/util/trace-event-info.c has the layout, format/features.def describes it
 * (tracing_formats).  Unlike the table's decoder, this scan returns the names before the damage of
 * a damaged blob. */

static const uint8_t magic[10] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

/* Removes the first line from `text` and returns it in *line. */
static bool next_line(perfile_bytes *text, perfile_bytes *line)
{
    if (text->len == 0)
        return false;
    const uint8_t *nl = memchr(text->ptr, '\n', text->len);
    line->ptr = text->ptr;
    line->len = nl ? (size_t)(nl - text->ptr) : text->len;
    size_t step = nl ? line->len + 1 : line->len;
    text->ptr += step;
    text->len -= step;
    return true;
}

/* For a line "KEY: value": sets *value to the value without blanks around it. */
static bool value_of(perfile_bytes line, const char *key, perfile_bytes *value)
{
    size_t n = strlen(key);
    if (line.len < n || memcmp(line.ptr, key, n) != 0)
        return false;
    perfile_bytes v = {line.ptr + n, line.len - n};
    while (v.len && (*v.ptr == ' ' || *v.ptr == '\t')) {
        v.ptr++;
        v.len--;
    }
    while (v.len && (v.ptr[v.len - 1] == ' ' || v.ptr[v.len - 1] == '\r'))
        v.len--;
    *value = v;
    return true;
}

/* Reads a decimal number of at most 18 digits and nothing else. */
static bool number_of(perfile_bytes text, uint64_t *number)
{
    uint64_t n = 0;
    if (text.len == 0 || text.len > 18)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *number = n;
    return true;
}

bool pf_tracepoint_read(perfile_bytes format, perfile_bytes *name, uint64_t *id)
{
    perfile_bytes line, number;
    bool has_id = false;
    *name = (perfile_bytes){NULL, 0};
    while (!(has_id && name->len) && next_line(&format, &line)) {
        if (value_of(line, "ID:", &number))
            has_id = number_of(number, id);
        else
            value_of(line, "name:", name);
    }
    return has_id && name->len;
}

/* Adds the tracepoint of one format.  If a number occurs twice, the first one counts. */
static perfile_status take_format(pf_tracepoints *t, pf_arena *arena, perfile_bytes system,
                                  perfile_bytes text, perfile_error *err)
{
    perfile_bytes name;
    uint64_t id = 0;
    if (!pf_tracepoint_read(text, &name, &id))
        return PERFILE_OK;

    pf_tracepoint *items = pf_array_more(t->items, t->n, &t->cap, sizeof *items);
    if (!items)
        return pf_fail_nomem(err, "session.tracepoints");
    t->items = items;
    bool added;
    perfile_status st = pf_ids_add(&t->by_id, arena, id, t->n, &added, err);
    if (st == PERFILE_OK && added)
        t->items[t->n++] = (pf_tracepoint){system, name, text, id};
    return st;
}

/* Reads a u64 length and that many bytes. */
static perfile_bytes sized(pf_cursor *c)
{
    uint64_t n = pf_cur_u64(c);
    return pf_cur_span(c, n);
}

/* Reads the formats of a system: their number, then each with its size.  Every format begins with
 * its size, 8 bytes, so a false number makes the cursor bad before the loop gets long. */
static perfile_status take_formats(pf_tracepoints *t, pf_arena *arena, pf_cursor *c,
                                   perfile_bytes system, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (uint32_t n = pf_cur_u32(c); n && !c->bad && st == PERFILE_OK; n--) {
        const perfile_bytes text = sized(c);
        if (!c->bad)
            st = take_format(t, arena, system, text, err);
    }
    return st;
}

perfile_status pf_tracepoints_scan(pf_tracepoints *t, pf_arena *arena, perfile_bytes blob,
                                   perfile_error *err)
{
    pf_cursor c = pf_cur(blob, false);
    perfile_bytes start = pf_cur_span(&c, sizeof magic);
    if (c.bad || memcmp(start.ptr, magic, sizeof magic) != 0)
        return PERFILE_OK;
    pf_cur_cstr(&c); /* version */
    t->big_endian = pf_cur_u8(&c);
    c.swap = t->big_endian != (bool)PF_NATIVE_BIG; /* the blob states its own byte order */
    t->long_size = pf_cur_u8(&c);
    pf_cur_u32(&c);               /* page size */
    for (int i = 0; i < 2; i++) { /* header_page, header_event */
        pf_cur_cstr(&c);
        sized(&c);
    }
    perfile_status st =
        take_formats(t, arena, &c, (perfile_bytes){(const uint8_t *)"ftrace", 6}, err);
    uint32_t systems = pf_cur_u32(&c);
    for (; systems && !c.bad && st == PERFILE_OK; systems--) {
        perfile_bytes system = pf_cur_cstr(&c);
        if (!c.bad)
            system.len--;
        st = take_formats(t, arena, &c, system, err);
    }
    return st;
}

const pf_tracepoint *pf_tracepoint_names_find(const pf_tracepoints *t, uint64_t id)
{
    uint32_t i = pf_ids_find(&t->by_id, id);
    return i < t->n ? &t->items[i] : NULL;
}

void pf_tracepoints_free(pf_tracepoints *t)
{
    pf_free(t->items);
    t->items = NULL;
    t->n = t->cap = 0;
    pf_ids_free(&t->by_id);
}
