/* Events of a capture that is written: attrs and ids, names, units and scales.
 *
 * Readers attribute a record by its id, which must be at the same position for all events.  An
 * event that would make attribution impossible is refused here (attribution_problem()), because the
 * capture could not be read.  A capture that is copied "as stored" may have such events.
 *
 * In a file, names are in the feature EVENT_DESC, which is made at the end.  A pipe, and a file
 * that can be read while it is being written, have EVENT_UPDATE records instead. */
#include "base/error.h"

#include "base/byte_order.h"
#include "core/layout.h"
#include "core/facts.h"
#include "core/session.h"
#include "perf/write.h"
#include "schema/types.h"
#include "core/command.h"

enum { ENTRY = 72, TYPE_NAME = 64 }; /* size of an event type, and of its name */

/* Returns PERFILE_OK if events may still be added: before the records of a file, before the
 * kernel's records of a pipe. */
static perfile_status check_before_records(const pf_perf_writer *w, perfile_error *err)
{
    perfile_status st = pf_write_check_at_record(w, err);
    if (st != PERFILE_OK)
        return st;
    if (w->kernel || (w->begun && w->base.form == PERFILE_FORM_FILE))
        return pf_fail(err, PERFILE_E_USAGE, "writer.event",
                       "events must be added before the records");
    return PERFILE_OK;
}

/* Checks the size of an attr.  With options.attr_size, bytes that would be cut off must be zero.
 * In a pipe, attr and ids must fit into one record. */
static perfile_status check_attr(const pf_perf_writer *w, perfile_bytes attr, uint64_t ids_len,
                                 perfile_error *err)
{
    if (attr.len < PF_ATTR_LEAST || attr.len > PF_ATTR_MOST)
        return pf_fail(err, PERFILE_E_USAGE, "writer.event",
                       "an attr of %zu bytes, needed %d to %d", attr.len, PF_ATTR_LEAST,
                       PF_ATTR_MOST);
    for (size_t i = w->attr_size; w->attr_size && i < attr.len; i++)
        if (attr.ptr[i])
            return pf_fail(err, PERFILE_E_USAGE, "writer.attr_size",
                           "byte %zu of the attr is not 0, but attrs are to have %u bytes", i,
                           w->attr_size);
    uint64_t size = w->attr_size ? w->attr_size : (attr.len + 7) & ~(size_t)7;
    if (w->base.form == PERFILE_FORM_PIPE &&
        size + ids_len > PF_RECORD_MOST - PF_PERF_RECORD_HEADER)
        return pf_fail(err, PERFILE_E_LIMIT, "writer.event",
                       "%llu ids: a HEADER_ATTR record holds %llu after its attr; write a file",
                       (unsigned long long)(ids_len / 8),
                       (unsigned long long)(PF_RECORD_MOST - PF_PERF_RECORD_HEADER - size) / 8);
    return PERFILE_OK;
}

/* Appends the ids to w->facts in the byte order of the capture. */
static perfile_status keep_ids(pf_perf_writer *w, const perfile_words *ids, size_t *at,
                               perfile_error *err)
{
    *at = w->facts.len;
    if (!pf_buffer_reserve(&w->facts, 8 * ids->n))
        return pf_fail_nomem(err, "writer.facts");
    for (size_t i = 0; i < ids->n; i++, w->facts.len += 8)
        pf_store_u64(w->facts.ptr + w->facts.len, perfile_word(ids, i), w->base.swap);
    return PERFILE_OK;
}

/* Returns true if one of `ids` already belongs to an event. */
static bool has_ids_in_common(const pf_perf_writer *w, const perfile_words *ids)
{
    for (uint32_t i = 0; i < w->n_events; i++) {
        const pf_written_event *e = pf_write_event_at(w, i);
        for (size_t k = 0; k < e->ids_len; k += 8)
            for (size_t m = 0; m < ids->n; m++)
                if (pf_load_u64(w->facts.ptr + e->ids + k, w->base.swap) == perfile_word(ids, m))
                    return true;
    }
    return false;
}

/* Returns why records could not be attributed if an event with `ids` and layout `l` were added,
 * NULL if they could.  `perf stat record` files have no samples to attribute. */
static const char *attribution_problem(const pf_perf_writer *w, const perfile_words *ids,
                                       const perfile_layout *l)
{
    if (w->n_events == 0 || w->features[PERFILE_FEATURE_STAT].there)
        return NULL;
    const pf_written_event *first = pf_write_event_at(w, 0);
    if (!first->readable)
        return "the first event has an attr that cannot be read";
    if (!first->ids_len || !ids->n)
        return "several events need ids: without them records cannot be attributed";
    if (pf_layout_sample_id(l) < 0 || pf_layout_sample_id(&first->layout) < 0)
        return "several events need IDENTIFIER or ID in the sample_type of each";
    if (l->sample_id_all != first->layout.sample_id_all)
        return "sample_id_all is not the same as that of the first event";
    if (pf_layout_sample_id(l) != pf_layout_sample_id(&first->layout))
        return "the id is not at the same place of samples as that of the first event: use "
               "IDENTIFIER";
    if (pf_layout_trailer_id(l) != pf_layout_trailer_id(&first->layout))
        return "the id is not at the same place of trailers as that of the first event: use "
               "IDENTIFIER";
    if (first->layout.sample_type & PERFILE_SAMPLE_READ &&
        !(first->layout.read_format & PERFILE_FORMAT_ID))
        return "samples have counter values (READ), and read_format has no ID";
    if (has_ids_in_common(w, ids))
        return "it has an id of another event";
    return NULL;
}

/* Fails if records of the event `e` could not be distinguished from those of the other events. */
static perfile_status check_attribution(const pf_perf_writer *w, const perfile_words *ids,
                                        const pf_written_event *e, perfile_error *err)
{
    static const perfile_words none;
    if (w->as_stored || w->n_events == 0)
        return PERFILE_OK;
    const char *why = e->readable ? attribution_problem(w, ids ? ids : &none, &e->layout)
                                  : "its attr cannot be read";
    return why ? pf_fail(err, PERFILE_E_USAGE, "writer.event", "event %u: %s", w->n_events, why)
               : PERFILE_OK;
}

perfile_status pf_write_event(perfile_writer *writer, perfile_bytes attr, const perfile_words *ids,
                              perfile_error *err)
{
    pf_perf_writer *w = (pf_perf_writer *)writer;
    perfile_status st = check_before_records(w, err);
    if (st != PERFILE_OK)
        return st;
    if (ids && ids->n && ids->width != 8)
        return pf_fail(err, PERFILE_E_USAGE, "writer.event", "ids of %u bytes, needed 8",
                       ids->width);
    if (ids && ids->n > SIZE_MAX / 16)
        return pf_fail_nomem(err, "writer.facts");
    pf_written_event e = {.attr_len = attr.len, .ids_len = ids ? 8 * ids->n : 0};
    st = check_attr(w, attr, e.ids_len, err);
    perfile_attr a;
    e.id = e.ids_len ? perfile_word(ids, 0) : 0;
    e.readable = st == PERFILE_OK &&
                 perfile_attr_decode(attr, w->base.swap, &a, sizeof a, NULL) == PERFILE_OK;
    if (e.readable)
        pf_layout_make(&e.layout, &a);
    if (st == PERFILE_OK)
        st = check_attribution(w, ids, &e, err);
    if (st == PERFILE_OK)
        st = pf_write_keep(w, attr, &e.attr, err);
    if (st == PERFILE_OK && e.ids_len)
        st = keep_ids(w, ids, &e.ids, err);
    if (st != PERFILE_OK)
        return st;
    if (!pf_buffer_append(&w->events, &e, sizeof e))
        return pf_fail_nomem(err, "writer.events");
    w->n_events++;
    /* In a pipe that is already begun, the event is written as a record at once. */
    if (!w->begun)
        return PERFILE_OK;
    perfile_error why;
    st = pf_write_pipe_event(w, &e, &why);
    return pf_write_set_broken(w, st, &why, err);
}

/* Names, units and scales. */

static perfile_bytes text_of(const char *text)
{
    return (perfile_bytes){(const uint8_t *)text, strlen(text)};
}

/* Returns PERFILE_OK if event `index` exists and a record can be written now. */
static perfile_status check_index(const pf_perf_writer *w, uint32_t index, perfile_error *err)
{
    perfile_status st = pf_write_check_at_record(w, err);
    if (st == PERFILE_OK && index >= w->n_events)
        return pf_fail(err, PERFILE_E_USAGE, "writer.event", "event %u: there are %u", index,
                       w->n_events);
    return st;
}

/* Writes the EVENT_UPDATE `u` for event `index`, or stores it until pf_write_begin().  The first
 * event may be updated without an id. */
static perfile_status put_update(pf_perf_writer *w, uint32_t index, perfile_event_update *u,
                                 perfile_error *err)
{
    enum { FIXED = 24 };
    const pf_written_event *e = pf_write_event_at(w, index);
    perfile_encode_options how = pf_write_encoding(w);
    uint8_t *record;
    size_t len;
    if (!e->ids_len && index)
        return pf_fail(err, PERFILE_E_USAGE, "writer.event",
                       "event %u has no id by which a record could name it", index);
    u->id = e->id;
    perfile_status st = pf_write_scratch(w, PF_RECORD_MOST, &record, err);
    if (st == PERFILE_OK)
        st = perfile_event_update_encode(u, sizeof *u, &how, record, PF_RECORD_MOST, &len, err);
    if (st != PERFILE_OK)
        return st;
    if (w->begun)
        return pf_write_record(w, (perfile_bytes){record, len}, 0, err);
    return pf_buffer_append(&w->updates, record, len) ? PERFILE_OK
                                                      : pf_fail_nomem(err, "writer.updates");
}

static perfile_status put_event_name(pf_perf_writer *w, uint32_t index, const char *name,
                                     perfile_error *err)
{
    size_t at;
    perfile_status st = check_index(w, index, err);
    if (st == PERFILE_OK)
        st = pf_write_keep(w, (perfile_bytes){(const uint8_t *)name, strlen(name) + 1}, &at, err);
    /* Targets that do not know EVENT_UPDATE get no such records. */
    bool has_updates = !w->target || pf_release_knows_type(w->target, PERFILE_RECORD_EVENT_UPDATE);
    if (st == PERFILE_OK && has_updates && (w->base.form == PERFILE_FORM_PIPE || w->progressive)) {
        perfile_event_update u = {
            .type = PERFILE_UPDATE_TYPE_NAME, .has_name = true, .name = text_of(name)};
        st = put_update(w, index, &u, err);
    }
    if (st == PERFILE_OK) {
        pf_write_event_at(w, index)->name = at;
        pf_write_event_at(w, index)->named = true;
    }
    return st;
}

static perfile_status put_event_unit(pf_perf_writer *w, uint32_t index, const char *unit,
                                     perfile_error *err)
{
    enum { UNIT = 0 };
    perfile_event_update u = {.type = UNIT, .has_unit = true, .unit = text_of(unit)};
    perfile_status st = check_index(w, index, err);
    return st == PERFILE_OK ? put_update(w, index, &u, err) : st;
}

static perfile_status put_event_scale(pf_perf_writer *w, uint32_t index, double scale,
                                      perfile_error *err)
{
    enum { SCALE = 1 };
    perfile_event_update u = {.type = SCALE, .has_scale = true};
    memcpy(&u.scale, &scale, sizeof u.scale);
    perfile_status st = check_index(w, index, err);
    return st == PERFILE_OK ? put_update(w, index, &u, err) : st;
}

perfile_status pf_writer_event_type(perfile_writer *writer, uint64_t event_id, perfile_bytes name,
                                    perfile_error *err)
{
    pf_perf_writer *w = pf_perf_writer_of(writer, "event types", err);
    uint8_t entry[ENTRY] = {0};
    if (!w)
        return PERFILE_E_UNSUPPORTED;
    /* Only files have a section of event types.  The name must leave room for its NUL. */
    if (w->begun || w->base.form != PERFILE_FORM_FILE || name.len >= TYPE_NAME)
        return pf_fail(err, PERFILE_E_USAGE, "writer.event_type",
                       "event types come before the records of a file, with names below %d bytes",
                       TYPE_NAME);
    pf_store_u64(entry, event_id, w->base.swap);
    if (name.len)
        memcpy(entry + sizeof event_id, name.ptr, name.len);
    return pf_buffer_append(&w->event_types, entry, sizeof entry)
               ? PERFILE_OK
               : pf_fail_nomem(err, "writer.event_types");
}

perfile_status pf_writer_version_1(perfile_writer *writer, perfile_error *err)
{
    pf_perf_writer *w = pf_perf_writer_of(writer, "versions", err);
    if (!w)
        return PERFILE_E_UNSUPPORTED;
    if (w->begun || w->base.form != PERFILE_FORM_FILE)
        return pf_fail(err, PERFILE_E_USAGE, "writer.version",
                       "the version of a file is set before its records");
    w->version_1 = true;
    return PERFILE_OK;
}

/* EVENT_DESC. */

/* Makes a session of the events, which names them as readers do: by attr, PMU names and
 * tracepoints.  This is needed if only some events have a name, because EVENT_DESC names all. */
static perfile_status derive_names(const pf_perf_writer *w, perfile_session **session,
                                   perfile_error *err)
{
    static const uint32_t sources[] = {PERFILE_FEATURE_PMU_MAPPINGS, PERFILE_FEATURE_TRACING_DATA};
    perfile_open_options o = {.size = sizeof o};
    perfile_status st = pf_session_open(w->base.swap, &o, session, err);
    for (uint32_t i = 0; i < w->n_events && st == PERFILE_OK; i++) {
        const pf_written_event *e = pf_write_event_at(w, i);
        pf_attr_fact fact = {.attr = {w->facts.ptr + e->attr, e->attr_len},
                             .origin = PERFILE_ORIGIN_CONTAINER};
        st = pf_session_add_attr(*session, &fact, err);
    }
    for (unsigned i = 0; i < 2 && st == PERFILE_OK; i++) {
        const pf_written_feature *written = &w->features[sources[i]];
        perfile_feature f = {.number = sources[i],
                             .flags = w->base.swap ? PERFILE_REC_SWAPPED : 0,
                             .size = written->len,
                             .payload = pf_write_fact(w, written->at, written->len),
                             .session = *session};
        if (written->there)
            st = pf_session_add_feature(*session, &f, false, err);
    }
    return st == PERFILE_OK ? pf_session_resolve(*session, err) : st;
}

/* Returns the name of event `i`: the caller's, or else the derived one.  `derived` may be NULL if
 * the caller has named all events. */
static const char *name_of(const pf_perf_writer *w, const perfile_session *derived, uint32_t i)
{
    const pf_written_event *e = pf_write_event_at(w, i);
    const perfile_event *d = e->named ? NULL : perfile_session_event(derived, i);
    return e->named ? (const char *)w->facts.ptr + e->name : d ? d->name : "";
}

static bool add_u32(const pf_perf_writer *w, pf_buffer *b, uint32_t v)
{
    v = pf_write_u32(w, v);
    return pf_buffer_append(b, &v, sizeof v);
}

/* Appends the content of EVENT_DESC to `b`.  Names are padded with zeros to a multiple of 64, as in
 * perf. */
static perfile_status build_event_desc(pf_perf_writer *w, const perfile_session *derived,
                                       pf_buffer *b, perfile_error *err)
{
    enum { STRING_UNIT = 64, ID_SECTION = 16 };
    size_t attr = (size_t)w->entry_size - ID_SECTION;
    perfile_status st = PERFILE_OK;
    bool fits = add_u32(w, b, w->n_events) && add_u32(w, b, (uint32_t)attr);
    for (uint32_t i = 0; i < w->n_events && fits && st == PERFILE_OK; i++) {
        const pf_written_event *e = pf_write_event_at(w, i);
        const char *name = name_of(w, derived, i);
        size_t len = strlen(name), room = (len / STRING_UNIT + 1) * STRING_UNIT;
        st = pf_write_attr(w, e, attr, b, err);
        fits = add_u32(w, b, (uint32_t)(e->ids_len / 8)) && add_u32(w, b, (uint32_t)room) &&
               pf_buffer_reserve(b, room);
        if (st != PERFILE_OK || !fits)
            break;
        memcpy(b->ptr + b->len, name, len);
        memset(b->ptr + b->len + len, 0, room - len);
        b->len += room;
        fits = !e->ids_len || pf_buffer_append(b, w->facts.ptr + e->ids, e->ids_len);
    }
    return st == PERFILE_OK && !fits ? pf_fail_nomem(err, "writer.event_desc") : st;
}

perfile_status pf_write_event_desc(pf_perf_writer *w, perfile_error *err)
{
    perfile_session *derived = NULL;
    pf_buffer b = {0};
    uint32_t named = 0;
    for (uint32_t i = 0; i < w->n_events; i++)
        named += pf_write_event_at(w, i)->named;
    if (named == 0 || w->features[PERFILE_FEATURE_EVENT_DESC].there)
        return PERFILE_OK;
    perfile_status st = named < w->n_events ? derive_names(w, &derived, err) : PERFILE_OK;
    if (st == PERFILE_OK)
        st = build_event_desc(w, derived, &b, err);
    pf_written_feature f = {.there = true, .len = b.len};
    if (st == PERFILE_OK)
        st = pf_write_keep(w, (perfile_bytes){b.ptr, b.len}, &f.at, err);
    if (st == PERFILE_OK)
        w->features[PERFILE_FEATURE_EVENT_DESC] = f;
    pf_session_free(derived);
    pf_buffer_free(&b);
    return st;
}

/* Events from structs. */

/* perfile_writer_add_event() for this writer: adds attr, ids, name, unit and scale of one event. */
static perfile_status add_event(pf_perf_writer *w, const perfile_new_event *event, uint32_t *index,
                                perfile_error *err)
{
    perfile_new_event n;
    perfile_status st = pf_new_event_copy(event, &n, err);
    if (st == PERFILE_OK)
        st = check_before_records(w, err);
    uint8_t attr[PF_ATTR_MOST];
    size_t len = 0;
    if (st == PERFILE_OK)
        st = pf_new_event_encode(&n, w->base.swap, attr, &len, err);
    if (st != PERFILE_OK)
        return st;
    perfile_words ids = perfile_words_u64(n.ids, n.n_ids);
    st = pf_write_event(&w->base, (perfile_bytes){attr, len}, &ids, err);
    if (st != PERFILE_OK)
        return st;
    uint32_t at = w->n_events - 1;
    if (n.name)
        st = put_event_name(w, at, n.name, err);
    if (n.unit && st == PERFILE_OK)
        st = put_event_unit(w, at, n.unit, err);
    if (n.scale != 0 && st == PERFILE_OK)
        st = put_event_scale(w, at, n.scale, err);
    if (st == PERFILE_OK && index)
        *index = at;
    return st;
}

perfile_status perfile_writer_add_event(perfile_writer *writer, const perfile_new_event *event,
                                        uint32_t *index, perfile_error *err)
{
    pf_perf_writer *w = pf_perf_writer_of(writer, "events", err);
    return w ? add_event(w, event, index, err) : PERFILE_E_UNSUPPORTED;
}

perfile_status perfile_writer_update_event(perfile_writer *writer, uint32_t index, uint32_t type,
                                           const void *value, perfile_error *err)
{
    pf_perf_writer *w = pf_perf_writer_of(writer, "events", err);
    double scale;
    if (!w)
        return PERFILE_E_UNSUPPORTED;
    switch (type) {
    case PERFILE_UPDATE_TYPE_NAME:
        return put_event_name(w, index, value, err);
    case PERFILE_UPDATE_TYPE_UNIT:
        return put_event_unit(w, index, value, err);
    case PERFILE_UPDATE_TYPE_SCALE:
        memcpy(&scale, value, sizeof scale);
        return put_event_scale(w, index, scale, err);
    default:
        return pf_fail(err, PERFILE_E_USAGE, "writer.event",
                       "an event has no name, unit or scale of kind %u", (unsigned)type);
    }
}

/* Features of a capture that is written.  They are set as bytes (pf_write_feature()), or from
 * structs, by perfile_writer_set().
 *
 * Features of a file stay in w->facts until the end.  In a pipe they are records: those set before
 * the first record go before it, later ones are written at once, and only BUILD_ID may come after
 * records of the kernel. */

perfile_status pf_write_feature(perfile_writer *writer, uint32_t number, perfile_bytes payload,
                                perfile_error *err)
{
    pf_perf_writer *w = (pf_perf_writer *)writer;
    perfile_error why;
    perfile_status st = pf_write_check_usable(w, err);
    if (st != PERFILE_OK)
        return st;
    if (number >= PERFILE_N_FEATURES)
        return pf_fail(err, PERFILE_E_USAGE, "writer.feature",
                       "feature %u: the largest number is %d", number, PERFILE_N_FEATURES - 1);
    if (w->base.form == PERFILE_FORM_PIPE) {
        st = pf_write_pipe_check_feature(w, number, payload, err);
        if (st == PERFILE_OK && w->kernel && number != PERFILE_FEATURE_BUILD_ID)
            st = pf_fail(err, PERFILE_E_USAGE, "writer.feature",
                         "features of a pipe must be set before the records of the kernel");
        if (st == PERFILE_OK)
            st = pf_write_check_at_record(w, err);
        if (st != PERFILE_OK)
            return st;
        if (w->begun && w->base.level)
            st = pf_write_flush_stage(w, err);
        if (w->begun)
            return st == PERFILE_OK
                       ? pf_write_set_broken(w, pf_write_pipe_feature(w, number, payload, &why),
                                             &why, err)
                       : st;
    }
    pf_written_feature f = {.there = true, .len = payload.len};
    st = pf_write_keep(w, payload, &f.at, err);
    if (st == PERFILE_OK)
        w->features[number] = f;
    return st;
}

/* Returns the number of CPUs that the feature NRCPUS states, 0 if it was not set.  Some features
 * have an entry for each CPU, and their encoders need this number. */
static uint32_t n_cpus(const pf_perf_writer *w)
{
    const pf_written_feature *set = &w->features[PERFILE_FEATURE_NRCPUS];
    perfile_feature f = {.number = PERFILE_FEATURE_NRCPUS,
                         .flags = w->base.swap ? PERFILE_REC_SWAPPED : 0,
                         .size = set->len,
                         .payload = pf_write_fact(w, set->at, set->len)};
    perfile_nrcpus n;
    if (!set->there || perfile_nrcpus_decode(&f, &n, sizeof n, NULL) != PERFILE_OK)
        return 0;
    return n.nr_cpus_avail;
}

/* Sets a feature that is a single string. */
static perfile_status put_text(pf_perf_writer *w, uint32_t number, perfile_bytes text,
                               perfile_error *err)
{
    /* All features that are one string have the layout of HOSTNAME. */
    perfile_hostname h = {.string = text};
    perfile_encode_options how = pf_write_encoding(w);
    uint8_t *at = NULL;
    size_t len = 0;
    switch (number) {
    case PERFILE_FEATURE_HOSTNAME:
    case PERFILE_FEATURE_OSRELEASE:
    case PERFILE_FEATURE_VERSION:
    case PERFILE_FEATURE_ARCH:
    case PERFILE_FEATURE_CPUDESC:
    case PERFILE_FEATURE_CPUID:
        break;
    default:
        return pf_fail(err, PERFILE_E_USAGE, "writer.text",
                       "feature %u is not a single line of text", number);
    }
    perfile_status st = perfile_hostname_encode(&h, sizeof h, &how, NULL, 0, &len, err);
    if (st == PERFILE_OK)
        st = pf_write_scratch(w, len, &at, err);
    if (st == PERFILE_OK)
        st = perfile_hostname_encode(&h, sizeof h, &how, at, len, &len, err);
    return st == PERFILE_OK ? pf_write_feature(&w->base, number, (perfile_bytes){at, len}, err)
                            : st;
}

perfile_status perfile_writer_set(perfile_writer *writer, uint32_t type, const void *in,
                                  size_t size, perfile_error *err)
{
    pf_perf_writer *w = pf_perf_writer_of(writer, "features", err);
    if (!w)
        return PERFILE_E_UNSUPPORTED;
    if (type & PERFILE_WRITER_TEXT)
        return put_text(w, type & ~(uint32_t)PERFILE_WRITER_TEXT, (perfile_bytes){in, size}, err);
    if (type >= PERFILE_N_FEATURES)
        return pf_fail(err, PERFILE_E_USAGE, "feature.number", "no header has room for feature %u",
                       type);
    const uint32_t of = PERFILE_TYPE_FEATURE + type;
    perfile_encode_options how = pf_write_encoding(w);
    uint8_t *at = NULL;
    size_t len = 0;
    how.n_cpus = n_cpus(w);
    perfile_status st = perfile_encode(of, in, size, &how, NULL, 0, &len, err);
    if (st == PERFILE_OK)
        st = pf_write_scratch(w, len, &at, err);
    if (st == PERFILE_OK)
        st = perfile_encode(of, in, size, &how, at, len, &len, err);
    if (st != PERFILE_OK)
        return st;
    return pf_write_feature(writer, type, (perfile_bytes){at, len}, err);
}
